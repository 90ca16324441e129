//! Four blocks of different keys, one in each lane of 32 bits.

use core::arch::x86_64::*;

use crate::arx::lanes::{Pass, Rounds, Starts, StreamLane, fill, row_of, state};
use crate::arx::x86_64::ssse3::{across, row, splat, sums};
use crate::simd::{load_pair, load128, store128};
use crate::{Isa, wipe};

/// Whether a message of `blocks` blocks is done sooner beside others. Measured against the kernel
/// for one message, whose time grows in steps.
const fn beside(blocks: usize, _many: bool) -> bool {
    blocks < 3
}

/// XORs the keystream of each message into its data, by the cipher's double rounds.
#[inline]
#[target_feature(enable = "ssse3")]
pub fn xor<M: StreamLane>(
    isa: Isa,
    rounds: Rounds,
    lanes: &mut [M],
    double_rounds: impl Fn([__m128i; 16], usize) -> [__m128i; 16] + Copy,
) {
    let four = |pass: &mut Pass<'_, M, 4>| four(rounds.count / 2, pass, double_rounds);
    fill(isa, rounds, lanes, beside, four);
}

#[inline(never)]
#[target_feature(enable = "ssse3")]
fn four<M: StreamLane>(
    count: usize,
    pass: &mut Pass<'_, M, 4>,
    double_rounds: impl Fn([__m128i; 16], usize) -> [__m128i; 16],
) {
    let blocks = four_blocks(count, pass, double_rounds);
    for (at, block) in blocks.iter().enumerate().take(pass.count) {
        let mut part = pass.part(at);
        if part.len() == 64 {
            let mut other = *block;
            for (other, text) in other.iter_mut().zip(part.get_in().as_chunks().0) {
                *other = _mm_xor_si128(load128(text), *other);
            }
            for (out, other) in part.get_out().as_chunks_mut().0.iter_mut().zip(other) {
                store128(out, other);
            }
        } else {
            let mut stream = [0; 64];
            for (bytes, row) in stream.as_chunks_mut().0.iter_mut().zip(block) {
                store128(bytes, *row);
            }
            let len = part.len();
            part.xor_in2out(&stream[..len]);
            wipe::memory(&mut stream);
        }
    }
}

/// Four blocks of keystream, in rows.
#[inline]
#[target_feature(enable = "ssse3")]
fn four_blocks<S: Starts<4>>(
    count: usize,
    starts: &S,
    double_rounds: impl Fn([__m128i; 16], usize) -> [__m128i; 16],
) -> [[__m128i; 4]; 4] {
    let rows = [words(starts, 0), words(starts, 1), words(starts, 2), last(starts)];
    let start = state(S::CIPHER, rows);
    sums(double_rounds(start, count), start)
}

/// Four words of the keys, each of all blocks.
#[inline]
#[target_feature(enable = "ssse3")]
fn words(starts: &impl Starts<4>, at: usize) -> [__m128i; 4] {
    let of = |block| row(row_of(starts.key(block), at));
    across([of(0), of(1), of(2), of(3)])
}

/// The last four words of all blocks.
#[inline]
#[target_feature(enable = "ssse3")]
fn last(starts: &impl Starts<4>) -> [__m128i; 4] {
    let row = |at: usize| load_pair(starts.last(at));
    let [c0, c1, n0, n1] = across([row(0), row(1), row(2), row(3)]);
    let bits = starts.ahead();
    let ahead = |at: u64| i32::from((bits >> (4 * at)).to_le_bytes()[0] & 15);
    let ahead = _mm_setr_epi32(ahead(0), ahead(1), ahead(2), ahead(3));
    let ahead = _mm_add_epi32(ahead, splat(starts.all_ahead()));
    [_mm_add_epi32(c0, ahead), c1, n0, n1]
}
