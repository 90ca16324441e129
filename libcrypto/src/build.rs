//! The state of one build of libcrypto, and its error queue.

use core::ffi::{CStr, c_void};
use std::sync::OnceLock;

use crate::Error;
use crate::functions::Functions;

/// The state of one build.
#[derive(Debug)]
pub(crate) struct Build {
    pub(crate) functions: Functions,
    pub(crate) version: String,
    /// The library context with the legacy provider, once it was needed. Like the library, it is
    /// never freed.
    legacy: OnceLock<Result<LibraryContext, Error>>,
    /// Whether the process's configuration has loaded Lanecrypt's provider.
    has_ours: OnceLock<bool>,
}

/// An `OSSL_LIB_CTX`.
#[derive(Clone, Copy, Debug)]
struct LibraryContext(*mut c_void);

// SAFETY: libcrypto guards library contexts with its own locks.
unsafe impl Send for LibraryContext {}
// SAFETY: as above.
unsafe impl Sync for LibraryContext {}

impl Build {
    pub(crate) const fn new(functions: Functions, version: String) -> Self {
        Self { functions, version, legacy: OnceLock::new(), has_ours: OnceLock::new() }
    }

    /// The properties of OpenSSL's own implementations, where the process's configuration has
    /// others of Lanecrypt: who asks for OpenSSL must not get those. A query costs time at each
    /// fetch, so there is none without need.
    #[inline]
    pub(crate) fn properties(&self) -> Option<&'static CStr> {
        let has_ours = *self.has_ours.get_or_init(|| {
            self.load_configuration();
            self.has_provider(c"lanecrypt")
        });
        has_ours.then_some(c"provider!=lanecrypt")
    }

    /// The library context with the legacy provider; made when it is first needed.
    pub(crate) fn legacy(&self) -> Result<*mut c_void, Error> {
        let LibraryContext(context) = (*self.legacy.get_or_init(|| self.make_legacy()))?;
        Ok(context)
    }

    /// An error unless `success`. It clears libcrypto's error queue, so that no other code takes
    /// the record for its own error.
    #[inline]
    pub(crate) fn check(&self, success: bool) -> Result<(), Error> {
        if success { Ok(()) } else { Err(self.failed(Error::Failed)) }
    }

    /// Clears libcrypto's error queue; returns `error`.
    #[cold]
    #[inline(never)]
    pub(crate) fn failed(&self, error: Error) -> Error {
        // SAFETY: takes no arguments; the queue belongs to the thread.
        unsafe { (self.functions.ERR_clear_error)() };
        error
    }

    /// Makes a library context with the legacy provider.
    fn make_legacy(&self) -> Result<LibraryContext, Error> {
        let (Some(new), Some(load)) =
            (self.functions.OSSL_LIB_CTX_new, self.functions.OSSL_PROVIDER_load)
        else {
            return Err(Error::Unsupported);
        };
        // SAFETY: takes no arguments.
        let context = unsafe { new() };
        if context.is_null() {
            return Err(self.failed(Error::Failed));
        }
        // The two providers share the DES family: 3DES is in the default one.
        for name in [c"legacy", c"default"] {
            // SAFETY: the context was just made, and the name ends with a zero byte.
            let provider = unsafe { load(context, name.as_ptr()) };
            if provider.is_null() {
                // The context is not freed (a few kilobytes), because a provider may still refer to
                // it.
                return Err(self.failed(Error::Unsupported));
            }
        }
        Ok(LibraryContext(context))
    }
}
