//! Bitsliced DES with AVX2: 256 blocks at a time. Constant time in keys and data.

use core::arch::x86_64::*;
use core::ops::{BitAnd, BitOr, BitXor, Not};

use lanecrypt_kernels::Level;
use lanecrypt_kernels::simd::{load256, store256};

use crate::des::portable;
use crate::des::schedule::{self, KEYS};
use crate::des::sliced::{self, Planes, RoundKey, Word};

pub(crate) const NEEDS: Level = Level::Avx2;

/// Encrypts, or decrypts if `back`, groups of 64 blocks, each block by itself.
#[target_feature(enable = "avx2")]
pub(crate) fn crypt(keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    if let [one] = groups {
        return portable::crypt(keys, back, core::slice::from_mut(one));
    }
    match keys.len() {
        1 => crypt_by::<1>(keys, back, groups),
        _ => crypt_by::<3>(keys, back, groups),
    }
}

#[target_feature(enable = "avx2")]
fn crypt_by<const N: usize>(keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    let mut planes = [Planes::ZERO; N];
    Planes::set_all(&mut planes, keys, back);
    let (fours, rest) = groups.as_chunks_mut();
    for four in fours {
        crypt256(&planes, four);
    }
    if !rest.is_empty() {
        let mut four = [[[0; 8]; 64]; 4];
        four[..rest.len()].copy_from_slice(rest);
        crypt256(&planes, &mut four);
        rest.copy_from_slice(&four[..rest.len()]);
    }
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn crypt256(planes: &[Planes], blocks: &mut [[[u8; 8]; 64]; 4]) {
    let (vectors, _) = blocks.as_flattened_mut().as_flattened_mut().as_chunks_mut();
    let mut words = [Lanes(_mm256_setzero_si256()); 64];
    for (word, vector) in words.iter_mut().zip(&*vectors) {
        *word = Lanes(load256(vector));
    }
    sliced::crypt(planes, &mut words);
    for (word, vector) in words.iter().zip(vectors) {
        store256(vector, word.0);
    }
}

/// The key schedule of one DES: the portable code, four words at a time.
#[inline(never)]
#[target_feature(enable = "avx2")]
pub(crate) fn expand(key: &[u8; 8]) -> [u64; KEYS] {
    schedule::expand_inline(key)
}

/// Four lanes of 64 bits. Only this module makes one, in code that has AVX2 enabled.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(pub(crate) __m256i);

impl Word for Lanes {
    #[inline(always)]
    fn splat(lane: u64) -> Self {
        // SAFETY: kernels of this module run only where there is AVX2.
        Self(unsafe { _mm256_set1_epi64x(lane.cast_signed()) })
    }

    #[inline(always)]
    fn fill(bits: i32) -> Self {
        // SAFETY: kernels of this module run only where there is AVX2.
        Self(unsafe { _mm256_set1_epi32(bits) })
    }

    #[inline(always)]
    fn up<const BY: i32>(self) -> Self {
        // SAFETY: a value of this type exists only where there is AVX2.
        Self(unsafe { _mm256_slli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn down<const BY: i32>(self) -> Self {
        // SAFETY: a value of this type exists only where there is AVX2.
        Self(unsafe { _mm256_srli_epi64::<BY>(self.0) })
    }

    #[inline(always)]
    fn round(half: &mut [Self; 32], from: &[Self; 32], key: &impl RoundKey<Self>) {
        // SAFETY: values of this type exist only where there is AVX2.
        unsafe { round(half, from, key) }
    }

    #[inline(always)]
    fn transpose(rows: &mut [Self; 64]) {
        // SAFETY: values of this type exist only where there is AVX2.
        unsafe { transpose(rows) }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn round(half: &mut [Lanes; 32], from: &[Lanes; 32], key: &impl RoundKey<Lanes>) {
    sliced::round(half, from, key);
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn transpose(rows: &mut [Lanes; 64]) {
    sliced::transpose(rows);
}

impl BitAnd for Lanes {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where there is AVX2.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }
}

impl BitOr for Lanes {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where there is AVX2.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }
}

impl BitXor for Lanes {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: a value of this type exists only where there is AVX2.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
}

impl Not for Lanes {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self ^ Self::splat(u64::MAX)
    }
}
