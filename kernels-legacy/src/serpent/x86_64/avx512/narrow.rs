//! One to four blocks in registers of 128 bits, with ternary logic. Constant time in key and data.

use core::arch::x86_64::*;

use inout::InOutBuf;
use lanecrypt_kernels::simd::{load128, load512_part, store128, store512_part};

use super::shallow::{i0, i1, i2, i3, i4, i5, i6, i7, s0, s1, s2, s3, s4, s5, s6, s7};
use crate::serpent::modes::Counter;

encryption!(
    inline(never),
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m128i
);
decryption!(
    inline(never),
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m128i
);

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn encrypt(keys: &[[u32; 4]; 33], blocks: InOutBuf<'_, '_, [u8; 16]>) {
    let mut blocks = blocks;
    let mut x = [across(split(load(blocks.get_in().as_flattened())))];
    encrypt_rounds(keys, &mut x);
    store(blocks.get_out().as_flattened_mut(), join(across(x[0])));
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn decrypt(keys: &[[u32; 4]; 33], blocks: InOutBuf<'_, '_, [u8; 16]>) {
    let mut blocks = blocks;
    let mut x = [across(split(load(blocks.get_in().as_flattened())))];
    decrypt_rounds(keys, &mut x);
    store(blocks.get_out().as_flattened_mut(), join(across(x[0])));
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn cbc_decrypt(
    keys: &[[u32; 4]; 33],
    iv: &mut [u8; 16],
    blocks: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut blocks = blocks;
    let input = load(blocks.get_in().as_flattened());
    // The IV, then all blocks of the input but the last.
    let before = _mm512_alignr_epi64::<6>(input, _mm512_broadcast_i32x4(load128(iv)));
    let mut x = [across(split(input))];
    decrypt_rounds(keys, &mut x);
    if let Some(last) = blocks.get_in().last() {
        *iv = *last;
    }
    let x = _mm512_xor_si512(join(across(x[0])), before);
    store(blocks.get_out().as_flattened_mut(), x);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn xor_stream(keys: &[[u32; 4]; 33], counter: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
    let mut data = data;
    let x = _mm512_xor_si512(stream(keys, counter), load(data.get_in()));
    store(data.get_out(), x);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn write_stream(keys: &[[u32; 4]; 33], counter: &[u8; 16], out: &mut [u8]) {
    store(out, stream(keys, counter));
}

/// Four blocks of keystream.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn stream(keys: &[[u32; 4]; 33], counter: &[u8; 16]) -> __m512i {
    let Counter { words: [a, b, c], number } = Counter::new(counter);
    let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let numbers = _mm_add_epi32(splat(number), _mm_set_epi32(3, 2, 1, 0));
    let d = _mm_shuffle_epi8(numbers, swap);
    let mut x = [[splat(a), splat(b), splat(c), d]];
    encrypt_rounds(keys, &mut x);
    join(across(x[0]))
}

/// Up to four blocks. A single block is loaded without a mask: a masked load waits for stores whose
/// data it could have forwarded.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load(bytes: &[u8]) -> __m512i {
    match bytes.try_into() {
        Ok(block) => _mm512_zextsi128_si512(load128(block)),
        Err(_) => load512_part(bytes),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn store(out: &mut [u8], x: __m512i) {
    match out.try_into() {
        Ok(block) => store128(block, _mm512_castsi512_si128(x)),
        Err(_) => store512_part(out, x),
    }
}

/// The four blocks of a register.
#[inline]
#[target_feature(enable = "avx512f")]
fn split(x: __m512i) -> [__m128i; 4] {
    [
        _mm512_castsi512_si128(x),
        _mm512_extracti32x4_epi32::<1>(x),
        _mm512_extracti32x4_epi32::<2>(x),
        _mm512_extracti32x4_epi32::<3>(x),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn join([a, b, c, d]: [__m128i; 4]) -> __m512i {
    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Transposes 4 x 4 words.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn across([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let (low_ab, high_ab) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let (low_cd, high_cd) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    [
        _mm_unpacklo_epi64(low_ab, low_cd),
        _mm_unpackhi_epi64(low_ab, low_cd),
        _mm_unpacklo_epi64(high_ab, high_cd),
        _mm_unpackhi_epi64(high_ab, high_cd),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn linear([a, b, c, d]: [__m128i; 4], key: &[u32; 4]) -> [__m128i; 4] {
    let a = _mm_rol_epi32::<13>(a);
    let c = _mm_rol_epi32::<3>(c);
    let b = xor3(xor(b, splat(key[1])), c, a);
    let d = xor3(xor(d, splat(key[3])), c, _mm_slli_epi32::<3>(a));
    let b = _mm_rol_epi32::<1>(b);
    let d = _mm_rol_epi32::<7>(d);
    let a = xor3(xor(a, splat(key[0])), b, d);
    let c = xor3(xor(c, splat(key[2])), d, _mm_slli_epi32::<7>(b));
    [_mm_rol_epi32::<5>(a), b, _mm_rol_epi32::<22>(c), d]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn unlinear([a, b, c, d]: [__m128i; 4], key: &[u32; 4]) -> [__m128i; 4] {
    let a = xor(_mm_ror_epi32::<5>(a), splat(key[0]));
    let c = xor(_mm_ror_epi32::<22>(c), splat(key[2]));
    let a = xor3(a, b, d);
    let c = xor3(c, d, _mm_slli_epi32::<7>(b));
    let b = xor(_mm_ror_epi32::<1>(b), splat(key[1]));
    let d = xor(_mm_ror_epi32::<7>(d), splat(key[3]));
    let b = xor3(b, a, c);
    let d = xor3(d, c, _mm_slli_epi32::<3>(a));
    [_mm_ror_epi32::<13>(a), b, _mm_ror_epi32::<3>(c), d]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn xor3(a: __m128i, b: __m128i, c: __m128i) -> __m128i {
    _mm_ternarylogic_epi32::<0x96>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn xor(a: __m128i, b: __m128i) -> __m128i {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn splat(word: u32) -> __m128i {
    _mm_set1_epi32(word.cast_signed())
}
