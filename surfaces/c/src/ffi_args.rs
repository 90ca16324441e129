//! What C passes: pointers with lengths, and objects of this library.
//!
//! Nothing here is trusted but that a pointer which is not null is valid for its length, which no
//! program can check.

use core::ffi::{CStr, c_char, c_int};
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use crate::code::Code;

/// Bytes that C lends for the time of a call, to be read or written. They are not touched before
/// all arguments have been checked, so that no two slices overlap.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    /// Not null. Where there are no bytes, it points to nothing.
    start: *mut u8,
    /// At most `isize::MAX`.
    length: usize,
}

impl Bytes {
    /// Bytes that C does not let us change. No bytes may be at any address, also at null.
    #[inline(always)]
    pub(crate) fn input(start: *const u8, length: usize) -> Result<Self, Code> {
        Self::output(start.cast_mut(), length)
    }

    /// Bytes that will be written.
    #[inline(always)]
    pub(crate) fn output(start: *mut u8, length: usize) -> Result<Self, Code> {
        // One comparison for the usual case: neither no bytes nor too many.
        if !start.is_null() && length.cast_signed() > 0 {
            return Ok(Self { start, length });
        }
        match length {
            0 => Ok(Self::NONE),
            _ if start.is_null() => Err(Code::NullPointer),
            _ => Err(Code::TooLong),
        }
    }

    /// No bytes.
    pub(crate) const NONE: Self = Self { start: core::ptr::dangling_mut(), length: 0 };

    /// The bytes of a place for a `T`, which is neither null nor misaligned.
    pub(crate) fn of_place<T>(place: *mut T) -> Self {
        Self { start: place.cast(), length: size_of::<T>() }
    }

    /// Refuses bytes that have some in common with these.
    //
    // They have if this start is less than `other.length` behind the other, or less than
    // `self.length` before it: one comparison of numbers modulo 2^64. It is right without bytes,
    // too, because no bytes stand at address 1 and others do not.
    #[inline(always)]
    pub(crate) fn apart_from(self, other: Self) -> Result<(), Code> {
        let last = self.start.addr().wrapping_add(self.length).wrapping_sub(1);
        let distance = last.wrapping_sub(other.start.addr());
        let overlap = distance < self.length.wrapping_add(other.length).wrapping_sub(1);
        if overlap { Err(Code::Overlap) } else { Ok(()) }
    }

    /// Whether these are the same bytes. Others must not overlap.
    #[inline(always)]
    pub(crate) fn is_same_or_apart(self, other: Self) -> Result<bool, Code> {
        if self.start == other.start {
            return Ok(true);
        }
        self.apart_from(other)?;
        Ok(false)
    }

    /// How many bytes they are.
    #[cfg(feature = "file")]
    pub(crate) fn len(self) -> usize {
        self.length
    }

    /// The first bytes, and those behind them.
    #[inline(always)]
    pub(crate) fn split_at(self, at: usize) -> Result<(Self, Self), Code> {
        let rest = self.length.checked_sub(at).ok_or(Code::OutputLength)?;
        let front = Self::output(self.start, at)?;
        Ok((front, Self::output(self.start.wrapping_add(at), rest)?))
    }

    /// The bytes to be read.
    ///
    /// # Safety
    ///
    /// They are initialised and valid for the time of the call, and nothing writes them meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn read<'a>(self) -> &'a [u8] {
        // SAFETY: not null and not too long, as `output` has checked; the caller vouches for the
        // rest.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    /// The bytes to be written.
    ///
    /// # Safety
    ///
    /// They are valid for the time of the call, and nothing else reads or writes them meanwhile.
    /// Whether C has initialised them does not matter to code that only writes them; sealing in
    /// place reads what it writes over.
    #[inline(always)]
    pub(crate) unsafe fn write<'a>(self) -> &'a mut [u8] {
        // SAFETY: not null and not too long, as `output` has checked; the caller vouches for the
        // rest.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }
}

/// Nonce, associated data, and the packet to change.
pub(crate) type InPlace<'a> = (&'a [u8], &'a [u8], &'a mut [u8]);

/// The bytes behind these pointers, of these lengths. The packet must overlap nothing else.
///
/// # Safety
///
/// The bytes are lent for the time of the call.
#[inline(always)]
pub(crate) unsafe fn in_place<'a>(
    nonce: (*const u8, usize),
    aad: (*const u8, usize),
    packet: (*mut u8, usize),
) -> Result<InPlace<'a>, Code> {
    let (nonce, aad) = (Bytes::input(nonce.0, nonce.1)?, Bytes::input(aad.0, aad.1)?);
    let packet = Bytes::output(packet.0, packet.1)?;
    packet.apart_from(nonce)?;
    packet.apart_from(aad)?;
    // SAFETY: the caller lends the bytes, and the packet overlaps nothing.
    let nonce = unsafe { nonce.read() };
    // SAFETY: the same.
    let aad = unsafe { aad.read() };
    // SAFETY: the same.
    Ok((nonce, aad, unsafe { packet.write() }))
}

/// The object behind a pointer.
///
/// # Safety
///
/// If the pointer is neither null nor misaligned, it is one that this library gave for a `T` and
/// that has not been freed, and nobody changes it during the call.
#[inline(always)]
pub(crate) unsafe fn object<'a, T>(pointer: *const T) -> Result<&'a T, Code> {
    checked(pointer)?;
    // SAFETY: the caller vouches for it.
    Ok(unsafe { &*pointer })
}

/// The object behind a pointer, to be changed.
///
/// # Safety
///
/// As for [`object`], and nobody else uses it during the call.
#[inline(always)]
pub(crate) unsafe fn object_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T, Code> {
    checked(pointer)?;
    // SAFETY: the caller vouches for it.
    Ok(unsafe { &mut *pointer })
}

/// Refuses pointers that cannot be those of a `T`.
#[inline(always)]
pub(crate) fn checked<T>(pointer: *const T) -> Result<(), Code> {
    if pointer.is_null() {
        return Err(Code::NullPointer);
    }
    if !pointer.is_aligned() {
        return Err(Code::Misaligned);
    }
    Ok(())
}

/// Gives a number or a pointer to the caller.
///
/// # Safety
///
/// If the pointer is neither null nor misaligned, a `T` may be written there.
pub(crate) unsafe fn give<T>(place: *mut T, value: T) -> Result<(), Code> {
    checked(place)?;
    // SAFETY: the caller vouches for it.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes a number or a pointer that means nothing, for the case that what comes next fails. A
/// place that overlaps the input is refused before it is written: it would change what is read.
///
/// # Safety
///
/// As for [`give`].
pub(crate) unsafe fn give_nothing<T>(
    place: *mut T,
    nothing: T,
    input: Result<Bytes, Code>,
) -> Result<(), Code> {
    checked(place)?;
    if let Ok(input) = input {
        Bytes::of_place(place).apart_from(input)?;
    }
    // SAFETY: the caller vouches for it.
    unsafe { give(place, nothing) }
}

/// Makes an object of the input and gives it to the caller, who gets null where none is made.
///
/// # Safety
///
/// As for [`give`].
pub(crate) unsafe fn give_object<T>(
    place: *mut *mut T,
    input: Result<Bytes, Code>,
    make: impl FnOnce(Bytes) -> Result<Box<T>, Code>,
) -> c_int {
    // SAFETY: the caller vouches for it.
    if let Err(code) = unsafe { give_nothing(place, core::ptr::null_mut(), input) } {
        return code.number();
    }
    caught(|| {
        let made = Box::into_raw(make(input?)?);
        // SAFETY: the same place.
        unsafe { give(place, made) }
    })
}

/// Frees an object. Null and what cannot be one are left alone.
///
/// # Safety
///
/// As for [`object_mut`]; the pointer is not used again.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if checked(pointer).is_ok() {
        // SAFETY: it came from a box of this type, and the caller gives it back.
        let object = unsafe { Box::from_raw(pointer) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
    }
}

/// A string of C of at most 4,095 bytes, without the zero behind it.
///
/// # Safety
///
/// If the pointer is not null, it is that of a string that ends with a zero, and nobody changes it
/// during the call.
pub(crate) unsafe fn text(pointer: *const c_char) -> Result<Bytes, Code> {
    if pointer.is_null() {
        return Err(Code::NullPointer);
    }
    // SAFETY: the caller vouches for it.
    let length = unsafe { CStr::from_ptr(pointer) }.count_bytes();
    if length < 4096 { Bytes::input(pointer.cast(), length) } else { Err(Code::TooLong) }
}

/// The number of an outcome. Does not catch panics.
#[inline(always)]
pub(crate) fn answer(run: impl FnOnce() -> Result<(), Code>) -> c_int {
    match run() {
        Ok(()) => 0,
        Err(code) => code.number(),
    }
}

/// The number of an outcome; that of a panic is `LC_ERR_INTERNAL`.
pub(crate) fn caught(run: impl FnOnce() -> Result<(), Code>) -> c_int {
    // What a panic leaves behind is refused or freed by C, like after any other error.
    let outcome = catch_unwind(AssertUnwindSafe(run));
    answer(|| outcome.unwrap_or(Err(Code::Internal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pairs of short ranges that begin at few addresses, against a comparison byte by byte.
    #[test]
    fn bytes_overlap_if_they_have_one_in_common() {
        let ranges: Vec<Bytes> = (4096..4106usize)
            .flat_map(|at| {
                (0..8).map(move |length| (core::ptr::without_provenance_mut(at), length))
            })
            .map(|(start, length)| Bytes::output(start, length).expect("good bytes"))
            .collect();
        let set = |bytes: &Bytes| bytes.start.addr()..bytes.start.addr() + bytes.length;
        for a in &ranges {
            for b in &ranges {
                let common = set(a).any(|address| set(b).contains(&address));
                assert_eq!(a.apart_from(*b).is_err(), common, "{:?} {:?}", set(a), set(b));
            }
        }
    }

    #[test]
    fn lengths_end_where_those_of_slices_do() {
        let (null, some) = (core::ptr::null_mut(), core::ptr::without_provenance_mut(4096));
        let most = isize::MAX as usize;
        assert!(Bytes::output(null, 0).is_ok() && Bytes::output(some, most).is_ok());
        assert_eq!(Bytes::output(some, most + 1).err(), Some(Code::TooLong));
        assert_eq!(Bytes::output(some, usize::MAX).err(), Some(Code::TooLong));
        assert_eq!(Bytes::output(null, 1).err(), Some(Code::NullPointer));
    }

    #[test]
    fn panics_become_a_number() {
        assert_eq!(caught(|| panic!("planted")), Code::Internal.number());
        assert_eq!(caught(|| Ok(())), 0);
    }
}
