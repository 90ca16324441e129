//! The S-boxes and their inverses in ternary logic of depth two, for a single state: seven to nine
//! instructions.

use core::arch::x86_64::*;

/// Defines the S-boxes `s0` to `s7` on one type of registers; `$ternary` is its ternary logic.
macro_rules! shallow_boxes {
    ($vector:ty, $ternary:ident) => {
        // The functions are written as expressions over these, the truth tables of the three
        // operands.
        const A: i32 = 0xf0;
        const B: i32 = 0xcc;
        const C: i32 = 0xaa;
        const ONES: i32 = 0xff;

        /// The function `F` of three words.
        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        fn lut<const F: i32>(a: $vector, b: $vector, c: $vector) -> $vector {
            $ternary::<F>(a, b, c)
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s0([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ B ^ (A | C) }>(a, b, d);
            let q = lut::<{ A ^ B ^ C }>(a, c, d);
            let r = lut::<{ A ^ (B & (A ^ C)) }>(a, b, d);
            let s = lut::<{ B ^ (A & C) }>(a, b, d);
            [
                lut::<{ ONES ^ A ^ ((A ^ B) & (B ^ C)) }>(q, r, s),
                lut::<{ ONES ^ A ^ ((A ^ B) & (A ^ C)) }>(q, r, s),
                lut::<{ A ^ (B & C) }>(p, q, r),
                lut::<{ B ^ C }>(a, c, p),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s1([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ C ^ (B & !A) }>(a, b, c);
            let q = lut::<{ A ^ (C & (A ^ B)) }>(a, b, d);
            let r = lut::<{ (A & C) ^ (B | C) }>(a, b, d);
            [
                lut::<{ ONES ^ B ^ (C & (A ^ B)) }>(p, q, r),
                lut::<{ ONES ^ C ^ (A | B) }>(p, q, r),
                lut::<{ ONES ^ B ^ C }>(a, d, p),
                lut::<{ ONES ^ C ^ (A & B) }>(p, q, r),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s2([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ C ^ (A & B) }>(a, c, d);
            let q = lut::<{ A ^ B ^ C }>(a, b, c);
            let r = lut::<{ B ^ (A | C) }>(a, b, d);
            [
                lut::<{ A ^ B ^ C }>(a, p, q),
                lut::<{ (A & C) ^ (B | C) }>(p, q, r),
                lut::<{ A ^ (B & C) }>(p, q, r),
                lut::<{ ONES ^ C ^ (A & B) }>(b, p, q),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s3([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ (A | C) & (B ^ C) }>(a, c, d);
            let q = lut::<{ A & (C | !B) }>(b, c, d);
            let r = lut::<{ A ^ (B | (A & C)) }>(a, b, d);
            let s = lut::<{ A ^ (C | (A & B)) }>(a, b, c);
            [
                lut::<{ C ^ (A | B) }>(a, p, q),
                lut::<{ A ^ B ^ C }>(d, p, r),
                lut::<{ C ^ (A & !B) }>(d, r, s),
                lut::<{ A ^ B ^ C }>(b, p, s),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s4([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ (A ^ B) & (B ^ C) }>(a, b, d);
            let q = lut::<{ B ^ (A | (B & C)) }>(a, c, d);
            let r = lut::<{ (A | B) ^ (A & C) }>(b, c, d);
            let s = lut::<{ B ^ ((A ^ C) & (B | C)) }>(b, c, d);
            [
                lut::<{ ONES ^ A ^ B ^ C }>(c, d, p),
                lut::<{ C ^ (A | B) }>(a, q, s),
                lut::<{ A ^ (B | C) }>(b, p, q),
                lut::<{ C ^ (A & !B) }>(a, p, r),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s5([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ (A ^ B) & (A | C) }>(a, b, d);
            let q = lut::<{ (A ^ B) | (A ^ C) }>(a, b, d);
            let r = lut::<{ (B ^ C) | (B & !A) }>(a, b, c);
            let s = lut::<{ (A & C) | (A ^ B ^ C) }>(a, c, d);
            [
                lut::<{ ONES ^ A ^ B ^ C }>(a, c, q),
                lut::<{ ONES ^ C ^ (A | B) }>(c, d, p),
                lut::<{ ONES ^ A ^ (B & C) }>(d, q, r),
                lut::<{ ONES ^ C ^ (A & B) }>(b, r, s),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s6([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ A ^ (B & !C) }>(b, c, d);
            let q = lut::<{ A ^ ((A ^ B) | (A ^ C)) }>(a, c, d);
            let r = lut::<{ B ^ (A | C) }>(a, b, c);
            let s = lut::<{ C ^ (A & B) }>(a, c, d);
            [
                lut::<{ ONES ^ ((A & C) ^ (B | C)) }>(d, q, r),
                lut::<{ ONES ^ B ^ (A & !C) }>(a, r, s),
                lut::<{ ONES ^ A ^ (B & (A ^ C)) }>(a, p, q),
                lut::<{ C ^ (A & B) }>(p, r, s),
            ]
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512vl")]
        pub(super) fn s7([a, b, c, d]: [$vector; 4]) -> [$vector; 4] {
            let p = lut::<{ C ^ (B | (A & C)) }>(a, b, c);
            let q = lut::<{ (A | B) ^ (B & C) }>(a, c, d);
            let r = lut::<{ A ^ ((A | B) & (B ^ C)) }>(a, b, c);
            let s = lut::<{ B ^ (A | C) }>(a, c, d);
            let t = lut::<{ A & (B ^ C) }>(a, b, d);
            [
                lut::<{ ONES ^ B ^ (C & (A ^ B)) }>(d, q, r),
                lut::<{ B ^ (A | C) }>(r, s, t),
                lut::<{ (A & B) ^ (A | C) }>(b, q, s),
                lut::<{ C ^ (A & !B) }>(a, d, p),
            ]
        }
    };
}

shallow_boxes!(__m128i, _mm_ternarylogic_epi32);

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i0([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ C ^ (A | B) }>(a, b, c);
    let q = lut::<{ A ^ (C & (A ^ B)) }>(a, b, d);
    let r = lut::<{ (A & C) ^ (B | C) }>(a, b, d);
    [
        lut::<{ ONES ^ B ^ (A & !C) }>(p, q, r),
        lut::<{ (A | B) ^ (B & C) }>(p, q, r),
        lut::<{ ONES ^ B ^ C }>(a, d, p),
        lut::<{ ONES ^ B ^ (C & !A) }>(p, q, r),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i1([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ (A | B) ^ (A & C) }>(a, b, d);
    let q = lut::<{ A ^ (C & !B) }>(a, b, d);
    let r = lut::<{ A ^ B ^ C }>(b, c, d);
    let s = lut::<{ A ^ (B & !C) }>(a, b, d);
    [
        lut::<{ ONES ^ A ^ ((A ^ B) & (A ^ C)) }>(p, r, s),
        lut::<{ A ^ ((A ^ B) & (B ^ C)) }>(p, r, s),
        lut::<{ ONES ^ B ^ (A & C) }>(p, q, r),
        lut::<{ B ^ C }>(a, c, q),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i2([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ (A | B) ^ (A & C) }>(b, c, d);
    let q = lut::<{ B ^ ((A ^ C) & (B | C)) }>(a, b, d);
    let r = lut::<{ (B & C) | (A ^ (B | C)) }>(a, c, d);
    let s = lut::<{ (A | C) ^ (B & C) }>(b, c, d);
    [
        lut::<{ A ^ C }>(a, b, p),
        lut::<{ A ^ B ^ C }>(a, q, r),
        lut::<{ ONES ^ A ^ B ^ C }>(q, r, s),
        lut::<{ ONES ^ ((A & B) | (A ^ C)) }>(q, r, s),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i3([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ (A ^ B) & (B | C) }>(b, c, d);
    let q = lut::<{ B ^ (C & !A) }>(a, b, d);
    let r = lut::<{ C ^ (B & (A ^ C)) }>(a, b, d);
    let s = lut::<{ (A & C) | (A ^ B ^ C) }>(b, c, d);
    let t = lut::<{ !C & (A ^ B) }>(a, c, d);
    [
        lut::<{ C ^ (A | B) }>(a, d, p),
        lut::<{ (A | B) ^ (A & C) }>(c, q, r),
        lut::<{ A ^ (B & !C) }>(q, s, t),
        lut::<{ (A | C) ^ (B & C) }>(a, r, s),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i4([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ (A & !B) | (B ^ C) }>(a, c, d);
    let q = lut::<{ (A ^ B) & (B | C) }>(a, b, d);
    let r = lut::<{ (A ^ C) | (A & !B) }>(a, b, c);
    let s = lut::<{ (B & C) | (A ^ (B | C)) }>(a, c, d);
    [
        lut::<{ ONES ^ C ^ (A | B) }>(b, q, s),
        lut::<{ C ^ (A & !B) }>(a, b, p),
        lut::<{ ONES ^ C ^ (A | B) }>(d, q, r),
        lut::<{ C ^ (A & B) }>(c, p, q),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i5([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ A ^ ((A & B) | (B ^ C)) }>(a, b, d);
    let q = lut::<{ (A & B) | (A ^ B ^ C) }>(a, b, c);
    let r = lut::<{ (A ^ C) & (B | C) }>(a, b, d);
    let s = lut::<{ (A ^ B) | (A & C) }>(a, c, d);
    [
        lut::<{ C ^ (A & !B) }>(b, c, p),
        lut::<{ C ^ (B & !A) }>(c, q, r),
        lut::<{ C ^ (A & !B) }>(b, p, s),
        lut::<{ ONES ^ C ^ (A & !B) }>(a, d, q),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i6([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ A ^ (B & C) }>(a, c, d);
    let q = lut::<{ B | (A ^ C) }>(a, c, d);
    let r = lut::<{ (A & C) ^ (B | C) }>(a, c, d);
    let s = lut::<{ A ^ ((A ^ B) & (B ^ C)) }>(a, c, d);
    [
        lut::<{ ONES ^ B ^ (C & !A) }>(b, r, s),
        lut::<{ ONES ^ A ^ B ^ C }>(b, p, q),
        lut::<{ ONES ^ B ^ (A & !C) }>(b, p, r),
        lut::<{ ONES ^ B ^ (A & !C) }>(b, r, s),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn i7([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let p = lut::<{ (A | B) & (A ^ !C) }>(b, c, d);
    let q = lut::<{ (A ^ B) | (A & C) }>(a, b, d);
    let r = lut::<{ (A | C) & (B ^ C) }>(a, c, d);
    let s = lut::<{ C | (A & B) }>(a, b, c);
    [
        lut::<{ ONES ^ A ^ B ^ C }>(c, p, q),
        lut::<{ ONES ^ B ^ (A | C) }>(a, p, r),
        lut::<{ A ^ B ^ C }>(a, q, r),
        lut::<{ C ^ (A & B) }>(d, q, s),
    ]
}

tables!(
    #[target_feature(enable = "avx512f,avx512vl")]
    Avx512,
    _mm_set1_epi32,
    _mm_cvtsi128_si32
);
