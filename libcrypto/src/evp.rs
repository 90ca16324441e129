//! A cipher context of libcrypto, `EVP_CIPHER_CTX`: the calls that all ciphers have in common.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use crate::Error;
use crate::build::Build;
use crate::cipher::{Handle, Lengths};

/// `EVP_CTRL_AEAD_GET_TAG`.
pub(crate) const GET_TAG: c_int = 0x10;
/// `EVP_CTRL_AEAD_SET_TAG`.
pub(crate) const SET_TAG: c_int = 0x11;

/// Whether a context encrypts or decrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third direction")]
pub enum Direction {
    /// From plaintext to ciphertext.
    Encrypt,
    /// From ciphertext to plaintext.
    Decrypt,
}

/// A context, with the lengths of its cipher. libcrypto wipes the key when it is dropped.
pub(crate) struct Evp {
    pub(crate) build: &'static Build,
    context: NonNull<c_void>,
    pub(crate) lengths: Lengths,
}

impl Evp {
    /// A context of the cipher, with the key and the IV that are present.
    #[inline]
    pub(crate) fn new(
        handle: &Handle,
        lengths: Lengths,
        direction: Direction,
        key: Option<&[u8]>,
        iv: Option<&[u8]>,
    ) -> Result<Self, Error> {
        let build = handle.build;
        // SAFETY: takes no arguments.
        let context = unsafe { (build.functions.EVP_CIPHER_CTX_new)() };
        let context = NonNull::new(context).ok_or_else(|| build.failed(Error::Failed))?;
        let mut made = Self { build, context, lengths };
        let direction = match direction {
            Direction::Encrypt => 1,
            Direction::Decrypt => 0,
        };
        made.init(handle.cipher, key, iv, direction)?;
        Ok(made)
    }

    /// The pointer that functions take.
    #[inline]
    pub(crate) const fn as_ptr(&self) -> *mut c_void {
        self.context.as_ptr()
    }

    /// Sets the key and the IV that are present. The cipher and the direction stay.
    #[inline]
    pub(crate) fn set(&mut self, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), Error> {
        const SAME_DIRECTION: c_int = -1;
        self.init(ptr::null(), key, iv, SAME_DIRECTION)
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
                self.as_ptr(),
                cipher,
                ptr::null_mut(),
                key.map_or(ptr::null(), <[u8]>::as_ptr),
                iv.map_or(ptr::null(), <[u8]>::as_ptr),
                direction,
            )
        };
        self.build.check(status == 1)
    }

    /// Encrypts, decrypts or authenticates `len` bytes, and returns how many were written.
    ///
    /// # Safety
    ///
    /// The cipher has blocks of one byte, so that it writes as much as it reads. `from` has `len`
    /// bytes, and so has `to` unless it is null. The two are the same place or do not overlap.
    #[inline]
    pub(crate) unsafe fn update(
        &mut self,
        direction: Direction,
        to: *mut u8,
        from: *const u8,
        len: c_int,
    ) -> Result<c_int, Error> {
        let functions = &self.build.functions;
        let update = match direction {
            Direction::Encrypt => functions.EVP_EncryptUpdate,
            Direction::Decrypt => functions.EVP_DecryptUpdate,
        };
        let mut written = 0;
        // SAFETY: the caller guarantees the cipher and both places.
        let status = unsafe { update(self.as_ptr(), to, &raw mut written, from, len) };
        self.build.check(status == 1)?;
        Ok(written)
    }

    /// Reads or sets a tag, by [`GET_TAG`] or [`SET_TAG`].
    #[inline]
    pub(crate) fn control(&mut self, command: c_int, tag: &mut [u8; 16]) -> Result<(), Error> {
        // SAFETY: both commands take a length and a pointer to that many bytes.
        let status = unsafe {
            (self.build.functions.EVP_CIPHER_CTX_ctrl)(
                self.as_ptr(),
                command,
                16,
                tag.as_mut_ptr().cast(),
            )
        };
        self.build.check(status == 1)
    }

    /// Ends the message (`EVP_CipherFinal_ex`), which checks its tag when decrypting. It writes no
    /// data, because there is no padding.
    #[inline]
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        let mut rest = [0; 64];
        let mut written = 0;
        // SAFETY: the context has a cipher and a key; at most a block is written, and no cipher has
        // blocks of more than 32 bytes.
        let status = unsafe {
            (self.build.functions.EVP_CipherFinal_ex)(
                self.as_ptr(),
                rest.as_mut_ptr(),
                &raw mut written,
            )
        };
        self.build.check(status == 1 && written == 0)
    }
}

/// A length as libcrypto takes it.
#[inline]
pub(crate) fn length(bytes: &[u8]) -> Result<c_int, Error> {
    c_int::try_from(bytes.len()).map_err(|_| Error::DataLength)
}

impl Drop for Evp {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: libcrypto made it, and there is no other owner.
        unsafe { (self.build.functions.EVP_CIPHER_CTX_free)(self.as_ptr()) };
    }
}

// SAFETY: a context belongs to no thread; it is only used through `&mut`.
unsafe impl Send for Evp {}
