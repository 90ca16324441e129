//! Blocks in registers of 128 bits: four blocks lane by lane, or one whose rows are registers.

use core::arch::aarch64::*;

use inout::InOutBuf;

pub use core::arch::aarch64::{vaddq_u32 as add32, veorq_u32 as xor32};
use core::arch::aarch64::{vzip1q_u32 as low32, vzip2q_u32 as high32};

use crate::simd::{self, load_words, load128, store128};

sums!(uint32x4_t, [uint32x4_t; 4], 4, #[target_feature(enable = "neon")]);
words!(uint32x4_t, #[target_feature(enable = "neon")]);
put!(uint32x4_t, 4, 4, #[target_feature(enable = "neon")]);

/// Transposes four words: of words that lie lane by lane, the `i`-th result has the rows of block
/// `i`; of rows, the `i`-th word of all blocks.
///
/// By single words twice. The compiler would take some of the steps by halves apart.
#[inline]
#[target_feature(enable = "neon")]
pub fn across([x0, x1, x2, x3]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    let (low02, high02) = (low32(x0, x2), high32(x0, x2));
    let (low13, high13) = (low32(x1, x3), high32(x1, x3));
    [low32(low02, low13), high32(low02, low13), low32(high02, high13), high32(high02, high13)]
}

/// The block of these rows.
#[inline]
#[target_feature(enable = "neon")]
pub fn blocks(rows: [uint32x4_t; 4]) -> [[uint32x4_t; 4]; 1] {
    [rows]
}

#[inline]
#[target_feature(enable = "neon")]
fn in_order([[x0], [x1], [x2], [x3]]: [[[uint32x4_t; 4]; 1]; 4]) -> [[uint32x4_t; 4]; 4] {
    [x0, x1, x2, x3]
}

/// A row of words.
#[inline]
#[target_feature(enable = "neon")]
pub fn row(words: &[u32; 4]) -> uint32x4_t {
    load_words(words)
}

/// The last row: counter and nonce.
#[inline]
#[target_feature(enable = "neon")]
pub fn last_row(counter: u64, nonce: u64) -> uint32x4_t {
    vreinterpretq_u32_u64(vcombine_u64(vcreate_u64(counter), vcreate_u64(nonce)))
}

/// The sums of numbers of 64 bits.
#[inline]
#[target_feature(enable = "neon")]
pub fn add64(x: uint32x4_t, y: uint32x4_t) -> uint32x4_t {
    vreinterpretq_u32_u64(vaddq_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)))
}

/// The words of `x` in the order that `ORDER` gives, two bits for each; a rotation of all four.
#[inline]
#[target_feature(enable = "neon")]
pub fn shuffle32<const ORDER: i32>(x: uint32x4_t) -> uint32x4_t {
    match ORDER {
        0x39 => vextq_u32::<1>(x, x),
        0x4e => vextq_u32::<2>(x, x),
        0x93 => vextq_u32::<3>(x, x),
        _ => unreachable!("not a rotation"),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn set32(word: i32) -> uint32x4_t {
    vdupq_n_u32(word.cast_unsigned())
}

/// Loads two words of 64 bits.
#[inline]
#[target_feature(enable = "neon")]
pub fn load_pair(words: &[u64; 2]) -> uint32x4_t {
    vreinterpretq_u32_u64(simd::load_pair(words))
}

/// Loads a row.
#[inline]
#[target_feature(enable = "neon")]
pub fn load(bytes: &[u8; 16]) -> uint32x4_t {
    vreinterpretq_u32_u8(load128(bytes))
}

/// Stores a row.
#[inline]
#[target_feature(enable = "neon")]
pub fn store(bytes: &mut [u8; 16], row: uint32x4_t) {
    store128(bytes, vreinterpretq_u8_u32(row));
}
