//! Key schedules in the form of the vector-permute kernel: in the tower field, with every
//! `ShiftRows` undone that the rounds leave out, and with the constant of the S-box, which
//! `MixColumns` does not change. Constant time in the key.

use core::arch::x86_64::*;

use super::tables::{
    BELOW, CONSTANT, CONSTANT_IN_TOWER, FROM_TOWER, KEY_MIX, RCON, SBOX, SHIFT_ROWS, TO_INVERSE,
    TO_TOWER,
};
use super::{halves, load, looked_up, mixed, reciprocals};
use crate::aes::RoundKeys;
use crate::simd::{load128, store128};

#[target_feature(enable = "ssse3")]
pub(crate) fn expand128(key: &[u8; 16], keys: &mut RoundKeys) {
    expand::<4>(key, keys.all_mut());
}

#[target_feature(enable = "ssse3")]
pub(crate) fn expand192(key: &[u8; 24], keys: &mut RoundKeys) {
    expand::<6>(key, keys.all_mut());
}

#[target_feature(enable = "ssse3")]
pub(crate) fn expand256(key: &[u8; 32], keys: &mut RoundKeys) {
    expand::<8>(key, keys.all_mut());
}

/// `KeyExpansion` (FIPS 197, section 5.2) of a key of `WORDS` words, all in the tower.
#[inline]
#[target_feature(enable = "ssse3")]
fn expand<const WORDS: usize>(key: &[u8], keys: &mut [[u8; 16]]) {
    keys.as_flattened_mut()[..key.len()].copy_from_slice(key);
    for key in &mut keys[..key.len().div_ceil(16)] {
        let x = load128(key);
        store128(key, looked_up(&TO_TOWER, halves(x)));
    }
    let (words, _) = keys.as_flattened_mut().as_chunks_mut::<4>();
    let (first, _) = words.split_at(WORDS);
    let mut last = u32::from_le_bytes(first[WORDS - 1]);
    let mut rcon = RCON.iter();
    for i in WORDS..words.len() {
        if i % WORDS == 0 {
            let rcon = rcon.next().copied().unwrap_or_default();
            last = substituted(last.rotate_right(8)) ^ u32::from(rcon);
        } else if WORDS > 6 && i % WORDS == 4 {
            last = substituted(last);
        }
        last ^= u32::from_le_bytes(words[i - WORDS]);
        words[i] = last.to_le_bytes();
    }
    finish(keys);
}

/// The S-box on each byte of a word.
#[inline]
#[target_feature(enable = "ssse3")]
fn substituted(word: u32) -> u32 {
    let x = _mm_cvtsi32_si128(word.cast_signed());
    let y = looked_up(&SBOX, reciprocals(halves(x)));
    _mm_cvtsi128_si32(y).cast_unsigned() ^ u32::from_ne_bytes([CONSTANT_IN_TOWER; 4])
}

/// From the schedule in the tower to the keys that the rounds add.
#[inline]
#[target_feature(enable = "ssse3")]
fn finish(keys: &mut [[u8; 16]]) {
    let constant = _mm_set1_epi8(CONSTANT_IN_TOWER.cast_signed());
    let [_, middle @ .., last] = keys else { return };
    for (i, key) in (1..).zip(middle) {
        let moved = _mm_shuffle_epi8(load128(key), load(&SHIFT_ROWS[(4 - i % 4) % 4]));
        store128(key, _mm_xor_si128(moved, constant));
    }
    // The last round leaves the tower.
    let key = looked_up(&FROM_TOWER, halves(load128(last)));
    store128(last, _mm_xor_si128(key, _mm_set1_epi8(CONSTANT.cast_signed())));
}

/// The keys that the inverse rounds add, from those that the rounds add.
#[target_feature(enable = "ssse3")]
pub(crate) fn invert(keys: &RoundKeys, inverse: &mut RoundKeys) {
    let [first, middle @ .., last] = inverse.all_mut() else { return };
    store128(first, looked_up(&TO_INVERSE, halves(load128(keys.last()))));
    // The bytes stand where the rounds have them, which differs from where the inverse rounds
    // have them by all `ShiftRows` together.
    let all = load(&SHIFT_ROWS[keys.rounds() % 4]);
    for ((i, key), out) in (1..).zip(keys.middle()).zip(middle.iter_mut().rev()) {
        let mixed = mixed(&KEY_MIX, halves(load128(key)), load(&BELOW[i % 4]));
        store128(out, _mm_shuffle_epi8(mixed, all));
    }
    store128(last, looked_up(&FROM_TOWER, halves(load128(keys.first()))));
}
