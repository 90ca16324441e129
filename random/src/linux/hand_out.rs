//! Moving bytes out of a page: they are copied to the caller, wiped at the source, and cleared from
//! the vector registers.

use core::sync::atomic::{Ordering, compiler_fence};

use lanecrypt_kernels::Isa;

use crate::linux::word::Unaligned;

/// Whether this build has kernels for AVX-512.
const WITH_AVX512: bool = cfg!(all(target_arch = "x86_64", feature = "isa-avx512"));

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

/// Moves a few bytes one by one.
#[inline(always)]
fn singly(source: &mut [u8], out: &mut [u8]) {
    for (from, to) in source.iter_mut().zip(out) {
        let from: *mut u8 = from;
        // SAFETY: the pointer is to a byte of the source.
        let byte = unsafe { from.read_volatile() };
        // SAFETY: as above.
        unsafe { from.write_volatile(0) };
        *to = byte;
    }
}

/// Moves `size_of::<T>()` to twice as many bytes by two words that may overlap. The words go
/// through general purpose registers, and not through the stack even in builds with little
/// optimisation.
///
/// # Safety
///
/// `T` is a plain integer.
#[inline(always)]
unsafe fn overlapping<T: Copy + Default>(source: &mut [u8], out: &mut [u8]) {
    let length = out.len();
    assert!(source.len() == length && length >= size_of::<T>(), "the caller looks");
    let last = length - size_of::<T>();
    let head = source.as_mut_ptr().cast::<Unaligned<T>>();
    let tail = head.wrapping_byte_add(last);
    let out = out.as_mut_ptr().cast::<Unaligned<T>>();
    // SAFETY: the first word lies within the length.
    let first: Unaligned<T> = unsafe { head.read_volatile() };
    // SAFETY: the last word does, too.
    let second: Unaligned<T> = unsafe { tail.read_volatile() };
    // SAFETY: as for the reads.
    unsafe { head.write(Unaligned(T::default())) };
    // SAFETY: as for the reads.
    unsafe { tail.write(Unaligned(T::default())) };
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the target is as long as the source.
    unsafe { out.write(first) };
    // SAFETY: the target is as long as the source.
    unsafe { out.wrapping_byte_add(last).write(second) };
}

/// Moves 16 to 32 bytes by two registers that may overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn pair(source: &mut [u8], out: &mut [u8]) {
    let length = out.len();
    assert!(source.len() == length && length >= 16, "the caller looks");
    // SAFETY: reads and wipes the first and the last 16 bytes of `source` and writes them to `out`.
    // Both have at least 16 bytes.
    unsafe {
        core::arch::asm!(
            "movdqu {a}, [{source}]",
            "movdqu {b}, [{source} + {length} - 16]",
            "pxor {zero}, {zero}",
            "movdqu [{source}], {zero}",
            "movdqu [{source} + {length} - 16], {zero}",
            "movdqu [{out}], {a}",
            "movdqu [{out} + {length} - 16], {b}",
            "pxor {a}, {a}",
            "pxor {b}, {b}",
            source = in(reg) source.as_mut_ptr(),
            out = in(reg) out.as_mut_ptr(),
            length = in(reg) length,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            zero = out(xmm_reg) _,
            options(nostack, preserves_flags)
        );
    }
}

/// Moves 16 bytes or more: 64 at a time, then 16, and the last 16, which overlap the previous ones.
///
/// Assembly, because the registers that carried the bytes must be cleared, and only assembly can
/// name them. The last bytes are read first: if they overlap, the loop wipes them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn wide(source: &mut [u8], out: &mut [u8]) {
    let length = out.len();
    assert!(source.len() == length && length >= 16, "the caller looks");
    // SAFETY: reads and wipes `length` bytes of `source` and writes as many to `out`. Both have
    // that length. The blocks of 64 and 16 bytes end before the last 16 bytes begin or within them,
    // and the last 16 bytes are inside because the length is at least 16.
    unsafe {
        core::arch::asm!(
            "movdqu {last}, [{source} + {rest} - 16]",
            "pxor {zero}, {zero}",
            "sub {rest}, 16",
            "cmp {rest}, 64",
            "jb 3f",
            "2:",
            "movdqu {a}, [{source}]",
            "movdqu {b}, [{source} + 16]",
            "movdqu {c}, [{source} + 32]",
            "movdqu {d}, [{source} + 48]",
            "movdqu [{source}], {zero}",
            "movdqu [{source} + 16], {zero}",
            "movdqu [{source} + 32], {zero}",
            "movdqu [{source} + 48], {zero}",
            "movdqu [{out}], {a}",
            "movdqu [{out} + 16], {b}",
            "movdqu [{out} + 32], {c}",
            "movdqu [{out} + 48], {d}",
            "add {source}, 64",
            "add {out}, 64",
            "sub {rest}, 64",
            "cmp {rest}, 64",
            "jae 2b",
            "3:",
            "test {rest}, {rest}",
            "jz 5f",
            "4:",
            "movdqu {a}, [{source}]",
            "movdqu [{source}], {zero}",
            "movdqu [{out}], {a}",
            "add {source}, 16",
            "add {out}, 16",
            "sub {rest}, 16",
            "ja 4b",
            "5:",
            "movdqu [{source} + {rest}], {zero}",
            "movdqu [{out} + {rest}], {last}",
            "pxor {a}, {a}",
            "pxor {b}, {b}",
            "pxor {c}, {c}",
            "pxor {d}, {d}",
            "pxor {last}, {last}",
            source = inout(reg) source.as_mut_ptr() => _,
            out = inout(reg) out.as_mut_ptr() => _,
            rest = inout(reg) length => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            last = out(xmm_reg) _,
            zero = out(xmm_reg) _,
            options(nostack)
        );
    }
}

/// Moves 64 bytes or more, like [`wide`].
///
/// Uses only registers above the fifteenth: clearing them whole is cheap, and they cause no
/// transition penalty in surrounding SSE code.
///
/// # Safety
///
/// Same as [`hand_out`], with at least 64 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn by_vectors(source: *mut u8, out: &mut [u8]) {
    // SAFETY: as in `wide`, with blocks of 256 and 64 bytes and the last 64.
    unsafe {
        core::arch::asm!(
            "vmovdqu64 zmm20, [{source} + {rest} - 64]",
            "vpxord xmm21, xmm21, xmm21",
            "sub {rest}, 64",
            "cmp {rest}, 256",
            "jb 3f",
            "2:",
            "vmovdqu64 zmm16, [{source}]",
            "vmovdqu64 zmm17, [{source} + 64]",
            "vmovdqu64 zmm18, [{source} + 128]",
            "vmovdqu64 zmm19, [{source} + 192]",
            "vmovdqu64 [{source}], zmm21",
            "vmovdqu64 [{source} + 64], zmm21",
            "vmovdqu64 [{source} + 128], zmm21",
            "vmovdqu64 [{source} + 192], zmm21",
            "vmovdqu64 [{out}], zmm16",
            "vmovdqu64 [{out} + 64], zmm17",
            "vmovdqu64 [{out} + 128], zmm18",
            "vmovdqu64 [{out} + 192], zmm19",
            "add {source}, 256",
            "add {out}, 256",
            "sub {rest}, 256",
            "cmp {rest}, 256",
            "jae 2b",
            "3:",
            "test {rest}, {rest}",
            "jz 5f",
            "4:",
            "vmovdqu64 zmm16, [{source}]",
            "vmovdqu64 [{source}], zmm21",
            "vmovdqu64 [{out}], zmm16",
            "add {source}, 64",
            "add {out}, 64",
            "sub {rest}, 64",
            "ja 4b",
            "5:",
            "vmovdqu64 [{source} + {rest}], zmm21",
            "vmovdqu64 [{out} + {rest}], zmm20",
            "vpxord xmm16, xmm16, xmm16",
            "vpxord xmm17, xmm17, xmm17",
            "vpxord xmm18, xmm18, xmm18",
            "vpxord xmm19, xmm19, xmm19",
            "vpxord xmm20, xmm20, xmm20",
            source = inout(reg) source => _,
            out = inout(reg) out.as_mut_ptr() => _,
            rest = inout(reg) out.len() => _,
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("zmm19") _,
            out("zmm20") _,
            out("zmm21") _,
            options(nostack)
        );
    }
}

/// Never called: other processors have no AVX-512.
///
/// # Safety
///
/// Same as [`hand_out`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn by_vectors(source: *mut u8, out: &mut [u8]) {
    // SAFETY: the caller's promise.
    unsafe { hand_out_short(source, out) }
}

/// Moves 16 to 32 bytes, by words.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn pair(source: &mut [u8], out: &mut [u8]) {
    wide(source, out);
}

/// Moves 16 bytes or more, by words.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn wide(source: &mut [u8], out: &mut [u8]) {
    // The last 8 to 15 bytes go by two words.
    let words = out.len() / 8 * 8 - 8;
    for at in (0..words).step_by(8) {
        // SAFETY: a plain integer.
        unsafe { overlapping::<u64>(&mut source[at..at + 8], &mut out[at..at + 8]) };
    }
    // SAFETY: a plain integer.
    unsafe { overlapping::<u64>(&mut source[words..], &mut out[words..]) };
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::Level;

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
