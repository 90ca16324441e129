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
use core::ops::Range;

use inout::InOutBuf;

use super::{OPEN, SEAL, lengths, number};
use crate::Level;
use crate::aes::avx512::{broadcast_all, counters, first, rounds};
use crate::ghash::vpclmul::{WIDTH, hash_lanes, hash_part, reversed};
use crate::ghash::{self, POWERS, ROOM, pclmul};
use crate::simd::{
    first_bytes, load128, load512, load512_behind, load512_part, store128, store512,
    store512_behind, store512_part,
};

pub(super) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
pub(super) fn seal<const N: usize>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    run::<N, SEAL>(keys, hash.powers(), first, aad, data)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
pub(super) fn open<const N: usize>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    run::<N, OPEN>(keys, hash.powers(), first, aad, data)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn run<const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    powers: &[[u8; 16]; ROOM],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let mut data = data;
    let lengths = load128(&lengths(aad.len() as u64, data.len() as u64).to_le_bytes());
    let mut lanes = _mm512_zextsi128_si512(associated(powers, aad));
    // Not before the call that long associated data need, across which no register lives.
    let keys = &broadcast_all(keys);
    let mut counter = counters(first);

    let blocks = data.len().div_ceil(16) + 2;
    let (sum, mask) = match blocks.div_ceil(4) {
        1 => end::<N, 1, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        2 => end::<N, 2, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        3 => end::<N, 3, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        4 => end::<N, 4, WAY, FIRST>(keys, powers, lanes, counter, data, lengths),
        5 => in_two::<N, WAY>(keys, powers, lanes, counter, data, lengths),
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

/// Whether a block stands before the data.
const FIRST: bool = true;
const NEXT: bool = false;

/// The hash before the last block of associated data, and that block added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
fn associated(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> __m128i {
    if aad.len() <= 16 {
        return load128(&number(aad).to_le_bytes());
    }
    let (whole, last) = aad.split_at((aad.len() - 1) / 16 * 16);
    let mut sum = [0; 16];
    ghash::vpclmul::absorb(powers, &mut sum, whole.as_chunks().0);
    let last = load128(&number(last).to_le_bytes());
    _mm_xor_si128(pclmul::reversed(load128(&sum)), last)
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
    let (numbers, mask) = crypt::<N, V, WAY, PLACE, true>(keys, &mut counter, data);
    (hash_end(powers, lanes, numbers, count, lengths), mask)
}

/// All of a message that takes five registers. In one go what waits for the rounds of all five would
/// fill the processor's scheduler and keep the next message out.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn in_two<const N: usize, const WAY: bool>(
    keys: &[__m512i; N],
    powers: &[[u8; 16]; ROOM],
    lanes: __m512i,
    mut counter: __m512i,
    data: InOutBuf<'_, '_, u8>,
    lengths: __m128i,
) -> (__m128i, __m128i) {
    let count = data.len().div_ceil(16) + 2;
    let (part, rest) = data.split_at(16 * 11);
    let ([a, b, c], mask) = crypt::<N, 3, WAY, FIRST, false>(keys, &mut counter, part);
    let ([d, e], _) = crypt::<N, 2, WAY, NEXT, true>(keys, &mut counter, rest);
    (hash_end(powers, lanes, [a, b, c, d, e], count, lengths), mask)
}

/// The hash of the last blocks, of which that of the lengths is the last.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,vpclmulqdq")]
fn hash_end<const V: usize>(
    powers: &[[u8; 16]; ROOM],
    lanes: __m512i,
    mut numbers: [__m512i; V],
    count: usize,
    lengths: __m128i,
) -> __m128i {
    let lane = 0b11 << (2 * ((count - 1) % 4));
    let lengths = _mm512_maskz_broadcast_i64x2(lane, lengths);
    numbers[V - 1] = _mm512_xor_si512(numbers[V - 1], lengths);
    hash_part(powers, lanes, numbers, count)
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
    let mut data = data;
    let skip = usize::from(PLACE == FIRST);
    let parts = if LAST { (V - skip).min(2) } else { 0 };
    // Where each register's bytes begin.
    let at = |i: usize| 64 * i - 16 * skip;
    let whole = if V - parts > skip { at(skip)..at(V - parts) } else { 0..0 };

    let input = data.get_in();
    let mut text = [_mm512_setzero_si512(); V];
    let mut masks = [u64::MAX; V];
    if PLACE == FIRST {
        let bytes = &input[..input.len().min(48)];
        masks[0] = first_bytes(bytes.len()) << 16;
        if V > 1 || !bytes.is_empty() {
            text[0] = load512_behind(bytes);
        }
    }
    for (x, four) in text[skip..].iter_mut().zip(input[whole.clone()].as_chunks().0) {
        *x = load512(four);
    }
    for i in V - parts..V {
        let bytes = &input[behind(input, at(i))];
        text[i] = load512_part(bytes);
        masks[i] = first_bytes(bytes.len());
    }

    let mut out = rounds::<V, true>(&keys[1..], first::<V>(keys[0], counter));
    let mask = _mm512_castsi512_si128(out[0]);
    for (x, text) in out.iter_mut().zip(text) {
        *x = _mm512_xor_si512(*x, text);
    }

    let output = data.get_out();
    if PLACE == FIRST && (V > 1 || !output.is_empty()) {
        let length = output.len().min(48);
        store512_behind(&mut output[..length], out[0]);
    }
    for (four, x) in output[whole].as_chunks_mut().0.iter_mut().zip(&out[skip..]) {
        store512(four, *x);
    }
    for (i, x) in out.iter().enumerate().skip(V - parts) {
        let bytes = behind(output, at(i));
        store512_part(&mut output[bytes], *x);
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

/// The bytes from `at` on. Where there are none, an empty slice at the beginning: a load or store of
/// no byte at all still costs hundreds of cycles where no memory is.
#[inline]
fn behind(bytes: &[u8], at: usize) -> Range<usize> {
    if bytes.len() > at { at..bytes.len() } else { 0..0 }
}
