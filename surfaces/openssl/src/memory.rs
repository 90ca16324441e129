//! The memory of contexts, and what OpenSSL passes by pointers.

use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr;
use core::slice;
use std::alloc::{alloc, dealloc};

use inout::InOutBuf;

/// A context: plain memory with a key inside, which a copy of its bytes duplicates.
///
/// # Safety
///
/// The type holds no pointer to itself, no reference and nothing that must not exist twice;
/// dropping it does nothing but wipe it.
pub(crate) unsafe trait Plain: Sized {}

/// The alignment of contexts: a cache line.
const LINE: usize = 64;

/// Memory for a context. The allocator takes twice as long for memory of this alignment, so that
/// more of it is asked for, and what it gave stands before the context.
#[inline]
fn place<T: Plain>() -> *mut T {
    const { assert!(align_of::<T>() <= LINE) };
    // SAFETY: a context has bytes.
    let memory = unsafe { alloc(room::<T>()) };
    if memory.is_null() {
        return memory.cast();
    }
    // It is at a multiple of 16, so at least 16 bytes are before the next line.
    let place = memory.wrapping_add(LINE - memory.addr() % LINE);
    // SAFETY: the bytes before the line belong to the memory, and it is aligned for pointers.
    unsafe { place.wrapping_sub(size_of::<*mut u8>()).cast::<*mut u8>().write(memory) };
    place.cast()
}

/// The memory that [`place`] asks for.
fn room<T>() -> Layout {
    let layout = Layout::from_size_align(size_of::<T>() + LINE, 16);
    layout.unwrap_or(Layout::new::<[T; 2]>())
}

/// Puts a context into memory of its own. None is left if there is no memory.
#[inline]
pub(crate) fn keep<T: Plain>(make: impl FnOnce() -> T) -> *mut c_void {
    let place = place::<T>();
    if !place.is_null() {
        // SAFETY: the memory is new, and of the size and alignment of the type.
        unsafe { place.write(make()) };
    }
    place.cast()
}

/// A copy of a context in memory of its own, or none.
///
/// # Safety
///
/// `context` comes from [`keep`] or this function with the same type, and nothing changes it
/// meanwhile.
pub(crate) unsafe fn duplicate<T: Plain>(context: *mut c_void) -> *mut c_void {
    let place = place::<T>();
    if !place.is_null() {
        // SAFETY: both are of the type, and one is new. The type says that a copy is one more.
        unsafe { ptr::copy_nonoverlapping(context.cast::<T>(), place, 1) };
    }
    place.cast()
}

/// Wipes a context and gives its memory back.
///
/// # Safety
///
/// `context` is null, or comes from [`keep`] or [`duplicate`] with the same type and is not used
/// again.
#[inline]
pub(crate) unsafe fn free<T: Plain>(context: *mut c_void) {
    if context.is_null() {
        return;
    }
    // SAFETY: it is a value of the type, and nobody uses it again.
    unsafe { ptr::drop_in_place(context.cast::<T>()) };
    let before = context.cast::<*mut u8>().wrapping_sub(1);
    // SAFETY: `place` has written there what the allocator gave.
    let memory = unsafe { before.read() };
    // SAFETY: the memory was allocated with this layout.
    unsafe { dealloc(memory, room::<T>()) };
}

/// Lends a context for a call.
///
/// # Safety
///
/// `context` is null, or comes from [`keep`] or [`duplicate`] with the same type. Nothing else uses
/// it during the call: contexts belong to one thread at a time.
#[inline]
pub(crate) unsafe fn lend<'a, T: Plain>(context: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: the caller says so.
    unsafe { context.cast::<T>().as_mut() }
}

/// Bytes that are passed by pointer and length; no pointer is none.
///
/// # Safety
///
/// If `data` is not null, so many bytes may be read for as long as the slice is used.
#[inline]
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: usize) -> Option<&'a [u8]> {
    if data.is_null() || length > isize::MAX.unsigned_abs() {
        return None;
    }
    // SAFETY: the caller says so.
    Some(unsafe { slice::from_raw_parts(data, length) })
}

/// What a call does with its two buffers.
pub(crate) enum Buffers<'a> {
    /// Associated data: there is no output.
    Associated(&'a [u8]),
    /// Data from one buffer to another, or in place.
    Data(InOutBuf<'a, 'a, u8>),
    /// The end of a message: there is no input.
    End,
}

/// The two buffers of a call. A length that no buffer has, or an output that is too short, is none.
///
/// If the buffers overlap, the input is first moved to where the output is wanted.
///
/// # Safety
///
/// `input` is null or has `length` bytes, and `output` is null or has `room` bytes, for as long as
/// the result is used.
#[inline]
pub(crate) unsafe fn buffers<'a>(
    output: *mut u8,
    room: usize,
    input: *const u8,
    length: usize,
) -> Option<Buffers<'a>> {
    if input.is_null() {
        return Some(Buffers::End);
    }
    if length > isize::MAX.unsigned_abs() {
        return None;
    }
    if output.is_null() {
        // SAFETY: the input has so many bytes.
        return Some(Buffers::Associated(unsafe { slice::from_raw_parts(input, length) }));
    }
    if room < length {
        return None;
    }
    let mut input = input;
    let distance = output.addr().wrapping_sub(input.addr());
    let back = input.addr().wrapping_sub(output.addr());
    if distance != 0 && (distance < length || back < length) {
        // SAFETY: both have so many bytes; this copy may overlap.
        unsafe { ptr::copy(input, output, length) };
        input = output;
    }
    // SAFETY: both pointers are valid for so many bytes, and are the same or do not overlap.
    Some(Buffers::Data(unsafe { InOutBuf::from_raw(input, output, length) }))
}

/// Says how many bytes have been written.
///
/// # Safety
///
/// `place` is null or may be written.
#[inline]
pub(crate) unsafe fn tell(place: *mut usize, length: usize) {
    if !place.is_null() {
        // SAFETY: the caller says so.
        unsafe { place.write(length) };
    }
}

/// One for success, zero for failure.
#[inline]
pub(crate) fn status(good: bool) -> c_int {
    c_int::from(good)
}
