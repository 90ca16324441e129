//! Moving a few bytes by words, and singly: they are wiped at the source.

use core::sync::atomic::{Ordering, compiler_fence};

use crate::linux::word::Unaligned;

/// Moves a few bytes one by one.
#[inline(always)]
pub(crate) fn singly(source: &mut [u8], out: &mut [u8]) {
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
pub(crate) unsafe fn overlapping<T: Copy + Default>(source: &mut [u8], out: &mut [u8]) {
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
