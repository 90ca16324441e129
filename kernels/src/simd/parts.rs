//! Parts of a block, without masked moves.
//!
//! By overlapping words, of the sizes in which callers store short inputs: a wide load of bytes
//! that have just been stored in parts waits, and so does a loop over bytes. Lengths are public.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use super::{Block, and128, high_half, load128, low_half, of_halves, store128};

with_features! {
    "sse4.1", "neon":

    /// Loads the first 16 bytes, or as many as there are and zeros after them.
    #[inline]
    pub fn load_part(bytes: &[u8]) -> Block {
        if let Some(block) = bytes.first_chunk() {
            return load128(block);
        }
        let count = bytes.len();
        let ends = (bytes.first_chunk(), bytes.last_chunk());
        let [low, high] = if let (Some(first), Some(last)) = ends {
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
        of_halves([low, high])
    }

    /// Stores the first 16 bytes, or as many as there is room for.
    #[inline]
    pub fn store_part(bytes: &mut [u8], v: Block) {
        if let Some(block) = bytes.first_chunk_mut() {
            return store128(block, v);
        }
        let count = bytes.len();
        let low = low_half(v);
        if let Some(first) = bytes.first_chunk_mut() {
            *first = low.to_le_bytes();
            let high = high_half(v);
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

    /// The first `count` of 16 bytes, and zeros after them.
    #[inline]
    pub fn cut128(v: Block, count: usize) -> Block {
        let mask = MASKS[32 - count.min(16)..].first_chunk().expect("at least 32 of 64 are left");
        and128(v, load128(mask))
    }
}

/// As many bytes of `0xff` as a register has, and as many zeros.
pub static MASKS: [u8; 64] = {
    let mut masks = [0; 64];
    let (ones, _) = masks.split_at_mut(32);
    let mut i = 0;
    while i < 32 {
        ones[i] = 0xff;
        i += 1;
    }
    masks
};

/// Bits of fewer than 16 bytes.
#[inline]
fn shift(bytes: usize) -> u32 {
    u32::from((bytes * 8).to_le_bytes()[0])
}
