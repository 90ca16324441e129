//! One of the two tables and its steps.

#[cfg(target_endian = "little")]
use core::ptr::from_ref;

use lanecrypt_kernels::wipe;

/// Words in front of the table proper, copies of its last ones.
const BEFORE: usize = 12;
/// Words behind the table proper; the first is a copy of its first one.
const AFTER: usize = 4;

/// The 12 words before a block, its own and the one after it.
pub(super) const AROUND: usize = 12 + 16 + 1;

/// A table of 512 words: P of the paper, or Q when `SECOND`, whose rotations go the other way.
///
/// A step looks back 12 words and ahead by one, cyclically. So that blocks need not wrap, there are
/// copies beyond both ends; users make them just before.
#[repr(C, align(16))]
pub(crate) struct Table<const SECOND: bool> {
    words: [u32; BEFORE + 512 + AFTER],
}

impl<const SECOND: bool> Table<SECOND> {
    pub(super) const ZERO: Self = Self { words: [0; BEFORE + 512 + AFTER] };

    /// The table in parts of 16 words.
    pub(super) fn parts(&mut self) -> impl Iterator<Item = &mut [u32; 16]> {
        self.words[BEFORE..BEFORE + 512].as_chunks_mut().0.iter_mut()
    }

    /// One step at the word `at`, below 512: changes it and gives a word of keystream.
    #[inline(always)]
    pub(super) fn step<const OTHER: bool>(&mut self, at: usize, other: &Table<OTHER>) -> u32 {
        let (word, sum, drawn) = self.mixed(at, other);
        *word = sum;
        sum ^ drawn
    }

    /// One step of the set-up: the word of keystream takes the place of the table's.
    #[inline(always)]
    pub(super) fn replace<const OTHER: bool>(&mut self, at: usize, other: &Table<OTHER>) {
        let (word, sum, drawn) = self.mixed(at, other);
        *word = sum ^ drawn;
    }

    /// The word at `at`, its new value, and the value that the step takes from the other table.
    #[inline(always)]
    fn mixed<const OTHER: bool>(
        &mut self,
        at: usize,
        other: &Table<OTHER>,
    ) -> (&mut u32, u32, u32) {
        if (at + 1) & 510 == 0 {
            self.copy_ends();
        }
        let words: &mut [u32; 14] =
            self.words[at & 511..].first_chunk_mut().expect("the last step begins at 511");
        let drawn = other.draw(&words[0]);
        let sum = words[12].wrapping_add(mix::<SECOND>(words[9], words[2], words[13]));
        (&mut words[12], sum, drawn)
    }

    /// Makes the copies that the first and the last steps need.
    #[cold]
    fn copy_ends(&mut self) {
        self.words.copy_within(512..512 + BEFORE, 0);
        self.words[BEFORE + 512] = self.words[BEFORE];
    }

    /// [`blocks`](super::blocks), one step after the other: the specification of the vectors.
    #[cfg(any(not(target_arch = "x86_64"), test))]
    pub(super) fn blocks<const OTHER: bool, const XOR: bool>(
        &mut self,
        at: usize,
        other: &Table<OTHER>,
        mut data: inout::InOutBuf<'_, '_, u8>,
    ) {
        for at in (at..).take(data.len() / 4) {
            let word = self.step(at, other);
            data = super::put::<XOR>(&word.to_le_bytes(), data);
        }
    }

    /// The block at `at`, a multiple of 16, with the 12 words before it and the one after it.
    #[inline(always)]
    pub(super) fn around(&mut self, at: usize) -> &mut [u32; AROUND] {
        match at {
            0 => self.words.copy_within(512..512 + BEFORE, 0),
            496 => self.words[BEFORE + 512] = self.words[BEFORE],
            _ => {}
        }
        self.words[at & 496..].first_chunk_mut().expect("the last block begins at 496")
    }

    /// The halves that a step of the other table draws one word each from.
    #[inline(always)]
    fn halves(&self) -> [&[u32; 256]; 2] {
        let (low, rest) = self.words[BEFORE..].split_first_chunk().expect("there are 512 words");
        [low, rest.first_chunk().expect("there are 512 words")]
    }

    /// The value that a step of the other table takes from this one: two words, chosen by bytes of
    /// `x`, the word 12 places back.
    #[inline(always)]
    pub(super) fn draw(&self, x: &u32) -> u32 {
        let ([low, high], halves) = (chosen(x), self.halves());
        halves[0][usize::from(low)].wrapping_add(halves[1][usize::from(high)])
    }

    #[inline]
    pub(super) fn wipe(&mut self) {
        wipe::words(&mut self.words);
    }
}

/// The lowest byte and the third of a word.
///
/// Each is loaded from its place, which the compiler would not do: two instructions instead of
/// five.
#[cfg(target_endian = "little")]
#[inline(always)]
fn chosen(word: &u32) -> [u8; 2] {
    // SAFETY: four bytes, of any value, with no alignment, borrowed as long as the word.
    let [low, _, third, _]: &[u8; 4] = unsafe { &*from_ref(word).cast() };
    [reload(low), reload(third)]
}

#[cfg(target_endian = "big")]
#[inline(always)]
fn chosen(word: &u32) -> [u8; 2] {
    let [low, _, third, _] = word.to_le_bytes();
    [low, third]
}

/// Loads from memory, even if the compiler already knows the value.
#[cfg(target_endian = "little")]
#[inline(always)]
pub(super) fn reload<T: Copy>(value: &T) -> T {
    // SAFETY: a reference is valid to read.
    unsafe { from_ref(value).read_volatile() }
}

/// The functions g1 and g2 of the paper, of the words 3, 10 and 511 places back.
#[inline(always)]
fn mix<const SECOND: bool>(x: u32, y: u32, z: u32) -> u32 {
    if SECOND {
        (x.rotate_left(10) ^ z.rotate_left(23)).wrapping_add(y.rotate_left(8))
    } else {
        (x.rotate_right(10) ^ z.rotate_right(23)).wrapping_add(y.rotate_right(8))
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks;
    use super::*;

    /// Every run of blocks within a table: keystream and table as single steps make them.
    #[test]
    fn vectors_do_what_steps_do() {
        let mut number = 1u32;
        let mut words = || {
            number = number.wrapping_mul(0x915f_77f5).wrapping_add(1);
            number
        };
        let p = Table::<false> { words: core::array::from_fn(|_| words()) };
        let q = Table::<true> { words: core::array::from_fn(|_| words()) };
        for first in 0..32 {
            for count in 1..=32 - first {
                both(&p, &q, first, count);
                both(&q, &p, first, count);
            }
        }
    }

    fn both<const SECOND: bool, const OTHER: bool>(
        table: &Table<SECOND>,
        other: &Table<OTHER>,
        first: usize,
        count: usize,
    ) {
        let (at, len) = (16 * first, 64 * count);
        let (mut vectors, mut steps) =
            (Table::<SECOND> { words: table.words }, Table::<SECOND> { words: table.words });
        let (mut out, mut expected) = ([1; 2048], [2; 2048]);
        blocks::<_, _, false>(&mut vectors, at, other, (&mut out[..len]).into());
        steps.blocks::<_, false>(at, other, (&mut expected[..len]).into());
        assert_eq!(out[..len], expected[..len], "{count} blocks from {first}");
        let proper = BEFORE..BEFORE + 512;
        assert_eq!(vectors.words[proper.clone()], steps.words[proper], "{count} from {first}");

        let mut vectors = Table::<SECOND> { words: table.words };
        blocks::<_, _, true>(&mut vectors, at, other, (&mut out[..len]).into());
        assert_eq!(out[..len], [0; 2048][..len], "XOR, {count} blocks from {first}");
    }
}
