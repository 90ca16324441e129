//! Sixteen blocks of different keys, one in each lane of 32 bits, or eight in registers of 256
//! bits.
//!
//! Keys are put across as they are loaded: a row of four of them to a register, then words by
//! shuffles within 128 bits.

mod eight;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub(crate) use eight::eight_blocks;

use super::{CHACHA, Key, Message, Pass, SALSA, Starts, fill, in_order, row_of};
use crate::arx::avx512::{across, blocks, plus, row, splat};
use crate::simd::{
    load128, load256, load512, load512_short, opaque_count, store256, store512, store512_short,
};
use crate::{Isa, Level, chacha, salsa};

pub(super) const NEEDS: Level = Level::Avx512;

/// Whether a message of so many blocks is done sooner beside others: measured against what the
/// kernel for one message takes, which grows by steps.
const fn beside(cipher: bool, blocks: usize, many: bool) -> bool {
    match blocks {
        0..=6 | 9 => true,
        10 => many || cipher == SALSA,
        11..=12 => cipher == SALSA,
        13 => many && cipher == SALSA,
        _ => false,
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn xor<M: Message>(isa: Isa, rounds: usize, lanes: &mut [M]) {
    let mut ahead = 0;
    while let Some(ones) = lanes[ahead..].first_chunk_mut::<16>()
        && ones.iter().all(|lane| matches!(lane.parts().data.len(), 1..=64))
    {
        sixteen_ones(rounds / 2, ones);
        ahead += 16;
    }
    fill::<M, 16>(
        isa,
        rounds,
        &mut lanes[ahead..],
        |blocks, many| beside(M::CIPHER, blocks, many),
        |pass| match pass.count {
            0..=8 => eight(rounds / 2, pass),
            _ => sixteen(rounds / 2, pass),
        },
    );
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteen<M: Message>(double_rounds: usize, pass: &mut Pass<'_, M, 16>) {
    let blocks = sixteen_blocks(double_rounds, pass);
    for (at, block) in blocks.iter().enumerate().take(pass.count) {
        put(&mut pass.part(at), *block);
    }
}

/// Sixteen messages of one block, of which no list needs to be made.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteen_ones<M: Message>(double_rounds: usize, lanes: &mut [M; 16]) {
    let blocks = sixteen_blocks(double_rounds, lanes);
    for (lane, block) in lanes.iter_mut().zip(&blocks) {
        put(&mut lane.data(), *block);
    }
}

impl<M: Message> Starts<16> for [M; 16] {
    const CIPHER: bool = M::CIPHER;

    #[inline(always)]
    fn key(&self, at: usize) -> &Key {
        self[at].parts().key
    }

    #[inline(always)]
    fn last(&self, at: usize) -> &[u64; 2] {
        &self[at].parts().last
    }

    #[inline(always)]
    fn ahead(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn all_ahead(&self) -> u32 {
        0
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn eight<M: Message>(double_rounds: usize, pass: &mut Pass<'_, M, 16>) {
    let blocks = eight_blocks(double_rounds, pass);
    for (at, &[front, back]) in blocks.iter().enumerate().take(pass.count) {
        let mut part = pass.part(at);
        if part.len() < 64 {
            put(&mut part, _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back));
        } else if let [text, more, ..] = *part.get_in().as_chunks().0 {
            let (front, back) =
                (_mm256_xor_si256(front, load256(&text)), _mm256_xor_si256(back, load256(&more)));
            if let [out, more, ..] = part.get_out().as_chunks_mut().0 {
                store256(out, front);
                store256(more, back);
            }
        }
    }
}

/// XORs a block into at most as many bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn put(part: &mut InOutBuf<'_, '_, u8>, block: __m512i) {
    if let Some(text) = part.get_in().first_chunk() {
        let other = _mm512_xor_si512(load512(text), block);
        if let Some(out) = part.get_out().first_chunk_mut() {
            store512(out, other);
        }
    } else {
        let other = _mm512_xor_si512(load512_short(part.get_in()), block);
        store512_short(part.get_out(), other);
    }
}

/// Sixteen blocks of keystream.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn sixteen_blocks<S: Starts<16>>(double_rounds: usize, starts: &S) -> [__m512i; 16] {
    let keys: [&Key; 16] = core::array::from_fn(|at| starts.key(at));
    let [s0, s1, s2, s3] = words(&keys, 0);
    let [s4, s5, s6, s7] = words(&keys, 1);
    let [s8, s9, s10, s11] = words(&keys, 2);
    let [s12, s13, s14, s15] = last(starts);
    let start = [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15];
    let start = in_order(S::CIPHER, start);
    let mut x = start;
    for _ in 0..opaque_count(double_rounds) {
        x = if S::CIPHER == CHACHA {
            chacha::avx512::diagonals(chacha::avx512::columns(x))
        } else {
            salsa::avx512::rows(salsa::avx512::columns(x))
        };
    }
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15] = start;
    let [a0, a1, a2, a3] = across(plus([x0, x1, x2, x3], [s0, s1, s2, s3]));
    let [b0, b1, b2, b3] = across(plus([x4, x5, x6, x7], [s4, s5, s6, s7]));
    let [c0, c1, c2, c3] = across(plus([x8, x9, x10, x11], [s8, s9, s10, s11]));
    let [d0, d1, d2, d3] = across(plus([x12, x13, x14, x15], [s12, s13, s14, s15]));
    let [x0, x4, x8, x12] = blocks([a0, b0, c0, d0]);
    let [x1, x5, x9, x13] = blocks([a1, b1, c1, d1]);
    let [x2, x6, x10, x14] = blocks([a2, b2, c2, d2]);
    let [x3, x7, x11, x15] = blocks([a3, b3, c3, d3]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// Four words of the keys, each of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn words(keys: &[&Key; 16], at: usize) -> [__m512i; 4] {
    across([four(keys, 0, at), four(keys, 1, at), four(keys, 2, at), four(keys, 3, at)])
}

/// A row of every fourth block from `first` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn four(keys: &[&Key; 16], first: usize, at: usize) -> __m512i {
    let rows = _mm512_castsi128_si512(row(row_of(keys[first], at)));
    let rows = _mm512_inserti32x4::<1>(rows, row(row_of(keys[4 + first], at)));
    let rows = _mm512_inserti32x4::<2>(rows, row(row_of(keys[8 + first], at)));
    _mm512_inserti32x4::<3>(rows, row(row_of(keys[12 + first], at)))
}

/// The last four words of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn last(starts: &impl Starts<16>) -> [__m512i; 4] {
    let four = |first: usize| {
        let row = |at: usize| last_row(starts.last(at));
        let rows = _mm512_castsi128_si512(row(first));
        let rows = _mm512_inserti32x4::<1>(rows, row(4 + first));
        let rows = _mm512_inserti32x4::<2>(rows, row(8 + first));
        _mm512_inserti32x4::<3>(rows, row(12 + first))
    };
    let [c0, c1, n0, n1] = across([four(0), four(1), four(2), four(3)]);
    let halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let shifts = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    let bits = _mm512_castsi128_si512(_mm_cvtsi64_si128(starts.ahead().cast_signed()));
    let ahead = _mm512_srlv_epi32(_mm512_permutexvar_epi32(halves, bits), shifts);
    let ahead = _mm512_and_si512(ahead, splat(15));
    let ahead = _mm512_add_epi32(ahead, splat(starts.all_ahead()));
    [_mm512_add_epi32(c0, ahead), c1, n0, n1]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn last_row(words: &[u64; 2]) -> __m128i {
    let bytes: *const [u64; 2] = words;
    // SAFETY: 16 bytes of plain numbers, as which any bytes may be read.
    load128(unsafe { &*bytes.cast::<[u8; 16]>() })
}
