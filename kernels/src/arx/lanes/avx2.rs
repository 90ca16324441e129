//! Eight blocks of different keys, one in each lane of 32 bits.

use core::arch::x86_64::*;

use super::{CHACHA, Key, Message, Pass, Starts, fill, in_order, row_of};
use crate::arx::avx2::{across, splat, sums};
use crate::arx::halves;
use crate::simd::{load128, load256, opaque_count, store256};
use crate::{Isa, Level, chacha, salsa, wipe};

pub(super) const NEEDS: Level = Level::Avx2;

/// Whether a message of so many blocks is done sooner beside others: measured against what the
/// kernel for one message takes, which grows by steps.
const fn beside(cipher: bool, blocks: usize, many: bool) -> bool {
    match blocks {
        0..=5 | 9 | 11 => true,
        10 => many || cipher == CHACHA,
        _ => false,
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn xor<M: Message>(isa: Isa, rounds: usize, lanes: &mut [M]) {
    fill::<M, 8>(
        isa,
        rounds,
        lanes,
        |blocks, many| beside(M::CIPHER, blocks, many),
        |pass| eight(rounds / 2, pass),
    );
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn eight<M: Message>(double_rounds: usize, pass: &mut Pass<'_, M, 8>) {
    let blocks = eight_blocks(double_rounds, pass);
    for (at, &[front, back]) in blocks.iter().enumerate().take(pass.count) {
        let mut part = pass.part(at);
        if let [text, more, ..] = part.get_in().as_chunks().0 {
            let front = _mm256_xor_si256(front, load256(text));
            let back = _mm256_xor_si256(back, load256(more));
            if let [out, more, ..] = part.get_out().as_chunks_mut().0 {
                store256(out, front);
                store256(more, back);
            }
        } else {
            let mut stream = [0; 64];
            if let [out, more, ..] = stream.as_chunks_mut().0 {
                store256(out, front);
                store256(more, back);
            }
            let len = part.len();
            part.xor_in2out(&stream[..len]);
            wipe::memory(&mut stream);
        }
    }
}

/// Eight blocks of keystream, in halves.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_blocks<S: Starts<8>>(double_rounds: usize, starts: &S) -> [[__m256i; 2]; 8] {
    let keys: [&Key; 8] = core::array::from_fn(|at| starts.key(at));
    let [s0, s1, s2, s3] = words(&keys, 0);
    let [s4, s5, s6, s7] = words(&keys, 1);
    let [s8, s9, s10, s11] = words(&keys, 2);
    let [s12, s13, s14, s15] = last(starts);
    let start = [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15];
    let start = in_order(S::CIPHER, start);
    let mut x = start;
    for _ in 0..opaque_count(double_rounds) {
        x = if S::CIPHER == CHACHA {
            chacha::avx2::diagonals(chacha::avx2::columns(x))
        } else {
            salsa::avx2::rows(salsa::avx2::columns(x))
        };
    }
    sums(x, start)
}

/// Four words of the keys, each of all blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn words(keys: &[&Key; 8], at: usize) -> [__m256i; 4] {
    across([two(keys, 0, at), two(keys, 1, at), two(keys, 2, at), two(keys, 3, at)])
}

/// A row of the blocks `first` and 4 + `first`.
#[inline]
#[target_feature(enable = "avx2")]
fn two(keys: &[&Key; 8], first: usize, at: usize) -> __m256i {
    let rows = _mm256_castsi128_si256(row(row_of(keys[first], at)));
    _mm256_inserti128_si256::<1>(rows, row(row_of(keys[4 + first], at)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn row(words: &[u32; 4]) -> __m128i {
    let bytes: *const [u32; 4] = words;
    // SAFETY: 16 bytes of plain numbers, as which any bytes may be read.
    load128(unsafe { &*bytes.cast::<[u8; 16]>() })
}

/// The last four words of all blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn last(starts: &impl Starts<8>) -> [__m256i; 4] {
    let two = |first: usize| {
        let rows = _mm256_castsi128_si256(last_row(starts.last(first)));
        _mm256_inserti128_si256::<1>(rows, last_row(starts.last(4 + first)))
    };
    let [c0, c1, n0, n1] = across([two(0), two(1), two(2), two(3)]);
    let shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    let [bits, _] = halves(starts.ahead());
    let ahead = _mm256_srlv_epi32(splat(bits), shifts);
    let ahead = _mm256_and_si256(ahead, splat(15));
    let ahead = _mm256_add_epi32(ahead, splat(starts.all_ahead()));
    [_mm256_add_epi32(c0, ahead), c1, n0, n1]
}

#[inline]
#[target_feature(enable = "avx2")]
fn last_row(words: &[u64; 2]) -> __m128i {
    let bytes: *const [u64; 2] = words;
    // SAFETY: 16 bytes of plain numbers, as which any bytes may be read.
    load128(unsafe { &*bytes.cast::<[u8; 16]>() })
}
