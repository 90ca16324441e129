//! Registers of x86-64 as [`Words`].
#![cfg(all(target_arch = "x86_64", any(feature = "isa-avx2", feature = "isa-avx512")))]

use core::arch::x86_64::*;

#[cfg(feature = "isa-avx2")]
use super::Words32;
#[cfg(feature = "isa-avx512")]
use super::Words52;
use super::{Step, Words};
#[cfg(feature = "isa-avx2")]
use crate::opaque;
use crate::simd::*;

/// A register of 512 bits: eight numbers. Only functions with AVX-512 F and IFMA name it.
#[cfg(feature = "isa-avx512")]
#[derive(Clone, Copy)]
pub(crate) struct Eight(__m512i);

/// A register of 256 bits: four numbers. Only functions with AVX2 name it.
#[cfg(feature = "isa-avx2")]
#[derive(Clone, Copy)]
pub(crate) struct Four(__m256i);

/// A call of one function that needs the instructions of a register.
macro_rules! call {
    ($function:ident $(::<$bits:ident>)? ($($arg:expr),*)) => {{
        let result = {
            // SAFETY: only functions with the instructions use the type whose method calls this.
            #[allow(clippy::macro_metavars_in_unsafe)]
            unsafe { $function $(::<$bits>)? ($($arg),*) }
        };
        result
    }};
}

#[cfg(feature = "isa-avx512")]
impl Words for Eight {
    const LANES: usize = 8;

    #[inline(always)]
    fn outline<S: Step>(step: S) -> S::Output {
        step.run()
    }

    #[inline(always)]
    fn outline_long<S: Step>(step: S) -> S::Output {
        call!(outline512(step))
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        Self(call!(_mm512_set1_epi64(word.cast_signed())))
    }
    #[inline(always)]
    fn load(words: &[u64; 8]) -> Self {
        Self(call!(load512_words(words)))
    }
    #[inline(always)]
    fn store(self) -> [u64; 8] {
        let mut words = [0; 8];
        call!(store512_words(&mut words, self.0));
        words
    }
    #[inline(always)]
    fn load_rows(rows: [&[u8; 64]; 8]) -> [Self; 8] {
        call!(columns512(rows)).map(Self)
    }
    #[inline(always)]
    fn store_to(self, words: &mut [u64; 8]) {
        call!(store512_words(words, self.0));
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(call!(_mm512_add_epi64(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(call!(_mm512_sub_epi64(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(call!(_mm512_and_si512(self.0, other.0)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(call!(_mm512_or_si512(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(call!(_mm512_xor_si512(self.0, other.0)))
    }
    #[inline(always)]
    fn shl<const BITS: u32>(self) -> Self {
        Self(call!(_mm512_slli_epi64::<BITS>(self.0)))
    }
    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        Self(call!(_mm512_srli_epi64::<BITS>(self.0)))
    }
    #[inline(always)]
    fn shr_signed<const BITS: u32>(self) -> Self {
        Self(call!(_mm512_srai_epi64::<BITS>(self.0)))
    }
    #[inline(always)]
    fn rotate_right<const BITS: u32>(self) -> Self {
        Self(call!(right512(self.0, BITS)))
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Self(call!(swap512(self.0)))
    }
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        Self(call!(xor512(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        Self(call!(majority512(self.0, b.0, c.0)))
    }
    #[inline(always)]
    fn choose(self, one: Self, other: Self) -> Self {
        Self(call!(select512(self.0, one.0, other.0)))
    }
    #[inline(always)]
    fn rotate_left<const BITS: u32>(self) -> Self {
        Self(call!(rotl512(self.0, BITS)))
    }
    #[inline(always)]
    fn xor_and_not(self, bits: Self, except: Self) -> Self {
        Self(call!(xor_and_not512(self.0, bits.0, except.0)))
    }
    #[inline(always)]
    fn is_zero(self) -> Self {
        Self(call!(zeros512(self.0)))
    }
    #[inline(always)]
    fn select(mask: Self, one: Self, other: Self) -> Self {
        Self(call!(select512(mask.0, one.0, other.0)))
    }
    #[inline(always)]
    fn look_up(self, table: &[u64; 16]) -> Self {
        Self(call!(look_up512(table, self.0)))
    }
}

#[cfg(feature = "isa-avx512")]
impl Words52 for Eight {
    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        Self(call!(_mm512_madd52lo_epu64(self.0, a.0, b.0)))
    }
    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        Self(call!(_mm512_madd52hi_epu64(self.0, a.0, b.0)))
    }
}

#[cfg(feature = "isa-avx2")]
impl Words for Four {
    const LANES: usize = 4;

    #[inline(always)]
    fn outline<S: Step>(step: S) -> S::Output {
        call!(outline256(step))
    }

    #[inline(always)]
    fn splat(word: u64) -> Self {
        Self(call!(_mm256_set1_epi64x(word.cast_signed())))
    }
    #[inline(always)]
    fn load(words: &[u64; 8]) -> Self {
        Self(call!(load_four(words)))
    }
    #[inline(always)]
    fn store(self) -> [u64; 8] {
        let mut words = [0; 8];
        call!(store_four(&mut words, self.0));
        words
    }
    #[inline(always)]
    fn load_rows(rows: [&[u8; 64]; 8]) -> [Self; 8] {
        call!(columns256(rows)).map(Self)
    }
    #[inline(always)]
    fn store_to(self, words: &mut [u64; 8]) {
        call!(store_four(words, self.0));
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(call!(_mm256_add_epi64(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(call!(_mm256_sub_epi64(self.0, other.0)))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(call!(_mm256_and_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(call!(_mm256_or_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(call!(_mm256_xor_si256(self.0, other.0)))
    }
    #[inline(always)]
    fn shl<const BITS: u32>(self) -> Self {
        Self(call!(up256(self.0, BITS)))
    }
    #[inline(always)]
    fn shr<const BITS: u32>(self) -> Self {
        Self(call!(down256(self.0, BITS)))
    }
    #[inline(always)]
    fn shr_signed<const BITS: u32>(self) -> Self {
        // AVX2 has no such instruction: the sign moves down with an offset.
        let offset = Self::splat(1 << 63 >> BITS);
        self.shr::<BITS>().xor(offset).sub(offset)
    }
    #[inline(always)]
    fn rotate_right<const BITS: u32>(self) -> Self {
        Self(call!(right256(self.0, BITS)))
    }
    #[inline(always)]
    fn swap_bytes(self) -> Self {
        Self(call!(swap256(self.0)))
    }
    #[inline(always)]
    fn rotate_left<const BITS: u32>(self) -> Self {
        Self(call!(rotl256(self.0, BITS)))
    }
    #[inline(always)]
    fn xor_and_not(self, bits: Self, except: Self) -> Self {
        self.xor(Self(call!(_mm256_andnot_si256(except.0, bits.0))))
    }
    #[inline(always)]
    fn is_zero(self) -> Self {
        Self(call!(_mm256_cmpeq_epi64(self.0, Self::splat(0).0)))
    }
    #[inline(always)]
    fn select(mask: Self, one: Self, other: Self) -> Self {
        Self(call!(_mm256_blendv_epi8(other.0, one.0, mask.0)))
    }
    #[inline(always)]
    fn look_up(self, table: &[u64; 16]) -> Self {
        Self(call!(look_up256(table, self.0)))
    }
}

#[cfg(feature = "isa-avx2")]
impl Words32 for Four {
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Self(call!(_mm256_mul_epu32(self.0, other.0)))
    }
    #[inline(always)]
    fn keep<const N: usize>(words: &mut [Self; N]) {
        opaque::observe(words);
    }
    #[inline(always)]
    fn opaque(self) -> Self {
        Self(call!(opaque256(self.0)))
    }
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn zeros512(v: __m512i) -> __m512i {
    _mm512_maskz_set1_epi64(_mm512_testn_epi64_mask(v, v), -1)
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn select512(mask: __m512i, one: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xca>(mask, one, other)
}

/// The compiler makes the immediate form of constant numbers of bits.
#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn rotl512(v: __m512i, bits: u32) -> __m512i {
    _mm512_rolv_epi64(v, _mm512_set1_epi64(i64::from(bits)))
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn xor_and_not512(v: __m512i, bits: __m512i, except: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xb4>(v, bits, except)
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn look_up512(table: &[u64; 16], index: __m512i) -> __m512i {
    let (halves, _) = table.as_chunks();
    _mm512_permutex2var_epi64(load512_words(&halves[0]), index, load512_words(&halves[1]))
}

/// Each quarter of the table gives an entry; two bits of the index select one of them.
#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn look_up256(table: &[u64; 16], index: __m256i) -> __m256i {
    let (quarters, _) = table.as_chunks();
    // Of the halves of a word. A permutation takes the lowest three bits.
    let low = _mm256_add_epi64(index, index);
    let high = _mm256_slli_epi64::<32>(_mm256_add_epi64(low, _mm256_set1_epi64x(1)));
    let halves = _mm256_or_si256(low, high);
    let entry = |quarter| {
        let words = load256_words(&quarters[quarter]);
        _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(words, halves))
    };
    let third = _mm256_castsi256_pd(_mm256_slli_epi64::<61>(index));
    let fourth = _mm256_castsi256_pd(_mm256_slli_epi64::<60>(index));
    let lower = _mm256_blendv_pd(entry(0), entry(1), third);
    let upper = _mm256_blendv_pd(entry(2), entry(3), third);
    _mm256_castpd_si256(_mm256_blendv_pd(lower, upper, fourth))
}

#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn load_four(words: &[u64; 8]) -> __m256i {
    let (halves, _) = words.as_chunks();
    load256_words(&halves[0])
}

#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn store_four(words: &mut [u64; 8], v: __m256i) {
    let (halves, _) = words.as_chunks_mut();
    store256_words(&mut halves[0], v);
}

/// By whole bytes a shuffle rotates, in one instruction in place of three.
#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn rotl256(v: __m256i, bits: u32) -> __m256i {
    let bytes = match bits {
        8 => _mm256_set1_epi64x(0x0605_0403_0201_0007),
        56 => _mm256_set1_epi64x(0x0007_0605_0403_0201),
        _ => return _mm256_or_si256(up256(v, bits), down256(v, 64 - bits)),
    };
    let second = _mm256_set1_epi64x(0x0808_0808_0808_0808);
    let bytes = _mm256_blend_epi32::<0b1100_1100>(bytes, _mm256_add_epi8(bytes, second));
    _mm256_shuffle_epi8(v, bytes)
}

/// The compiler makes the immediate form of constant numbers of bits.
#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn up256(v: __m256i, bits: u32) -> __m256i {
    _mm256_sll_epi64(v, _mm_cvtsi32_si128(bits.cast_signed()))
}

#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn down256(v: __m256i, bits: u32) -> __m256i {
    _mm256_srl_epi64(v, _mm_cvtsi32_si128(bits.cast_signed()))
}

/// The compiler makes the immediate form of constant numbers of bits.
#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn right512(v: __m512i, bits: u32) -> __m512i {
    _mm512_rorv_epi64(v, _mm512_set1_epi64(i64::from(bits)))
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn swap512(v: __m512i) -> __m512i {
    let order = _mm512_set4_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607);
    _mm512_shuffle_epi8(v, order)
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn xor512(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn majority512(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xe8>(a, b, c)
}

/// Column `i` has word `i` of each row.
#[cfg(feature = "isa-avx512")]
#[inline]
#[target_feature(enable = "avx512f")]
fn columns512(rows: [&[u8; 64]; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = rows.map(|row| load512(row));
    // Words of two rows, then of four, then of eight.
    let two = |a, b| (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let four = |a, b| (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
    let ((ab0, ab1), (cd0, cd1)) = (two(a, b), two(c, d));
    let ((ef0, ef1), (gh0, gh1)) = (two(e, f), two(g, h));
    // Of each pair of rows the words 0 and 4, 2 and 6, …
    let ((ad04, ad26), (ad15, ad37)) = (four(ab0, cd0), four(ab1, cd1));
    let ((eh04, eh26), (eh15, eh37)) = (four(ef0, gh0), four(ef1, gh1));
    let ((c0, c4), (c2, c6)) = (four(ad04, eh04), four(ad26, eh26));
    let ((c1, c5), (c3, c7)) = (four(ad15, eh15), four(ad37, eh37));
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

/// The compiler makes the immediate form of constant numbers of bits.
#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn right256(v: __m256i, bits: u32) -> __m256i {
    _mm256_or_si256(down256(v, bits), up256(v, 64 - bits))
}

#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn swap256(v: __m256i) -> __m256i {
    let order = _mm256_set_epi64x(
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
        0x0809_0a0b_0c0d_0e0f,
        0x0001_0203_0405_0607,
    );
    _mm256_shuffle_epi8(v, order)
}

/// Column `i` has word `i` of each of the first four rows.
#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn columns256([a, b, c, d, ..]: [&[u8; 64]; 8]) -> [__m256i; 8] {
    let [[a, e], [b, f], [c, g], [d, h]] = [a, b, c, d].map(|row| {
        let (halves, _) = row.as_chunks();
        [load256(&halves[0]), load256(&halves[1])]
    });
    let [c0, c1, c2, c3] = transpose256([a, b, c, d]);
    let [c4, c5, c6, c7] = transpose256([e, f, g, h]);
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

#[cfg(feature = "isa-avx2")]
#[inline]
#[target_feature(enable = "avx2")]
fn transpose256([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab02, ab13) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
    let (cd02, cd13) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
    [
        _mm256_permute2x128_si256::<0x20>(ab02, cd02),
        _mm256_permute2x128_si256::<0x20>(ab13, cd13),
        _mm256_permute2x128_si256::<0x31>(ab02, cd02),
        _mm256_permute2x128_si256::<0x31>(ab13, cd13),
    ]
}

#[cfg(feature = "isa-avx2")]
#[inline(never)]
#[target_feature(enable = "avx2")]
fn outline256<S: Step>(step: S) -> S::Output {
    step.run()
}

#[cfg(feature = "isa-avx512")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn outline512<S: Step>(step: S) -> S::Output {
    step.run()
}
