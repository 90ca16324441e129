//! The S-boxes and their inverses in ternary logic: each instruction is any function of three bits.
//!
//! The circuits are the shortest that a search found among those whose steps each XOR
//! into one of the four words a function of the others: seven or eight instructions.

use core::arch::x86_64::*;

// The functions are written as expressions over these, the truth tables of the three operands.
const A: i32 = 0xf0;
const B: i32 = 0xcc;
const C: i32 = 0xaa;
const ONES: i32 = 0xff;

/// The function `F` of three words.
#[inline]
#[target_feature(enable = "avx512f")]
fn lut<const F: i32>(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<F>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s0([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let b = lut::<{ A ^ (B | C) }>(b, a, d);
    let a = lut::<{ A ^ B ^ C }>(a, b, d);
    let d = lut::<{ A ^ (B | C) }>(d, a, c);
    let c = xor(c, b);
    let a = lut::<{ ONES ^ A ^ (B | C) }>(a, c, d);
    let b = lut::<{ ONES ^ A ^ (B | C) }>(b, a, d);
    let d = lut::<{ A ^ (B & !C) }>(d, a, c);
    [a, d, b, c]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s1([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let c = lut::<{ A ^ (!B & C) }>(c, a, b);
    let a = lut::<{ A ^ B ^ C }>(a, b, d);
    let b = lut::<{ A ^ (B & !C) }>(b, a, d);
    let a = lut::<{ ONES ^ A ^ (B & !C) }>(a, b, c);
    let b = lut::<{ A ^ B ^ C }>(b, a, c);
    let d = lut::<{ A ^ B ^ ONES }>(d, c, c);
    let c = lut::<{ ONES ^ A ^ (B & !C) }>(c, a, b);
    [c, b, d, a]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s2([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let d = lut::<{ A ^ (B & C) }>(d, a, c);
    let a = lut::<{ A ^ B ^ C }>(a, b, c);
    let a = lut::<{ ONES ^ A ^ (B & C) }>(a, b, d);
    let b = lut::<{ A ^ B ^ C }>(b, c, d);
    let c = lut::<{ A ^ (B & C) }>(c, b, d);
    let d = lut::<{ ONES ^ A ^ (B & !C) }>(d, a, c);
    let c = lut::<{ ONES ^ A ^ (B & !C) }>(c, a, d);
    [b, d, c, a]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s3([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let b = lut::<{ A ^ (B & C) }>(b, a, d);
    let d = lut::<{ A ^ (B & !C) }>(d, a, b);
    let b = lut::<{ A ^ (B | C) }>(b, c, d);
    let t = lut::<{ B ^ ((A ^ C) & (B | C)) }>(a, b, d);
    let c = xor(c, t);
    let a = lut::<{ A ^ (B | C) }>(a, b, d);
    let d = lut::<{ A ^ (B & C) }>(d, a, c);
    let a = xor(a, c);
    [d, c, a, b]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s4([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let c = lut::<{ A ^ (!B & C) }>(c, a, d);
    let a = lut::<{ A ^ (B & !C) }>(a, b, c);
    let t = lut::<{ (A | B) & (B ^ !C) }>(a, c, d);
    let b = xor(b, t);
    let c = lut::<{ A ^ B ^ C }>(c, a, d);
    let d = lut::<{ A ^ (B | C) }>(d, a, c);
    let a = lut::<{ A ^ (!B & C) }>(a, b, d);
    let d = lut::<{ ONES ^ A ^ (B & C) }>(d, b, c);
    [d, b, a, c]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s5([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let c = lut::<{ A ^ (!B & C) }>(c, a, b);
    let b = lut::<{ A ^ (!B & C) }>(b, c, d);
    let t = lut::<{ A ^ (C | (A & B)) }>(a, b, c);
    let d = lut::<{ A ^ B ^ ONES }>(d, t, t);
    let a = lut::<{ A ^ B ^ C ^ ONES }>(a, b, c);
    let c = lut::<{ ONES ^ A ^ (B | C) }>(c, a, b);
    let b = lut::<{ ONES ^ A ^ (B & C) }>(b, c, d);
    let c = lut::<{ A ^ (B | C) }>(c, a, d);
    [c, a, b, d]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s6([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let a = lut::<{ A ^ (B | C) }>(a, b, d);
    let c = lut::<{ A ^ (B | C) }>(c, a, d);
    let d = lut::<{ A ^ (!B & C) }>(d, b, c);
    let b = lut::<{ A ^ B ^ C ^ ONES }>(b, a, c);
    let c = lut::<{ A ^ (B & C) }>(c, a, d);
    let a = lut::<{ ONES ^ A ^ (!B & C) }>(a, b, d);
    let d = lut::<{ ONES ^ A ^ (B & C) }>(d, a, c);
    [a, b, d, c]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn s7([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let d = lut::<{ A ^ (!B & C) }>(d, b, c);
    let b = xor(b, c);
    let t = lut::<{ B ^ ((A ^ C) & (B | C)) }>(a, b, d);
    let c = xor(c, t);
    let b = lut::<{ A ^ (B & !C) }>(b, a, d);
    let a = lut::<{ A ^ (B & !C) }>(a, c, d);
    let d = lut::<{ A ^ (B & C) }>(d, a, b);
    let a = lut::<{ ONES ^ A ^ (B & C) }>(a, b, d);
    [a, c, d, b]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i0([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let c = lut::<{ A ^ (B | C) }>(c, a, b);
    let a = lut::<{ A ^ B ^ C }>(a, b, d);
    let b = lut::<{ A ^ (B & C) }>(b, a, d);
    let a = lut::<{ ONES ^ A ^ (B & C) }>(a, b, c);
    let b = lut::<{ A ^ B ^ C }>(b, a, c);
    let d = lut::<{ A ^ B ^ ONES }>(d, c, c);
    let c = lut::<{ ONES ^ A ^ (B | C) }>(c, a, b);
    [b, c, d, a]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i1([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let a = lut::<{ A ^ (!B & C) }>(a, b, d);
    let b = lut::<{ A ^ B ^ C }>(b, a, d);
    let d = lut::<{ A ^ (!B & C) }>(d, b, c);
    let c = xor(c, a);
    let b = lut::<{ A ^ (B | C) }>(b, c, d);
    let a = lut::<{ ONES ^ A ^ (B & !C) }>(a, b, d);
    let d = lut::<{ ONES ^ A ^ (B | C) }>(d, b, c);
    [d, b, a, c]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i2([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let a = lut::<{ A ^ (B & !C) }>(a, b, c);
    let c = lut::<{ A ^ (!B & C) }>(c, b, d);
    let b = lut::<{ A ^ (B & C) }>(b, c, d);
    let d = lut::<{ A ^ B ^ C }>(d, a, c);
    let c = lut::<{ ONES ^ A ^ (B & !C) }>(c, a, b);
    let a = lut::<{ ONES ^ A ^ (B | C) }>(a, b, c);
    let b = lut::<{ ONES ^ A ^ (B & C) }>(b, c, d);
    [d, a, c, b]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i3([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let a = lut::<{ A ^ (B & !C) }>(a, b, c);
    let b = xor(b, c);
    let t = lut::<{ (A | B) & (A ^ !C) }>(a, b, d);
    let c = xor(c, t);
    let b = lut::<{ A ^ (B | C) }>(b, a, d);
    let d = lut::<{ A ^ (!B & C) }>(d, a, c);
    let a = lut::<{ A ^ (B | C) }>(a, b, d);
    let d = lut::<{ A ^ (B | C) }>(d, a, b);
    [b, a, c, d]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i4([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let c = lut::<{ A ^ (B | C) }>(c, a, b);
    let a = lut::<{ A ^ (B & C) }>(a, b, d);
    let t = lut::<{ B ^ (C | (A & B)) }>(a, c, d);
    let b = xor(b, t);
    let a = lut::<{ A ^ (B & !C) }>(a, c, d);
    let d = lut::<{ A ^ B ^ C }>(d, a, c);
    let c = lut::<{ ONES ^ A ^ (B & C) }>(c, b, d);
    let d = lut::<{ ONES ^ A ^ (B & !C) }>(d, a, c);
    [c, b, d, a]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i5([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let c = lut::<{ A ^ (!B & C) }>(c, a, d);
    let a = lut::<{ A ^ (!B & C) }>(a, b, d);
    let t = lut::<{ B ^ (C | (A & B)) }>(a, b, c);
    let d = lut::<{ A ^ B ^ ONES }>(d, t, t);
    let a = lut::<{ A ^ (B & C) }>(a, b, c);
    let b = lut::<{ A ^ B ^ C }>(b, a, c);
    let c = lut::<{ ONES ^ A ^ (!B & C) }>(c, b, d);
    let b = lut::<{ A ^ (!B & C) }>(b, a, c);
    [a, c, b, d]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i6([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let d = lut::<{ A ^ (!B & C) }>(d, a, c);
    let a = lut::<{ A ^ B ^ C }>(a, c, d);
    let c = lut::<{ A ^ (B & !C) }>(c, a, d);
    let a = lut::<{ ONES ^ A ^ (B & C) }>(a, b, c);
    let c = lut::<{ A ^ B ^ C }>(c, a, b);
    let b = lut::<{ A ^ B ^ ONES }>(b, d, d);
    let d = lut::<{ A ^ (B & C) }>(d, a, c);
    [a, b, d, c]
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn i7([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let a = lut::<{ A ^ (B & C) }>(a, c, d);
    let c = lut::<{ A ^ (!B & C) }>(c, a, d);
    let a = lut::<{ ONES ^ A ^ (B & !C) }>(a, b, c);
    let t = lut::<{ B ^ ((A ^ C) & (B | C)) }>(a, c, d);
    let b = xor(b, t);
    let d = lut::<{ ONES ^ A ^ (B & !C) }>(d, a, c);
    let c = lut::<{ A ^ (B & !C) }>(c, b, d);
    let d = lut::<{ A ^ B ^ ONES }>(d, b, b);
    [a, d, b, c]
}

tables!(
    #[target_feature(enable = "avx512f")]
    Avx512,
    _mm512_set1_epi32,
    _mm512_cvtsi512_si32
);
