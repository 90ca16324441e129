//! Which signatures of ECDSA are made and checked here.

use core::ffi::c_void;
use core::ptr;
use std::sync::Arc;

use lanecrypt_pk::p256;
use lanecrypt_rsa::Hash;

use super::key::Key;
use super::kind::Type;
use super::operation::Operation;
use crate::abi::{Dispatch, Param, Table, UNSIGNED};
use crate::asynchronous::Job;
use crate::context::Provider;
use crate::errors::{Failure, Trouble};
use crate::fallback::{Fallback, Signatures};
use crate::hasher::Name;
use crate::signature::{self, Scheme, Side};

pub(crate) static FUNCTIONS: Table<[Dispatch; 24]> = signature::functions::<Type>();

/// What is done with a digest.
pub(crate) struct Plan {
    hash: Option<Hash>,
}

/// The settings of a context.
#[derive(Default)]
pub(crate) struct Settings {
    hash: Name,
    /// 0 for random nonces. Earlier versions of OpenSSL have no others.
    nonce: u32,
}

impl Settings {
    fn params(&mut self) -> [Param; 3] {
        let mut nonce = Param::described(c"nonce-type".as_ptr(), UNSIGNED, size_of::<u32>());
        nonce.data = ptr::from_mut(&mut self.nonce).cast();
        [self.hash.param(c"digest"), nonce, Param::END]
    }
}

impl signature::Settings for Settings {
    unsafe fn of(functions: &Signatures, context: *mut c_void) -> Option<Self> {
        let get_params = functions.get_params?;
        let mut settings = Self::default();
        let mut params = settings.params();
        // SAFETY: the caller says so; each parameter has a place of its size.
        let status = unsafe { get_params(context, params.as_mut_ptr()) };
        (status == 1).then_some(settings)
    }

    fn list<T>(&mut self, set: impl FnOnce(*const Param) -> T) -> T {
        let mut params = self.params();
        Name::shorten(&mut params[0]);
        set(params.as_ptr())
    }
}

impl Scheme for Type {
    type Key = Key;
    type Plan = Plan;
    type Settings = Settings;

    fn of(provider: &Provider) -> Option<&Arc<Self>> {
        Some(&provider.curves.as_ref()?.ec)
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
        key.halves().map(|_| p256::MAX_DER_LENGTH)
    }

    fn is_remote(_: &Key) -> bool {
        false
    }

    fn plan(
        key: &Key,
        side: Side,
        settings: impl FnOnce() -> Option<Settings>,
        is_alone: impl FnOnce() -> bool,
    ) -> Option<Plan> {
        // The default provider checks signatures, and makes those that are alone: it is faster.
        if side == Side::Verify || is_alone() {
            return None;
        }
        key.halves()?.secret?;
        let settings = settings().filter(|settings| settings.nonce == 0)?;
        let hash = settings.hash.hash();
        (hash.is_some() || settings.hash.is_empty()).then_some(Plan { hash })
    }

    fn hash(plan: &Plan) -> Option<Hash> {
        plan.hash
    }

    fn takes(plan: &Plan, length: usize) -> bool {
        plan.hash.is_none_or(|hash| hash.length() == length)
    }

    fn sign(
        key: &Arc<Key>,
        _: &Plan,
        digest: &[u8],
        out: &mut [u8],
        job: Option<Job<'_>>,
    ) -> Result<Option<usize>, Trouble> {
        let secret = key.halves().and_then(|halves| halves.secret).ok_or(Failure::Fault)?;
        let Some(signature) = Operation::Sign(secret, leftmost(digest)).run(job) else {
            return Ok(None);
        };
        let signature = signature?;
        let mut room = [0; p256::MAX_DER_LENGTH];
        let made = p256::signature_to_der(&signature, &mut room);
        out.get_mut(..made.len()).ok_or(Failure::BatchBuffer)?.copy_from_slice(made);
        Ok(Some(made.len()))
    }
}

/// The 256 bits of a digest that are signed: of a longer one the first, a shorter one as a number
/// (FIPS 186-5, section 6.4.1).
fn leftmost(digest: &[u8]) -> [u8; 32] {
    let digest = &digest[..digest.len().min(32)];
    let mut bits = [0; 32];
    bits[32 - digest.len()..].copy_from_slice(digest);
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_any_length() {
        assert_eq!(leftmost(&[7; 64]), [7; 32]);
        let short = leftmost(&[7; 20]);
        assert_eq!((&short[..12], &short[12..]), (&[0; 12][..], &[7; 20][..]));
        assert_eq!(leftmost(&[]), [0; 32]);
    }
}
