//! Blocks in registers of 512 bits: sixteen blocks lane by lane, or four whose rows lie side by
//! side.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::simd::{
    load256, load512, load512_part, opaque_place, store256, store512, store512_part,
};

pub use core::arch::x86_64::{
    _mm512_add_epi32 as add32, _mm512_add_epi64 as add64, _mm512_set1_epi32 as set32,
    _mm512_shuffle_epi32 as shuffle32, _mm512_xor_si512 as xor32,
};
use core::arch::x86_64::{
    _mm512_unpackhi_epi32 as high32, _mm512_unpackhi_epi64 as high64,
    _mm512_unpacklo_epi32 as low32, _mm512_unpacklo_epi64 as low64,
};

sums!(__m512i, __m512i, 16, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
across!(__m512i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);
words!(__m512i, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// A word in memory, the same in all lanes; if `FRESH`, it is loaded anew.
///
/// The compiler then does not know that other words lie beside it. It would load them together and
/// take them apart again, with the unit that the rounds need. In a loop the opposite is better:
/// registers that are made once, not loads that may wait for the stores before them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn splat_from<const FRESH: bool>(word: &u32) -> __m512i {
    splat(if FRESH { *opaque_place(word) } else { *word })
}

/// Four words in memory, each the same in all lanes, as [`splat_from`] makes them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn splat_four<const FRESH: bool>([w0, w1, w2, w3]: &[u32; 4]) -> [__m512i; 4] {
    [
        splat_from::<FRESH>(w0),
        splat_from::<FRESH>(w1),
        splat_from::<FRESH>(w2),
        splat_from::<FRESH>(w3),
    ]
}

/// Four blocks from their rows: block `i` is in the `i`-th lane of 128 bits of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn blocks([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab01, ab23) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xee>(a, b));
    let (cd01, cd23) = (_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xee>(c, d));
    [
        _mm512_shuffle_i32x4::<0x88>(ab01, cd01),
        _mm512_shuffle_i32x4::<0xdd>(ab01, cd01),
        _mm512_shuffle_i32x4::<0x88>(ab23, cd23),
        _mm512_shuffle_i32x4::<0xdd>(ab23, cd23),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn in_order([r0, r1, r2, r3]: [[__m512i; 4]; 4]) -> [__m512i; 16] {
    let ([x0, x4, x8, x12], [x1, x5, x9, x13]) = (r0, r1);
    let ([x2, x6, x10, x14], [x3, x7, x11, x15]) = (r2, r3);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

/// A row of words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn row(&[w0, w1, w2, w3]: &[u32; 4]) -> __m128i {
    _mm_setr_epi32(w0.cast_signed(), w1.cast_signed(), w2.cast_signed(), w3.cast_signed())
}

/// Two blocks, in halves, from their rows: block `i` is in the `i`-th lane of 128 bits of each row.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn two_blocks([a, b, c, d]: [__m256i; 4]) -> [[__m256i; 2]; 2] {
    [
        [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x20>(c, d)],
        [_mm256_permute2x128_si256::<0x31>(a, b), _mm256_permute2x128_si256::<0x31>(c, d)],
    ]
}

/// A block from its halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn block(front: __m256i, back: __m256i) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back)
}

/// Writes blocks over the front of `data`, or XORs them in. Returns the rest of `data`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn put<'i, 'o, const XOR: bool, const N: usize>(
    blocks: &[__m512i; N],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    if data.len() < 64 * N {
        // A copy, so that only this path has the blocks in memory.
        let mut spilled = *blocks;
        return put_part::<XOR>(&mut spilled, data);
    }
    let (mut front, rest) = data.split_at(64 * N);
    let mut blocks = *blocks;
    if XOR {
        xor_all(&mut blocks, front.get_in());
    }
    write(&blocks, front.get_out());
    rest
}

/// Puts the blocks of all lanes, as `sums` makes them, where `put` puts them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn put_lanes<'i, 'o, const XOR: bool>(
    x: [__m512i; 16],
    start: [__m512i; 16],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    put::<XOR, 16>(&sums(x, start), data)
}

/// `put` for two blocks whose rows lie side by side, if `data` are at most that long.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub fn put_two<const XOR: bool>(rows: [__m256i; 4], data: InOutBuf<'_, '_, u8>) {
    let [first, second] = two_blocks(rows);
    let len = data.len();
    let (front, back) = data.split_at(len.min(64));
    put_one::<XOR>(first, front);
    if len > 64 {
        put_one::<XOR>(second, back);
    }
}

/// `put` for a block of two halves and at most 64 bytes. For all 64, no register of 512 bits is
/// used.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn put_one<const XOR: bool>([mut front, mut back]: [__m256i; 2], mut data: InOutBuf<'_, '_, u8>) {
    if data.len() < 64 {
        let block = block(front, back);
        let text = if XOR { load512_part(data.get_in()) } else { _mm512_setzero_si512() };
        return store512_part(data.get_out(), _mm512_xor_si512(block, text));
    }
    if XOR && let [text, more, ..] = data.get_in().as_chunks().0 {
        front = _mm256_xor_si256(front, load256(text));
        back = _mm256_xor_si256(back, load256(more));
    }
    if let [out, more, ..] = data.get_out().as_chunks_mut().0 {
        store256(out, front);
        store256(more, back);
    }
}

/// `put` for fewer bytes than the blocks have: nothing is left of `data`. A mask limits the last
/// block.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn put_part<'i, 'o, const XOR: bool>(
    blocks: &mut [__m512i],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let (whole, part) = (data.len() / 64, data.len() % 64);
    let (mut front, back) = data.split_at(64 * whole);
    if XOR {
        xor_all(blocks, front.get_in());
    }
    write(blocks, front.get_out());
    let (mut last, rest) = back.split_at(part);
    if part != 0 {
        let block = blocks[whole];
        let text = if XOR { load512_part(last.get_in()) } else { _mm512_setzero_si512() };
        store512_part(last.get_out(), _mm512_xor_si512(block, text));
    }
    rest
}

/// XORs whole blocks of bytes into as many blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_all(blocks: &mut [__m512i], bytes: &[u8]) {
    for (block, bytes) in blocks.iter_mut().zip(bytes.as_chunks().0) {
        *block = _mm512_xor_si512(*block, load512(bytes));
    }
}

/// Writes as many blocks over `out` as it has room for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn write(blocks: &[__m512i], out: &mut [u8]) {
    for (block, bytes) in blocks.iter().zip(out.as_chunks_mut().0) {
        store512(bytes, *block);
    }
}
