//! HMAC with SHA-256 of libcrypto, with a context that is kept.

use core::ffi::{c_int, c_uint, c_void};
use core::fmt;
use core::ptr::{self, NonNull};

use crate::build::Build;
use crate::{Error, Libcrypto};

/// An HMAC with SHA-256 and its key (`HMAC_CTX`). libcrypto wipes the key when it is dropped.
pub struct HmacSha256 {
    build: &'static Build,
    context: NonNull<c_void>,
}

impl Libcrypto {
    /// Makes a context for HMAC with SHA-256, with a key that is not empty.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the build has no such functions; [`Error::KeyLength`] for an empty
    /// key, or one of more than 2^31 - 1 bytes; [`Error::Failed`] if libcrypto refuses.
    pub fn hmac_sha256(&self, key: &[u8]) -> Result<HmacSha256, Error> {
        let build = self.build();
        let hmac = build.functions.hmac.as_ref().ok_or(Error::Unsupported)?;
        // SAFETY: takes no arguments.
        let context = unsafe { (hmac.HMAC_CTX_new)() };
        let context = NonNull::new(context).ok_or_else(|| build.failed(Error::Failed))?;
        let mut made = HmacSha256 { build, context };
        made.set_key(key)?;
        Ok(made)
    }
}

impl HmacSha256 {
    /// Sets another key.
    ///
    /// # Errors
    ///
    /// Same as [`Libcrypto::hmac_sha256`].
    #[inline]
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let hmac = self.build.functions.hmac.as_ref().ok_or(Error::Unsupported)?;
        let len = c_int::try_from(key.len()).map_err(|_| Error::KeyLength)?;
        if len == 0 {
            return Err(Error::KeyLength);
        }
        // SAFETY: takes no arguments, and returns a static object.
        let digest = unsafe { (hmac.EVP_sha256)() };
        // SAFETY: the context was made by libcrypto, which reads `len` bytes of the key; there is
        // no engine.
        let status = unsafe {
            (hmac.HMAC_Init_ex)(
                self.context.as_ptr(),
                key.as_ptr().cast(),
                len,
                digest,
                ptr::null_mut(),
            )
        };
        self.build.check(status == 1)
    }

    /// The code of a message that comes in parts, under the kept key.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if libcrypto refuses.
    #[inline]
    pub fn code(&mut self, parts: &[&[u8]]) -> Result<[u8; 32], Error> {
        let hmac = self.build.functions.hmac.as_ref().ok_or(Error::Unsupported)?;
        let context = self.context.as_ptr();
        // SAFETY: the context has a key, which stays with its digest.
        let mut status =
            unsafe { (hmac.HMAC_Init_ex)(context, ptr::null(), 0, ptr::null(), ptr::null_mut()) };
        for part in parts {
            // SAFETY: the context has a key; the part has so many bytes.
            status &= unsafe { (hmac.HMAC_Update)(context, part.as_ptr(), part.len()) };
        }
        let (mut code, mut len): ([u8; 32], c_uint) = ([0; 32], 0);
        // SAFETY: the context has a key; a code of SHA-256 has 32 bytes.
        status &= unsafe { (hmac.HMAC_Final)(context, code.as_mut_ptr(), &raw mut len) };
        self.build.check(status == 1 && len == 32)?;
        Ok(code)
    }
}

impl Drop for HmacSha256 {
    fn drop(&mut self) {
        if let Some(hmac) = &self.build.functions.hmac {
            // SAFETY: the context was made by libcrypto and is not used again.
            unsafe { (hmac.HMAC_CTX_free)(self.context.as_ptr()) };
        }
    }
}

// SAFETY: a context belongs to no thread; libcrypto lets one thread after the other use it.
unsafe impl Send for HmacSha256 {}

impl fmt::Debug for HmacSha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HmacSha256").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, section 4.3.
    #[test]
    fn a_published_code() {
        let Ok(libcrypto) = Libcrypto::open() else {
            return println!("SKIPPED openssl: no libcrypto");
        };
        let mut hmac = libcrypto.hmac_sha256(b"another").expect("it has HMAC");
        hmac.set_key(b"Jefe").expect("a good key");
        for parts in
            [&[&b"what do ya want "[..], b"for nothing?"][..], &[b"what do ya want for nothing?"]]
        {
            let code = hmac.code(parts).expect("it has a key");
            assert_eq!(code[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
            assert_eq!(code[24..], [0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43]);
        }
        assert_eq!(libcrypto.hmac_sha256(b"").err(), Some(Error::KeyLength));
    }
}
