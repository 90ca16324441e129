//! Bitsliced DES in plain Rust: 64 blocks at a time. Constant time in keys and data.

use super::schedule::KEYS;
use super::sliced::{self, Planes, RoundKey, Word};

/// Encrypts, or decrypts if `back`, groups of 64 blocks, each block by itself.
pub(super) fn crypt(keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    match keys.len() {
        1 => crypt_by::<1>(keys, back, groups),
        _ => crypt_by::<3>(keys, back, groups),
    }
}

fn crypt_by<const N: usize>(keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    let mut planes = [Planes::ZERO; N];
    Planes::set_all(&mut planes, keys, back);
    for group in groups {
        crypt64(&planes, group);
    }
}

#[inline(never)]
fn crypt64(planes: &[Planes], blocks: &mut [[u8; 8]; 64]) {
    let mut words = blocks.map(u64::from_le_bytes);
    sliced::crypt(planes, &mut words);
    *blocks = words.map(u64::to_le_bytes);
}

impl Word for u64 {
    fn splat(lane: u64) -> Self {
        lane
    }

    fn fill(bits: i32) -> Self {
        i64::from(bits).cast_unsigned()
    }

    fn up<const BY: i32>(self) -> Self {
        self << BY
    }

    fn down<const BY: i32>(self) -> Self {
        self >> BY
    }

    #[inline(never)]
    fn round(half: &mut [Self; 32], from: &[Self; 32], key: &impl RoundKey<Self>) {
        sliced::round(half, from, key);
    }

    #[inline(never)]
    fn transpose(rows: &mut [Self; 64]) {
        sliced::transpose(rows);
    }
}
