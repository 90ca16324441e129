//! Four numbers side by side.

use core::arch::x86_64::*;

use super::multiply::{multiply, square};
use super::tiles::BLOCK;
use crate::montgomery::digits::SHORT;
use crate::montgomery::x86_64::lanes::{ENTRIES, Kernel, Moduli};
use crate::montgomery::{Quad, Workspace};
use crate::simd::{load256_words, store256_words};

/// Only [`super::raise`] uses it, on processors that have AVX2.
pub(super) struct Four;

impl Kernel for Four {
    type Vector = Quad;
    const NUMBERS: usize = 4;
    const WIDTH: u32 = SHORT.width;
    const ROOM: usize = 2;

    fn vectors(digits: usize) -> usize {
        debug_assert!(digits.is_multiple_of(BLOCK), "whole blocks");
        digits
    }

    fn table(vectors: usize) -> usize {
        ENTRIES * vectors / 2
    }

    fn memory(workspace: &mut Workspace, count: usize) -> &mut [Quad] {
        workspace.quads(count)
    }

    fn place(number: &mut [Quad], which: usize, digit: usize) -> &mut u64 {
        &mut number[digit].0[which]
    }

    fn multiply(moduli: &mut Moduli<'_, Quad>, number: &mut [Quad], other: &[Quad]) {
        // SAFETY: the processor has the instructions, see `Four`.
        unsafe { multiply(moduli, number, other) }
    }

    fn square(moduli: &mut Moduli<'_, Quad>, number: &mut [Quad]) {
        // SAFETY: the processor has the instructions, see `Four`.
        unsafe { square(moduli, number) }
    }

    fn look_up(table: &[Quad], indices: &[u64; 8], entry: &mut [Quad]) {
        let [a, b, c, d, ..] = *indices;
        // SAFETY: the processor has the instructions, see `Four`.
        unsafe { look_up(table, &[a, b, c, d], entry) }
    }

    fn store_entry(table: &mut [Quad], index: usize, number: &[Quad]) {
        // SAFETY: the processor has the instructions, see `Four`.
        unsafe { store_entry(table, index, number) }
    }
}

/// The vectors of an entry are stored by twos, one in the lower halves of words and one in the
/// upper halves: all entries of the first two, then those of the next ones. So that the table of a
/// number of 1024 bits fits the first cache.
#[target_feature(enable = "avx2")]
fn store_entry(table: &mut [Quad], index: usize, number: &[Quad]) {
    let (low, high) = number.split_at(number.len() / 2);
    let entries = table.iter_mut().skip(index).step_by(ENTRIES);
    for (entry, (low, high)) in entries.zip(low.iter().zip(high)) {
        let high = _mm256_slli_epi64::<32>(load256_words(&high.0));
        store256_words(&mut entry.0, _mm256_or_si256(load256_words(&low.0), high));
    }
}

/// An entry for each word, by reading all: one of each two is chosen by the lowest bit of the
/// index, one of each two of these by the next bit, and so on.
#[target_feature(enable = "avx2")]
fn look_up(table: &[Quad], indices: &[u64; 4], entry: &mut [Quad]) {
    let indices = load256_words(indices);
    // In the sign of each word.
    let bits = [
        _mm256_slli_epi64::<63>(indices),
        _mm256_slli_epi64::<62>(indices),
        _mm256_slli_epi64::<61>(indices),
        _mm256_slli_epi64::<60>(indices),
        _mm256_slli_epi64::<59>(indices),
    ];
    let [one, two, four, eight, sixteen] = bits;
    let (low, high) = entry.split_at_mut(entry.len() / 2);
    for (entries, (low, high)) in
        table.as_chunks::<ENTRIES>().0.iter().zip(low.iter_mut().zip(high))
    {
        let mut eighths = [_mm256_setzero_si256(); ENTRIES / 8];
        for (eighth, entries) in eighths.iter_mut().zip(entries.as_chunks::<8>().0) {
            let [a, b, c, d, e, f, g, h] = entries.each_ref().map(|entry| load256_words(&entry.0));
            let [a, c] = [(a, b), (c, d)].map(|(a, b)| choose(one, a, b));
            let [e, g] = [(e, f), (g, h)].map(|(a, b)| choose(one, a, b));
            let [a, e] = [(a, c), (e, g)].map(|(a, b)| choose(two, a, b));
            *eighth = choose(four, a, e);
        }
        let [a, b, c, d] = eighths;
        let [a, c] = [(a, b), (c, d)].map(|(a, b)| choose(eight, a, b));
        let chosen = choose(sixteen, a, c);
        let lower = _mm256_set1_epi64x(0xffff_ffff);
        store256_words(&mut low.0, _mm256_and_si256(chosen, lower));
        store256_words(&mut high.0, _mm256_srli_epi64::<32>(chosen));
    }
}

/// `b` in words where the highest bit of `bit` is set, `a` in the others.
#[inline]
#[target_feature(enable = "avx2")]
fn choose(bit: __m256i, a: __m256i, b: __m256i) -> __m256i {
    let [a, b, bit] = [a, b, bit].map(|v| _mm256_castsi256_pd(v));
    _mm256_castpd_si256(_mm256_blendv_pd(a, b, bit))
}
