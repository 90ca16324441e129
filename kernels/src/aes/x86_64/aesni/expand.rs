//! Key schedules (FIPS 197, section 5.2) with AES instructions. Constant time in the key.
//!
//! `AESENCLAST` of a word repeated in all four columns is the S-box on that word, because
//! `ShiftRows` then changes nothing; a byte shuffle repeats and rotates the word. That is several
//! times faster than `AESKEYGENASSIST`. `AESENCLAST` also adds a vector. The words that the next
//! last word takes from older words are added there, and each step of the recurrence takes one
//! shuffle and one `AESENCLAST`.
//!
//! Notation: `P` is the sum of each word with all words before it (`sums`), by which one round key
//! follows from another; `P P` adds to each word the one two places before it (`sums2`).

use core::arch::x86_64::*;

use crate::Isa;
use crate::aes::MAX_KEYS;
use crate::simd::{load128, store128};

/// Round constants, each in all four words.
const RCON: [[u8; 16]; 10] = {
    let bytes = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    let mut vectors = [[0; 16]; 10];
    let mut i = 0;
    while i < 160 {
        if i % 4 == 0 {
            vectors[i / 16][i % 16] = bytes[i / 16];
        }
        i += 1;
    }
    vectors
};

/// With `k` the round keys and `t` the changed last words: `k[i + 1] = P k[i] + t[i]` in all
/// words, so `k[i + 1] = P P k[i - 1] + (t[i - 1], 0, t[i - 1], 0) + t[i]`. The middle term does
/// not touch the last word, which is all that the next step waits for.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn expand128(key: &[u8; 16], keys: &mut [[u8; 16]; MAX_KEYS]) {
    let even = _mm_set_epi32(0, -1, 0, -1);
    let mut key = load128(key);
    store128(&mut keys[0], key);
    // The first step has no round key before it.
    let mut change = substituted::<ROTATED>(key, load128(&RCON[0]));
    let mut older = sums2(key);
    key = _mm_xor_si128(sums(key), change);
    store128(&mut keys[1], key);
    let mut last = key;
    for (rcon, out) in RCON[1..].iter().zip(&mut keys[2..11]) {
        let next = substituted::<ROTATED>(last, _mm_xor_si128(older, load128(rcon)));
        let middle = _mm_and_si128(change, even);
        change = _mm_xor_si128(next, older);
        older = sums2(key);
        key = _mm_xor_si128(next, middle);
        last = next;
        store128(out, key);
    }
}

/// The words come in groups of six, `a` the first four and `b` the other two, and
/// `b' = (b[0], b[0] + b[1]) + t + (P a)[3]`, all but `t` known before the S-box is done.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn expand192(key: &[u8; 24], keys: &mut [[u8; 16]; MAX_KEYS]) {
    let (first, _) = key.split_first_chunk().expect("24 is more than 16");
    let (_, last) = key.split_last_chunk().expect("24 is more than 16");
    let mut a = load128(first);
    let mut b = _mm_srli_si128::<8>(load128(last));
    store128(&mut keys[0], a);
    for i in 0..4 {
        let (a1, b1) = next192(a, b, &RCON[2 * i]);
        store128(&mut keys[3 * i + 1], _mm_unpacklo_epi64(b, a1));
        store128(&mut keys[3 * i + 2], _mm_alignr_epi8::<8>(b1, a1));
        (a, b) = next192(a1, b1, &RCON[2 * i + 1]);
        store128(&mut keys[3 * i + 3], a);
    }
}

#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn next192(a: __m128i, b: __m128i, rcon: &[u8; 16]) -> (__m128i, __m128i) {
    let rotate = _mm_set1_epi32(0x0407_0605);
    let t = _mm_aesenclast_si128(_mm_shuffle_epi8(b, rotate), load128(rcon));
    let sums_a = sums(a);
    let known = _mm_xor_si128(b, _mm_slli_si128::<4>(b));
    let known = _mm_xor_si128(known, _mm_shuffle_epi32::<0xff>(sums_a));
    (_mm_xor_si128(sums_a, t), _mm_xor_si128(known, t))
}

/// `k[i + 1] = P k[i - 1] + t[i]`, where `P k[i - 1]` is known before the S-box is done.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn expand256(key: &[u8; 32], keys: &mut [[u8; 16]; MAX_KEYS]) {
    let (first, _) = key.split_first_chunk().expect("32 is more than 16");
    let (_, last) = key.split_last_chunk().expect("32 is more than 16");
    let (mut a, mut b) = (load128(first), load128(last));
    store128(&mut keys[0], a);
    store128(&mut keys[1], b);
    for i in 0..7 {
        a = substituted::<ROTATED>(b, _mm_xor_si128(sums(a), load128(&RCON[i])));
        store128(&mut keys[2 * i + 2], a);
        if i < 6 {
            b = substituted::<UNCHANGED>(a, sums(b));
            store128(&mut keys[2 * i + 3], b);
        }
    }
}

/// Both schedules of a key: what `expand` makes of it, and the equivalent inverse cipher's (FIPS
/// 197, section 5.3.5) in the order in which decryption takes it.
macro_rules! both {
    ($bits:literal, $both:ident, $expand:ident) => {
        #[target_feature(enable = "aes,sse4.1,ssse3")]
        pub(crate) fn $both(
            _isa: Isa,
            key: &[u8; $bits / 8],
            [forward, inverse]: &mut [[[u8; 16]; MAX_KEYS]; 2],
        ) {
            const N: usize = $bits / 32 + 7;
            $expand(key, forward);
            inverse[0] = forward[N - 1];
            for (key, out) in forward[1..N - 1].iter().rev().zip(&mut inverse[1..]) {
                store128(out, _mm_aesimc_si128(load128(key)));
            }
            inverse[N - 1] = forward[0];
        }
    };
}

both!(128, both128, expand128);
both!(192, both192, expand192);
both!(256, both256, expand256);

/// Picks the bytes of the last word as they are.
const UNCHANGED: i32 = 0x0f0e_0d0c;
/// Picks the bytes of the last word, rotated (`RotWord`).
const ROTATED: i32 = 0x0c0f_0e0d;

/// The S-box on the last word, its bytes picked by `PICK`, in all words; plus `add`.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn substituted<const PICK: i32>(key: __m128i, add: __m128i) -> __m128i {
    _mm_aesenclast_si128(_mm_shuffle_epi8(key, _mm_set1_epi32(PICK)), add)
}

/// Each word plus all words before it.
#[inline]
#[target_feature(enable = "sse2")]
fn sums(key: __m128i) -> __m128i {
    let pairs = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
    _mm_xor_si128(pairs, _mm_slli_si128::<8>(pairs))
}

/// Each word plus the one two places before it.
#[inline]
#[target_feature(enable = "sse2")]
fn sums2(key: __m128i) -> __m128i {
    _mm_xor_si128(key, _mm_slli_si128::<8>(key))
}
