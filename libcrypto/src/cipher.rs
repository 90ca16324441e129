//! A cipher of libcrypto: an algorithm, without a key.

use core::ffi::{CStr, c_char, c_ulong, c_void};
use core::fmt;
use core::ptr;

use crate::Error;
use crate::build::Build;

/// A cipher of libcrypto: an algorithm in a mode, without a key.
///
/// Block modes without a tag, and stream ciphers. Any number of threads may share it.
pub struct Cipher {
    pub(crate) handle: Handle,
    pub(crate) lengths: Lengths,
}

/// The flag of ciphers with authentication.
const AEAD: c_ulong = 0x20_0000;
/// Masks the mode in the flags.
const MODE: c_ulong = 0xF_0007;
/// Stream, ECB, CBC, CFB, OFB and CTR are the modes up to this one. Higher ones may write more than
/// they read, or need the whole message at once.
const LAST_MODE: c_ulong = 5;
/// The mode of data units. It writes as much as it reads, but takes a message only in one piece.
const XTS: c_ulong = 0x1_0001;

/// The lengths of a cipher in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) key: usize,
    pub(crate) iv: usize,
    /// 1 for modes that take any length, otherwise a power of two.
    pub(crate) block: usize,
    /// Whether a message must be in one piece, of at least 16 bytes.
    pub(crate) whole: bool,
}

/// An `EVP_CIPHER`.
pub(crate) struct Handle {
    pub(crate) build: &'static Build,
    pub(crate) cipher: *const c_void,
    /// Whether it was fetched, and so must be freed.
    fetched: bool,
    /// The flags, including the mode.
    flags: c_ulong,
}

impl Handle {
    /// Fetches one of OpenSSL's own ciphers from a library context, or from the default one if it
    /// is null.
    #[inline]
    pub(crate) fn fetch(
        build: &'static Build,
        context: *mut c_void,
        name: &CStr,
    ) -> Result<Self, Error> {
        let properties = build.properties().map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: the context is null or one that is never freed; the properties end with a zero
        // byte.
        unsafe { Self::fetch_with(build, context, name, properties) }
    }

    /// Fetches a cipher from whatever provider the configuration prefers.
    pub(crate) fn fetch_any(build: &'static Build, name: &CStr) -> Result<Self, Error> {
        // SAFETY: null stands for the default context, and for no properties.
        unsafe { Self::fetch_with(build, ptr::null_mut(), name, ptr::null()) }
    }

    /// # Safety
    ///
    /// The context is null or valid. The properties are null or end with a zero byte.
    #[inline]
    unsafe fn fetch_with(
        build: &'static Build,
        context: *mut c_void,
        name: &CStr,
        properties: *const c_char,
    ) -> Result<Self, Error> {
        let fetch = build.functions.EVP_CIPHER_fetch.ok_or(Error::Unsupported)?;
        // SAFETY: the caller guarantees context and properties; the name ends with a zero byte.
        let cipher = unsafe { fetch(context, name.as_ptr(), properties) };
        Self::of(build, cipher, true)
    }

    pub(crate) fn named(build: &'static Build, name: &CStr) -> Result<Self, Error> {
        // SAFETY: the name ends with a zero byte.
        let cipher = unsafe { (build.functions.EVP_get_cipherbyname)(name.as_ptr()) };
        Self::of(build, cipher, false)
    }

    fn of(build: &'static Build, cipher: *const c_void, fetched: bool) -> Result<Self, Error> {
        if cipher.is_null() {
            return Err(build.failed(Error::Unsupported));
        }
        // SAFETY: the cipher is not null, so it is valid.
        let flags = unsafe { (build.functions.EVP_CIPHER_get_flags)(cipher) };
        Ok(Self { build, cipher, fetched, flags })
    }

    pub(crate) const fn as_ptr(&self) -> *const c_void {
        self.cipher
    }

    pub(crate) const fn mode(&self) -> c_ulong {
        self.flags & MODE
    }

    pub(crate) const fn authenticates(&self) -> bool {
        self.flags & AEAD != 0
    }

    pub(crate) fn lengths(&self) -> Lengths {
        let functions = &self.build.functions;
        // SAFETY: the cipher is not null, so it is valid.
        let key = unsafe { (functions.EVP_CIPHER_get_key_length)(self.cipher) };
        // SAFETY: as above.
        let iv = unsafe { (functions.EVP_CIPHER_get_iv_length)(self.cipher) };
        // SAFETY: as above.
        let block = unsafe { (functions.EVP_CIPHER_get_block_size)(self.cipher) };
        let length = |length| usize::try_from(length).unwrap_or(0);
        let whole = self.mode() == XTS;
        Lengths { key: length(key), iv: length(iv), block: length(block), whole }
    }
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        if let (true, Some(free)) = (self.fetched, self.build.functions.EVP_CIPHER_free) {
            // SAFETY: it was fetched; contexts that use it hold their own reference.
            unsafe { free(self.cipher.cast_mut()) };
        }
    }
}

// SAFETY: libcrypto does not change a cipher once it is made, and counts references atomically.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Cipher {
    pub(crate) fn of(handle: Handle) -> Result<Self, Error> {
        let mode = handle.mode();
        if handle.authenticates() || (mode > LAST_MODE && mode != XTS) {
            return Err(Error::Unsupported);
        }
        let lengths = handle.lengths();
        // The check for whole blocks needs a power of two.
        if !lengths.block.is_power_of_two() || (lengths.whole && lengths.block != 1) {
            return Err(Error::Unsupported);
        }
        Ok(Self { handle, lengths })
    }

    /// The length of the key in bytes.
    #[must_use]
    pub const fn key_length(&self) -> usize {
        self.lengths.key
    }

    /// The length of the IV in bytes; 0 if there is none.
    #[must_use]
    pub const fn iv_length(&self) -> usize {
        self.lengths.iv
    }

    /// The length of a block in bytes; 1 for modes that take any length, and for XTS, which takes
    /// any from 16 bytes on.
    #[must_use]
    pub const fn block_size(&self) -> usize {
        self.lengths.block
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("lengths", &self.lengths).finish_non_exhaustive()
    }
}
