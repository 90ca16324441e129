//! A keyed cipher of libcrypto.

use core::ffi::{c_int, c_uchar, c_void};
use core::fmt;

use crate::evp::{Direction, Evp};
use crate::{Cipher, Error};

/// A cipher with a key, in one direction, without padding (`EVP_CIPHER_CTX`).
///
/// libcrypto wipes the key when the context is dropped. The first message has the IV that the
/// context was made with; [`Context::set_iv`] begins each further message.
pub struct Context {
    evp: Evp,
    /// `EVP_EncryptUpdate` or `EVP_DecryptUpdate`.
    update:
        unsafe extern "C" fn(*mut c_void, *mut c_uchar, *mut c_int, *const c_uchar, c_int) -> c_int,
    /// Whether a message that must be in one piece has been processed.
    ended: bool,
}

impl Cipher {
    /// Makes a context for this cipher in one direction, with a key and the IV of the first
    /// message.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::IvLength`], or [`Error::Failed`] if libcrypto refuses. That
    /// happens, for example, with a cipher of [`Libcrypto::named`](crate::Libcrypto::named) that no
    /// provider has.
    #[inline]
    pub fn context(&self, direction: Direction, key: &[u8], iv: &[u8]) -> Result<Context, Error> {
        Context::new(self, direction, key, iv)
    }
}

impl Context {
    #[inline]
    fn new(cipher: &Cipher, direction: Direction, key: &[u8], iv: &[u8]) -> Result<Self, Error> {
        let functions = &cipher.handle.build.functions;
        let update = match direction {
            Direction::Encrypt => functions.EVP_EncryptUpdate,
            Direction::Decrypt => functions.EVP_DecryptUpdate,
        };
        let evp = Evp::new(&cipher.handle, cipher.lengths, direction, Some(key), Some(iv))?;
        // SAFETY: the context has a cipher.
        let status = unsafe { (functions.EVP_CIPHER_CTX_set_padding)(evp.as_ptr(), 0) };
        evp.build.check(status == 1)?;
        Ok(Self { evp, update, ended: false })
    }

    /// Begins another message, with the IV `iv` and the current key.
    ///
    /// # Errors
    ///
    /// [`Error::IvLength`], or [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn set_iv(&mut self, iv: &[u8]) -> Result<(), Error> {
        self.ended = false;
        self.evp.set(None, Some(iv))
    }

    /// Sets another key. The next message must begin with [`Context::set_iv`].
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        self.evp.set(Some(key), None)
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
        if data.len() & (self.evp.lengths.block - 1) != 0 {
            return Err(Error::DataLength);
        }
        if self.evp.lengths.whole {
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
            unsafe { (self.update)(self.evp.as_ptr(), bytes, &raw mut written, bytes, len) };
        self.evp.build.check(status == 1 && written == len)
    }

    /// Ends the message (`EVP_CipherFinal_ex`). It writes no data, because there is no padding. It
    /// is useful for comparisons with programs that call it.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn finish(&mut self) -> Result<(), Error> {
        self.evp.finish()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("lengths", &self.evp.lengths).finish_non_exhaustive()
    }
}
