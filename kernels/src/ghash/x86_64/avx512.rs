//! GHASH with VPCLMULQDQ on 512-bit registers: sixteen blocks, then one reduction. Constant time in
//! key and data.
//!
//! The blocks that do not fill a group of sixteen come first. Then each of the four lanes of a
//! register has a hash of its own, of every fourth block. All are multiplied by the same power and
//! fit in one register. The last sixteen blocks bring each lane to its own power, and only then are
//! the lanes added up. One to three blocks run in 128-bit registers: that is as fast, and a wide
//! load next to newly stored bytes would wait for them.

use core::arch::x86_64::*;

use crate::Level;
use crate::ghash::FOLD;
use crate::ghash::x86_64::aesni;
use crate::ghash::{POWERS, ROOM};
use crate::simd::{load128, load512, load512_part, store128, store512};

pub(crate) const NEEDS: Level = Level::Avx512;

/// The blocks that share a reduction in a long run.
pub(crate) const WIDTH: usize = 16;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
pub(crate) fn fill(powers: &mut [[u8; 16]; ROOM], h: &[u8; 16]) {
    fill_from(powers, load128(h));
}

/// All powers of `h`. The lowest are stored first, because a short message, which needs only these,
/// may follow at once.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
pub(crate) fn fill_from(powers: &mut [[u8; 16]; ROOM], h: __m128i) {
    let [h4, h3, h2, h1] = aesni::first_four(h);
    let low = _mm512_castsi128_si512(h4);
    let low = _mm512_inserti32x4::<1>(low, h3);
    let low = _mm512_inserti32x4::<2>(low, h2);
    let four = _mm512_inserti32x4::<3>(low, h1);
    store_four(powers, 4, four);
    let eight = multiply(four, _mm512_broadcast_i32x4(h4));
    store_four(powers, 8, eight);
    let by_eight = _mm512_broadcast_i32x4(_mm512_castsi512_si128(eight));
    let twelve = multiply(four, by_eight);
    store_four(powers, 12, twelve);
    store_four(powers, 16, multiply(eight, by_eight));
    let by_twelve = _mm512_broadcast_i32x4(_mm512_castsi512_si128(twelve));
    store_four(powers, 20, multiply(eight, by_twelve));
}

/// Stores four powers from that of `exponent` down.
#[inline]
#[target_feature(enable = "avx512f")]
fn store_four(powers: &mut [[u8; 16]; ROOM], exponent: usize, four: __m512i) {
    let place = powers[POWERS - exponent..].as_flattened_mut();
    store512(place.first_chunk_mut().expect("four blocks are 64 bytes"), four);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
pub(crate) fn absorb(powers: &[[u8; 16]; ROOM], state: &mut [u8; 16], blocks: &[[u8; 16]]) {
    let mut sum = aesni::reversed(load128(state));
    let (first, whole) = blocks.split_at(blocks.len() % WIDTH);
    if !first.is_empty() {
        let lanes = _mm512_zextsi128_si512(sum);
        sum = match first.len().div_ceil(4) {
            1 if first.len() < 4 => aesni::absorb_part(powers, sum, first),
            1 => absorb_part::<1>(powers, lanes, first),
            2 => absorb_part::<2>(powers, lanes, first),
            3 => absorb_part::<3>(powers, lanes, first),
            _ => absorb_part::<4>(powers, lanes, first),
        };
    }
    let (parts, _) = whole.as_chunks::<WIDTH>();
    if let Some((last, others)) = parts.split_last() {
        let mut lanes = _mm512_zextsi128_si512(sum);
        for part in others {
            lanes = absorb_lanes(powers, lanes, part);
        }
        sum = absorb_part::<4>(powers, lanes, last);
    }
    store128(state, aesni::reversed(sum));
}

/// Each lane hashes every fourth block, and is brought to where the next sixteen begin.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq")]
fn absorb_lanes(powers: &[[u8; 16]; ROOM], lanes: __m512i, blocks: &[[u8; 16]; WIDTH]) -> __m512i {
    hash_lanes(powers, lanes, load::<4>(blocks))
}

/// The same for blocks that are numbers already.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(crate) fn hash_lanes(
    powers: &[[u8; 16]; ROOM],
    lanes: __m512i,
    mut vectors: [__m512i; WIDTH / 4],
) -> __m512i {
    vectors[0] = _mm512_xor_si512(vectors[0], lanes);
    let mut products = Product::zero();
    for (x, power) in vectors.into_iter().zip(powers[POWERS - WIDTH..].iter().step_by(4)) {
        products = products.add(x, _mm512_broadcast_i32x4(load128(power)));
    }
    reduce(products)
}

/// Hashes `V` registers of blocks, the last of which may be incomplete, each with the power that
/// brings it to the end, and adds up the lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq")]
fn absorb_part<const V: usize>(
    powers: &[[u8; 16]; ROOM],
    lanes: __m512i,
    blocks: &[[u8; 16]],
) -> __m128i {
    hash_part(powers, lanes, load::<V>(blocks), blocks.len(), Product::zero())
}

/// The same for blocks that are numbers already, with zeros after the last of them. The first takes
/// the power of `exponent`.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(crate) fn hash_part<const V: usize>(
    powers: &[[u8; 16]; ROOM],
    lanes: __m512i,
    mut vectors: [__m512i; V],
    exponent: usize,
    others: Product,
) -> __m128i {
    vectors[0] = _mm512_xor_si512(vectors[0], lanes);
    let mut products = others;
    let powers = &powers[POWERS - exponent..][..4 * V];
    for (x, powers) in vectors.into_iter().zip(powers.as_chunks::<4>().0) {
        // Zeros lie behind the powers, as behind the blocks.
        let powers = powers.as_flattened().first_chunk().expect("four blocks are 64 bytes");
        products = products.add(x, load512(powers));
    }
    let sum = reduce(products);
    let half = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
}

/// The products of two blocks and the powers of two exponents, of which the first may be large.
#[inline]
#[target_feature(enable = "avx512f,avx2,vpclmulqdq")]
pub(crate) fn products_of(
    powers: &[[u8; 16]; ROOM],
    [a, b]: [__m128i; 2],
    [one, other]: [usize; 2],
) -> Product {
    let both = _mm256_set_m128i(b, a);
    let powers = [load128(&powers[POWERS - one]), load128(&powers[POWERS - other])];
    let powers = _mm256_set_m128i(powers[1], powers[0]);
    let cross = _mm256_xor_si256(
        _mm256_clmulepi64_epi128::<0x01>(both, powers),
        _mm256_clmulepi64_epi128::<0x10>(both, powers),
    );
    Product {
        low: _mm512_zextsi256_si512(_mm256_clmulepi64_epi128::<0x00>(both, powers)),
        middle: _mm512_zextsi256_si512(cross),
        high: _mm512_zextsi256_si512(_mm256_clmulepi64_epi128::<0x11>(both, powers)),
    }
}

/// The product of a block and the power of an exponent.
#[inline]
#[target_feature(enable = "avx512f,avx2,vpclmulqdq,pclmulqdq")]
pub(crate) fn product_of(powers: &[[u8; 16]; ROOM], a: __m128i, exponent: usize) -> Product {
    let power = load128(&powers[POWERS - exponent]);
    let cross = _mm_xor_si128(
        _mm_clmulepi64_si128::<0x01>(a, power),
        _mm_clmulepi64_si128::<0x10>(a, power),
    );
    Product {
        low: _mm512_zextsi128_si512(_mm_clmulepi64_si128::<0x00>(a, power)),
        middle: _mm512_zextsi128_si512(cross),
        high: _mm512_zextsi128_si512(_mm_clmulepi64_si128::<0x11>(a, power)),
    }
}

/// Blocks as numbers, and zeros after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load<const V: usize>(blocks: &[[u8; 16]]) -> [__m512i; V] {
    let (whole, last) = blocks.as_flattened().split_at(64 * (V - 1));
    let mut vectors = [_mm512_setzero_si512(); V];
    for (x, four) in vectors.iter_mut().zip(whole.as_chunks().0) {
        *x = load512(four);
    }
    vectors[V - 1] = load512_part(last);
    for x in &mut vectors {
        *x = reversed(*x);
    }
    vectors
}

/// Blocks as numbers, or the other way round.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(crate) fn reversed(blocks: __m512i) -> __m512i {
    let order = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    _mm512_shuffle_epi8(blocks, _mm512_broadcast_i32x4(order))
}

/// Four products of 256 bits in three parts of 128, each half a part above the one before.
#[derive(Clone, Copy)]
pub(crate) struct Product {
    low: __m512i,
    middle: __m512i,
    high: __m512i,
}

impl Product {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn zero() -> Self {
        let zero = _mm512_setzero_si512();
        Self { low: zero, middle: zero, high: zero }
    }

    /// Adds the product of `a` and `b`.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    pub(crate) fn add(self, a: __m512i, b: __m512i) -> Self {
        let one = _mm512_clmulepi64_epi128::<0x01>(a, b);
        let other = _mm512_clmulepi64_epi128::<0x10>(a, b);
        Self {
            low: _mm512_xor_si512(self.low, _mm512_clmulepi64_epi128::<0x00>(a, b)),
            middle: xor3(self.middle, one, other),
            high: _mm512_xor_si512(self.high, _mm512_clmulepi64_epi128::<0x11>(a, b)),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
pub(crate) fn multiply(a: __m512i, b: __m512i) -> __m512i {
    reduce(Product::zero().add(a, b))
}

/// As with 128-bit registers, in each lane.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn reduce(x: Product) -> __m512i {
    let polynomial = _mm512_set1_epi64(FOLD.cast_signed());
    let product = _mm512_clmulepi64_epi128::<0x00>(x.low, polynomial);
    let middle = xor3(x.middle, exchanged(x.low), product);
    let product = _mm512_clmulepi64_epi128::<0x00>(middle, polynomial);
    xor3(x.high, exchanged(middle), product)
}

/// Each lane with its two words exchanged.
#[inline]
#[target_feature(enable = "avx512f")]
fn exchanged(x: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0b01_00_11_10>(x)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0b1001_0110>(a, b, c)
}
