//! GCM with VAES and VPCLMULQDQ on 512-bit registers, in one pass. Constant time in key and data.
//!
//! The counter block of the tag comes just before those of the data, and the last block of
//! associated data just before the ciphertext in what is hashed. So the message is taken as if one
//! more block stood before it: of the first register one lane of keystream is the tag's mask, and
//! the same lane of what is hashed holds the associated data. The block of lengths goes into the
//! lane after the last, and all of a message of up to 18 blocks is hashed with one reduction.
//!
//! A longer message goes on by 16 blocks, in lanes as GHASH alone does, and ends with 5 to 20. What is
//! sealed is hashed behind the rounds of the next part: were it hashed at once, what waits for the
//! rounds would fill the processor's scheduler and keep the next rounds out.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{OPEN, SEAL, lengths};
use crate::aes::avx512::{broadcast_all, counters, first, rounds};
use crate::ghash::vpclmul::{WIDTH, hash_lanes, hash_part, reversed};
use crate::ghash::{self, POWERS, ROOM, pclmul};
use crate::simd::{
    first_bytes, load128, load512, load512_behind, load512_part, store128, store512,
    store512_behind, store512_part,
};
use crate::{BlockEncrypt, Level};

pub(super) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
pub(super) fn seal<const N: usize>(
    hash: &ghash::Key,
    _cipher: &impl BlockEncrypt<16>,
    keys: &[[u8; 16]; N],
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    run::<N, SEAL>(keys, hash.powers(), nonce, aad, data)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
pub(super) fn open<const N: usize>(
    hash: &ghash::Key,
    _cipher: &impl BlockEncrypt<16>,
    keys: &[[u8; 16]; N],
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    run::<N, OPEN>(keys, hash.powers(), nonce, aad, data)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn run<const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let mut data = data;
    let lengths = load128(&lengths(aad, &data).to_le_bytes());
    let mut lanes = _mm512_zextsi128_si512(associated(powers, aad));
    // Not before the call that long associated data need, across which no register lives.
    let keys = &broadcast_all(keys);
    let mut counter = counters(first_counter(nonce));

    let blocks = data.len().div_ceil(16) + 2;
    let (sum, mask) = match blocks.div_ceil(4) {
        1 => end::<N, 1, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        2 => end::<N, 2, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        3 => end::<N, 3, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        4 => end::<N, 4, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        5 => end::<N, 5, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        _ => {
            let (part, rest) = data.split_at(16 * (WIDTH - 1));
            data = rest;
            let (mut numbers, mask) = crypt::<N, 4, WAY, FIRST, false>(keys, &mut counter, part);
            if WAY == OPEN {
                lanes = hash_lanes(powers, lanes, numbers);
            }
            while data.len().div_ceil(16) + 1 > POWERS {
                let (part, rest) = data.split_at(16 * WIDTH);
                data = rest;
                let (next, _) = crypt::<N, 4, WAY, NEXT, false>(keys, &mut counter, part);
                lanes = hash_lanes(powers, lanes, if WAY == SEAL { numbers } else { next });
                numbers = next;
            }
            if WAY == SEAL {
                lanes = hash_lanes(powers, lanes, numbers);
            }
            let (sum, _) = match (data.len().div_ceil(16) + 1).div_ceil(4) {
                2 => end::<N, 2, WAY, NEXT>(keys, powers, lanes, counter, data, lengths),
                3 => end::<N, 3, WAY, NEXT>(keys, powers, lanes, counter, data, lengths),
                4 => end::<N, 4, WAY, NEXT>(keys, powers, lanes, counter, data, lengths),
                _ => end::<N, 5, WAY, NEXT>(keys, powers, lanes, counter, data, lengths),
            };
            (sum, mask)
        }
    };
    let mut tag = [0; 16];
    store128(&mut tag, _mm_xor_si128(pclmul::reversed(sum), mask));
    tag
}

/// 8 to 16 bytes as a block and as a number. By two words, for a wide load of associated data that
/// have just been stored waits.
#[inline]
fn number(bytes: &[u8]) -> u128 {
    let first = bytes.first_chunk().expect("at least 8 bytes");
    let last = bytes.last_chunk().expect("at least 8 bytes");
    let last = u128::from(u64::from_be_bytes(*last)) << (8 * (16 - bytes.len()));
    u128::from(u64::from_be_bytes(*first)) << 64 | (last & u128::from(u64::MAX))
}

/// The counter block of the tag, as a number. Not by way of an array on the stack: a wide load of
/// what has just been stored in parts waits.
#[inline]
fn first_counter(nonce: &[u8; 12]) -> u128 {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *nonce;
    let upper = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    let lower = u32::from_be_bytes([i, j, k, l]);
    u128::from(upper) << 64 | u128::from(lower) << 32 | 1
}

/// Whether a block stands before the data.
const FIRST: bool = true;
const NEXT: bool = false;

/// The hash before the last block of associated data, and that block added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
fn associated(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> __m128i {
    let (before, last) = match aad.len() {
        8..=16 => return load128(&number(aad).to_le_bytes()),
        0..8 => (_mm_setzero_si128(), aad),
        length => {
            let (whole, last) = aad.split_at((length - 1) / 16 * 16);
            let mut sum = [0; 16];
            ghash::vpclmul::absorb(powers, &mut sum, whole.as_chunks().0);
            (pclmul::reversed(load128(&sum)), last)
        }
    };
    let last = _mm512_castsi512_si128(load512_part(last));
    _mm_xor_si128(before, pclmul::reversed(last))
}

/// What is left of a message, with the lengths behind it: the hash, and the keystream of the first
/// lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn end<const N: usize, const V: usize, const WAY: bool, const PLACE: bool>(
    keys: &[__m512i; N],
    powers: &[[u8; 16]; ROOM],
    lanes: __m512i,
    mut counter: __m512i,
    data: InOutBuf<'_, '_, u8>,
    lengths: __m128i,
) -> (__m128i, __m128i) {
    let count = data.len().div_ceil(16) + 1 + usize::from(PLACE == FIRST);
    let (mut numbers, mask) = crypt::<N, V, WAY, PLACE, true>(keys, &mut counter, data);
    numbers[0] = _mm512_xor_si512(numbers[0], lanes);
    let lane = 0b11 << (2 * ((count - 1) % 4));
    let lengths = _mm512_maskz_broadcast_i64x2(lane, lengths);
    numbers[V - 1] = _mm512_xor_si512(numbers[V - 1], lengths);
    (hash_part(powers, _mm512_setzero_si512(), numbers, count), mask)
}

/// Encrypts or decrypts as many blocks as `V` registers hold, but for the first lane if that stands
/// before the data, and in the `LAST` part of a message up to a register and a part of one less.
/// Returns the ciphertext as numbers, with zeros where there is none, and the keystream of the first
/// lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2,vaes")]
fn crypt<const N: usize, const V: usize, const WAY: bool, const PLACE: bool, const LAST: bool>(
    keys: &[__m512i; N],
    counter: &mut __m512i,
    data: InOutBuf<'_, '_, u8>,
) -> ([__m512i; V], __m128i) {
    let skip = usize::from(PLACE == FIRST);
    let parts = if LAST { (V - skip).min(2) } else { 0 };
    let head = if PLACE == FIRST { data.len().min(48) } else { 0 };
    let (mut head, data) = data.split_at(head);
    let (mut whole, mut rest) = data.split_at(64 * (V - skip - parts));

    let mut text = [_mm512_setzero_si512(); V];
    let mut masks = [u64::MAX; V];
    if PLACE == FIRST {
        text[0] = load512_behind(head.get_in());
        masks[0] = first_bytes(head.len()) << 16;
    }
    for (x, four) in text[skip..].iter_mut().zip(whole.get_in().as_chunks().0) {
        *x = load512(four);
    }
    for i in 0..parts {
        let bytes = rest.get_in().get(64 * i..).unwrap_or_default();
        text[V - parts + i] = load512_part(bytes);
        masks[V - parts + i] = first_bytes(bytes.len());
    }

    let mut out = rounds::<V, true>(&keys[1..], first::<V>(keys[0], counter));
    let mask = _mm512_castsi512_si128(out[0]);
    for (x, text) in out.iter_mut().zip(text) {
        *x = _mm512_xor_si512(*x, text);
    }
    if PLACE == FIRST {
        store512_behind(head.get_out(), out[0]);
    }
    for (four, x) in whole.get_out().as_chunks_mut().0.iter_mut().zip(&out[skip..]) {
        store512(four, *x);
    }
    for i in 0..parts {
        let bytes = rest.get_out().get_mut(64 * i..).unwrap_or_default();
        store512_part(bytes, out[V - parts + i]);
    }

    let mut numbers = text;
    for ((x, out), mask) in numbers.iter_mut().zip(out).zip(masks) {
        if WAY == SEAL {
            *x = _mm512_maskz_mov_epi8(mask, out);
        }
        *x = reversed(*x);
    }
    (numbers, mask)
}
