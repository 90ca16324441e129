//! Parts of two blocks in 256-bit registers, see `simd`.

#[cfg(feature = "isa-avx2")]
use core::arch::x86_64::*;

#[cfg(feature = "isa-avx2")]
use crate::simd::{MASKS, load128, load256, store128, store256};
pub(crate) use crate::simd::{cut128 as first_bytes, load_part, store_part};

/// Loads the first 32 bytes, or as many as there are and zeros after them.
#[inline]
#[cfg(feature = "isa-avx2")]
#[target_feature(enable = "avx2")]
pub(crate) fn load_pair(bytes: &[u8]) -> __m256i {
    if let Some(pair) = bytes.first_chunk() {
        return load256(pair);
    }
    match bytes.split_first_chunk() {
        Some((block, part)) => _mm256_set_m128i(load_part(part), load128(block)),
        None => _mm256_zextsi128_si256(load_part(bytes)),
    }
}

/// Stores the first 32 bytes, or as many as there is room for.
#[inline]
#[cfg(feature = "isa-avx2")]
#[target_feature(enable = "avx2")]
pub(crate) fn store_pair(bytes: &mut [u8], v: __m256i) {
    if let Some(pair) = bytes.first_chunk_mut() {
        return store256(pair, v);
    }
    match bytes.split_first_chunk_mut() {
        Some((block, part)) => {
            store128(block, _mm256_castsi256_si128(v));
            store_part(part, _mm256_extracti128_si256::<1>(v));
        }
        None => store_part(bytes, _mm256_castsi256_si128(v)),
    }
}

/// The first `count` of 32 bytes, and zeros after them.
#[inline]
#[cfg(feature = "isa-avx2")]
#[target_feature(enable = "avx2")]
pub(crate) fn first_bytes256(v: __m256i, count: usize) -> __m256i {
    let mask = MASKS[32 - count.min(32)..].first_chunk().expect("at least 32 of 64 are left");
    _mm256_and_si256(v, load256(mask))
}
