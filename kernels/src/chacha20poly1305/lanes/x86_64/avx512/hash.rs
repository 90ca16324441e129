//! Poly1305 of a group of messages, eight to a register.

use core::array::from_fn;

use super::{GROUP, Lane, MOST_AAD, SEAL, halves};
use crate::poly1305::x86_64::avx512::lanes::Eight;
use crate::simd::{load512_part, store512};

/// The unit of Poly1305: two blocks.
type Pair = [u8; 32];

/// The tags of messages, the longest first, of their ciphertext: the output if they were sealed,
/// else the input. Each has the front of its block 0 as its key.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
pub(super) fn tags<const MODE: bool>(
    keys: &[[u8; 64]; GROUP],
    group: &mut [Option<&mut Lane<'_>>],
) -> [[u8; 16]; GROUP] {
    let count = group.len().min(GROUP);
    let mut aads: [&[u8]; GROUP] = [&[]; GROUP];
    let mut texts: [&[u8]; GROUP] = [&[]; GROUP];
    for ((lane, aad), text) in group.iter_mut().flatten().zip(&mut aads).zip(&mut texts) {
        *aad = lane.aad;
        *text = if MODE == SEAL { lane.data.get_out() } else { lane.data.get_in() };
    }
    let (low, high) = halves(keys);
    let mut hash = Hash {
        eights: [Eight::new(low.each_ref().map(front)), Eight::new(high.each_ref().map(front))],
        both: count > 8,
    };
    hash.absorb_aads(&aads);
    // Loops, because the library's `map` would not be inlined.
    let mut pairs: [&[Pair]; GROUP] = [&[]; GROUP];
    let mut rests: [&[u8]; GROUP] = [&[]; GROUP];
    let (mut aad_sizes, mut sizes) = ([0; GROUP], [0; GROUP]);
    for at in 0..count {
        (pairs[at], rests[at]) = texts[at].as_chunks();
        (aad_sizes[at], sizes[at]) = (aads[at].len() as u64, texts[at].len() as u64);
    }
    let (low, high) = halves(&pairs);
    hash.eights[0].absorb_pairs(low);
    if hash.both {
        hash.eights[1].absorb_pairs(high);
    }
    hash.absorb_rests(&rests);
    let tags = hash.tags(&aad_sizes, &sizes);
    hash.eights.iter_mut().for_each(Eight::wipe);
    tags
}

/// Poly1305 of sixteen messages.
struct Hash {
    eights: [Eight; 2],
    /// Whether the second half has any.
    both: bool,
}

impl Hash {
    /// Absorbs associated data, each filled up to whole blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn absorb_aads(&mut self, aads: &[&[u8]; GROUP]) {
        let mut slots = [[0; MOST_AAD]; GROUP];
        let mut counts = [0; GROUP];
        for ((slot, aad), count) in slots.iter_mut().zip(aads).zip(&mut counts) {
            // A load of no bytes, from an address that may not be mapped, would fault and take
            // long.
            if !aad.is_empty() {
                store512(slot, load512_part(aad));
            }
            *count = aad.len().div_ceil(16);
        }
        let most = counts.iter().fold(0, |most, &count| most.max(count));
        for at in 0..most.div_ceil(2) {
            let pairs = from_fn(|lane| &slots[lane].as_chunks().0[at]);
            self.absorb_in([above(&counts, 2 * at), above(&counts, 2 * at + 1)], &pairs);
        }
    }

    /// Absorbs the bytes after whole pairs, each filled up to whole blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn absorb_rests(&mut self, rests: &[&[u8]; GROUP]) {
        let mut slots = [[0; 64]; GROUP];
        let mut counts = [0; GROUP];
        for ((slot, rest), count) in slots.iter_mut().zip(rests).zip(&mut counts) {
            if !rest.is_empty() {
                store512(slot, load512_part(rest));
            }
            *count = rest.len().div_ceil(16);
        }
        let pairs = from_fn(|lane| front(&slots[lane]));
        self.absorb_in([above(&counts, 0), above(&counts, 1)], &pairs);
    }

    /// Absorbs the first of two blocks of the messages of one mask, the second of those of another.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn absorb_in(&mut self, [first, second]: [u16; 2], pairs: &[&Pair; GROUP]) {
        let ([low, high], [more_low, more_high]) = (first.to_le_bytes(), second.to_le_bytes());
        let (front, back) = halves(pairs);
        if low != 0 {
            self.eights[0].absorb_in([low, more_low], *front);
        }
        if high != 0 {
            self.eights[1].absorb_in([high, more_high], *back);
        }
    }

    /// Absorbs the lengths, and ends.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn tags(&mut self, aads: &[u64; GROUP], texts: &[u64; GROUP]) -> [[u8; 16]; GROUP] {
        let (aads, texts) = (halves(aads), halves(texts));
        let mut tags = [[0; 16]; GROUP];
        self.eights[0].absorb_lengths(aads.0, texts.0);
        tags[..8].copy_from_slice(&self.eights[0].tags());
        if self.both {
            self.eights[1].absorb_lengths(aads.1, texts.1);
            tags[8..].copy_from_slice(&self.eights[1].tags());
        }
        tags
    }
}

/// The first half.
#[inline(always)]
fn front(block: &[u8; 64]) -> &Pair {
    block.first_chunk().expect("64 bytes have 32")
}

/// The messages whose count is above `than`.
#[inline(always)]
fn above(counts: &[usize; GROUP], than: usize) -> u16 {
    counts.iter().rev().fold(0, |lanes, &count| lanes << 1 | u16::from(count > than))
}
