//! Ciphers of libcrypto with authentication. A call takes a whole message; unverified plaintext is
//! never returned.

use core::ffi::{CStr, c_int, c_ulong};
use core::fmt;
use core::ptr;

use crate::Error;
use crate::build::Build;
use crate::cipher::{Handle, Lengths};
use crate::evp::{Direction, Evp, GET_TAG, SET_TAG, length};

/// The GCM mode in a cipher's flags.
const GCM: c_ulong = 6;
/// The mode of ciphers without one, such as ChaCha20-Poly1305.
const STREAM: c_ulong = 0;
/// The length of every nonce here, in bytes.
const NONCE: usize = 12;

/// An algorithm of libcrypto with authentication, without a key: AES-GCM, ChaCha20-Poly1305.
///
/// Nonces have 12 bytes, tags 16. Any number of threads may share it.
pub struct AeadCipher {
    handle: Handle,
    lengths: Lengths,
}

impl AeadCipher {
    #[inline]
    pub(crate) fn fetch(build: &'static Build, name: &CStr) -> Result<Self, Error> {
        Self::of(Handle::fetch(build, ptr::null_mut(), name)?)
    }

    #[inline]
    pub(crate) fn named(build: &'static Build, name: &CStr) -> Result<Self, Error> {
        Self::of(Handle::named(build, name)?)
    }

    #[inline]
    fn of(handle: Handle) -> Result<Self, Error> {
        let lengths = handle.lengths();
        // Excluded: ciphers for TLS or other formats, and modes that need the lengths beforehand.
        if handle.authenticates()
            && matches!(handle.mode(), GCM | STREAM)
            && (lengths.iv, lengths.block) == (NONCE, 1)
        {
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

    /// Makes a context for this algorithm in one direction, with a key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn context(&self, direction: Direction, key: &[u8]) -> Result<AeadContext, Error> {
        self.keyed(direction, key, None)
    }

    #[inline]
    fn keyed(
        &self,
        direction: Direction,
        key: &[u8],
        nonce: Option<&[u8]>,
    ) -> Result<AeadContext, Error> {
        let evp = Evp::new(&self.handle, self.lengths, direction, Some(key), nonce)?;
        Ok(AeadContext { evp, direction })
    }

    /// Encrypts one message in place and writes its tag, with a context that is made, keyed, used
    /// and freed for it.
    ///
    /// # Errors
    ///
    /// Same as [`AeadContext::seal`] and [`AeadContext::set_key`].
    #[inline]
    pub fn seal(
        &self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Error> {
        self.keyed(Direction::Encrypt, key, Some(nonce))?.seal_started(aad, data, tag)
    }

    /// Decrypts one message from `sealed` to `out` and checks its tag, with a context of its own.
    /// After any error `out` is zero.
    ///
    /// # Errors
    ///
    /// Same as [`AeadContext::open`] and [`AeadContext::set_key`].
    #[inline]
    pub fn open(
        &self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let context = self.keyed(Direction::Decrypt, key, Some(nonce));
        let opened = context.and_then(|mut context| context.decrypt(aad, sealed, tag, out));
        if opened.is_err() {
            out.fill(0);
        }
        opened
    }
}

impl fmt::Debug for AeadCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AeadCipher").field("key_length", &self.lengths.key).finish_non_exhaustive()
    }
}

/// An algorithm with authentication and a key, in one direction (`EVP_CIPHER_CTX`).
///
/// libcrypto wipes the key when the context is dropped. A nonce must not be used twice with a key;
/// this is not checked.
pub struct AeadContext {
    evp: Evp,
    direction: Direction,
}

impl AeadContext {
    /// Sets another key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.evp.set(Some(key), None)
    }

    /// Encrypts a message in place and writes its tag.
    ///
    /// # Errors
    ///
    /// - [`Error::IvLength`];
    /// - [`Error::DataLength`] for more than 2^31 - 1 bytes of data or associated data;
    /// - [`Error::Failed`] if the context is for decryption or libcrypto refuses. A part of the
    ///   data may have been encrypted then.
    #[inline]
    pub fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Error> {
        self.evp.set(None, Some(nonce))?;
        self.seal_started(aad, data, tag)
    }

    /// Same as [`AeadContext::seal`] with another key, which stays set: one call for key and nonce.
    ///
    /// # Errors
    ///
    /// Same as [`AeadContext::seal`] and [`AeadContext::set_key`].
    #[inline]
    pub fn seal_rekeyed(
        &mut self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Error> {
        self.evp.set(Some(key), Some(nonce))?;
        self.seal_started(aad, data, tag)
    }

    /// Decrypts a message from `sealed` to `out` and checks its tag. After any error `out` is zero.
    ///
    /// # Errors
    ///
    /// - [`Error::Failed`] if the tag is wrong, the context is for encryption, or libcrypto
    ///   refuses;
    /// - [`Error::IvLength`];
    /// - [`Error::DataLength`] if `out` is not as long as `sealed`, or for more than 2^31 - 1
    ///   bytes.
    #[inline]
    pub fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let started = self.evp.set(None, Some(nonce));
        self.open_if(started, aad, sealed, tag, out)
    }

    /// Same as [`AeadContext::open`] with another key, which stays set: one call for key and nonce.
    ///
    /// # Errors
    ///
    /// Same as [`AeadContext::open`] and [`AeadContext::set_key`].
    #[inline]
    pub fn open_rekeyed(
        &mut self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let started = self.evp.set(Some(key), Some(nonce));
        self.open_if(started, aad, sealed, tag, out)
    }

    #[inline]
    fn seal_started(
        &mut self,
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Error> {
        if self.direction != Direction::Encrypt {
            return Err(Error::Failed);
        }
        self.associate(aad)?;
        let len = length(data)?;
        let bytes = data.as_mut_ptr();
        // SAFETY: `len` bytes are read and written at the same place, which is allowed.
        unsafe { self.update(bytes, bytes, len) }?;
        self.evp.finish()?;
        self.evp.control(GET_TAG, tag)
    }

    #[inline]
    fn open_if(
        &mut self,
        started: Result<(), Error>,
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let opened = started.and_then(|()| self.decrypt(aad, sealed, tag, out));
        if opened.is_err() {
            out.fill(0);
        }
        opened
    }

    #[inline]
    fn decrypt(
        &mut self,
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Error> {
        if self.direction != Direction::Decrypt {
            return Err(Error::Failed);
        }
        if out.len() != sealed.len() {
            return Err(Error::DataLength);
        }
        self.associate(aad)?;
        let len = length(sealed)?;
        // Before the data: AES-GCM-SIV decrypts under the tag.
        let mut tag = *tag;
        self.evp.control(SET_TAG, &mut tag)?;
        // SAFETY: `len` bytes are read, and as many are written to a separate place.
        unsafe { self.update(out.as_mut_ptr(), sealed.as_ptr(), len) }?;
        self.evp.finish()
    }

    /// Takes the associated data.
    #[inline]
    fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        let len = length(aad)?;
        // SAFETY: `len` bytes are read; without an output they are only authenticated.
        unsafe { self.update(ptr::null_mut(), aad.as_ptr(), len) }
    }

    /// Encrypts, decrypts or authenticates `len` bytes.
    ///
    /// # Safety
    ///
    /// `from` has `len` bytes, and so has `to` unless it is null. The two are the same place or do
    /// not overlap.
    #[inline]
    unsafe fn update(&mut self, to: *mut u8, from: *const u8, len: c_int) -> Result<(), Error> {
        // Some versions take an empty piece for the end of the message.
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the context has a cipher of blocks of one byte; the caller guarantees both
        // places.
        let written = unsafe { self.evp.update(self.direction, to, from, len) }?;
        self.evp.build.check(written == len)
    }
}

impl fmt::Debug for AeadContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AeadContext").field("direction", &self.direction).finish_non_exhaustive()
    }
}
