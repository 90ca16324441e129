//! Buffers whose surroundings are watched, and ways to cut a message into calls.

use core::ops::Range;

/// Bytes on each side of a buffer that no kernel may touch.
const FENCE: usize = 64;
/// What the fence is made of.
const POST: u8 = 0xa7;

/// Bytes at a chosen distance from a 64-byte boundary, between two fences.
pub(crate) struct Fenced {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Fenced {
    /// A copy of `bytes`, `offset` bytes after a 64-byte boundary.
    pub(crate) fn new(bytes: &[u8], offset: usize) -> Self {
        let mut memory = vec![POST; bytes.len() + 2 * FENCE + 128];
        let start = FENCE + memory[FENCE..].as_ptr().align_offset(64) + offset;
        memory[start..start + bytes.len()].copy_from_slice(bytes);
        Self { memory, start, len: bytes.len() }
    }

    /// Room for `len` bytes, full of others.
    pub(crate) fn room(len: usize, offset: usize) -> Self {
        Self::new(&vec![0x5a; len], offset)
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }

    pub(crate) fn slice(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    /// The bytes, after a look at the fences.
    pub(crate) fn checked(&self) -> &[u8] {
        let after = self.start + self.len;
        let fences = self.memory[..self.start].iter().chain(&self.memory[after..]);
        assert!(fences.into_iter().all(|&byte| byte == POST), "written outside the buffer");
        self.slice()
    }
}

/// Ways to cut `len` bytes into successive calls of whole multiples of `unit`, which divides `len`.
/// A way that is `given` is among them if its pieces are such.
pub(crate) fn splits(len: usize, unit: usize, given: &[usize]) -> Vec<Vec<usize>> {
    let units = len / unit;
    let every = |n: usize| {
        let mut pieces = vec![n; units / n];
        pieces.push(units % n);
        pieces
    };
    let mut splits: Vec<_> = [15, 16, 17, 63, 64, 65, 130]
        .into_iter()
        .filter(|&n| n == 16 || n < 2 * units)
        .map(every)
        .collect();
    splits.push(vec![units]);
    splits.push(vec![0, units.min(1), 0, units - units.min(1), 0]);
    if units <= 600 {
        splits.push(every(1));
    }
    splits.iter_mut().flatten().for_each(|piece| *piece *= unit);
    if !given.is_empty() {
        assert_eq!(given.iter().sum::<usize>(), len);
        if given.iter().all(|piece| piece.is_multiple_of(unit)) {
            splits.push(given.to_vec());
        }
    }
    splits
}

/// Calls `f` with the range of each piece in turn.
pub(crate) fn each(pieces: &[usize], mut f: impl FnMut(Range<usize>)) {
    let mut at = 0;
    for piece in pieces {
        f(at..at + piece);
        at += piece;
    }
}
