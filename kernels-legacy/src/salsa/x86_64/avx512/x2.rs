//! Two blocks, side by side in registers of 256 bits: a program that requests no more does not
//! power up the wider units.

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32 as add32, _mm256_add_epi64, _mm256_blend_epi32 as blend,
    _mm256_broadcastsi128_si256, _mm256_rol_epi32, _mm256_set1_epi64x, _mm256_setr_epi64x,
    _mm256_shuffle_epi32 as shuffle32, _mm256_xor_si256,
};

use inout::InOutBuf;
use lanecrypt_kernels::arx::State;
use lanecrypt_kernels::arx::x86_64::avx512::{block, put, two_blocks};
use lanecrypt_kernels::simd::opaque_count;

use super::start;

rounds!(__m256i, 0xaa, 0xcc, #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]);

/// XORs words, rotated left by `LEFT` bits, into others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn xor_turned<const LEFT: i32, const RIGHT: i32>(into: __m256i, words: __m256i) -> __m256i {
    _mm256_xor_si256(into, _mm256_rol_epi32::<LEFT>(words))
}

/// Up to two blocks. Returns the rest of `data`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(super) fn twos<'i, 'o, const XOR: bool>(
    state: &State,
    counter: u64,
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let [a, b, c, d] = start(state, counter);
    let (a, b) = (_mm256_broadcastsi128_si256(a), _mm256_broadcastsi128_si256(b));
    let (c, d) = (_mm256_broadcastsi128_si256(c), _mm256_broadcastsi128_si256(d));
    let one = _mm256_setr_epi64x(0, 0, 1, 0);
    let counters = _mm256_add_epi64(_mm256_set1_epi64x(counter.cast_signed()), one);
    let start = Diagonals { a, b: blend::<0x22>(b, counters), c: blend::<0x11>(c, counters), d };
    let mut x = start;
    for _ in 0..opaque_count(state.double_rounds) {
        x = x.double_round();
    }
    let [[a, b], [c, d]] = two_blocks(x.sum(start));
    put::<XOR, 2>(&[block(a, b), block(c, d)], data)
}
