//! Four blocks side by side, in five limbs of 26 bits: products of 32-bit factors fit in a lane of
//! 64 bits with room for their sums.
//!
//! Lane sums are polynomials in the fourth power of the point. At the end each lane is multiplied
//! by the power that its last block still lacks. Long data take two groups at a time, which hide
//! each other's latency.

use core::arch::x86_64::*;

use crate::Level;
use crate::poly1305::limbs::{LOW44, from_words, into_words, powers, word};
use crate::poly1305::{State, portable};
use crate::simd::{load256, opaque256};

pub(crate) const NEEDS: Level = Level::Avx2;

/// The bits of a limb.
const LOW26: u64 = (1 << 26) - 1;

/// Four numbers in limbs of 26 bits.
struct Factor {
    limbs: [__m256i; 5],
    /// The upper limbs times 5, for products that reach past the highest limb.
    over: [__m256i; 4],
}

#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn absorb(state: &mut State, blocks: &[[u8; 16]]) {
    let (head, groups) = blocks.as_rchunks::<4>();
    // It does not depend on the powers, nor they on it.
    portable::absorb(state, head);
    let groups = groups.as_flattened().as_flattened().as_chunks().0.as_chunks().0;
    let Some((first, mut rest)) = groups.split_first() else { return };

    let [r, r2, r3, r4] = powers(state.r).map(narrow);
    let fourth = factor(side_by_side([r4, r4, r4, r4]));
    let lanes = factor(side_by_side([r4, r2, r3, r]));

    let before = narrow(from_words(portable::folded(state.h)));
    let mut sum = plus(load(first), side_by_side([before, [0; 5], [0; 5], [0; 5]]));
    if let [second, pairs @ ..] = rest
        && pairs.len() >= 2
    {
        let eighth = factor(multiply(fourth.limbs, &fourth));
        let mut other = load(second);
        let (pairs, single) = pairs.as_chunks();
        for [one, two] in pairs {
            sum = plus(multiply(sum, &eighth), load(one));
            other = plus(multiply(other, &eighth), load(two));
        }
        sum = plus(multiply(sum, &fourth), other);
        rest = single;
    }
    for group in rest {
        sum = plus(multiply(sum, &fourth), load(group));
    }
    let [l0, l1, l2, l3, l4] = multiply(sum, &lanes);
    let limbs = [add_lanes(l0), add_lanes(l1), add_lanes(l2), add_lanes(l3), add_lanes(l4)];
    state.h = widen(limbs);
}

/// Three limbs as five of 26 bits, of which the highest may have a bit more.
#[inline]
fn narrow([h0, h1, h2]: [u64; 3]) -> [u64; 5] {
    let low = u128::from(h0) + (u128::from(h1) << 44);
    let high = (low >> 52) + (u128::from(h2) << 36);
    let [l0, l1, l2, l3] = [low, low >> 26, high, high >> 26].map(|l| word(l) & LOW26);
    [l0, l1, l2, l3, word(high >> 52)]
}

/// Five limbs of at most 40 bits as words.
#[inline]
fn widen([l0, l1, l2, l3, l4]: [u64; 5]) -> [u64; 3] {
    let low =
        u128::from(l0) + (u128::from(l1) << 26) + (u128::from(l2) << 52) + (u128::from(l3) << 78);
    into_words([word(low) & LOW44, word(low >> 44) & LOW44, word(low >> 88) + (l4 << 16)])
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn factor(limbs: [__m256i; 5]) -> Factor {
    let [l0, l1, l2, l3, l4] = opaque(limbs);
    let [o1, o2, o3, o4] = [five_fold(l1), five_fold(l2), five_fold(l3), five_fold(l4)];
    let over = [opaque256(o1), opaque256(o2), opaque256(o3), opaque256(o4)];
    Factor { limbs: [l0, l1, l2, l3, l4], over }
}

/// Four blocks with their bit 2^128. The order of lanes is 0, 2, 1, 3.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn load([front, back]: &[[u8; 32]; 2]) -> [__m256i; 5] {
    let (front, back) = (load256(front), load256(back));
    let low = _mm256_unpacklo_epi64(front, back);
    let high = _mm256_unpackhi_epi64(front, back);
    let across = _mm256_or_si256(_mm256_srli_epi64::<52>(low), _mm256_slli_epi64::<12>(high));
    [
        mask(low),
        mask(_mm256_srli_epi64::<26>(low)),
        mask(across),
        mask(_mm256_srli_epi64::<14>(high)),
        _mm256_or_si256(_mm256_srli_epi64::<40>(high), splat(1 << 24)),
    ]
}

/// Products, carried. Limbs may have 29 bits in `a` and 27 in `b`.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn multiply(a: [__m256i; 5], b: &Factor) -> [__m256i; 5] {
    let [a0, a1, a2, a3, a4] = opaque(a);
    let ([b0, b1, b2, b3, b4], [o1, o2, o3, o4]) = (b.limbs, b.over);
    let d0 = sum_of_products([(a0, b0), (a1, o4), (a2, o3), (a3, o2), (a4, o1)]);
    let d1 = sum_of_products([(a0, b1), (a1, b0), (a2, o4), (a3, o3), (a4, o2)]);
    let d2 = sum_of_products([(a0, b2), (a1, b1), (a2, b0), (a3, o4), (a4, o3)]);
    let d3 = sum_of_products([(a0, b3), (a1, b2), (a2, b1), (a3, b0), (a4, o4)]);
    let d4 = sum_of_products([(a0, b4), (a1, b3), (a2, b2), (a3, b1), (a4, b0)]);

    // Two chains of carries at a time, begun at limbs 0 and 3.
    let (d0, d1) = carry(d0, d1);
    let (d3, d4) = carry(d3, d4);
    let (d1, d2) = carry(d1, d2);
    let d0 = _mm256_add_epi64(d0, five_fold(_mm256_srli_epi64::<26>(d4)));
    let d4 = mask(d4);
    let (d2, d3) = carry(d2, d3);
    let (d0, d1) = carry(d0, d1);
    let (d3, d4) = carry(d3, d4);
    [d0, d1, d2, d3, d4]
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn sum_of_products([(a, b), rest @ ..]: [(__m256i, __m256i); 5]) -> __m256i {
    let mut sum = _mm256_mul_epu32(a, b);
    for (a, b) in rest {
        sum = _mm256_add_epi64(sum, _mm256_mul_epu32(a, b));
    }
    sum
}

/// Limbs, unchanged. If the compiler sees their origin, it makes products of 64 bits out of those
/// of 32, with three multiplications each.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn opaque([l0, l1, l2, l3, l4]: [__m256i; 5]) -> [__m256i; 5] {
    [opaque256(l0), opaque256(l1), opaque256(l2), opaque256(l3), opaque256(l4)]
}

/// Carries the upper bits of a limb on to the `next` one.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn carry(limb: __m256i, next: __m256i) -> (__m256i, __m256i) {
    (mask(limb), _mm256_add_epi64(next, _mm256_srli_epi64::<26>(limb)))
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn plus(a: [__m256i; 5], b: [__m256i; 5]) -> [__m256i; 5] {
    let mut sum = a;
    for (sum, b) in sum.iter_mut().zip(b) {
        *sum = _mm256_add_epi64(*sum, b);
    }
    sum
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn mask(limb: __m256i) -> __m256i {
    _mm256_and_si256(limb, splat(LOW26))
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn five_fold(limb: __m256i) -> __m256i {
    _mm256_add_epi64(limb, _mm256_slli_epi64::<2>(limb))
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn splat(limb: u64) -> __m256i {
    _mm256_set1_epi64x(limb.cast_signed())
}

/// Four numbers, one a lane.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn side_by_side([a, b, c, d]: [[u64; 5]; 4]) -> [__m256i; 5] {
    let mut limbs = [_mm256_setzero_si256(); 5];
    for (i, limb) in limbs.iter_mut().enumerate() {
        let [a, b, c, d] = [a[i], b[i], c[i], d[i]].map(u64::cast_signed);
        *limb = _mm256_setr_epi64x(a, b, c, d);
    }
    limbs
}

#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn add_lanes(limb: __m256i) -> u64 {
    let halves = _mm_add_epi64(_mm256_castsi256_si128(limb), _mm256_extracti128_si256::<1>(limb));
    let sum = _mm_add_epi64(halves, _mm_unpackhi_epi64(halves, halves));
    _mm_cvtsi128_si64(sum).cast_unsigned()
}
