//! Eight blocks side by side, with the multiplications of 52 bits (IFMA).
//!
//! Lane sums are polynomials in the eighth power of the point. At the end each lane is multiplied
//! by the power that its last block still lacks. Long data take two groups at a time, whose
//! products are added before they are carried.

pub(crate) mod lanes;
mod message;

use core::arch::x86_64::*;

pub(crate) use message::{LongMessageHash, MessageHash, Sum};

use crate::Level;
use crate::poly1305::limbs::{LOW42, LOW44, from_words, into_words};
use crate::poly1305::{State, portable};
use crate::simd::{load512, load512_end, load512_part, wipe512};

pub(crate) const NEEDS: Level = Level::Avx512;

/// Eight numbers in limbs of 44, 44 and 42 bits.
struct Factor {
    limbs: [__m512i; 3],
    /// The two upper limbs times 20, for products that reach past the highest limb.
    over: [__m512i; 2],
}

/// The most blocks for which the portable kernel is faster.
const FEW: usize = 2;

/// The factors of lanes.
pub(crate) struct Powers {
    /// The powers of the point that lanes lack after their last block.
    lanes: Factor,
    /// The eighth power in all lanes.
    eighth: Factor,
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
pub(crate) fn absorb(state: &mut State, blocks: &[[u8; 16]]) {
    let (head, groups) = blocks.split_at(head(blocks.len()));
    // It does not depend on the powers, nor they on it.
    portable::absorb(state, head);
    let powers = Powers::of(state.r);
    absorb_groups::<false>(state, &powers, None, groups.as_flattened(), [0; 2]);
}

/// The number of blocks, at the front of `blocks`, that the portable kernel takes before the
/// others. A few blocks that do not fill a group of eight are faster there than in lanes.
#[inline]
fn head(blocks: usize) -> usize {
    if blocks < 8 {
        blocks
    } else if blocks % 8 <= FEW {
        blocks % 8
    } else {
        0
    }
}

/// Absorbs at least eight blocks. Those that do not fill a group of eight go first, in incomplete
/// lanes. With `END` the last block is not in `bytes`: it is two numbers, and zeros fill the block
/// before it. The sixteenth power is made if it is needed and not given.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
fn absorb_groups<const END: bool>(
    state: &mut State,
    powers: &Powers,
    sixteenth: Option<&Factor>,
    bytes: &[u8],
    numbers: [u64; 2],
) {
    let sum = in_lanes::<END>(state, &powers.eighth, sixteenth, bytes, numbers);
    state.h = added_up(sum, powers);
}

/// The lanes after the last of the groups that [`absorb_groups`] absorbs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
fn in_lanes<const END: bool>(
    state: &State,
    eighth: &Factor,
    sixteenth: Option<&Factor>,
    bytes: &[u8],
    numbers: [u64; 2],
) -> [__m512i; 3] {
    let head = (bytes.len().div_ceil(16) + usize::from(END)) % 8;
    let (head, bytes) = bytes.split_at(16 * head);
    let (groups, rest) = bytes.as_chunks::<128>();
    let groups: &[[[u8; 64]; 2]] = groups.as_flattened().as_chunks().0.as_chunks().0;
    let (groups, last) = if END {
        let (front, back) = rest.split_first_chunk().expect("the last group is not whole");
        let numbers = numbers.map(u64::cast_signed);
        let numbers = _mm_set_epi64x(numbers[1], numbers[0]);
        (groups, limbs(load512(front), _mm512_inserti32x4::<3>(load512_part(back), numbers)))
    } else {
        let (last, groups) = groups.split_last().expect("eight blocks are a group");
        (groups, load(last))
    };
    let before = from_words(portable::folded(state.h));
    let mut sum = if head.is_empty() {
        let [h0, h1, h2] = before;
        [in_first_lane(h0), in_first_lane(h1), in_first_lane(h2)]
    } else {
        multiply(load_end(head, before), eighth)
    };
    if let [first, rest @ ..] = groups {
        sum = plus(sum, load(first));
        let mut rest = rest;
        if rest.len() >= 4 {
            let computed;
            let sixteenth = match sixteenth {
                Some(factor) => factor,
                None => {
                    computed = squared(eighth);
                    &computed
                }
            };
            let (pairs, single) = rest.as_chunks();
            for [one, two] in pairs {
                sum = after_two(sum, eighth, sixteenth, [one, two]);
            }
            rest = single;
        }
        for group in rest {
            sum = plus(multiply(sum, eighth), load(group));
        }
        sum = multiply(sum, eighth);
    }
    plus(sum, last)
}

/// The lanes after two more groups.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn after_two(
    sum: [__m512i; 3],
    eighth: &Factor,
    sixteenth: &Factor,
    [one, two]: [&[[u8; 64]; 2]; 2],
) -> [__m512i; 3] {
    // Products that do not depend on the sum come first.
    let products = add_products(products(load(one), eighth), sum, sixteenth);
    plus(carried(products), load(two))
}

/// The value of the polynomial after the last group in lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn added_up(sum: [__m512i; 3], powers: &Powers) -> [u64; 3] {
    let [l0, l1, l2] = multiply(sum, &powers.lanes);
    into_words([add_lanes(l0), add_lanes(l1), add_lanes(l2)])
}

/// [`load`] of the end of a group, at most seven blocks; to the first of them `before` is added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
fn load_end(bytes: &[u8], before: [u64; 3]) -> [__m512i; 3] {
    let (front, back) = bytes.split_at(bytes.len().saturating_sub(64));
    let (front, back) = (load512_end(front), load512_end(back));
    let [l0, l1, l2] = limbs(front, back);
    // Missing blocks have no bit 2^128.
    let (first, there) = LANES_OF_END[bytes.len() / 16 % 8];
    let l2 = _mm512_maskz_mov_epi64(there, l2);
    let [h0, h1, h2] = before.map(u64::cast_signed);
    [
        _mm512_add_epi64(l0, _mm512_maskz_set1_epi64(first, h0)),
        _mm512_add_epi64(l1, _mm512_maskz_set1_epi64(first, h1)),
        _mm512_add_epi64(l2, _mm512_maskz_set1_epi64(first, h2)),
    ]
}

/// For each number of blocks at the end of a group: the lane of the first and the lanes of all, in
/// the order of [`load`].
const LANES_OF_END: [(u8, u8); 8] = {
    const ORDER: [u8; 8] = [0, 4, 1, 5, 2, 6, 3, 7];
    let mut table = [(0, 0); 8];
    let mut lane = 0;
    while lane < 8 {
        let blocks = 8 - ORDER[lane] as usize;
        let mut more = blocks;
        while more < 8 {
            table[more].1 |= 1 << lane;
            more += 1;
        }
        if blocks < 8 {
            table[blocks].0 = 1 << lane;
        }
        lane += 1;
    }
    table
};

impl Factor {
    fn wipe(&mut self) {
        self.limbs.iter_mut().chain(&mut self.over).for_each(wipe512);
    }
}

impl Powers {
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    fn of(r: [u64; 2]) -> Self {
        let lanes = last_powers(r);
        let [l0, l1, l2] = lanes.limbs;
        let eighth = factor([splat_first(l0), splat_first(l1), splat_first(l2)]);
        Self { lanes, eighth }
    }

    fn wipe(&mut self) {
        self.lanes.wipe();
        self.eighth.wipe();
    }
}

/// The powers of the point that lanes lack after their last block, in the order of [`load`]:
/// 8, 4, 7, 3, 6, 2, 5, 1.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn last_powers(r: [u64; 2]) -> Factor {
    const FIRST_AND_THIRD: u8 = 0b0011_0011;
    const BACK: u8 = 0b1111_0000;
    const EVEN: u8 = 0b0101_0101;
    let [r0, r1, r2] = from_words([r[0], r[1], 0]);
    let one = [splat(r0), splat(r1), splat(r2)];
    // A single number is faster in words.
    let [r0, r1, r2] = from_words(portable::folded(portable::squared(r)));
    let two = [splat(r0), splat(r1), splat(r2)];
    // Each in two lanes: 2, 1, 2, 1; then 4, 3, 2, 1.
    let low = choose(FIRST_AND_THIRD, two, one);
    let low = choose(BACK, low, multiply(low, &factor(two)));
    let [l0, l1, l2] = low;
    let fourth = factor([splat_first(l0), splat_first(l1), splat_first(l2)]);
    factor(choose(EVEN, multiply(low, &fourth), low))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn splat(limb: u64) -> __m512i {
    _mm512_set1_epi64(limb.cast_signed())
}

/// The lanes of `mask` from `a`, the others from `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn choose(mask: u8, [a0, a1, a2]: [__m512i; 3], [b0, b1, b2]: [__m512i; 3]) -> [__m512i; 3] {
    [
        _mm512_mask_mov_epi64(b0, mask, a0),
        _mm512_mask_mov_epi64(b1, mask, a1),
        _mm512_mask_mov_epi64(b2, mask, a2),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn squared(number: &Factor) -> Factor {
    factor(multiply(number.limbs, number))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn factor(limbs: [__m512i; 3]) -> Factor {
    let [_, l1, l2] = limbs;
    Factor { limbs, over: [twenty_fold(l1), twenty_fold(l2)] }
}

/// Eight blocks with their bit 2^128. The order of lanes is 0, 4, 1, 5, 2, 6, 3, 7.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn load([front, back]: &[[u8; 64]; 2]) -> [__m512i; 3] {
    limbs(load512(front), load512(back))
}

/// [`load`] of blocks in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn limbs(front: __m512i, back: __m512i) -> [__m512i; 3] {
    let low = _mm512_unpacklo_epi64(front, back);
    let high = _mm512_unpackhi_epi64(front, back);
    split(low, high)
}

/// Limbs of blocks in words, with their bit 2^128.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2,bmi2")]
fn split(low: __m512i, high: __m512i) -> [__m512i; 3] {
    let middle = _mm512_shrdi_epi64::<44>(low, high);
    let top = _mm512_or_si512(_mm512_srli_epi64::<24>(high), _mm512_set1_epi64(1 << 40));
    [mask44(low), mask44(middle), top]
}

/// A product. Limbs may have 46 bits in `a` and 45 in `b`.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn multiply(a: [__m512i; 3], b: &Factor) -> [__m512i; 3] {
    carried(products(a, b))
}

/// A product, or the sum of a few, as sums of the low 52 bits of limbs' products and of the high
/// ones, lowest limb first.
struct Products {
    low: [__m512i; 3],
    high: [__m512i; 3],
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn products(a: [__m512i; 3], b: &Factor) -> Products {
    let zeros = [_mm512_setzero_si512(); 3];
    add_products(Products { low: zeros, high: zeros }, a, b)
}

/// Limbs in the order in which the previous product is ready.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn add_products(sums: Products, [a0, a1, a2]: [__m512i; 3], b: &Factor) -> Products {
    let ([b0, b1, b2], [o1, o2]) = (b.limbs, b.over);
    let ([low0, low1, low2], [high0, high1, high2]) = (sums.low, sums.high);
    let (low2, high2) = sum_of_products((low2, high2), [(a2, b0), (a0, b2), (a1, b1)]);
    let (low1, high1) = sum_of_products((low1, high1), [(a2, o2), (a0, b1), (a1, b0)]);
    let (low0, high0) = sum_of_products((low0, high0), [(a2, o1), (a0, b0), (a1, o2)]);
    Products { low: [low0, low1, low2], high: [high0, high1, high2] }
}

/// Limbs of at most 44 bits, or a little more, from the sum of at most two products.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn carried(sums: Products) -> [__m512i; 3] {
    let ([low0, low1, low2], [high0, high1, high2]) = (sums.low, sums.high);
    // A high half has the weight 2^52: that of the next limb, 8 bits up; 10 above the short one.
    let d1 = _mm512_add_epi64(low1, _mm512_slli_epi64::<8>(high0));
    let d2 = _mm512_add_epi64(low2, _mm512_slli_epi64::<8>(high1));
    // Each limb is carried by itself, except for the lowest, to which the overflow comes back
    // five-fold.
    let h0 = _mm512_madd52lo_epu64(mask44(low0), high2, _mm512_set1_epi64(5 << 10));
    let h0 = _mm512_madd52lo_epu64(h0, _mm512_srli_epi64::<42>(d2), _mm512_set1_epi64(5));
    let h1 = _mm512_add_epi64(mask44(d1), _mm512_srli_epi64::<44>(low0));
    let h1 = _mm512_add_epi64(h1, _mm512_srli_epi64::<44>(h0));
    let h2 = _mm512_and_si512(d2, _mm512_set1_epi64(LOW42.cast_signed()));
    let h2 = _mm512_add_epi64(h2, _mm512_srli_epi64::<44>(d1));
    [mask44(h0), h1, h2]
}

/// Adds three products to sums of low 52 bits and of high ones.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn sum_of_products(
    (mut low, mut high): (__m512i, __m512i),
    factors: [(__m512i, __m512i); 3],
) -> (__m512i, __m512i) {
    for (a, b) in factors {
        low = _mm512_madd52lo_epu64(low, a, b);
        high = _mm512_madd52hi_epu64(high, a, b);
    }
    (low, high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn plus([a0, a1, a2]: [__m512i; 3], [b0, b1, b2]: [__m512i; 3]) -> [__m512i; 3] {
    [_mm512_add_epi64(a0, b0), _mm512_add_epi64(a1, b1), _mm512_add_epi64(a2, b2)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn mask44(limb: __m512i) -> __m512i {
    _mm512_and_si512(limb, _mm512_set1_epi64(LOW44.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn twenty_fold(limb: __m512i) -> __m512i {
    _mm512_madd52lo_epu64(_mm512_setzero_si512(), limb, _mm512_set1_epi64(20))
}

/// The first lane in all of them.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn splat_first(limb: __m512i) -> __m512i {
    _mm512_broadcastq_epi64(_mm512_castsi512_si128(limb))
}

/// A number in the first lane, zeros in the others.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn in_first_lane(limb: u64) -> __m512i {
    _mm512_zextsi128_si512(_mm_cvtsi64_si128(limb.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn add_lanes(limb: __m512i) -> u64 {
    _mm512_reduce_add_epi64(limb).cast_unsigned()
}
