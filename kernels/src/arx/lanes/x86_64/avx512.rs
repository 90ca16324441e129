//! Sixteen blocks of different keys, one in each lane of 32 bits, or eight in registers of 256
//! bits.
//!
//! Keys are transposed as they are loaded: the rows of four keys go into one register, then
//! shuffles within 128 bits gather words.

pub mod eight;

use core::arch::x86_64::*;

use inout::InOutBuf;

pub use eight::{eight_blocks, eight_words, words_of_eight_rows};

use crate::Isa;
use crate::arx::lanes::{Key, Pass, Rounds, SALSA, Starts, StreamLane, fill, row_of, state};
use crate::arx::x86_64::avx512::{across, block, row, splat, sums};
use crate::simd::{
    load_pair, load256, load512, load512_short, opaque_count, opaque_place, store256, store512,
    store512_short,
};

/// Whether a message of `blocks` blocks is done sooner beside others. Measured against the kernel
/// for one message, whose time grows in steps.
const fn beside(cipher: bool, blocks: usize, many: bool) -> bool {
    match blocks {
        0..=6 | 9 => true,
        10 => many || cipher == SALSA,
        11..=12 => cipher == SALSA,
        13 => many && cipher == SALSA,
        _ => false,
    }
}

/// XORs the keystream of each message into its data, by the cipher's double round of sixteen blocks
/// and of eight.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn xor<M: StreamLane>(
    isa: Isa,
    rounds: Rounds,
    lanes: &mut [M],
    of_sixteen: impl Fn([__m512i; 16]) -> [__m512i; 16] + Copy,
    of_eight: impl Fn([__m256i; 16]) -> [__m256i; 16] + Copy,
) {
    let mut ahead = 0;
    while let Some(ones) = lanes[ahead..].first_chunk_mut::<16>()
        && ones.iter().all(|lane| matches!(lane.parts().data.len(), 1..=64))
    {
        sixteen_ones(rounds.count / 2, ones, of_sixteen);
        ahead += 16;
    }
    fill::<M, 16>(
        isa,
        rounds,
        &mut lanes[ahead..],
        |blocks, many| beside(M::CIPHER, blocks, many),
        |pass| match pass.count {
            0..=8 => eight(rounds.count / 2, pass, of_eight),
            _ => sixteen(rounds.count / 2, pass, of_sixteen),
        },
    );
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteen<M: StreamLane>(
    double_rounds: usize,
    pass: &mut Pass<'_, M, 16>,
    double_round: impl Fn([__m512i; 16]) -> [__m512i; 16],
) {
    let blocks = sixteen_blocks(double_rounds, pass, double_round);
    for (at, block) in blocks.iter().enumerate().take(pass.count) {
        put(&mut pass.part(at), *block);
    }
}

/// Sixteen messages of one block, which need no list of blocks.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteen_ones<M: StreamLane>(
    double_rounds: usize,
    lanes: &mut [M; 16],
    double_round: impl Fn([__m512i; 16]) -> [__m512i; 16],
) {
    let blocks = sixteen_blocks(double_rounds, lanes, double_round);
    if lanes.iter().all(|lane| lane.parts().data.len() == 64) {
        // No lengths are checked in between, and the blocks stay in registers.
        for (lane, block) in lanes.iter_mut().zip(blocks) {
            put_whole(&mut lane.data(), block);
        }
        return;
    }
    for (lane, block) in lanes.iter_mut().zip(blocks) {
        put(&mut lane.data(), block);
    }
}

impl<M: StreamLane> Starts<16> for [M; 16] {
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
fn eight<M: StreamLane>(
    double_rounds: usize,
    pass: &mut Pass<'_, M, 16>,
    double_round: impl Fn([__m256i; 16]) -> [__m256i; 16],
) {
    let blocks = eight_blocks(double_rounds, pass, double_round);
    for (at, &[front, back]) in blocks.iter().enumerate().take(pass.count) {
        let mut part = pass.part(at);
        if part.len() < 64 {
            put(&mut part, block(front, back));
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

/// XORs a block into 64 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn put_whole(part: &mut InOutBuf<'_, '_, u8>, block: __m512i) {
    if let Some(text) = part.get_in().first_chunk() {
        let other = _mm512_xor_si512(load512(text), block);
        if let Some(out) = part.get_out().first_chunk_mut() {
            store512(out, other);
        }
    }
}

/// XORs a block into at most 64 bytes.
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
pub fn sixteen_blocks<S: Starts<16>>(
    double_rounds: usize,
    starts: &S,
    double_round: impl Fn([__m512i; 16]) -> [__m512i; 16],
) -> [__m512i; 16] {
    let keys = core::array::from_fn(|at| starts.key(at));
    let last = || last(starts);
    let (x, start) = sixteen_words(S::CIPHER, double_rounds, &keys, last, double_round);
    sums(x, start)
}

/// The result of the rounds for sixteen blocks, and their start, each word of all blocks.
///
/// Closures give the last four words of the start and the cipher's double round, so that each
/// caller has an instance of its own, compiled into its place.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn sixteen_words(
    cipher: bool,
    double_rounds: usize,
    keys: &[&Key; 16],
    last: impl FnOnce() -> [__m512i; 4],
    double_round: impl Fn([__m512i; 16]) -> [__m512i; 16],
) -> ([__m512i; 16], [__m512i; 16]) {
    let start = state(cipher, [words(keys, 0), words(keys, 1), words(keys, 2), last()]);
    let mut x = start;
    for _ in 0..opaque_count(double_rounds) {
        x = double_round(x);
    }
    (x, start)
}

/// Four words of the keys, each of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn words(keys: &[&Key; 16], at: usize) -> [__m512i; 4] {
    words_of_rows(|block| row(row_of(keys[block], at)))
}

/// The words of the rows of all blocks, each of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn words_of_rows(row: impl Fn(usize) -> __m128i) -> [__m512i; 4] {
    let four = |first: usize| side_by_side([0, 4, 8, 12].map(|block| row(first + block)));
    across([four(0), four(1), four(2), four(3)])
}

/// Four rows side by side: two and two first, because Zen 4 inserts into 256 bits at twice the
/// rate.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn side_by_side([r0, r1, r2, r3]: [__m128i; 4]) -> __m512i {
    let front = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(r0), r1);
    let back = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(r2), r3);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back)
}

/// The last four words of all blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn last(starts: &impl Starts<16>) -> [__m512i; 4] {
    let [c0, c1, n0, n1] = words_of_rows(|at| last_row(starts.last(at)));
    let halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let shifts = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
    let bits = _mm512_castsi128_si512(_mm_cvtsi64_si128(starts.ahead().cast_signed()));
    let ahead = _mm512_srlv_epi32(_mm512_permutexvar_epi32(halves, bits), shifts);
    let ahead = _mm512_and_si512(ahead, splat(15));
    let ahead = _mm512_add_epi32(ahead, splat(starts.all_ahead()));
    let [low, high] = starts.far_ahead().map(u64::cast_signed);
    let ahead = _mm512_add_epi32(ahead, _mm512_cvtepu8_epi32(_mm_set_epi64x(high, low)));
    [_mm512_add_epi32(c0, ahead), c1, n0, n1]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn last_row(words: &[u64; 2]) -> __m128i {
    // Hidden, because the compiler would also load what lies behind, which may be new.
    load_pair(opaque_place(words))
}
