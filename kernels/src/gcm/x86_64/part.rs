//! Parts of a block in 128-bit registers, without masked moves.
//!
//! By overlapping words, of the sizes in which callers store short inputs: a wide load of bytes
//! that have just been stored in parts waits, and so does a loop over bytes. Lengths are public.

use core::arch::x86_64::*;

use crate::simd::{load128, store128};
#[cfg(feature = "isa-avx2")]
use crate::simd::{load256, store256};

/// Loads the first 16 bytes, or as many as there are and zeros after them.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(crate) fn load_part(bytes: &[u8]) -> __m128i {
    if let Some(block) = bytes.first_chunk() {
        return load128(block);
    }
    let count = bytes.len();
    let [low, high] = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from_le_bytes(*last).unbounded_shr(shift(16 - count));
        [u64::from_le_bytes(*first), last]
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last)) << shift(count - 4);
        [u64::from(u32::from_le_bytes(*first)) | last, 0]
    } else if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
        let middle = u64::from(bytes[count / 2]) << shift(count / 2);
        [u64::from(first) | middle | u64::from(last) << shift(count - 1), 0]
    } else {
        [0, 0]
    };
    _mm_set_epi64x(high.cast_signed(), low.cast_signed())
}

/// Stores the first 16 bytes, or as many as there is room for.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(crate) fn store_part(bytes: &mut [u8], v: __m128i) {
    if let Some(block) = bytes.first_chunk_mut() {
        return store128(block, v);
    }
    let count = bytes.len();
    let low = _mm_cvtsi128_si64(v).cast_unsigned();
    if let Some(first) = bytes.first_chunk_mut() {
        *first = low.to_le_bytes();
        let high = _mm_extract_epi64::<1>(v).cast_unsigned();
        let last = u128::from(high) << 64 | u128::from(low);
        if let Some(bytes) = bytes.last_chunk_mut() {
            let [a, b, c, d, e, f, g, h, ..] = (last >> shift(count - 8)).to_le_bytes();
            *bytes = [a, b, c, d, e, f, g, h];
        }
    } else if let Some(first) = bytes.first_chunk_mut() {
        let [a, b, c, d, ..] = low.to_le_bytes();
        *first = [a, b, c, d];
        if let Some(bytes) = bytes.last_chunk_mut() {
            let [a, b, c, d, ..] = (low >> shift(count - 4)).to_le_bytes();
            *bytes = [a, b, c, d];
        }
    } else {
        for (byte, stored) in bytes.iter_mut().zip(low.to_le_bytes()) {
            *byte = stored;
        }
    }
}

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

/// As many bytes of `0xff` as a register has, and as many zeros.
static MASKS: [u8; 64] = {
    let mut masks = [0; 64];
    let (ones, _) = masks.split_at_mut(32);
    let mut i = 0;
    while i < 32 {
        ones[i] = 0xff;
        i += 1;
    }
    masks
};

/// The first `count` of 16 bytes, and zeros after them.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(crate) fn first_bytes(v: __m128i, count: usize) -> __m128i {
    let mask = MASKS[32 - count.min(16)..].first_chunk().expect("at least 32 of 64 are left");
    _mm_and_si128(v, load128(mask))
}

/// The first `count` of 32 bytes, and zeros after them.
#[inline]
#[cfg(feature = "isa-avx2")]
#[target_feature(enable = "avx2")]
pub(crate) fn first_bytes256(v: __m256i, count: usize) -> __m256i {
    let mask = MASKS[32 - count.min(32)..].first_chunk().expect("at least 32 of 64 are left");
    _mm256_and_si256(v, load256(mask))
}

/// Bits of fewer than 16 bytes.
#[inline]
fn shift(bytes: usize) -> u32 {
    u32::from((bytes * 8).to_le_bytes()[0])
}
