//! A keyed cipher of libcrypto.

use core::ffi::{c_int, c_uchar, c_void};
use core::fmt;
use core::ptr::{self, NonNull};

use crate::cipher::Lengths;
use crate::library::Build;
use crate::{Cipher, Error};

/// Whether a context encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third direction")]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// A cipher with a key, in one direction, without padding (`EVP_CIPHER_CTX`).
///
/// libcrypto wipes the key when the context is dropped. The first message has the IV that the
/// context was made with; [`Context::set_iv`] begins each further message.
pub struct Context {
    build: &'static Build,
    context: NonNull<c_void>,
    /// `EVP_EncryptUpdate` or `EVP_DecryptUpdate`.
    update:
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int,
    lengths: Lengths,
    /// Whether a message that must be in one piece has been processed.
    ended: bool,
}

/// Keeps the direction of a context.
const SAME_DIRECTION: c_int = -1;

impl Context {
    #[inline]
    pub(crate) fn new(
        cipher: &Cipher,
        direction: Direction,
        key: &[u8],
        iv: &[u8],
    ) -> Result<Self, Error> {
        let (build, lengths) = (cipher.handle.build, cipher.lengths);
        let functions = &build.functions;
        let (update, direction) = match direction {
            Direction::Encrypt => (functions.EVP_EncryptUpdate, 1),
            Direction::Decrypt => (functions.EVP_DecryptUpdate, 0),
        };
        // SAFETY: takes no arguments.
        let context = unsafe { (functions.EVP_CIPHER_CTX_new)() };
        let context = NonNull::new(context).ok_or_else(|| build.failed(Error::Failed))?;
        let mut context = Self { build, context, update, lengths, ended: false };
        context.init(cipher.handle.cipher, Some(key), Some(iv), direction)?;
        // SAFETY: the context has a cipher.
        let status = unsafe { (functions.EVP_CIPHER_CTX_set_padding)(context.context.as_ptr(), 0) };
        build.check(status == 1)?;
        Ok(context)
    }

    /// Begins another message, with the IV `iv` and the current key.
    ///
    /// # Errors
    ///
    /// [`Error::IvLength`], or [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn set_iv(&mut self, iv: &[u8]) -> Result<(), Error> {
        self.ended = false;
        self.init(ptr::null(), None, Some(iv), SAME_DIRECTION)
    }

    /// Sets another key. The next message must begin with [`Context::set_iv`].
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.init(ptr::null(), Some(key), None, SAME_DIRECTION)
    }

    /// Encrypts or decrypts the next bytes of the message in place. The data are whole blocks; in
    /// XTS they are the whole message, a data unit.
    ///
    /// # Errors
    ///
    /// - [`Error::DataLength`] if the data are not whole blocks or have more than 2^31 - 1 bytes;
    ///   in XTS also if they have less than 16 bytes or are not the first of the message;
    /// - [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn update(&mut self, data: &mut [u8]) -> Result<(), Error> {
        let len = c_int::try_from(data.len()).map_err(|_| Error::DataLength)?;
        // Without padding and without a partial block from an earlier call, the output is as long
        // as the input.
        if data.len() & (self.lengths.block - 1) != 0 {
            return Err(Error::DataLength);
        }
        if self.lengths.whole {
            if self.ended || len < 16 {
                return Err(Error::DataLength);
            }
            self.ended = true;
        }
        let bytes = data.as_mut_ptr();
        let mut written = 0;
        // SAFETY: the context has a cipher and a key; `len` bytes are read and as many written, at
        // the same place, which is allowed.
        let status =
            unsafe { (self.update)(self.context.as_ptr(), bytes, &raw mut written, bytes, len) };
        self.build.check(status == 1 && written == len)
    }

    /// Ends the message (`EVP_CipherFinal_ex`). It writes no data, because there is no padding. It
    /// is useful for comparisons with programs that call it.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn finish(&mut self) -> Result<(), Error> {
        let mut rest = [0; 64];
        let mut written = 0;
        // SAFETY: the context has a cipher and a key; at most a block is written, and no cipher has
        // blocks of more than 32 bytes.
        let status = unsafe {
            (self.build.functions.EVP_CipherFinal_ex)(
                self.context.as_ptr(),
                rest.as_mut_ptr(),
                &raw mut written,
            )
        };
        self.build.check(status == 1 && written == 0)
    }

    /// Sets the arguments that are present: the cipher unless it is null, the key, the IV.
    #[inline]
    fn init(
        &mut self,
        cipher: *const c_void,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
        direction: c_int,
    ) -> Result<(), Error> {
        if key.is_some_and(|key| key.len() != self.lengths.key) {
            return Err(Error::KeyLength);
        }
        if iv.is_some_and(|iv| iv.len() != self.lengths.iv) {
            return Err(Error::IvLength);
        }
        // SAFETY: the context was made by libcrypto; key and IV are null or as long as the cipher
        // reads; there is no engine.
        let status = unsafe {
            (self.build.functions.EVP_CipherInit_ex)(
                self.context.as_ptr(),
                cipher,
                ptr::null_mut(),
                key.map_or(ptr::null(), <[u8]>::as_ptr),
                iv.map_or(ptr::null(), <[u8]>::as_ptr),
                direction,
            )
        };
        self.build.check(status == 1)
    }
}

impl Drop for Context {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: libcrypto made it, and there is no other owner.
        unsafe { (self.build.functions.EVP_CIPHER_CTX_free)(self.context.as_ptr()) };
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("lengths", &self.lengths).finish_non_exhaustive()
    }
}

// SAFETY: a context belongs to no thread; it is only used through `&mut`.
unsafe impl Send for Context {}
