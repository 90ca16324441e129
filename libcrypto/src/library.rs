//! Opens a build of libcrypto; looks up its ciphers and calls its generator.

use core::error::Error as _;
use core::ffi::{CStr, c_int};
use core::ptr;
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library;

use crate::build::Build;
use crate::cipher::Handle;
use crate::functions::Functions;
use crate::{AeadCipher, Cipher, Error, OpenError, SivCipher};

/// File names for the dynamic loader, in order of preference.
const FILES: [&str; 4] = ["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1", "libcrypto.so"];

/// An open build of libcrypto; a copy refers to the same one.
///
/// It stays open until the process ends, because it may have registered exit handlers. A call that
/// fails clears libcrypto's whole error queue of the calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Libcrypto(&'static Build);

impl Libcrypto {
    /// Opens the libcrypto that the dynamic loader finds under one of its usual names.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if there is none, or if it lacks a necessary function.
    pub fn open() -> Result<Self, OpenError> {
        static OPENED: OnceLock<Libcrypto> = OnceLock::new();
        if let Some(opened) = OPENED.get() {
            return Ok(*opened);
        }
        // SAFETY: systems install libcrypto under these names.
        let load = |file| unsafe { load(Path::new(file)) };
        let library = FILES.iter().find_map(|file| load(file).ok());
        let library =
            library.ok_or_else(|| OpenError(format!("none of {} is here", FILES.join(", "))))?;
        let opened = Self::of(library)?;
        Ok(*OPENED.get_or_init(|| opened))
    }

    /// Opens the libcrypto at `path`.
    ///
    /// Each call makes its own functions and state, even if the file is open already, and they are
    /// kept until the process ends: keep the result and reuse it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if there is none, or if it lacks a necessary function.
    ///
    /// # Safety
    ///
    /// The file is a libcrypto of a supported version, or no library at all: opening it runs its
    /// code, and its functions are called with OpenSSL's types.
    pub unsafe fn open_at(path: &Path) -> Result<Self, OpenError> {
        // SAFETY: the caller guarantees the file.
        let library = unsafe { load(path) }.map_err(|error| {
            // The loader's own message, if there is one.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            OpenError(format!("cannot open {}: {reason}", path.display()))
        })?;
        Self::of(library)
    }

    fn of(library: Library) -> Result<Self, OpenError> {
        // Never closed, even after an error: its initialisers have run.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: these are OpenSSL's names, and their types are the same in all supported
        // versions.
        let functions = unsafe { Functions::find(library) }.map_err(OpenError)?;
        // SAFETY: zero asks for the version and its date.
        let version = unsafe { (functions.OpenSSL_version)(0) };
        let version = if version.is_null() {
            "unknown".to_owned()
        } else {
            // SAFETY: the library returns a static string.
            number(&unsafe { CStr::from_ptr(version) }.to_string_lossy())
        };
        Ok(Self(Box::leak(Box::new(Build::new(functions, version)))))
    }

    /// The build that it is.
    pub(crate) fn build(&self) -> &'static Build {
        self.0
    }

    /// The version, such as `3.5.0`; for a fork the whole text, such as `LibreSSL 3.9.2`.
    #[must_use]
    pub fn version(&self) -> &'static str {
        &self.0.version
    }

    /// Looks `name` up in the default library context (`EVP_CIPHER_fetch`). A program does this
    /// once and keeps the result. It is OpenSSL's own, also where a configuration makes programs
    /// use Lanecrypt through OpenSSL.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher, or the build is older than 3.0.
    #[inline]
    pub fn fetch(&self, name: &CStr) -> Result<Cipher, Error> {
        Cipher::of(Handle::fetch(self.0, ptr::null_mut(), name)?)
    }

    /// Looks `name` up among the ciphers of the legacy provider, such as `DES-CBC`.
    ///
    /// The provider is loaded into a separate library context, so that the ciphers of the rest of
    /// the program do not change. If the provider is a file, it must be installed.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher or no such provider. A build older than
    /// 3.0 has no providers; its [`Libcrypto::named`] finds these ciphers.
    pub fn fetch_legacy(&self, name: &CStr) -> Result<Cipher, Error> {
        Cipher::of(Handle::fetch(self.0, self.0.legacy()?, name)?)
    }

    /// The cipher called `name` (`EVP_get_cipherbyname`), such as `AES-128-CBC`. From 3.0 on,
    /// libcrypto fetches it anew for each context.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher.
    pub fn named(&self, name: &CStr) -> Result<Cipher, Error> {
        Cipher::of(Handle::named(self.0, name)?)
    }

    /// Looks up a cipher with authentication, as [`Libcrypto::fetch`] looks up others:
    /// `AES-128-GCM`, `ChaCha20-Poly1305`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher, it is of another kind, or the build is
    /// older than 3.0.
    #[inline]
    pub fn fetch_aead(&self, name: &CStr) -> Result<AeadCipher, Error> {
        AeadCipher::fetch(self.0, name)
    }

    /// The cipher with authentication called `name`, as [`Libcrypto::named`] finds others. From 3.0
    /// on, libcrypto fetches it anew for each context.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher, or it is of another kind.
    #[inline]
    pub fn named_aead(&self, name: &CStr) -> Result<AeadCipher, Error> {
        AeadCipher::named(self.0, name)
    }

    /// Looks up AES-SIV, as [`Libcrypto::fetch`] looks up others: `AES-128-SIV`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher, it is of another kind, or the build is
    /// older than 3.0.
    pub fn fetch_siv(&self, name: &CStr) -> Result<SivCipher, Error> {
        SivCipher::fetch(self.0, name)
    }

    /// Fills `bytes` from libcrypto's generator (`RAND_bytes`).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] for more than 2^31 - 1 bytes, [`Error::Failed`] if there is no
    /// entropy; the content of `bytes` must not be used then.
    #[inline]
    pub fn random(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let len = c_int::try_from(bytes.len()).map_err(|_| Error::DataLength)?;
        // SAFETY: writes `len` bytes to a buffer of that size.
        let status = unsafe { (self.0.functions.RAND_bytes)(bytes.as_mut_ptr(), len) };
        self.0.check(status == 1)
    }
}

/// # Safety
///
/// The file is a libcrypto, which may be loaded: opening it runs its initialisers.
unsafe fn load(file: &Path) -> Result<Library, libloading::Error> {
    // Symbols stay local to the library, so that several builds do not mix.
    // SAFETY: the caller guarantees the file.
    unsafe { Library::new(file) }
}

/// The number in `OpenSSL 3.5.0 8 Apr 2025`; for a fork the whole text.
fn number(text: &str) -> String {
    let number = text.strip_prefix("OpenSSL ").and_then(|rest| rest.split(' ').next());
    number.unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(number("OpenSSL 3.5.0-dev 8 Apr 2025"), "3.5.0-dev");
        assert_eq!(number("OpenSSL 4.0.0"), "4.0.0");
        assert_eq!(number("LibreSSL 3.9.2"), "LibreSSL 3.9.2");
    }
}
