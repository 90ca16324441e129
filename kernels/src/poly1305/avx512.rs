//! Eight blocks side by side, with the multiplications of 52 bits (IFMA).
//!
//! Lane sums are polynomials in the eighth power of the point; at the end each lane is multiplied
//! by the power that its last block still lacks. Long data take two such groups at a time, which
//! hide each other's latency.

use core::arch::x86_64::*;

use super::limbs::{LOW42, LOW44, from_words, into_words, powers};
use super::{State, portable};
use crate::Level;
use crate::simd::load512;

pub(super) const NEEDS: Level = Level::Avx512;

/// Eight numbers in limbs of 44, 44 and 42 bits.
struct Factor {
    limbs: [__m512i; 3],
    /// The two upper limbs times 20, for products that reach past the highest limb.
    over: [__m512i; 2],
}

#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
pub(super) fn absorb(state: &mut State, blocks: &[[u8; 16]]) {
    let (head, groups) = blocks.as_rchunks::<8>();
    // It does not wait for the powers, nor they for it.
    portable::absorb(state, head);
    let groups = groups.as_flattened().as_flattened().as_chunks().0.as_chunks().0;
    let Some((first, mut rest)) = groups.split_first() else { return };

    let lanes = last_powers(state.r);
    let [l0, l1, l2] = lanes.limbs;
    let eighth = factor([splat_first(l0), splat_first(l1), splat_first(l2)]);
    let [h0, h1, h2] = from_words(portable::folded(state.h));
    let before = [in_first_lane(h0), in_first_lane(h1), in_first_lane(h2)];
    let mut sum = plus(load(first), before);
    if let [second, pairs @ ..] = rest
        && pairs.len() >= 2
    {
        let sixteenth = factor(multiply(eighth.limbs, &eighth));
        let mut other = load(second);
        let (pairs, single) = pairs.as_chunks();
        for [one, two] in pairs {
            sum = plus(multiply(sum, &sixteenth), load(one));
            other = plus(multiply(other, &sixteenth), load(two));
        }
        sum = plus(multiply(sum, &eighth), other);
        rest = single;
    }
    for group in rest {
        sum = plus(multiply(sum, &eighth), load(group));
    }
    let [l0, l1, l2] = multiply(sum, &lanes);
    state.h = into_words([add_lanes(l0), add_lanes(l1), add_lanes(l2)]);
}

/// The powers of the point that lanes lack after their last block, in the order of [`load`]:
/// 8, 4, 7, 3, 6, 2, 5, 1.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn last_powers(r: [u64; 2]) -> Factor {
    let [[a0, a1, a2], [b0, b1, b2], [c0, c1, c2], [d0, d1, d2]] = powers(r);
    let low = [pairs([d0, c0, b0, a0]), pairs([d1, c1, b1, a1]), pairs([d2, c2, b2, a2])];
    // The fourth power for every other lane, one for the rest.
    let high = [alternating(d0, 1), alternating(d1, 0), alternating(d2, 0)];
    factor(multiply(low, &factor(high)))
}

/// Each number in two lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn pairs(limbs: [u64; 4]) -> __m512i {
    let [a, b, c, d] = limbs.map(u64::cast_signed);
    _mm512_setr_epi64(a, a, b, b, c, c, d, d)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn alternating(even: u64, odd: u64) -> __m512i {
    let (even, odd) = (even.cast_signed(), odd.cast_signed());
    _mm512_mask_set1_epi64(_mm512_set1_epi64(odd), 0x55, even)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn factor(limbs: [__m512i; 3]) -> Factor {
    let [_, l1, l2] = limbs;
    Factor { limbs, over: [twenty_fold(l1), twenty_fold(l2)] }
}

/// Eight blocks with their bit 2^128. The order of lanes is 0, 4, 1, 5, 2, 6, 3, 7.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn load([front, back]: &[[u8; 64]; 2]) -> [__m512i; 3] {
    let (front, back) = (load512(front), load512(back));
    let low = _mm512_unpacklo_epi64(front, back);
    let high = _mm512_unpackhi_epi64(front, back);
    let middle = _mm512_or_si512(_mm512_srli_epi64::<44>(low), _mm512_slli_epi64::<20>(high));
    let top = _mm512_or_si512(_mm512_srli_epi64::<24>(high), _mm512_set1_epi64(1 << 40));
    [mask44(low), mask44(middle), top]
}

/// Products, carried. Limbs may have 46 bits in `a` and 45 in `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn multiply([a0, a1, a2]: [__m512i; 3], b: &Factor) -> [__m512i; 3] {
    let ([b0, b1, b2], [o1, o2]) = (b.limbs, b.over);
    let (low0, high0) = sum_of_products([(a0, b0), (a1, o2), (a2, o1)]);
    let (low1, high1) = sum_of_products([(a0, b1), (a1, b0), (a2, o2)]);
    let (low2, high2) = sum_of_products([(a0, b2), (a1, b1), (a2, b0)]);

    // A high half has the weight 2^52: that of the next limb, 8 bits up; 10 above the short one.
    let carry = _mm512_add_epi64(_mm512_srli_epi64::<44>(low0), _mm512_slli_epi64::<8>(high0));
    let d1 = _mm512_add_epi64(low1, carry);
    let carry = _mm512_add_epi64(_mm512_srli_epi64::<44>(d1), _mm512_slli_epi64::<8>(high1));
    let d2 = _mm512_add_epi64(low2, carry);
    let carry = _mm512_add_epi64(_mm512_srli_epi64::<42>(d2), _mm512_slli_epi64::<10>(high2));
    let five_fold = _mm512_add_epi64(carry, _mm512_slli_epi64::<2>(carry));
    let h0 = _mm512_add_epi64(mask44(low0), five_fold);
    let h1 = _mm512_add_epi64(mask44(d1), _mm512_srli_epi64::<44>(h0));
    let h2 = _mm512_and_si512(d2, _mm512_set1_epi64(LOW42.cast_signed()));
    [mask44(h0), h1, h2]
}

/// The sum of three products, as the sums of their low 52 bits and of their high ones.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn sum_of_products(factors: [(__m512i, __m512i); 3]) -> (__m512i, __m512i) {
    let (mut low, mut high) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for (a, b) in factors {
        low = _mm512_madd52lo_epu64(low, a, b);
        high = _mm512_madd52hi_epu64(high, a, b);
    }
    (low, high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn plus([a0, a1, a2]: [__m512i; 3], [b0, b1, b2]: [__m512i; 3]) -> [__m512i; 3] {
    [_mm512_add_epi64(a0, b0), _mm512_add_epi64(a1, b1), _mm512_add_epi64(a2, b2)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn mask44(limb: __m512i) -> __m512i {
    _mm512_and_si512(limb, _mm512_set1_epi64(LOW44.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn twenty_fold(limb: __m512i) -> __m512i {
    _mm512_madd52lo_epu64(_mm512_setzero_si512(), limb, _mm512_set1_epi64(20))
}

/// The first lane in all of them.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn splat_first(limb: __m512i) -> __m512i {
    _mm512_broadcastq_epi64(_mm512_castsi512_si128(limb))
}

/// A number in the first lane, zeros in the others.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn in_first_lane(limb: u64) -> __m512i {
    _mm512_zextsi128_si512(_mm_cvtsi64_si128(limb.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,bmi2")]
fn add_lanes(limb: __m512i) -> u64 {
    _mm512_reduce_add_epi64(limb).cast_unsigned()
}
