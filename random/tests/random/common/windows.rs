//! Finding 16 equal bytes, at any offset.

/// The length that cannot repeat by chance: one pair in 2^128.
pub(crate) const WINDOW: usize = 16;

/// Bytes, and where each window of them begins.
pub(crate) struct Windows {
    bytes: Vec<u8>,
    /// Open addressing: one more than the position in `bytes` of a window with this hash.
    table: Vec<u32>,
    bits: u32,
}

/// A window that was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Where the earlier one begins.
    pub(crate) first: usize,
    /// Where the later one begins.
    pub(crate) second: usize,
}

impl Windows {
    /// Room for `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Self {
        let bits = (2 * capacity.max(WINDOW)).next_power_of_two().trailing_zeros();
        Self { bytes: Vec::with_capacity(capacity), table: vec![0; 1 << bits], bits }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends `bytes` and says which of the new windows was there before, if any. The windows
    /// that begin in the bytes before and reach into the new ones count as new.
    pub(crate) fn insert(&mut self, bytes: &[u8]) -> Option<Repeat> {
        let begin = (self.bytes.len() + 1).saturating_sub(WINDOW);
        self.bytes.extend_from_slice(bytes);
        assert!(self.bytes.len() * 2 <= self.table.len(), "more bytes than there is room for");
        let mut repeat = None;
        for second in begin..(self.bytes.len() + 1).saturating_sub(WINDOW) {
            match self.look_up(&self.bytes[second..second + WINDOW]) {
                Ok(first) => repeat = repeat.or(Some(Repeat { first, second })),
                Err(free) => {
                    self.table[free] = u32::try_from(second + 1).expect("fewer than 4 GiB");
                }
            }
        }
        repeat
    }

    /// The first offset in `memory` where a window of these bytes lies.
    pub(crate) fn find_in(&self, memory: &[u8]) -> Option<usize> {
        const ZEROS: [u8; 256] = [0; 256];
        let mut at = 0;
        while at + WINDOW <= memory.len() {
            // Most memory is zero, and no window is.
            let ahead = &memory[at..memory.len().min(at + ZEROS.len())];
            if *ahead == ZEROS[..ahead.len()] {
                at += (ahead.len() + 1).saturating_sub(WINDOW);
                continue;
            }
            for offset in at..(at + ZEROS.len()).min(memory.len() - WINDOW + 1) {
                if self.look_up(&memory[offset..offset + WINDOW]).is_ok() {
                    return Some(offset);
                }
            }
            at += ZEROS.len();
        }
        None
    }

    /// The position of a window, or the free entry of the table where it belongs.
    fn look_up(&self, window: &[u8]) -> Result<usize, usize> {
        let (head, _) = window.split_first_chunk::<8>().expect("a window is longer than that");
        let hash = u64::from_ne_bytes(*head).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut entry = usize::try_from(hash >> (64 - self.bits)).expect("64-bit addresses");
        loop {
            match self.table[entry] {
                0 => return Err(entry),
                position => {
                    let position = position as usize - 1;
                    if self.bytes[position..position + WINDOW] == *window {
                        return Ok(position);
                    }
                }
            }
            entry = (entry + 1) & (self.table.len() - 1);
        }
    }
}

/// Panics if 16 bytes appear twice in `records` taken as one string, or if any 16 are all zero.
pub(crate) fn assert_unique<'a>(what: &str, records: impl IntoIterator<Item = &'a [u8]>) {
    if let Err(fault) = unique(records) {
        panic!("{what}: {fault}");
    }
}

/// Whether no 16 bytes appear twice in `records` taken as one string, and none are all zero.
pub(crate) fn unique<'a>(records: impl IntoIterator<Item = &'a [u8]>) -> Result<(), String> {
    let bytes: Vec<u8> = records.into_iter().flatten().copied().collect();
    if let Some(at) = bytes.windows(WINDOW).position(|window| *window == [0; WINDOW]) {
        return Err(format!("16 zeros at {at} of {}", bytes.len()));
    }
    match Windows::new(bytes.len()).insert(&bytes) {
        None => Ok(()),
        Some(Repeat { first, second }) => {
            Err(format!("16 bytes at {second} of {} repeat those at {first}", bytes.len()))
        }
    }
}
