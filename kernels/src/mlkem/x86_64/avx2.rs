//! A row in two registers of 256 bits.

use core::arch::x86_64::*;

use super::{call, entries};
use crate::Level;
use crate::keccak::x86_64::avx2 as columns;
use crate::keccak::{self, Permutation, State};
use crate::mlkem::kernel::Factor;
use crate::mlkem::row::{Poly, Q, Vector};
use crate::mlkem::{Decapsulation, DecapsulationKey, Encapsulation, steps};
use crate::simd::{load128, store128};

pub(crate) const NEEDS: Level = Level::Avx2;

/// The functions of the level, which only functions of the level name.
pub(crate) struct Avx2;

/// 32 words. Only functions of the level name it.
#[derive(Clone, Copy)]
struct Row([__m256i; 2]);

entries! { #[target_feature(enable = "avx2,bmi2")] Avx2 }

kernel! { #[target_feature(enable = "avx2,bmi2,popcnt")] Avx2 by Row }

impl Permutation for Avx2 {
    const COLUMNS: usize = 4;

    #[inline(always)]
    fn columns(_: usize) -> usize {
        4
    }

    #[inline(always)]
    fn permute(state: &mut State, used: usize) {
        if used == 1 {
            return keccak::permute_one(state);
        }
        // SAFETY: only functions of the level name this type.
        unsafe { columns::permute_four(state) }
    }
}

/// A method that calls one function for each register.
macro_rules! each {
    ($function:ident $(::<$constant:literal>)? ($one:expr $(, $other:expr)?)) => {
        Self([
            call!($function $(::<$constant>)? ($one.0[0] $(, $other.0[0])?)),
            call!($function $(::<$constant>)? ($one.0[1] $(, $other.0[1])?)),
        ])
    };
}

impl Vector for Row {
    type Wide = Self;

    #[inline(always)]
    fn load(row: &[i16; 32]) -> Self {
        let (halves, _) = row.as_chunks();
        Self([call!(load_half(&halves[0])), call!(load_half(&halves[1]))])
    }
    #[inline(always)]
    fn store(self, row: &mut [i16; 32]) {
        let (halves, _) = row.as_chunks_mut();
        call!(store_half(&mut halves[0], self.0[0]));
        call!(store_half(&mut halves[1], self.0[1]));
    }
    #[inline(always)]
    fn splat(word: i16) -> Self {
        let half = call!(_mm256_set1_epi16(word));
        Self([half; 2])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        each!(_mm256_add_epi16(self, other))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        each!(_mm256_sub_epi16(self, other))
    }
    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        each!(_mm256_mullo_epi16(self, other))
    }
    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        each!(_mm256_mulhi_epi16(self, other))
    }
    #[inline(always)]
    fn mul_round(self, other: Self) -> Self {
        each!(_mm256_mulhrs_epi16(self, other))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        each!(_mm256_and_si256(self, other))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        each!(_mm256_xor_si256(self, other))
    }
    #[inline(always)]
    fn negative(self) -> Self {
        each!(_mm256_srai_epi16::<15>(self))
    }
    #[inline(always)]
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self) {
        if BIT == 16 {
            return (Self([one.0[0], other.0[0]]), Self([one.0[1], other.0[1]]));
        }
        let (a, b) = call!(exchange::<BIT>(one.0[0], other.0[0]));
        let (c, d) = call!(exchange::<BIT>(one.0[1], other.0[1]));
        (Self([a, c]), Self([b, d]))
    }
    #[inline(always)]
    fn swap(self) -> Self {
        each!(swap(self))
    }
    #[inline(always)]
    fn dot(self, other: Self) -> Self {
        each!(_mm256_madd_epi16(self, other))
    }
    #[inline(always)]
    fn add_wide(one: Self, other: Self) -> Self {
        each!(_mm256_add_epi32(one, other))
    }
    #[inline(always)]
    fn low_halves(even: Self, odd: Self) -> Self {
        each!(low_halves(even, odd))
    }
    #[inline(always)]
    fn high_halves(even: Self, odd: Self) -> Self {
        each!(high_halves(even, odd))
    }
    #[inline(always)]
    fn signs(self) -> u32 {
        call!(signs(self.0))
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> Self {
        let [a, b, c, d] = bits.to_le_bytes();
        Self([
            call!(of_bits(i16::from_le_bytes([a, b]))),
            call!(of_bits(i16::from_le_bytes([c, d]))),
        ])
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
#[target_feature(enable = "avx")]
fn load_half(half: &[i16; 16]) -> __m256i {
    // SAFETY: the reference is valid for 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx")]
fn store_half(half: &mut [i16; 16], v: __m256i) {
    // SAFETY: the reference is valid for 32 bytes, and the store asks for no alignment.
    unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn store_eight(words: &mut [i16; 8], v: __m128i) {
    // SAFETY: the reference is valid for 16 bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), v) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn exchange<const BIT: usize>(one: __m256i, other: __m256i) -> (__m256i, __m256i) {
    match BIT {
        2 => (
            _mm256_blend_epi32::<0xaa>(one, _mm256_slli_epi64::<32>(other)),
            _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(one), other),
        ),
        4 => (_mm256_unpacklo_epi64(one, other), _mm256_unpackhi_epi64(one, other)),
        _ => (
            _mm256_permute2x128_si256::<0x20>(one, other),
            _mm256_permute2x128_si256::<0x31>(one, other),
        ),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn swap(v: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi32::<16>(v), _mm256_srli_epi32::<16>(v))
}

#[inline]
#[target_feature(enable = "avx2")]
fn low_halves(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi16::<0xaa>(even, _mm256_slli_epi32::<16>(odd))
}

#[inline]
#[target_feature(enable = "avx2")]
fn high_halves(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi16::<0xaa>(_mm256_srli_epi32::<16>(even), odd)
}

/// The bytes of four parts of 128 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn parts(v: [__m256i; 2]) -> [__m128i; 4] {
    [
        _mm256_castsi256_si128(v[0]),
        _mm256_extracti128_si256::<1>(v[0]),
        _mm256_castsi256_si128(v[1]),
        _mm256_extracti128_si256::<1>(v[1]),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn signs(v: [__m256i; 2]) -> u32 {
    let bytes = _mm256_packs_epi16(v[0], v[1]);
    _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0xd8>(bytes)).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx2")]
fn of_bits(bits: i16) -> __m256i {
    let places = _mm256_setr_epi16(
        1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000,
        i16::MIN,
    );
    let own = _mm256_and_si256(_mm256_set1_epi16(bits), places);
    _mm256_cmpeq_epi16(own, places)
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack4(v: [__m256i; 2], bytes: &mut [u8; 16]) {
    let places = _mm256_set1_epi32(1 | 1 << 20);
    let words =
        _mm256_packs_epi32(_mm256_madd_epi16(v[0], places), _mm256_madd_epi16(v[1], places));
    let packed = _mm256_packus_epi16(words, words);
    let order = _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5);
    store128(bytes, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(packed, order)));
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack10(v: [__m256i; 2], bytes: &mut [u8; 40]) {
    let places =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 8, 9, 10, 11, 12, -1, -1, -1, -1, -1, -1));
    let mut packed = v;
    for v in &mut packed {
        let twenty = _mm256_madd_epi16(*v, _mm256_set1_epi32(1 | 1 << 26));
        let low = _mm256_sllv_epi32(twenty, _mm256_set1_epi64x(12));
        *v = _mm256_shuffle_epi8(_mm256_srli_epi64::<12>(low), places);
    }
    put_parts(&parts(packed), 10, bytes);
}

#[inline]
#[target_feature(enable = "avx2")]
fn pack12(v: [__m256i; 2], bytes: &mut [u8; 48]) {
    let places =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    let mut packed = v;
    for v in &mut packed {
        *v = _mm256_shuffle_epi8(_mm256_madd_epi16(*v, _mm256_set1_epi32(1 | 1 << 28)), places);
    }
    put_parts(&parts(packed), 12, bytes);
}

/// Stores the first `length` bytes of four parts one behind the other.
#[inline]
#[target_feature(enable = "avx2")]
fn put_parts(parts: &[__m128i; 4], length: usize, bytes: &mut [u8]) {
    for (i, &part) in parts.iter().enumerate() {
        if let Some(place) = bytes[length * i..].first_chunk_mut() {
            store128(place, part);
        } else {
            let mut last = [0; 16];
            store128(&mut last, part);
            bytes[length * i..].copy_from_slice(&last[..length]);
        }
    }
}

/// Four parts of `length` bytes; the last one is at the end of its part.
#[inline]
#[target_feature(enable = "avx2")]
fn get_parts(bytes: &[u8], length: usize) -> [__m256i; 2] {
    let mut parts = [_mm_setzero_si128(); 4];
    for (i, part) in parts.iter_mut().enumerate() {
        let at = (length * i).min(bytes.len() - 16);
        *part = load128(bytes[at..].first_chunk().expect("16 bytes before the end"));
    }
    [_mm256_set_m128i(parts[1], parts[0]), _mm256_set_m128i(parts[3], parts[2])]
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpack4(bytes: &[u8; 16]) -> [__m256i; 2] {
    let bytes = load128(bytes);
    let mut v = [_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128::<8>(bytes))];
    for v in &mut v {
        let spread = _mm256_or_si256(*v, _mm256_slli_epi32::<12>(*v));
        *v = _mm256_and_si256(spread, _mm256_set1_epi16(15));
    }
    v
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpack10(bytes: &[u8; 40]) -> [__m256i; 2] {
    let first = _mm_setr_epi8(0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9);
    let last = _mm_add_epi8(first, _mm_set1_epi8(6));
    let places = [_mm256_broadcastsi128_si256(first), _mm256_set_m128i(last, first)];
    let mut v = get_parts(bytes, 10);
    for (v, places) in v.iter_mut().zip(places) {
        let words = _mm256_shuffle_epi8(*v, places);
        // The words move up by 6, 4, 2 and 0 bits.
        let up = _mm256_mullo_epi16(words, _mm256_set1_epi64x(0x0001_0004_0010_0040));
        *v = _mm256_srli_epi16::<6>(up);
    }
    v
}

#[inline]
#[target_feature(enable = "avx2")]
fn unpack12(bytes: &[u8; 48]) -> [__m256i; 2] {
    let v = get_parts(bytes, 12);
    [words_of_twelve::<0>(v[0]), words_of_twelve::<4>(v[1])]
}

/// Words of twelve bits of two parts: those of the first begin with it, those of the second with
/// its byte `SECOND`.
#[inline]
#[target_feature(enable = "avx2")]
fn words_of_twelve<const SECOND: i8>(v: __m256i) -> __m256i {
    let first = _mm_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11);
    let second = _mm_add_epi8(first, _mm_set1_epi8(SECOND));
    let words = _mm256_shuffle_epi8(v, _mm256_set_m128i(second, first));
    let odd = _mm256_srli_epi16::<4>(words);
    _mm256_and_si256(_mm256_blend_epi16::<0xaa>(words, odd), _mm256_set1_epi16(0xfff))
}

#[inline]
#[target_feature(enable = "avx2")]
fn noise(bytes: &[u8; 16]) -> [__m256i; 2] {
    // For each value of four bits, the sum of the lower two without the sum of the upper two.
    let table = _mm_setr_epi8(0, 1, 1, 2, -1, 0, 0, 1, -1, 0, 0, 1, -2, -1, -1, 0);
    let bytes = _mm256_cvtepu8_epi16(load128(bytes));
    let spread = _mm256_or_si256(bytes, _mm256_slli_epi16::<4>(bytes));
    let fours = _mm256_and_si256(spread, _mm256_set1_epi8(15));
    let differences = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), fours);
    [
        _mm256_cvtepi8_epi16(_mm256_castsi256_si128(differences)),
        _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(differences)),
    ]
}

/// For each set of eight words, the places of their bytes one behind the other.
static COMPRESS: [[u8; 16]; 256] = {
    let mut table = [[0; 16]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut word, mut count) = (0, 0);
        while word < 8 {
            if set >> word & 1 == 1 {
                table[set][count] = 2 * word;
                table[set][count + 1] = 2 * word + 1;
                count += 2;
            }
            word += 1;
        }
        set += 1;
    }
    table
};

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn sample(block: &[u8; 168], poly: &mut Poly, mut filled: usize) -> usize {
    let coefficients = poly.0.as_flattened_mut();
    for i in 0..7 {
        // The last load ends with the block.
        let at = 24 * i;
        let first = load128(block[at..].first_chunk().expect("24 bytes"));
        let second = load128(block[at + 8..].first_chunk().expect("16 bytes"));
        let words = words_of_twelve::<4>(_mm256_set_m128i(second, first));
        let below = _mm256_cmpgt_epi16(_mm256_set1_epi16(Q), words);
        let sets = _mm256_movemask_epi8(_mm256_packs_epi16(below, below)).to_le_bytes();
        let halves = [_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words)];
        for (half, set) in halves.into_iter().zip([sets[0], sets[2]]) {
            let accepted = _mm_shuffle_epi8(half, load128(&COMPRESS[usize::from(set)]));
            let room = &mut coefficients[filled..];
            if let Some(eight) = room.first_chunk_mut() {
                store_eight(eight, accepted);
            } else {
                let mut eight = [0; 8];
                store_eight(&mut eight, accepted);
                let count = room.len().min(8);
                room.copy_from_slice(&eight[..count]);
            }
            filled = (filled + set.count_ones() as usize).min(256);
        }
    }
    filled
}
