//! Reading an entry of a table of powers for each lane, digit by digit, between multiplications.
//!
//! All entries of a digit are read, whatever the indices are: one of each two is chosen by the
//! lowest bit of the index, one of each two of these by the next bit, and so on. So every line of
//! the table is read once, in the same order. That would take a tenth of the time of an
//! exponentiation if it were done alone; beside squarings it takes almost none.

use core::arch::x86_64::*;
use core::slice;

use super::load;
use crate::montgomery::Lanes;
use crate::montgomery::x86_64::lanes::{ENTRIES, WINDOW};
use crate::simd::{load512_words, store512_words};

/// What is still to be selected.
pub(super) struct Selection<'a> {
    table: slice::Iter<'a, [Lanes; ENTRIES]>,
    out: slice::IterMut<'a, Lanes>,
    /// Which lanes have each bit of the index set.
    bits: [__mmask8; WINDOW as usize],
}

impl<'a> Selection<'a> {
    /// Entries of each digit in `table`, the chosen ones into `out`.
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(
        table: &'a [[Lanes; ENTRIES]],
        indices: &[u64; 8],
        out: &'a mut [Lanes],
    ) -> Self {
        let indices = load512_words(indices);
        let bits =
            [1, 2, 4, 8, 16].map(|bit| _mm512_test_epi64_mask(indices, _mm512_set1_epi64(bit)));
        Self { table: table.iter(), out: out.iter_mut(), bits }
    }

    /// Nothing to select.
    pub(super) fn none() -> Self {
        Self { table: [].iter(), out: [].iter_mut(), bits: [0; WINDOW as usize] }
    }

    /// Selects one digit, if any is left.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn step(&mut self) {
        let (Some(entries), Some(out)) = (self.table.next(), self.out.next()) else { return };
        let [one, two, four, eight, sixteen] = self.bits;
        let mut eighths = [_mm512_setzero_si512(); ENTRIES / 8];
        for (eighth, entries) in eighths.iter_mut().zip(entries.as_chunks::<8>().0) {
            let [a, b, c, d, e, f, g, h] = entries.each_ref().map(|entry| load(entry));
            let [a, c] = [(a, b), (c, d)].map(|(a, b)| _mm512_mask_blend_epi64(one, a, b));
            let [e, g] = [(e, f), (g, h)].map(|(a, b)| _mm512_mask_blend_epi64(one, a, b));
            let [a, e] = [(a, c), (e, g)].map(|(a, b)| _mm512_mask_blend_epi64(two, a, b));
            *eighth = _mm512_mask_blend_epi64(four, a, e);
        }
        let [a, b, c, d] = eighths;
        let [a, c] = [(a, b), (c, d)].map(|(a, b)| _mm512_mask_blend_epi64(eight, a, b));
        store512_words(&mut out.0, _mm512_mask_blend_epi64(sixteen, a, c));
    }

    /// Selects all that is left.
    #[target_feature(enable = "avx512f")]
    pub(super) fn finish(&mut self) {
        while self.table.len() > 0 {
            self.step();
        }
    }
}
