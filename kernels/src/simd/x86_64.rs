//! Registers of x86-64.
//!
//! Each takes a reference to an array of exactly the register's size, or a slice whose length makes
//! a mask, so it is safe to call wherever its instruction set is enabled. The only other raw memory
//! accesses of kernels are in the lanes of `aes`, `des` and `serpent`, which hold pointers into the
//! buffers of many messages, and in `hc128`, which reads single bytes of words.
#![cfg(target_arch = "x86_64")]

use core::arch::asm;
use core::arch::x86_64::*;

use crate::wipe;

/// Loads 16 bytes.
#[inline]
#[target_feature(enable = "sse2")]
pub fn load128(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is valid for 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Loads four words.
#[inline]
#[target_feature(enable = "sse2")]
pub fn load_words(words: &[u32; 4]) -> __m128i {
    // SAFETY: the reference is valid for 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// Stores four words.
#[inline]
#[target_feature(enable = "sse2")]
pub fn store_words(words: &mut [u32; 4], v: __m128i) {
    // SAFETY: the reference is valid for 16 bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), v) }
}

/// Loads two words of 64 bits.
#[inline]
#[target_feature(enable = "sse2")]
#[cfg(feature = "_vectors")]
pub fn load_pair(words: &[u64; 2]) -> __m128i {
    // SAFETY: the reference is valid for 16 bytes, and the load asks for no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

/// The lowest 64 bits.
#[inline]
#[target_feature(enable = "sse2")]
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx512"))]
pub fn low_number(v: __m128i) -> u64 {
    _mm_cvtsi128_si64(v).cast_unsigned()
}

/// Stores 16 bytes.
#[inline]
#[target_feature(enable = "sse2")]
pub fn store128(bytes: &mut [u8; 16], v: __m128i) {
    // SAFETY: the reference is valid for 16 bytes, and the store asks for no alignment.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), v) }
}

/// Loads 16 bytes, or as many as there are, fewer than 16, and zeros after them.
#[inline]
#[target_feature(enable = "sse2")]
pub fn load128_part(bytes: &[u8]) -> __m128i {
    if let Some(block) = bytes.first_chunk() {
        return load128(block);
    }
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    let v = load128(&block);
    wipe::memory(&mut block);
    v
}

/// Stores 16 bytes, or as many as there is room for, fewer than 16.
#[inline]
#[target_feature(enable = "sse2")]
pub fn store128_part(bytes: &mut [u8], v: __m128i) {
    if let Some(block) = bytes.first_chunk_mut() {
        return store128(block, v);
    }
    let mut block = [0; 16];
    store128(&mut block, v);
    bytes.copy_from_slice(&block[..bytes.len()]);
    wipe::memory(&mut block);
}

/// Loads 32 bytes.
#[inline]
#[target_feature(enable = "avx")]
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
pub fn load256(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is valid for 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Stores 32 bytes.
#[inline]
#[target_feature(enable = "avx")]
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
pub fn store256(bytes: &mut [u8; 32], v: __m256i) {
    // SAFETY: the reference is valid for 32 bytes, and the store asks for no alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), v) }
}

/// Loads four words of 64 bits.
#[inline]
#[target_feature(enable = "avx")]
#[cfg(all(feature = "isa-avx2", any(feature = "montgomery", feature = "public-key")))]
pub fn load256_words(words: &[u64; 4]) -> __m256i {
    // SAFETY: the reference is valid for 32 bytes, and the load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

/// Stores four words of 64 bits.
#[inline]
#[target_feature(enable = "avx")]
#[cfg(all(feature = "isa-avx2", any(feature = "montgomery", feature = "public-key")))]
pub fn store256_words(words: &mut [u64; 4], v: __m256i) {
    // SAFETY: the reference is valid for 32 bytes, and the store asks for no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), v) }
}

/// Loads 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
#[cfg(feature = "isa-avx512")]
pub fn load512(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is valid for 64 bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Loads eight words of 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
#[cfg(feature = "isa-avx512")]
pub fn load512_words(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is valid for 64 bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Stores eight words of 64 bits.
#[inline]
#[target_feature(enable = "avx512f")]
#[cfg(all(feature = "isa-avx512", any(feature = "montgomery", feature = "public-key")))]
pub fn store512_words(words: &mut [u64; 8], v: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store asks for no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), v) }
}

/// Stores 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
#[cfg(feature = "isa-avx512")]
pub fn store512(bytes: &mut [u8; 64], v: __m512i) {
    // SAFETY: the reference is valid for 64 bytes, and the store asks for no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), v) }
}

/// Hides the origin of a value: the compiler takes it as it is, in a register.
#[inline]
#[target_feature(enable = "sse2")]
pub fn opaque128(mut v: __m128i) -> __m128i {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(xmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// Hides the origin of a value: the compiler takes it as it is, in a register.
#[inline]
#[target_feature(enable = "avx")]
#[cfg(feature = "isa-avx2")]
pub fn opaque256(mut v: __m256i) -> __m256i {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(ymm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// Makes the compiler finish these values before it continues with any of them. Otherwise it
/// computes one after the other if that takes fewer registers, and each waits for itself.
#[inline]
#[target_feature(enable = "sse2")]
pub fn together128([a, b, c, d, e, f, g, h]: &mut [__m128i; 8]) {
    // SAFETY: the assembly is empty and leaves the registers as they were.
    unsafe {
        asm!(
            "/* {0} {1} {2} {3} {4} {5} {6} {7} */",
            inout(xmm_reg) * a,
            inout(xmm_reg) * b,
            inout(xmm_reg) * c,
            inout(xmm_reg) * d,
            inout(xmm_reg) * e,
            inout(xmm_reg) * f,
            inout(xmm_reg) * g,
            inout(xmm_reg) * h,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
}

/// The same for four values.
#[inline]
#[target_feature(enable = "avx512f")]
#[cfg(feature = "isa-avx512")]
pub fn together512([mut a, mut b, mut c, mut d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the assembly is empty and leaves the registers as they were.
    unsafe {
        asm!(
            "/* {0} {1} {2} {3} */",
            inout(zmm_reg) a,
            inout(zmm_reg) b,
            inout(zmm_reg) c,
            inout(zmm_reg) d,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    [a, b, c, d]
}

/// Hides the place of a value, so that the compiler loads it alone and anew at each use.
#[inline]
#[target_feature(enable = "sse2")]
pub fn opaque_place<T>(value: &T) -> &T {
    let mut place: *const T = value;
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(reg) place, options(readonly, nostack, preserves_flags)) };
    // SAFETY: it is the reference that came in.
    unsafe { &*place }
}

/// Hides a number from the compiler, which would unroll a loop that runs a known number of times.
#[inline]
#[cfg(feature = "_vectors")]
pub fn opaque_count(mut n: usize) -> usize {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(reg) n, options(pure, nomem, nostack, preserves_flags)) };
    n
}

/// Loads the first 64 bytes, or as many as there are and zeros after them.
#[inline]
#[target_feature(enable = "avx512bw,bmi2")]
#[cfg(feature = "isa-avx512")]
pub fn load512_part(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask leaves out every byte past the end of the slice, and a masked load touches
    // nothing else.
    unsafe { _mm512_maskz_loadu_epi8(first_bytes(bytes.len()), bytes.as_ptr().cast()) }
}

/// Stores the first 64 bytes, or as many as there is room for.
#[inline]
#[target_feature(enable = "avx512bw,bmi2")]
#[cfg(feature = "isa-avx512")]
pub fn store512_part(bytes: &mut [u8], v: __m512i) {
    // SAFETY: the mask leaves out every byte past the end of the slice, and a masked store
    // touches nothing else.
    unsafe {
        _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), first_bytes(bytes.len()), v);
    }
}

/// Loads the first 16 bytes, or as many as there are and zeros after them.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,bmi2")]
#[cfg(feature = "isa-avx512")]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as the register has bytes")]
pub fn load128_masked(bytes: &[u8]) -> __m128i {
    let mask = first_bytes(bytes.len()) as u16;
    // SAFETY: the mask leaves out every byte past the end of the slice.
    unsafe { _mm_maskz_loadu_epi8(mask, bytes.as_ptr().cast()) }
}

/// Stores the first 16 bytes, or as many as there is room for.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,bmi2")]
#[cfg(feature = "isa-avx512")]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as the register has bytes")]
pub fn store128_masked(bytes: &mut [u8], v: __m128i) {
    let mask = first_bytes(bytes.len()) as u16;
    // SAFETY: the mask leaves out every byte past the end of the slice.
    unsafe { _mm_mask_storeu_epi8(bytes.as_mut_ptr().cast(), mask, v) }
}

/// [`load512_part`] with the narrowest load that suffices. Other short data may have just been
/// stored behind these, and a load waits for them even if its mask leaves them out.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,bmi2")]
#[cfg(feature = "isa-avx512")]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as the register has bytes")]
pub fn load512_short(bytes: &[u8]) -> __m512i {
    let mask = first_bytes(bytes.len());
    match bytes.len() {
        0..=16 => {
            // SAFETY: the mask leaves out every byte past the end of the slice.
            let v = unsafe { _mm_maskz_loadu_epi8(mask as u16, bytes.as_ptr().cast()) };
            _mm512_zextsi128_si512(v)
        }
        17..=32 => {
            // SAFETY: the mask leaves out every byte past the end of the slice.
            let v = unsafe { _mm256_maskz_loadu_epi8(mask as u32, bytes.as_ptr().cast()) };
            _mm512_zextsi256_si512(v)
        }
        _ => load512_part(bytes),
    }
}

/// [`store512_part`] with the narrowest store that suffices.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,bmi2")]
#[cfg(feature = "isa-avx512")]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as the register has bytes")]
pub fn store512_short(bytes: &mut [u8], v: __m512i) {
    let mask = first_bytes(bytes.len());
    let place = bytes.as_mut_ptr().cast();
    match bytes.len() {
        0..=16 => {
            let v = _mm512_castsi512_si128(v);
            // SAFETY: the mask leaves out every byte past the end of the slice.
            unsafe { _mm_mask_storeu_epi8(place, mask as u16, v) }
        }
        17..=32 => {
            let v = _mm512_castsi512_si256(v);
            // SAFETY: the mask leaves out every byte past the end of the slice.
            unsafe { _mm256_mask_storeu_epi8(place, mask as u32, v) }
        }
        _ => store512_part(bytes, v),
    }
}

/// Overwrites a register's place in memory with zeros.
#[inline]
#[cfg(feature = "isa-avx512")]
pub fn wipe512(v: &mut __m512i) {
    let place: *mut __m512i = v;
    // SAFETY: 64 bytes of plain numbers, which the reference borrows alone.
    wipe::memory(unsafe { &mut *place.cast::<[u8; 64]>() });
}

/// Loads whole pairs of words of 64 bits, at most 64 bytes, to the end of the register; zeros come
/// before them.
#[inline]
#[target_feature(enable = "avx512f,bmi2")]
#[cfg(feature = "isa-avx512")]
pub fn load512_end(bytes: &[u8]) -> __m512i {
    let words = (bytes.len() / 8).min(8);
    let [mask, ..] = (0xff00_u16 >> words).to_le_bytes();
    // SAFETY: as many words as the mask has bits are loaded, and the slice has as many.
    unsafe { _mm512_maskz_expandloadu_epi64(mask, bytes.as_ptr().cast()) }
}

/// Loads at most 48 bytes behind 16 zeros, and zeros after them.
///
/// It does not load from 16 bytes before. Such a load waits for bytes that have just been stored
/// there, even if its mask leaves them out; and if the page before the data is not mapped, it costs
/// hundreds of cycles.
#[inline]
#[target_feature(enable = "avx512bw,bmi2")]
#[cfg(feature = "isa-avx512")]
pub fn load512_behind(bytes: &[u8]) -> __m512i {
    _mm512_alignr_epi64::<6>(load512_part(bytes), _mm512_setzero_si512())
}

/// Stores at most 48 bytes from behind the first 16.
#[inline]
#[target_feature(enable = "avx512bw,bmi2")]
#[cfg(feature = "isa-avx512")]
pub fn store512_behind(bytes: &mut [u8], v: __m512i) {
    store512_part(bytes, _mm512_alignr_epi64::<2>(v, v));
}

/// A mask of the first `count` of 64 bytes; of all 64 if `count` is larger.
#[inline]
#[cfg(feature = "isa-avx512")]
pub fn first_bytes(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}
