//! Which RSA signatures are made and checked here.

use core::ffi::c_void;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use lanecrypt_kernels::{Isa, Level};
use lanecrypt_rsa::{Hash, Padding, Request};

use super::key::Key;
use super::padding::Settings;
use super::{Rsa, signing};
use crate::abi::{Dispatch, Table};
use crate::asynchronous::Job;
use crate::context::Provider;
use crate::count::COUNTS;
use crate::errors::Trouble;
use crate::fallback::Fallback;
use crate::signature::{self, Scheme, Side};

pub(crate) static FUNCTIONS: Table<[Dispatch; 24]> = signature::functions::<Rsa>();

/// Whether OpenSSL makes a signature that is alone faster: it has a kernel for keys of 2048 bits
/// with the multiplications of AVX-512.
fn is_faster_there(bits: usize) -> bool {
    bits == 2048 && Isa::of_processor().has(Level::Avx512)
}

impl Scheme for Rsa {
    type Key = Key;
    type Plan = Padding;
    type Settings = Settings;

    fn of(provider: &Provider) -> Option<&Arc<Self>> {
        provider.rsa.as_ref()
    }

    fn fallback(&self) -> &Fallback {
        &self.fallback
    }

    unsafe fn hold(key: *mut c_void) -> Option<Arc<Key>> {
        // SAFETY: the caller says so.
        unsafe { Key::hold(key) }
    }

    fn inner(key: &Key) -> *mut c_void {
        key.inner()
    }

    fn length(key: &Key) -> Option<usize> {
        Some(key.numbers()?.public().signature_length())
    }

    fn is_remote(key: &Key) -> bool {
        key.remote().is_some()
    }

    fn plan(
        key: &Key,
        side: Side,
        settings: impl FnOnce() -> Option<Settings>,
        is_alone: impl FnOnce() -> bool,
    ) -> Option<Padding> {
        let numbers = key.numbers()?;
        let bits = numbers.public().bits();
        if side == Side::Sign && key.remote().is_none() {
            numbers.private()?;
            if is_faster_there(bits) && is_alone() {
                return None;
            }
        }
        settings()?.padding(side, bits)
    }

    fn hash(plan: &Padding) -> Option<Hash> {
        Some(plan.hash())
    }

    fn takes(plan: &Padding, length: usize) -> bool {
        plan.hash().length() == length
    }

    fn sign(
        key: &Arc<Key>,
        plan: &Padding,
        digest: &[u8],
        out: &mut [u8],
        job: Option<Job<'_>>,
    ) -> Result<Option<usize>, Trouble> {
        signing::sign(key, *plan, digest, out, job)?;
        Ok(Some(out.len()))
    }

    fn verify(key: &Key, plan: &Padding, digest: &[u8], made: &[u8]) -> bool {
        let Some(numbers) = key.numbers() else { return false };
        let request = Request::verify_digest(numbers.public(), *plan, digest, made);
        let [outcome] = signing::serve([request]);
        COUNTS.checks.fetch_add(1, Ordering::Relaxed);
        outcome.is_ok()
    }
}
