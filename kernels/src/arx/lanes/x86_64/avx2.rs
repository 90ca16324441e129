//! Eight blocks of different keys, one in each lane of 32 bits.

use core::arch::x86_64::*;

use crate::arx::halves;
use crate::arx::lanes::{CHACHA, Key, Pass, Rounds, Starts, StreamLane, fill, row_of, state};
use crate::arx::x86_64::avx2::{across, splat, sums};
use crate::simd::{load_pair, load_words, load256, store256};
use crate::{Isa, wipe};

/// Whether a message of `blocks` blocks is done sooner beside others. Measured against the kernel
/// for one message, whose time grows in steps.
const fn beside(cipher: bool, blocks: usize, many: bool) -> bool {
    match blocks {
        0..=5 | 9 | 11 => true,
        10 => many || cipher == CHACHA,
        _ => false,
    }
}

/// XORs the keystream of each message into its data, by the cipher's double rounds.
#[inline]
#[target_feature(enable = "avx2")]
pub fn xor<M: StreamLane>(
    isa: Isa,
    rounds: Rounds,
    lanes: &mut [M],
    double_rounds: impl Fn([__m256i; 16], usize) -> [__m256i; 16] + Copy,
) {
    fill::<M, 8>(
        isa,
        rounds,
        lanes,
        |blocks, many| beside(M::CIPHER, blocks, many),
        |pass| eight(rounds.count / 2, pass, double_rounds),
    );
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn eight<M: StreamLane>(
    count: usize,
    pass: &mut Pass<'_, M, 8>,
    double_rounds: impl Fn([__m256i; 16], usize) -> [__m256i; 16],
) {
    let blocks = eight_blocks(count, pass, double_rounds);
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
fn eight_blocks<S: Starts<8>>(
    count: usize,
    starts: &S,
    double_rounds: impl Fn([__m256i; 16], usize) -> [__m256i; 16],
) -> [[__m256i; 2]; 8] {
    let keys: [&Key; 8] = core::array::from_fn(|at| starts.key(at));
    let rows = [words(&keys, 0), words(&keys, 1), words(&keys, 2), last(starts)];
    let start = state(S::CIPHER, rows);
    sums(double_rounds(start, count), start)
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
    let rows = _mm256_castsi128_si256(load_words(row_of(keys[first], at)));
    _mm256_inserti128_si256::<1>(rows, load_words(row_of(keys[4 + first], at)))
}

/// The last four words of all blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn last(starts: &impl Starts<8>) -> [__m256i; 4] {
    let two = |first: usize| {
        let rows = _mm256_castsi128_si256(load_pair(starts.last(first)));
        _mm256_inserti128_si256::<1>(rows, load_pair(starts.last(4 + first)))
    };
    let [c0, c1, n0, n1] = across([two(0), two(1), two(2), two(3)]);
    let shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
    let [bits, _] = halves(starts.ahead());
    let ahead = _mm256_srlv_epi32(splat(bits), shifts);
    let ahead = _mm256_and_si256(ahead, splat(15));
    let ahead = _mm256_add_epi32(ahead, splat(starts.all_ahead()));
    [_mm256_add_epi32(c0, ahead), c1, n0, n1]
}
