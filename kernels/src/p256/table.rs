//! The multiples of the base point: (2 j + 1) 2^(10 i) G, j from 0 to 15 in row i from 0 to 25.
//!
//! A number is five limbs of 52 bits in Montgomery's form, and a row has the words of one limb side
//! by side: five rows of x, then five of y. The file has them as little-endian words; a unit test
//! computes it.

use super::number::Number;
use crate::words::Words;

/// Rows of the table.
pub(super) const ROWS: usize = 26;

/// A row of the table.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Row(pub(super) [[u64; 16]; 10]);

static TABLE: [Row; ROWS] = {
    let bytes = include_bytes!("base.bin");
    assert!(bytes.len() == ROWS * 10 * 16 * 8);
    let (words, _) = bytes.as_chunks::<8>();
    let mut rows = [Row([[0; 16]; 10]); ROWS];
    let mut i = 0;
    while i < words.len() {
        rows[i / 160].0[i / 16 % 10][i % 16] = u64::from_le_bytes(words[i]);
        i += 1;
    }
    rows
};

/// The words of the table.
#[cfg(test)]
pub(super) fn rows() -> &'static [Row; ROWS] {
    &TABLE
}

/// An entry of a row, for each lane: x, then y.
#[inline(always)]
pub(super) fn entry<N: Number>(row: usize, index: N::Word) -> [N; 2] {
    let Row(words) = &TABLE[row];
    let mut limbs = [N::Word::splat(0); 10];
    for (limb, words) in limbs.iter_mut().zip(words) {
        *limb = index.look_up(words);
    }
    let [a, b, c, d, e, f, g, h, i, j] = limbs;
    [N::from_table([a, b, c, d, e]), N::from_table([f, g, h, i, j])]
}
