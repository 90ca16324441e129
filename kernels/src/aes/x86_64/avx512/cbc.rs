//! CBC: decryption 32 blocks at a time. Encryption is one chain, for which wide registers do not
//! help.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{add, broadcast, load, rounds, store};
use crate::aes::INVERSE;
use crate::aes::RoundKeys;
use crate::aes::x86_64::aesni;
use crate::simd::{load128, load512, load512_part, store128};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn cbc_encrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    aesni::cbc_encrypt(keys, iv, data);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn cbc_decrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    let before = load128(iv);
    let after = match data.len() {
        1 => aesni::cbc_decrypt_part::<1, true>(keys, before, data),
        2 => aesni::cbc_decrypt_part::<2, true>(keys, before, data),
        3 => aesni::cbc_decrypt_part::<3, true>(keys, before, data),
        _ => return decrypt(keys, iv, data),
    };
    store128(iv, after);
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn decrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    let mut data = data;
    let Some(last) = data.get_in().last() else { return };
    let after = load128(last);
    // The ciphertext before each part, in the last block of the register.
    let mut before = _mm512_broadcast_i32x4(load128(iv));
    while data.len() > 32 {
        let (part, rest) = data.split_at(32);
        before = decrypt_part::<8, false>(keys, before, part);
        data = rest;
    }
    for_count!(data.len().div_ceil(4), decrypt_part::<_, true>(keys, before, data));
    store128(iv, after);
}

/// `V` vectors, of which the last may be a part; the last block of `before` is the ciphertext
/// before them. Returns the last vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn decrypt_part<const V: usize, const LAST: bool>(
    keys: &RoundKeys,
    before: __m512i,
    data: InOutBuf<'_, '_, [u8; 16]>,
) -> __m512i {
    let (mut whole, mut last) = data.split_at(4 * (V - 1));
    let cipher = load::<V>(whole.get_in().as_flattened(), last.get_in().as_flattened());
    let mut text = rounds::<V, INVERSE>(keys, add(cipher, broadcast(keys.first())));
    // All ciphertext is read once more before the first block is written over it.
    let mut before = before;
    for (x, four) in text.iter_mut().zip(whole.get_in().as_flattened().as_chunks().0) {
        let cipher = load512(four);
        *x = _mm512_xor_si512(*x, _mm512_alignr_epi64::<6>(cipher, before));
        before = cipher;
    }
    let cipher = load512_part(last.get_in().as_flattened());
    text[V - 1] = _mm512_xor_si512(text[V - 1], _mm512_alignr_epi64::<6>(cipher, before));
    store(text, whole.get_out().as_flattened_mut(), last.get_out().as_flattened_mut());
    cipher
}
