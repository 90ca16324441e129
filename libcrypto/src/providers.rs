//! Which provider serves what, under the configuration that the process was started with.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;

use crate::build::Build;
use crate::cipher::Handle;
use crate::functions::Providers;
use crate::{Error, Libcrypto};

/// `OPENSSL_INIT_LOAD_CONFIG`.
const LOAD_CONFIG: u64 = 0x40;

impl Libcrypto {
    /// The name of the provider that serves a cipher under the configuration of the process, such
    /// as `default`. Only here it may be `lanecrypt`: [`Libcrypto::fetch`] finds OpenSSL's own.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such cipher, or the build is older than 3.0.
    pub fn provider_of_cipher(&self, name: &CStr) -> Result<String, Error> {
        let functions = self.providers()?;
        self.build().load_configuration();
        let cipher = Handle::fetch_any(self.build(), name)?;
        // SAFETY: the cipher was fetched and lives until the end of this function.
        let provider = unsafe { (functions.EVP_CIPHER_get0_provider)(cipher.as_ptr()) };
        self.name_of(functions, provider)
    }

    /// The name of the provider that serves random numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if there is no generator, [`Error::Unsupported`] if the build is older
    /// than 3.0.
    pub fn provider_of_random(&self) -> Result<String, Error> {
        let functions = self.providers()?;
        self.build().load_configuration();
        // SAFETY: null stands for the default library context.
        let context = unsafe { (functions.RAND_get0_public)(ptr::null_mut()) };
        if context.is_null() {
            return Err(self.build().failed(Error::Failed));
        }
        // SAFETY: the context belongs to the thread, which is this one.
        let random = unsafe { (functions.EVP_RAND_CTX_get0_rand)(context) };
        // SAFETY: a context has a generator.
        let provider = unsafe { (functions.EVP_RAND_get0_provider)(random) };
        self.name_of(functions, provider)
    }

    /// The name of the provider that makes and checks signatures of an algorithm, such as `RSA`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such algorithm, or the build is older than 3.0.
    pub fn provider_of_signatures(&self, name: &CStr) -> Result<String, Error> {
        let functions = self.providers()?;
        self.build().load_configuration();
        // SAFETY: null stands for the default library context and for all properties; the name ends
        // with a zero byte.
        let method =
            unsafe { (functions.EVP_SIGNATURE_fetch)(ptr::null_mut(), name.as_ptr(), ptr::null()) };
        if method.is_null() {
            return Err(self.build().failed(Error::Unsupported));
        }
        // SAFETY: the method was fetched, and is freed below.
        let provider = unsafe { (functions.EVP_SIGNATURE_get0_provider)(method) };
        let name = self.name_of(functions, provider);
        // SAFETY: it was fetched here, and nothing else has it.
        unsafe { (functions.EVP_SIGNATURE_free)(method) };
        name
    }

    fn providers(&self) -> Result<&'static Providers, Error> {
        self.build().functions.providers.as_ref().ok_or(Error::Unsupported)
    }

    fn name_of(&self, functions: &Providers, provider: *const c_void) -> Result<String, Error> {
        if provider.is_null() {
            return Err(self.build().failed(Error::Unsupported));
        }
        // SAFETY: the provider is not null, so it is loaded.
        let name = unsafe { (functions.OSSL_PROVIDER_get0_name)(provider) };
        if name.is_null() {
            return Err(Error::Unsupported);
        }
        // SAFETY: a name ends with a zero byte and lives as long as its provider.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
}

impl Build {
    /// Loads the configuration of the process (`OPENSSL_CONF`), as programs with TLS do when they
    /// start. What is wrong with it shows in what providers there are.
    pub(crate) fn load_configuration(&self) {
        if let Some(providers) = &self.functions.providers {
            // SAFETY: the settings may be null.
            let status = unsafe { (providers.OPENSSL_init_crypto)(LOAD_CONFIG, ptr::null()) };
            let _ = self.check(status == 1);
        }
    }

    /// Whether a provider is loaded and active in the default library context.
    pub(crate) fn has_provider(&self, name: &CStr) -> bool {
        let Some(functions) = &self.functions.providers else { return false };
        // SAFETY: null stands for the default library context; the name ends with a zero byte.
        let status: c_int =
            unsafe { (functions.OSSL_PROVIDER_available)(ptr::null_mut(), name.as_ptr()) };
        status == 1
    }
}
