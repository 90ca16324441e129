//! Ciphers, and contexts with a key.

use core::ffi::{CStr, c_int, c_uint};
use core::marker::PhantomData;
use core::ptr;

use super::{Context, Crypto, Param, Raw};

/// A cipher of one provider.
pub(crate) struct Cipher<'c> {
    pub(super) crypto: &'static Crypto,
    pub(super) raw: Raw,
    pub(super) of: PhantomData<&'c Context>,
}

// SAFETY: ciphers without a key may be used by many threads.
unsafe impl Sync for Cipher<'_> {}

impl Cipher<'_> {
    /// A number that is asked for, and its size, if the cipher knows it.
    pub(crate) fn number(&self, name: &CStr) -> Option<(u64, usize)> {
        let mut number = 0_u64;
        let mut params =
            [Param::new(name, 2, (&raw mut number).cast(), size_of::<u64>()), Param::end()];
        // SAFETY: a cipher and a list of one param_out.
        let status = unsafe { (self.crypto.EVP_CIPHER_get_params)(self.raw, params.as_mut_ptr()) };
        (status == 1 && params[0].returned != usize::MAX).then_some((number, params[0].returned))
    }

    /// A context without a key.
    pub(crate) fn context(&self) -> Keyed<'_> {
        // SAFETY: no argument.
        let raw = unsafe { (self.crypto.EVP_CIPHER_CTX_new)() };
        assert!(!raw.is_null());
        Keyed { cipher: self, raw, begun: false }
    }
}

impl Drop for Cipher<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.crypto.EVP_CIPHER_free)(self.raw) };
    }
}

/// A context of a cipher.
pub(crate) struct Keyed<'c> {
    cipher: &'c Cipher<'c>,
    raw: Raw,
    /// Whether it knows its cipher. One that is set again forgets its key.
    begun: bool,
}

// SAFETY: a context may go to another thread.
unsafe impl Send for Keyed<'_> {}

/// Controls of contexts.
pub(crate) const SET_IV_LENGTH: c_int = 0x9;
pub(crate) const GET_TAG: c_int = 0x10;
pub(crate) const SET_TAG: c_int = 0x11;
pub(crate) const SET_IV_FIXED: c_int = 0x12;
pub(crate) const IV_GEN: c_int = 0x13;
pub(crate) const TLS_AAD: c_int = 0x16;

impl Keyed<'_> {
    pub(crate) fn init(&mut self, encrypt: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> bool {
        let pointer = |bytes: Option<&[u8]>| bytes.map_or(ptr::null(), <[u8]>::as_ptr);
        let cipher = if self.begun { ptr::null_mut() } else { self.cipher.raw };
        self.begun = true;
        // SAFETY: the tests give as many bytes as the cipher takes.
        1 == unsafe {
            (self.cipher.crypto.EVP_CipherInit_ex2)(
                self.raw,
                cipher,
                pointer(key),
                pointer(iv),
                encrypt.into(),
                ptr::null(),
            )
        }
    }

    /// Associated data.
    pub(crate) fn associate(&mut self, aad: &[u8]) -> Option<usize> {
        let mut written = -1;
        let length = c_int::try_from(aad.len()).expect("short");
        // SAFETY: so many bytes.
        let good = unsafe {
            let update = self.cipher.crypto.EVP_CipherUpdate;
            update(self.raw, ptr::null_mut(), &raw mut written, aad.as_ptr(), length)
        };
        (good == 1).then(|| usize::try_from(written).expect("a length"))
    }

    /// Data, with a block more of room: what was written.
    pub(crate) fn update(&mut self, data: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; data.len() + 32];
        let mut written = -1;
        let length = c_int::try_from(data.len()).expect("short");
        // SAFETY: so many bytes, and room for more.
        let good = unsafe {
            let update = self.cipher.crypto.EVP_CipherUpdate;
            update(self.raw, out.as_mut_ptr(), &raw mut written, data.as_ptr(), length)
        };
        out.truncate(usize::try_from(written).unwrap_or_default());
        (good == 1).then_some(out)
    }

    /// Data in place, of which so many bytes are given: how many were written.
    pub(crate) fn update_in_place(&mut self, data: &mut [u8], length: usize) -> Option<usize> {
        let mut written = -1;
        let length = c_int::try_from(length).expect("short");
        let place = data.as_mut_ptr();
        // SAFETY: so many bytes.
        let good = unsafe {
            let update = self.cipher.crypto.EVP_CipherUpdate;
            update(self.raw, place, &raw mut written, place, length)
        };
        (good == 1).then(|| usize::try_from(written).expect("a length"))
    }

    /// Data that lie `by` bytes before where they are wanted, or behind if it is negative.
    pub(crate) fn update_overlapping(&mut self, data: &[u8], by: isize) -> Option<Vec<u8>> {
        let mut room = vec![0; data.len() + 2 * by.unsigned_abs()];
        let (from, to) = if by < 0 { (by.unsigned_abs(), 0) } else { (0, by.unsigned_abs()) };
        room[from..from + data.len()].copy_from_slice(data);
        let mut written = -1;
        let place = room.as_mut_ptr();
        let (from, to) = (place.wrapping_add(from), place.wrapping_add(to));
        let length = c_int::try_from(data.len()).expect("short");
        let data_len = data.len();
        // SAFETY: both are within the room.
        let good = unsafe {
            (self.cipher.crypto.EVP_CipherUpdate)(self.raw, to, &raw mut written, from, length)
        };
        let to = to.addr() - place.addr();
        let data = &room[to..to + data_len];
        (good == 1).then(|| data.to_vec())
    }

    pub(crate) fn end(&mut self) -> Option<Vec<u8>> {
        let mut out = vec![0; 32];
        let mut written = -1;
        // SAFETY: room for a block.
        let good = unsafe {
            let end = self.cipher.crypto.EVP_CipherFinal_ex;
            end(self.raw, out.as_mut_ptr(), &raw mut written)
        };
        out.truncate(usize::try_from(written).unwrap_or_default());
        (good == 1).then_some(out)
    }

    /// `EVP_Cipher` with what is given: its answer and the output.
    pub(crate) fn cipher(&mut self, data: Option<&[u8]>, writes: bool) -> (c_int, Vec<u8>) {
        let length = data.map_or(0, <[u8]>::len);
        let mut out = vec![0; length + 32];
        let place = if writes { out.as_mut_ptr() } else { ptr::null_mut() };
        let input = data.map_or(ptr::null(), <[u8]>::as_ptr);
        // SAFETY: so many bytes, and room for more.
        let answer = unsafe {
            let cipher = self.cipher.crypto.EVP_Cipher;
            cipher(self.raw, place, input, c_uint::try_from(length).expect("short"))
        };
        out.truncate(length);
        (answer, out)
    }

    pub(crate) fn control(&mut self, number: c_int, argument: c_int, data: &mut [u8]) -> c_int {
        let data = if data.is_empty() { ptr::null_mut() } else { data.as_mut_ptr().cast() };
        // SAFETY: the control takes so many bytes.
        unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_ctrl)(self.raw, number, argument, data) }
    }

    /// A whole message, as programs that keep their contexts send and receive it: vector,
    /// associated data, data in pieces that end at `cut` and at the end, the end and the tag. In
    /// place if there is no input.
    #[allow(clippy::too_many_arguments, dead_code, reason = "for the example `measure`")]
    #[inline]
    pub(crate) fn message(
        &mut self,
        encrypt: bool,
        iv: &[u8; 12],
        aad: &[u8],
        input: Option<&[u8]>,
        data: &mut [u8],
        cut: usize,
        tag: &mut [u8; 16],
    ) -> bool {
        let crypto = self.cipher.crypto;
        let mut written = 0;
        let (raw, written) = (self.raw, &raw mut written);
        let (none, no_params) = (ptr::null(), ptr::null());
        // SAFETY: a context and a vector.
        let mut good = 1
            == unsafe {
                let init = crypto.EVP_CipherInit_ex2;
                init(raw, ptr::null_mut(), none, iv.as_ptr(), encrypt.into(), no_params)
            };
        if !encrypt {
            let tag = tag.as_mut_ptr().cast();
            // SAFETY: a context and a tag.
            good &= 1 == unsafe { (crypto.EVP_CIPHER_CTX_ctrl)(raw, SET_TAG, 16, tag) };
        }
        let mut update = |to: *mut u8, from: *const u8, length: usize| {
            let length = c_int::try_from(length).unwrap_or(-1);
            // SAFETY: as many bytes as are said.
            good &= 1 == unsafe { (crypto.EVP_CipherUpdate)(raw, to, written, from, length) };
        };
        update(ptr::null_mut(), aad.as_ptr(), aad.len());
        let (from, to) = (input.map_or(data.as_ptr(), <[u8]>::as_ptr), data.as_mut_ptr());
        for (at, end) in [(0, cut), (cut, data.len())] {
            if at < end {
                update(to.wrapping_add(at), from.wrapping_add(at), end - at);
            }
        }
        // SAFETY: a context, and room for a block.
        good &= 1 == unsafe { (crypto.EVP_CipherFinal_ex)(raw, tag.as_mut_ptr(), written) };
        if encrypt {
            let tag = tag.as_mut_ptr().cast();
            // SAFETY: a context and room for a tag.
            good &= 1 == unsafe { (crypto.EVP_CIPHER_CTX_ctrl)(raw, GET_TAG, 16, tag) };
        }
        good
    }

    pub(crate) fn tag(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut tag = vec![0; length.max(1)];
        let length = c_int::try_from(length).expect("short");
        (self.control(GET_TAG, length, &mut tag) == 1).then_some(tag)
    }

    pub(crate) fn set_tag(&mut self, tag: &[u8]) -> bool {
        let length = c_int::try_from(tag.len()).expect("short");
        self.control(SET_TAG, length, &mut tag.to_vec()) == 1
    }

    pub(crate) fn set_iv_length(&mut self, length: usize) -> bool {
        self.control(SET_IV_LENGTH, c_int::try_from(length).expect("short"), &mut []) == 1
    }

    pub(crate) fn set_padding(&mut self, pads: bool) -> bool {
        // SAFETY: a context.
        1 == unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_set_padding)(self.raw, pads.into()) }
    }

    /// A number that is asked for, with a place of so many bytes.
    pub(crate) fn number(&mut self, name: &CStr, size: usize) -> Option<(u64, usize)> {
        let mut number = 0_u64;
        let mut params = [Param::new(name, 2, (&raw mut number).cast(), size), Param::end()];
        // SAFETY: a context and a list of one param_out.
        let status = unsafe {
            (self.cipher.crypto.EVP_CIPHER_CTX_get_params)(self.raw, params.as_mut_ptr())
        };
        (status == 1 && params[0].returned != usize::MAX).then_some((number, params[0].returned))
    }

    /// Bytes that are asked for, with a place of so many.
    pub(crate) fn octets(&mut self, name: &CStr, size: usize) -> Option<Vec<u8>> {
        let mut place = vec![0; size.max(1)];
        let mut params = [Param::new(name, 5, place.as_mut_ptr().cast(), size), Param::end()];
        // SAFETY: a context and a list of one param_out.
        let status = unsafe {
            (self.cipher.crypto.EVP_CIPHER_CTX_get_params)(self.raw, params.as_mut_ptr())
        };
        // Some answers do not tell their length.
        place.truncate(params[0].returned.min(size));
        (status == 1).then_some(place)
    }

    /// The bytes of the context that the cipher points to.
    pub(crate) fn pointed(&mut self, name: &CStr) -> Option<Option<Vec<u8>>> {
        let mut place: *const u8 = ptr::null();
        let mut params = [Param::new(name, 7, (&raw mut place).cast(), 0), Param::end()];
        // SAFETY: a context and a list of one param_out.
        let status = unsafe {
            (self.cipher.crypto.EVP_CIPHER_CTX_get_params)(self.raw, params.as_mut_ptr())
        };
        if status != 1 || params[0].returned == usize::MAX {
            return None;
        }
        // SAFETY: the cipher says how many bytes there are.
        let bytes = || unsafe { core::slice::from_raw_parts(place, params[0].returned) };
        Some((!place.is_null()).then(|| bytes().to_vec()))
    }

    /// Sets numbers.
    pub(crate) fn set_numbers(&mut self, numbers: &mut [(&CStr, u64)]) -> bool {
        let mut params: Vec<_> = numbers
            .iter_mut()
            .map(|(name, number)| Param::new(name, 2, ptr::from_mut(number).cast(), 8))
            .collect();
        params.push(Param::end());
        // SAFETY: a context and a list of settings.
        1 == unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_set_params)(self.raw, params.as_ptr()) }
    }

    pub(crate) fn copied(&self) -> Option<Self> {
        let mut copy = self.cipher.context();
        copy.begun = true;
        // SAFETY: two contexts.
        let good = unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_copy)(copy.raw, self.raw) };
        (good == 1).then_some(copy)
    }
}

impl Drop for Keyed<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.cipher.crypto.EVP_CIPHER_CTX_free)(self.raw) };
    }
}
