//! A row in a register of 512 bits.

use core::arch::x86_64::*;

use super::{call, entries};
use crate::Level;
#[cfg(feature = "isa-avx2")]
use crate::keccak;
use crate::keccak::x86_64::avx512 as columns;
use crate::keccak::{Block, Permutation, State};
use crate::mlkem::kernel::Factor;
use crate::mlkem::row::{Poly, Q, Vector};
use crate::mlkem::{Decapsulation, DecapsulationKey, Encapsulation, steps};
use crate::simd::{load128, load512_part, store128, store512_part};

pub(crate) const NEEDS: Level = Level::Avx512;

/// The functions of the level, which only functions of the level name.
pub(crate) struct Avx512;

/// 32 words. Only functions of the level name it.
#[derive(Clone, Copy)]
struct Row(__m512i);

entries! { #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")] Avx512 }

kernel! {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    Avx512 by Row
}

impl Permutation for Avx512 {
    /// Four columns take two thirds of the time of eight.
    #[inline(always)]
    fn columns(messages: usize) -> usize {
        if cfg!(feature = "isa-avx2") && messages == 1 { 4 } else { 8 }
    }

    #[inline(always)]
    fn permute(state: &mut State, used: usize) {
        #[cfg(feature = "isa-avx2")]
        if used <= 4 {
            // SAFETY: only functions of the level name this type.
            return unsafe { columns::permute_four(state) };
        }
        let _ = used;
        // SAFETY: as above.
        unsafe { columns::permute_eight(state) }
    }

    #[inline(always)]
    fn absorb(state: &mut State, used: usize, blocks: &[Block; 8], kept: &[u64; 8]) {
        #[cfg(feature = "isa-avx2")]
        if used <= 4 {
            // SAFETY: as above.
            return unsafe { keccak::x86_64::avx2::absorb_four(state, blocks, kept) };
        }
        let _ = used;
        // SAFETY: as above.
        unsafe { columns::absorb_eight(state, blocks, kept) }
    }

    #[inline(always)]
    fn squeeze(state: &State, used: usize, blocks: &mut [Block; 8]) {
        #[cfg(feature = "isa-avx2")]
        if used <= 4 {
            // SAFETY: as above.
            return unsafe { keccak::x86_64::avx2::squeeze_four(state, blocks) };
        }
        let _ = used;
        // SAFETY: as above.
        unsafe { columns::squeeze_eight(state, blocks) }
    }
}

impl Vector for Row {
    type Wide = Self;

    #[inline(always)]
    fn load(row: &[i16; 32]) -> Self {
        Self(call!(load_row(row)))
    }
    #[inline(always)]
    fn store(self, row: &mut [i16; 32]) {
        call!(store_row(row, self.0));
    }
    #[inline(always)]
    fn splat(word: i16) -> Self {
        Self(call!(_mm512_set1_epi16(word)))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(call!(_mm512_add_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(call!(_mm512_sub_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        Self(call!(_mm512_mullo_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        Self(call!(_mm512_mulhi_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_round(self, other: Self) -> Self {
        Self(call!(_mm512_mulhrs_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(call!(_mm512_and_si512(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(call!(_mm512_xor_si512(self.0, other.0)))
    }
    #[inline(always)]
    fn negative(self) -> Self {
        Self(call!(_mm512_srai_epi16::<15>(self.0)))
    }
    #[inline(always)]
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self) {
        let (one, other) = call!(exchange::<BIT>(one.0, other.0));
        (Self(one), Self(other))
    }
    #[inline(always)]
    fn swap(self) -> Self {
        Self(call!(_mm512_rol_epi32::<16>(self.0)))
    }
    #[inline(always)]
    fn dot(self, other: Self) -> Self {
        Self(call!(_mm512_madd_epi16(self.0, other.0)))
    }
    #[inline(always)]
    fn add_wide(one: Self, other: Self) -> Self {
        Self(call!(_mm512_add_epi32(one.0, other.0)))
    }
    #[inline(always)]
    fn low_halves(even: Self, odd: Self) -> Self {
        Self(call!(low_halves(even.0, odd.0)))
    }
    #[inline(always)]
    fn high_halves(even: Self, odd: Self) -> Self {
        Self(call!(high_halves(even.0, odd.0)))
    }
    #[inline(always)]
    fn signs(self) -> u32 {
        call!(_mm512_movepi16_mask(self.0))
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> Self {
        Self(call!(_mm512_movm_epi16(bits)))
    }
    #[inline(always)]
    fn pack4(self, bytes: &mut [u8; 16]) {
        call!(pack4(self.0, bytes));
    }
    #[inline(always)]
    fn pack10(self, bytes: &mut [u8; 40]) {
        call!(pack10(self.0, bytes));
    }
    #[inline(always)]
    fn pack12(self, bytes: &mut [u8; 48]) {
        call!(pack12(self.0, bytes));
    }
    #[inline(always)]
    fn unpack4(bytes: &[u8; 16]) -> Self {
        Self(call!(unpack4(bytes)))
    }
    #[inline(always)]
    fn unpack10(bytes: &[u8; 40]) -> Self {
        Self(call!(unpack10(bytes)))
    }
    #[inline(always)]
    fn unpack12(bytes: &[u8; 48]) -> Self {
        Self(call!(unpack12(bytes)))
    }
    #[inline(always)]
    fn noise(bytes: &[u8; 16]) -> Self {
        Self(call!(noise(bytes)))
    }
    #[inline(always)]
    fn sample(block: &[u8; 168], poly: &mut Poly, filled: usize) -> usize {
        call!(sample(block, poly, filled))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_row(row: &[i16; 32]) -> __m512i {
    // SAFETY: the reference is valid for 64 bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(row.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_row(row: &mut [i16; 32], v: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store asks for no alignment.
    unsafe { _mm512_storeu_si512(row.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn exchange<const BIT: usize>(one: __m512i, other: __m512i) -> (__m512i, __m512i) {
    match BIT {
        2 => (
            _mm512_mask_shuffle_epi32::<0xa0>(one, 0xaaaa, other),
            _mm512_mask_shuffle_epi32::<0xf5>(other, 0x5555, one),
        ),
        4 => (_mm512_unpacklo_epi64(one, other), _mm512_unpackhi_epi64(one, other)),
        8 => {
            let even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            (
                _mm512_permutex2var_epi64(one, even, other),
                _mm512_permutex2var_epi64(one, odd, other),
            )
        }
        _ => (_mm512_shuffle_i64x2::<0x44>(one, other), _mm512_shuffle_i64x2::<0xee>(one, other)),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn low_halves(even: __m512i, odd: __m512i) -> __m512i {
    _mm512_mask_blend_epi16(0xaaaa_aaaa, even, _mm512_slli_epi32::<16>(odd))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn high_halves(even: __m512i, odd: __m512i) -> __m512i {
    _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(even), odd)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn pack4(v: __m512i, bytes: &mut [u8; 16]) {
    let pairs = _mm512_madd_epi16(v, _mm512_set1_epi32(1 | 1 << 20));
    store128(bytes, _mm512_cvtepi32_epi8(pairs));
}

/// The first five of every eight bytes.
static FIVE_OF_EIGHT: [u8; 64] = of_each::<8, 5>();

/// The first three of every four bytes.
static THREE_OF_FOUR: [u8; 64] = of_each::<4, 3>();

#[expect(clippy::cast_possible_truncation, reason = "indices below 64")]
const fn of_each<const ALL: usize, const KEPT: usize>() -> [u8; 64] {
    let mut indices = [0; 64];
    let mut i = 0;
    while i < 64 / ALL * KEPT {
        indices[i] = (i / KEPT * ALL + i % KEPT) as u8;
        i += 1;
    }
    indices
}

/// For words of `BITS`, the indices of the two bytes in which each begins.
#[expect(clippy::cast_possible_truncation, reason = "indices below 64")]
const fn words_of<const BITS: usize>() -> [u8; 64] {
    let mut indices = [0; 64];
    let mut i = 0;
    while i < 32 {
        let at = i * BITS / 8;
        indices[2 * i] = at as u8;
        indices[2 * i + 1] = at as u8 + 1;
        i += 1;
    }
    indices
}

static WORDS_OF_TEN: [u8; 64] = words_of::<10>();
static WORDS_OF_TWELVE: [u8; 64] = words_of::<12>();

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
fn pack10(v: __m512i, bytes: &mut [u8; 40]) {
    let twenty = _mm512_madd_epi16(v, _mm512_set1_epi32(1 | 1 << 26));
    let low = _mm512_sllv_epi32(twenty, _mm512_set1_epi64(12));
    let forty = _mm512_srli_epi64::<12>(low);
    let packed = _mm512_permutexvar_epi8(load512_part(&FIVE_OF_EIGHT), forty);
    store512_part(bytes, packed);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
fn pack12(v: __m512i, bytes: &mut [u8; 48]) {
    let pairs = _mm512_madd_epi16(v, _mm512_set1_epi32(1 | 1 << 28));
    let packed = _mm512_permutexvar_epi8(load512_part(&THREE_OF_FOUR), pairs);
    store512_part(bytes, packed);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn unpack4(bytes: &[u8; 16]) -> __m512i {
    let pairs = _mm512_cvtepu8_epi32(load128(bytes));
    let spread = _mm512_or_si512(pairs, _mm512_slli_epi32::<12>(pairs));
    _mm512_and_si512(spread, _mm512_set1_epi16(15))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
fn unpack10(bytes: &[u8; 40]) -> __m512i {
    let words = _mm512_permutexvar_epi8(load512_part(&WORDS_OF_TEN), load512_part(bytes));
    let places = _mm512_set1_epi64(0x0006_0004_0002_0000);
    _mm512_and_si512(_mm512_srlv_epi16(words, places), _mm512_set1_epi16(0x3ff))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
fn unpack12(bytes: &[u8; 48]) -> __m512i {
    words_of_twelve(load512_part(bytes))
}

/// The first 32 numbers of twelve bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
fn words_of_twelve(bytes: __m512i) -> __m512i {
    let words = _mm512_permutexvar_epi8(load512_part(&WORDS_OF_TWELVE), bytes);
    let places = _mm512_set1_epi32(0x0004_0000);
    _mm512_and_si512(_mm512_srlv_epi16(words, places), _mm512_set1_epi16(0xfff))
}

/// For each value of four bits, the sum of the lower two without the sum of the upper two.
const DIFFERENCES: [i8; 16] = [0, 1, 1, 2, -1, 0, 0, 1, -1, 0, 0, 1, -2, -1, -1, 0];

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn noise(bytes: &[u8; 16]) -> __m512i {
    let table = load128(&DIFFERENCES.map(i8::cast_unsigned));
    let bytes = _mm256_cvtepu8_epi16(load128(bytes));
    let spread = _mm256_or_si256(bytes, _mm256_slli_epi16::<4>(bytes));
    let fours = _mm256_and_si256(spread, _mm256_set1_epi8(15));
    let differences = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), fours);
    _mm512_cvtepi8_epi16(differences)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn sample(block: &[u8; 168], poly: &mut Poly, mut filled: usize) -> usize {
    let coefficients = poly.0.as_flattened_mut();
    for bytes in block.chunks(48) {
        let words = words_of_twelve(load512_part(bytes));
        let there = u32::MAX >> (32 - bytes.len() * 2 / 3);
        let below = _mm512_mask_cmplt_epi16_mask(there, words, _mm512_set1_epi16(Q));
        let accepted = _mm512_maskz_compress_epi16(below, words);
        let count = below.count_ones() as usize;
        let (_, room) = coefficients.split_at_mut(filled);
        if let Some(row) = room.first_chunk_mut() {
            store_row(row, accepted);
        } else {
            let mut row = [0; 32];
            store_row(&mut row, accepted);
            let count = room.len().min(32);
            room.copy_from_slice(&row[..count]);
        }
        filled = (filled + count).min(256);
    }
    filled
}
