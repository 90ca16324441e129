//! Moving bytes out of a page: they are copied to the caller, wiped at the source, and cleared from
//! the vector registers.

use lanecrypt_kernels::{Isa, Level};

/// Never called on processors without AVX-512.
#[cfg(not(target_arch = "x86_64"))]
use self::hand_out_short as by_vectors;
#[cfg(target_arch = "x86_64")]
use crate::linux::arch::by_vectors;
use crate::linux::arch::{pair, wide};
use crate::linux::words::{overlapping, singly};

/// Whether this build has kernels for AVX-512.
const WITH_AVX512: bool = cfg!(feature = "isa-avx512") && Level::Avx512.is_built();

/// From this length on, requests take their own path, in which copying by 64-byte vectors is worth
/// a call.
pub(crate) const LONG: usize = 128;

/// Copies bytes from `source` to fill `out`, and overwrites the source with zeros.
///
/// None of the bytes stay in a vector register. For the compiler, the source is read before the
/// target is written, in program order.
///
/// # Safety
///
/// `source` is valid for reading and writing `out.len()` bytes, and nothing else refers to them.
#[inline(never)]
pub(crate) unsafe fn hand_out(isa: Isa, source: *mut u8, out: &mut [u8]) {
    if out.len() >= LONG && WITH_AVX512 && isa.has_512_bit_registers() {
        // SAFETY: the caller's promise, with at least 64 bytes; the processor has AVX-512.
        unsafe { by_vectors(source, out) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { hand_out_short(source, out) }
    }
}

/// Same as [`hand_out`] without calls, for fewer than [`LONG`] bytes or where vectors do not help.
///
/// # Safety
///
/// Same as [`hand_out`].
#[inline(always)]
pub(crate) unsafe fn hand_out_short(source: *mut u8, out: &mut [u8]) {
    // SAFETY: the caller's promise.
    let source = unsafe { core::slice::from_raw_parts_mut(source, out.len()) };
    match out.len() {
        33.. => wide(source, out),
        16.. => pair(source, out),
        // SAFETY: a plain integer.
        8.. => unsafe { overlapping::<u64>(source, out) },
        // SAFETY: a plain integer.
        4.. => unsafe { overlapping::<u32>(source, out) },
        _ => singly(source, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_every_length_and_nothing_else() {
        let levels = Level::built().iter().map(|&level| Isa::of_processor().at_most(level));
        for (length, isa) in
            (0..800).flat_map(|length| levels.clone().map(move |isa| (length, isa)))
        {
            let original: Vec<u8> = (1..=251).cycle().take(length + 128).collect();
            let mut source = original.clone();
            let mut out = vec![0xEE; length + 128];
            let (from, to) = (source[64..].as_mut_ptr(), &mut out[64..64 + length]);
            // The source holds `length` bytes from offset 64 on, and more.
            if length >= LONG {
                // SAFETY: as said.
                unsafe { hand_out(isa, from, to) };
            } else {
                // SAFETY: as said.
                unsafe { hand_out_short(from, to) };
            }
            assert_eq!(out[64..64 + length], original[64..64 + length], "length {length}");
            assert!(source[64..64 + length].iter().all(|&b| b == 0), "length {length}");
            assert_eq!(source[..64], original[..64]);
            assert_eq!(source[64 + length..], original[64 + length..]);
            assert!(out[..64].iter().chain(&out[64 + length..]).all(|&b| b == 0xEE));
        }
    }
}
