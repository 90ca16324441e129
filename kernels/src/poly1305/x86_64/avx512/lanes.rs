//! Eight messages side by side, each under its own key. No powers of the point are needed, and
//! nothing is added across lanes.

use core::arch::x86_64::*;

use super::{
    Factor, LOW42, Products, add_products, carried, choose, factor, mask44, multiply, plus,
    products, split, squared,
};
use crate::simd::{load256, load512_words, store512, wipe512};

/// Poly1305 of eight messages, one a lane of 64 bits, with the sums so far.
pub(crate) struct Eight {
    point: Factor,
    sum: [__m512i; 3],
    /// Added at the end, in words.
    pad: [__m512i; 2],
}

impl Eight {
    /// Takes a one-time key for each lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn new(keys: [&[u8; 32]; 8]) -> Self {
        let [low, high, pad0, pad1] = across(keys);
        // The bits that RFC 8439 clears.
        let low = _mm512_and_si512(low, splat(0x0fff_fffc_0fff_ffff));
        let high = _mm512_and_si512(high, splat(0x0fff_fffc_0fff_fffc));
        let [r0, r1, r2] = split(low, high);
        // Without the bit past the highest that blocks have.
        let r2 = _mm512_andnot_si512(splat(1 << 40), r2);
        let zero = _mm512_setzero_si512();
        Self { point: factor([r0, r1, r2]), sum: [zero; 3], pad: [pad0, pad1] }
    }

    /// Absorbs pairs of blocks, all that each lane has; the first lane has the most, the last one
    /// the fewest.
    ///
    /// Two blocks at a time, by the square of the point, so that the sum of two products is carried
    /// once.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn absorb_pairs(&mut self, pairs: &[&[[u8; 32]]; 8]) {
        let mut square = squared(&self.point);
        let mut sum = self.sum;
        let (most, fewest) = (pairs[0].len(), pairs[7].len());
        // The next pair is prepared while the processor waits for the sum.
        let mut ready = Prepared::new(pairs_at(pairs, 0), &self.point);
        for at in 0..fewest {
            let next = Prepared::new(pairs_at(pairs, at + 1), &self.point);
            sum = ready.absorbed(sum, &square);
            ready = next;
        }
        let mut count = 8;
        for at in fewest..most {
            while pairs[count - 1].len() <= at {
                count -= 1;
            }
            let next = Prepared::new(pairs_at(pairs, at + 1), &self.point);
            sum = choose(u8::MAX >> (8 - count), ready.absorbed(sum, &square), sum);
            ready = next;
        }
        self.sum = sum;
        square.wipe();
    }

    /// Absorbs two blocks in each lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn absorb(&mut self, blocks: [&[u8; 32]; 8]) {
        let [low0, high0, low1, high1] = across(blocks);
        self.sum = multiply(plus(self.sum, split(low0, high0)), &self.point);
        self.sum = multiply(plus(self.sum, split(low1, high1)), &self.point);
    }

    /// Absorbs the first of two blocks in the lanes of one mask, the second in those of another.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn absorb_in(&mut self, [first, second]: [u8; 2], blocks: [&[u8; 32]; 8]) {
        let [low0, high0, low1, high1] = across(blocks);
        self.absorb_words_in(first, low0, high0);
        if second != 0 {
            self.absorb_words_in(second, low1, high1);
        }
    }

    /// Absorbs the last block, the lengths.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn absorb_lengths(&mut self, aads: &[u64; 8], data: &[u64; 8]) {
        self.sum =
            multiply(plus(self.sum, split(load512_words(aads), load512_words(data))), &self.point);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    fn absorb_words_in(&mut self, lanes: u8, low: __m512i, high: __m512i) {
        let next = multiply(plus(self.sum, split(low, high)), &self.point);
        self.sum = choose(lanes, next, self.sum);
    }

    /// The tags of all lanes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn tags(&self) -> [[u8; 16]; 8] {
        let [h0, h1, h2] = carried_through(self.sum);
        // The overflow past 2^130 comes back five-fold. It is so little that it overflows no more,
        // or only if 5 more would overflow, too.
        let h0 = _mm512_madd52lo_epu64(h0, _mm512_srli_epi64::<42>(h2), splat(5));
        let [h0, h1, h2] = carried_through([h0, h1, mask42(h2)]);
        // With 5 added, it reaches 2^130 exactly if it is not smaller than 2^130 - 5.
        let [g0, g1, g2] = carried_through([_mm512_add_epi64(h0, splat(5)), h1, h2]);
        let reached = _mm512_cmpgt_epu64_mask(g2, splat(LOW42));
        let [h0, h1, h2] = choose(reached, [g0, g1, mask42(g2)], [h0, h1, h2]);

        let low = _mm512_or_si512(h0, _mm512_slli_epi64::<44>(h1));
        let high = _mm512_or_si512(_mm512_srli_epi64::<20>(h1), _mm512_slli_epi64::<24>(h2));
        let [pad0, pad1] = self.pad;
        let low = _mm512_add_epi64(low, pad0);
        let carry = _mm512_cmplt_epu64_mask(low, pad0);
        let high = _mm512_add_epi64(high, pad1);
        let high = _mm512_mask_add_epi64(high, carry, high, splat(1));

        let mut pairs = [[0; 64]; 2];
        store512(&mut pairs[0], _mm512_unpacklo_epi64(low, high));
        store512(&mut pairs[1], _mm512_unpackhi_epi64(low, high));
        let [even, odd] = &pairs;
        let (even, odd) = (even.as_chunks().0, odd.as_chunks().0);
        [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
    }

    #[inline]
    pub(crate) fn wipe(&mut self) {
        let Factor { limbs, over } = &mut self.point;
        let words = limbs.iter_mut().chain(over).chain(&mut self.sum).chain(&mut self.pad);
        words.for_each(wipe512);
    }
}

/// A pair of each lane; zeros if a lane has fewer. (The library's `map` would not be inlined, and a
/// call moves all registers to memory.)
#[inline(always)]
fn pairs_at<'p>(pairs: &[&'p [[u8; 32]]; 8], at: usize) -> [&'p [u8; 32]; 8] {
    let [p0, p1, p2, p3, p4, p5, p6, p7] = *pairs;
    [
        p0.get(at).unwrap_or(&[0; 32]),
        p1.get(at).unwrap_or(&[0; 32]),
        p2.get(at).unwrap_or(&[0; 32]),
        p3.get(at).unwrap_or(&[0; 32]),
        p4.get(at).unwrap_or(&[0; 32]),
        p5.get(at).unwrap_or(&[0; 32]),
        p6.get(at).unwrap_or(&[0; 32]),
        p7.get(at).unwrap_or(&[0; 32]),
    ]
}

/// Two blocks of each lane, prepared as far as the sum is not needed.
struct Prepared {
    first: [__m512i; 3],
    /// The second one's products.
    second: Products,
}

impl Prepared {
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    fn new(blocks: [&[u8; 32]; 8], point: &Factor) -> Self {
        let [low0, high0, low1, high1] = across(blocks);
        Self { first: split(low0, high0), second: products(split(low1, high1), point) }
    }

    /// The lanes after these blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    fn absorbed(self, sum: [__m512i; 3], square: &Factor) -> [__m512i; 3] {
        carried(add_products(self.second, plus(sum, self.first), square))
    }
}

/// Four words of 64 bits of each lane: in the `i`-th result are all lanes' words `i`, in order.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn across([l0, l1, l2, l3, l4, l5, l6, l7]: [&[u8; 32]; 8]) -> [__m512i; 4] {
    let (a, b) = (two(l0, l2), two(l1, l3));
    let (c, d) = (two(l4, l6), two(l5, l7));
    let (low, more_low) = (_mm512_unpacklo_epi64(a, b), _mm512_unpacklo_epi64(c, d));
    let (high, more_high) = (_mm512_unpackhi_epi64(a, b), _mm512_unpackhi_epi64(c, d));
    [
        _mm512_shuffle_i64x2::<0x88>(low, more_low),
        _mm512_shuffle_i64x2::<0x88>(high, more_high),
        _mm512_shuffle_i64x2::<0xdd>(low, more_low),
        _mm512_shuffle_i64x2::<0xdd>(high, more_high),
    ]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn two(front: &[u8; 32], back: &[u8; 32]) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(load256(front)), load256(back))
}

/// Lower limbs of 44 bits; the highest takes the overflow.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn carried_through([h0, h1, h2]: [__m512i; 3]) -> [__m512i; 3] {
    let h1 = _mm512_add_epi64(h1, _mm512_srli_epi64::<44>(h0));
    let h2 = _mm512_add_epi64(h2, _mm512_srli_epi64::<44>(h1));
    [mask44(h0), mask44(h1), h2]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn mask42(limb: __m512i) -> __m512i {
    _mm512_and_si512(limb, splat(LOW42))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
fn splat(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}
