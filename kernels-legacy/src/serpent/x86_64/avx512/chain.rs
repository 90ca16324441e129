//! CBC encryption of one message, in which each block waits for the one before: four words, each in
//! the lowest lane of a register of 128 bits, for ternary logic. Constant time in key and data.

use core::arch::x86_64::*;
use core::hint::black_box;

use inout::InOutBuf;
use lanecrypt_kernels::simd::{load128, store128};

use super::narrow::{linear, splat, xor};
use super::shallow::{s0, s1, s2, s3, s4, s5, s6, s7};

encryption!(
    inline,
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
    __m128i
);

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
pub(crate) fn cbc_encrypt(
    keys: &[[u32; 4]; 33],
    iv: &mut [u8; 16],
    blocks: InOutBuf<'_, '_, [u8; 16]>,
) {
    let mut last = [spread(load128(iv))];
    for mut block in blocks {
        // Otherwise the loop would first load all round keys into registers, or rather onto the
        // stack.
        let keys = black_box(keys);
        let text = spread(load128(block.get_in()));
        for (last, text) in last[0].iter_mut().zip(text) {
            *last = xor(*last, text);
        }
        encrypt_rounds(keys, &mut last);
        store128(block.get_out(), gather(last[0]));
    }
    store128(iv, gather(last[0]));
}

/// Each word of a block in the lowest lane of its own register; other lanes do not matter.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn spread(block: __m128i) -> [__m128i; 4] {
    [
        block,
        _mm_shuffle_epi32::<1>(block),
        _mm_shuffle_epi32::<2>(block),
        _mm_shuffle_epi32::<3>(block),
    ]
}

/// The block of the words in the lowest lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn gather([a, b, c, d]: [__m128i; 4]) -> __m128i {
    _mm_unpacklo_epi64(_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d))
}
