//! A generator of random numbers, by `EVP_RAND`.

use core::ffi::{c_int, c_uint};
use core::marker::PhantomData;
use core::ptr;

use super::{Context, Crypto, Raw};

/// A generator of random numbers.
pub(crate) struct Generator<'c> {
    pub(super) crypto: &'static Crypto,
    pub(super) raw: Raw,
    pub(super) of: PhantomData<&'c Context>,
}

impl Generator<'_> {
    pub(crate) fn instantiate(&self, strength: c_uint) -> bool {
        // SAFETY: a generator; no string and no parameters.
        1 == unsafe {
            let instantiate = self.crypto.EVP_RAND_instantiate;
            instantiate(self.raw, strength, 0, ptr::null(), 0, ptr::null())
        }
    }

    pub(crate) fn uninstantiate(&self) -> bool {
        // SAFETY: a generator.
        1 == unsafe { (self.crypto.EVP_RAND_uninstantiate)(self.raw) }
    }

    pub(crate) fn generate(&self, out: &mut [u8], strength: c_uint, fresh: bool) -> bool {
        // SAFETY: room for so many bytes.
        1 == unsafe {
            let generate = self.crypto.EVP_RAND_generate;
            let none = ptr::null();
            generate(self.raw, out.as_mut_ptr(), out.len(), strength, fresh.into(), none, 0)
        }
    }

    pub(crate) fn reseed(&self) -> bool {
        let more = [1_u8; 32];
        // SAFETY: 32 bytes, twice.
        1 == unsafe {
            (self.crypto.EVP_RAND_reseed)(self.raw, 1, more.as_ptr(), 32, more.as_ptr(), 32)
        }
    }

    pub(crate) fn nonce(&self, out: &mut [u8]) -> bool {
        // SAFETY: room for so many bytes.
        1 == unsafe { (self.crypto.EVP_RAND_nonce)(self.raw, out.as_mut_ptr(), out.len()) }
    }

    /// Whether locks can be enabled, and the state and the strength.
    pub(crate) fn state(&self) -> (bool, c_int, c_uint) {
        // SAFETY: a generator.
        let locks = unsafe { (self.crypto.EVP_RAND_enable_locking)(self.raw) } == 1;
        // SAFETY: a generator.
        let state = unsafe { (self.crypto.EVP_RAND_get_state)(self.raw) };
        // SAFETY: a generator.
        (locks, state, unsafe { (self.crypto.EVP_RAND_get_strength)(self.raw) })
    }

    pub(crate) fn is_zeroized(&self) -> bool {
        // SAFETY: a generator.
        1 == unsafe { (self.crypto.EVP_RAND_verify_zeroization)(self.raw) }
    }
}

impl Drop for Generator<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it again.
        unsafe { (self.crypto.EVP_RAND_CTX_free)(self.raw) };
    }
}
