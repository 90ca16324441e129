//! Lists of parameters that OpenSSL passes.
//!
//! Programs ask for one or two parameters with each message, so looking for a name is part of its
//! cost. Names are compared byte by byte up to the first that differs, without a call.

use core::ffi::{CStr, c_char, c_void};
use core::marker::PhantomData;
use core::ptr;
use core::slice;

use crate::abi::{INTEGER, OCTETS, OCTETS_POINTER, Param, UNSIGNED, UTF8, UTF8_POINTER};

/// Parameters that come in.
pub(crate) struct Settings<'a> {
    next: *const Param,
    of: PhantomData<&'a Param>,
}

/// Parameters that are asked for.
pub(crate) struct ParamsOut<'a> {
    next: *mut Param,
    of: PhantomData<&'a mut Param>,
}

impl Settings<'_> {
    /// A list as it comes; none is an empty one.
    ///
    /// # Safety
    ///
    /// `list` is null or a list of parameters that ends with one without a key. It and what it
    /// points to may be read, and nothing changes it, for as long as the value is used.
    #[inline]
    pub(crate) unsafe fn new(list: *const Param) -> Self {
        Self { next: list, of: PhantomData }
    }
}

impl ParamsOut<'_> {
    /// A list as it comes; none is an empty one.
    ///
    /// # Safety
    ///
    /// As for [`Settings::new`], and the data of each parameter may be written.
    #[inline]
    pub(crate) unsafe fn new(list: *mut Param) -> Self {
        Self { next: list, of: PhantomData }
    }
}

impl<'a> Iterator for Settings<'a> {
    type Item = Setting<'a>;

    #[inline]
    fn next(&mut self) -> Option<Setting<'a>> {
        // SAFETY: null or an entry of the list.
        let param = unsafe { self.next.as_ref() }?;
        if param.key.is_null() {
            return None;
        }
        self.next = ptr::from_ref(param).wrapping_add(1);
        Some(Setting(param))
    }
}

impl<'a> Iterator for ParamsOut<'a> {
    type Item = ParamOut<'a>;

    #[inline]
    fn next(&mut self) -> Option<ParamOut<'a>> {
        // SAFETY: null or an entry of the list, which is lent once.
        let param = unsafe { self.next.as_mut() }?;
        if param.key.is_null() {
            return None;
        }
        self.next = self.next.wrapping_add(1);
        Some(ParamOut(param))
    }
}

/// The name of a parameter: a string that ends with a zero.
#[derive(Clone, Copy)]
pub(crate) struct Name(*const c_char);

impl Name {
    /// Whether it is this one.
    #[inline(always)]
    pub(crate) fn is(self, name: &CStr) -> bool {
        let mut at = self.0.cast::<u8>();
        for &byte in name.to_bytes_with_nul() {
            // SAFETY: all bytes before are those of `name`, none of them zero, so that the string
            // has one more.
            if unsafe { at.read() } != byte {
                return false;
            }
            at = at.wrapping_add(1);
        }
        true
    }
}

/// A parameter that comes in.
pub(crate) struct Setting<'a>(&'a Param);

impl Setting<'_> {
    #[inline]
    pub(crate) fn name(&self) -> Name {
        Name(self.0.key)
    }

    /// A number that is not negative, of one to eight bytes.
    pub(crate) fn number(&self) -> Option<u64> {
        let bytes = self.bytes()?;
        let number = match bytes.len() {
            4 => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            2 => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
            1 => bytes[0].into(),
            _ => return None,
        };
        let sign = 1 << (8 * bytes.len() - 1);
        match self.0.data_type {
            UNSIGNED => Some(number),
            INTEGER if number & sign == 0 => Some(number),
            _ => None,
        }
    }

    /// A number that counts bytes.
    pub(crate) fn size(&self) -> Option<usize> {
        self.number()?.try_into().ok()
    }

    /// The bytes of a number that is not negative, in the order of the processor.
    pub(crate) fn number_bytes(&self) -> Option<&[u8]> {
        if self.0.data_type == UNSIGNED { self.bytes() } else { None }
    }

    /// Text, without the zero at its end.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        let text = if self.0.data_type == UTF8 { self.bytes() } else { None }?;
        text.split(|&byte| byte == 0).next()
    }

    /// A string of bytes.
    #[inline]
    pub(crate) fn octets(&self) -> Option<&[u8]> {
        if self.0.data_type == OCTETS { self.bytes() } else { None }
    }

    /// A string of bytes that may only have a length; then nothing and the length.
    #[inline]
    pub(crate) fn octets_or_length(&self) -> Option<(Option<&[u8]>, usize)> {
        (self.0.data_type == OCTETS).then(|| (self.bytes(), self.0.data_size))
    }

    #[inline]
    fn bytes(&self) -> Option<&[u8]> {
        let data = self.0.data.cast::<u8>();
        // No memory is larger, and a length of minus one has a meaning of its own.
        if data.is_null() || self.0.data_size > isize::MAX.unsigned_abs() {
            return None;
        }
        // SAFETY: the parameter has data of that size, which the list lends.
        Some(unsafe { slice::from_raw_parts(data, self.0.data_size) })
    }

    /// The bytes of a string whose length is said to be minus one, which stands for `length`.
    pub(crate) fn octets_of_any_length(&self, length: usize) -> Option<&[u8]> {
        let data = self.0.data.cast::<u8>();
        if self.0.data_type != OCTETS || self.0.data_size != usize::MAX || data.is_null() {
            return None;
        }
        // SAFETY: the caller of OpenSSL gives as many bytes as the vector has with this length.
        Some(unsafe { slice::from_raw_parts(data, length) })
    }
}

/// A parameter that is asked for. An answer without a place for it only tells its size.
pub(crate) struct ParamOut<'a>(&'a mut Param);

impl ParamOut<'_> {
    #[inline]
    pub(crate) fn name(&self) -> Name {
        Name(self.0.key)
    }

    /// The length of the place for the answer.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.0.data_size
    }

    /// Whether the answer has a place and is a string of bytes.
    #[inline]
    pub(crate) fn has_place_for_octets(&self) -> bool {
        self.0.data_type == OCTETS && !self.0.data.is_null()
    }

    /// Answers a number that counts bytes.
    #[inline]
    pub(crate) fn size(&mut self, size: usize) -> bool {
        self.number(size as u64, size_of::<usize>())
    }

    /// Answers a small number.
    #[inline]
    pub(crate) fn small(&mut self, number: u32) -> bool {
        self.number(number.into(), size_of::<u32>())
    }

    /// Answers a number of 64 bits.
    pub(crate) fn wide(&mut self, number: u64) -> bool {
        self.number(number, size_of::<u64>())
    }

    #[inline]
    fn number(&mut self, number: u64, natural: usize) -> bool {
        let param = &mut *self.0;
        if param.data_type != UNSIGNED && param.data_type != INTEGER {
            return false;
        }
        if param.data.is_null() {
            param.return_size = natural;
            return true;
        }
        param.return_size = size_of::<u64>();
        let signed = u32::from(param.data_type == INTEGER);
        let fits = |bits: u32| number >> (bits - signed - 1) >> 1 == 0;
        match param.data_size {
            8 if fits(64) => put(param, number),
            4 if fits(32) => {
                param.return_size = 4;
                let [bytes, _] = halves(number);
                put(param, bytes)
            }
            _ => false,
        }
    }

    /// Answers a string of bytes.
    #[inline]
    pub(crate) fn octets(&mut self, bytes: &[u8]) -> bool {
        let param = &mut *self.0;
        if param.data_type != OCTETS {
            return false;
        }
        param.return_size = bytes.len();
        if param.data.is_null() {
            return true;
        }
        if param.data_size < bytes.len() {
            return false;
        }
        if let ([front, back], []) = bytes.as_chunks::<8>() {
            return put(param, [word(front), word(back)]);
        }
        // SAFETY: the place is at least as long, and belongs to the caller, not to the context.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), param.data.cast(), bytes.len()) };
        true
    }

    /// Answers a string of bytes, or a pointer to it, as is asked for.
    pub(crate) fn octets_or_pointer(&mut self, bytes: &[u8]) -> bool {
        if self.0.data_type == OCTETS_POINTER {
            return self.pointer(bytes.as_ptr().cast(), bytes.len());
        }
        self.octets(bytes)
    }

    /// Answers a pointer to bytes of the context, which may be none.
    pub(crate) fn octets_pointer(&mut self, bytes: Option<&[u8]>, length: usize) -> bool {
        let data = bytes.map_or(ptr::null(), |bytes| bytes.as_ptr());
        self.0.data_type == OCTETS_POINTER && self.pointer(data.cast(), length)
    }

    /// Answers text that lives for ever.
    pub(crate) fn text(&mut self, text: &'static CStr) -> bool {
        self.0.data_type == UTF8_POINTER && self.pointer(text.as_ptr().cast(), text.count_bytes())
    }

    fn pointer(&mut self, data: *const c_void, length: usize) -> bool {
        let param = &mut *self.0;
        param.return_size = length;
        param.data.is_null() || put(param, data)
    }

    /// Lends the place for the answer, which must be one for bytes.
    pub(crate) fn place(&mut self) -> Option<&mut [u8]> {
        if !self.has_place_for_octets() || self.0.data_size > isize::MAX.unsigned_abs() {
            return None;
        }
        // SAFETY: the parameter has a place of that size.
        Some(unsafe { slice::from_raw_parts_mut(self.0.data.cast(), self.0.data_size) })
    }
}

/// Eight bytes in one load: a tag was often stored just before, in halves, and a load of both would
/// wait until they are in the cache.
#[inline]
fn word(bytes: &[u8; 8]) -> u64 {
    // SAFETY: eight bytes that are a number of any value.
    unsafe { ptr::from_ref(bytes).cast::<Unaligned>().read_volatile() }.0
}

/// A word at any address.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Unaligned(u64);

/// Stores an answer, which need not be aligned.
#[inline]
fn put<T>(param: &mut Param, value: T) -> bool {
    // SAFETY: the callers have compared the size of the place, or its type says what it holds.
    unsafe { param.data.cast::<T>().write_unaligned(value) };
    true
}

/// The lower and the upper half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves are wanted")]
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}
