//! Key schedules in the form of the bitsliced kernel: they undo every `ShiftRows` that its rounds
//! leave out. Constant time in the key.

use super::sbox::sub_bytes;
use crate::aes::RoundKeys;

pub(in crate::aes) fn expand128(key: &[u8; 16], keys: &mut RoundKeys) {
    expand::<4>(key, keys.all_mut());
}

pub(in crate::aes) fn expand192(key: &[u8; 24], keys: &mut RoundKeys) {
    expand::<6>(key, keys.all_mut());
}

pub(in crate::aes) fn expand256(key: &[u8; 32], keys: &mut RoundKeys) {
    expand::<8>(key, keys.all_mut());
}

/// `KeyExpansion` (FIPS 197, section 5.2) of a key of `WORDS` words, so that no kernel divides.
fn expand<const WORDS: usize>(key: &[u8], keys: &mut [[u8; 16]]) {
    let (words, _) = keys.as_flattened_mut().as_chunks_mut::<4>();
    let (key, _) = key.as_chunks::<4>();
    words[..WORDS].copy_from_slice(key);
    let mut last = u32::from_le_bytes(key[WORDS - 1]);
    let mut rcon = 1;
    for i in WORDS..words.len() {
        if i % WORDS == 0 {
            last = sub_word(last.rotate_right(8)) ^ rcon;
            rcon = (rcon << 1) ^ ((rcon >> 7) * 0x11b);
        } else if WORDS > 6 && i % WORDS == 4 {
            last = sub_word(last);
        }
        last ^= u32::from_le_bytes(words[i - WORDS]);
        words[i] = last.to_le_bytes();
    }
    let [middle @ .., _] = keys else { return };
    for (i, key) in middle.iter_mut().enumerate() {
        *key = shift_rows(key, 4 - i % 4);
    }
}

/// The S-box on each byte of a word, by planes that have the byte's own bit for each block.
#[inline(never)]
fn sub_word(word: u32) -> u32 {
    let planes = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| word >> i);
    let mut result = 0;
    for (i, plane) in sub_bytes(planes).into_iter().enumerate() {
        result |= (plane & 0x0101_0101) << i;
    }
    result
}

/// The keys that the inverse rounds add, from those that the rounds add.
pub(in crate::aes) fn invert(forward: &RoundKeys, inverse: &mut RoundKeys) {
    let rounds = forward.rounds();
    let inverse = inverse.all_mut();
    for (i, key) in forward.all().iter().enumerate() {
        // The first and the last key belong to rounds without `MixColumns`, and leave nothing out.
        inverse[rounds - i] = if i == 0 || i == rounds {
            *key
        } else {
            shift_rows(&inv_mix_columns(shift_rows(key, i)), rounds - i)
        };
    }
}

/// `ShiftRows` `times` times.
fn shift_rows(block: &[u8; 16], times: usize) -> [u8; 16] {
    core::array::from_fn(|to| {
        let row = to % 4;
        block[(to + 4 * row * times) % 16]
    })
}

/// `InvMixColumns` (FIPS 197, section 5.3.3), column by column.
fn inv_mix_columns(mut block: [u8; 16]) -> [u8; 16] {
    for bytes in block.as_chunks_mut::<4>().0 {
        let a = u32::from_le_bytes(*bytes);
        let a = a ^ double(double(a ^ a.rotate_right(16)));
        let b = a.rotate_right(8);
        let sum = a ^ b;
        *bytes = (double(sum) ^ b ^ sum.rotate_right(16)).to_le_bytes();
    }
    block
}

/// Doubles each byte in GF(2^8).
fn double(word: u32) -> u32 {
    let carries = (word >> 7) & 0x0101_0101;
    ((word << 1) & 0xfefe_fefe) ^ (carries * 0x1b)
}
