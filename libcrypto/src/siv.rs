//! AES-SIV of libcrypto (RFC 5297), which has strings instead of a nonce.

use core::ffi::{CStr, c_int, c_ulong};
use core::fmt;
use core::ptr;

use crate::Error;
use crate::build::Build;
use crate::cipher::{Handle, Lengths};
use crate::evp::{Direction, Evp, GET_TAG, SET_TAG, length};

/// The SIV mode in a cipher's flags.
const SIV: c_ulong = 0x1_0004;

/// AES-SIV without a key: `AES-128-SIV` with keys of 32 bytes, `AES-192-SIV`, `AES-256-SIV`.
///
/// Any number of threads may share it.
pub struct SivCipher {
    handle: Handle,
    lengths: Lengths,
}

impl SivCipher {
    #[inline]
    pub(crate) fn fetch(build: &'static Build, name: &CStr) -> Result<Self, Error> {
        let handle = Handle::fetch(build, ptr::null_mut(), name)?;
        let lengths = handle.lengths();
        if handle.mode() == SIV && (lengths.iv, lengths.block) == (0, 1) {
            Ok(Self { handle, lengths })
        } else {
            Err(Error::Unsupported)
        }
    }

    /// The length of the key in bytes.
    #[must_use]
    pub const fn key_length(&self) -> usize {
        self.lengths.key
    }

    /// Makes a context in one direction. Each message brings its key.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if libcrypto refuses.
    pub fn context(&self, direction: Direction) -> Result<SivContext, Error> {
        let evp = Evp::new(&self.handle, self.lengths, direction, None, None)?;
        Ok(SivContext { evp, direction })
    }
}

impl fmt::Debug for SivCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SivCipher").field("key_length", &self.lengths.key).finish_non_exhaustive()
    }
}

/// AES-SIV in one direction (`EVP_CIPHER_CTX`).
///
/// libcrypto takes no second message under a key, so each sets it anew. It wipes the last one when
/// the context is dropped.
pub struct SivContext {
    evp: Evp,
    direction: Direction,
}

impl SivContext {
    /// Encrypts a message in place and writes its V, after strings that may be empty.
    ///
    /// # Errors
    ///
    /// - [`Error::KeyLength`];
    /// - [`Error::DataLength`] for more than 2^31 - 1 bytes of data or of a string;
    /// - [`Error::Failed`] if the context is for decryption or libcrypto refuses, as 3.0 does
    ///   without data. The data may have been encrypted then.
    #[inline]
    pub fn seal(
        &mut self,
        key: &[u8],
        strings: &[&[u8]],
        data: &mut [u8],
        v: &mut [u8; 16],
    ) -> Result<(), Error> {
        self.begin(Direction::Encrypt, key)?;
        self.associate(strings)?;
        let bytes = data.as_mut_ptr();
        let len = length(data)?;
        // SAFETY: `len` bytes are read and written at the same place, which is allowed.
        unsafe { self.update(bytes, bytes, len) }?;
        self.evp.finish()?;
        self.evp.control(GET_TAG, v)
    }

    /// Decrypts a message from `sealed` to `out` and checks its V. After any error `out` is zero.
    ///
    /// # Errors
    ///
    /// - [`Error::Failed`] if V is wrong, the context is for encryption, or libcrypto refuses;
    /// - [`Error::KeyLength`];
    /// - [`Error::DataLength`] if `out` is not as long as `sealed`, or for more than 2^31 - 1
    ///   bytes.
    #[inline]
    pub fn open(
        &mut self,
        key: &[u8],
        strings: &[&[u8]],
        sealed: &[u8],
        v: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let opened = self.decrypt(key, strings, sealed, v, out);
        if opened.is_err() {
            out.fill(0);
        }
        opened
    }

    #[inline]
    fn decrypt(
        &mut self,
        key: &[u8],
        strings: &[&[u8]],
        sealed: &[u8],
        v: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        self.begin(Direction::Decrypt, key)?;
        if out.len() != sealed.len() {
            return Err(Error::DataLength);
        }
        let mut v = *v;
        self.evp.control(SET_TAG, &mut v)?;
        self.associate(strings)?;
        let len = length(sealed)?;
        // SAFETY: `len` bytes are read, and as many are written to a separate place.
        unsafe { self.update(out.as_mut_ptr(), sealed.as_ptr(), len) }?;
        self.evp.finish()
    }

    #[inline]
    fn begin(&mut self, direction: Direction, key: &[u8]) -> Result<(), Error> {
        if self.direction != direction {
            return Err(Error::Failed);
        }
        self.evp.set(Some(key), None)
    }

    #[inline]
    fn associate(&mut self, strings: &[&[u8]]) -> Result<(), Error> {
        for string in strings {
            let len = length(string)?;
            // SAFETY: `len` bytes are read; without an output they are only authenticated.
            unsafe { self.update(ptr::null_mut(), string.as_ptr(), len) }?;
        }
        Ok(())
    }

    /// Encrypts, decrypts or authenticates `len` bytes.
    ///
    /// # Safety
    ///
    /// `from` has `len` bytes, and so has `to` unless it is null. The two are the same place or do
    /// not overlap.
    #[inline]
    unsafe fn update(&mut self, to: *mut u8, from: *const u8, len: c_int) -> Result<(), Error> {
        // SAFETY: the context has a cipher of blocks of one byte; the caller guarantees both
        // places.
        unsafe { self.evp.update(self.direction, to, from, len) }.map(|_| ())
    }
}

impl fmt::Debug for SivContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SivContext").field("direction", &self.direction).finish_non_exhaustive()
    }
}
