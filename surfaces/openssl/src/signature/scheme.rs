//! What a kind of signatures says: which are made and checked here, and how.

use core::ffi::c_void;
use std::sync::Arc;

use lanecrypt_rsa::Hash;

use crate::abi::Param;
use crate::asynchronous::Job;
use crate::context::Provider;
use crate::errors::Trouble;
use crate::fallback::{Fallback, Signatures};

/// What is done with a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Sign,
    Verify,
}

/// A kind of signatures.
pub(crate) trait Scheme: Send + Sync + Sized + 'static {
    /// A key.
    type Key: Send + Sync;
    /// What of a context's settings is needed for an operation.
    type Plan;
    /// The settings of a context.
    type Settings: Settings;

    /// The provider's, if it is switched on.
    fn of(provider: &Provider) -> Option<&Arc<Self>>;

    fn fallback(&self) -> &Fallback;

    /// One more holder of a key that OpenSSL passes.
    ///
    /// # Safety
    ///
    /// The key is null or one of this provider.
    unsafe fn hold(key: *mut c_void) -> Option<Arc<Self::Key>>;

    /// The default provider's key, or null.
    fn inner(key: &Self::Key) -> *mut c_void;

    /// The most bytes of a signature, if the key is one for us.
    fn length(key: &Self::Key) -> Option<usize>;

    /// Whether nothing may be handed on that needs the private half.
    fn is_remote(key: &Self::Key) -> bool;

    /// What is done, if it is done here. `settings` asks for those of the context, and `is_alone`
    /// whether an operation would not wait for others.
    fn plan(
        key: &Self::Key,
        side: Side,
        settings: impl FnOnce() -> Option<Self::Settings>,
        is_alone: impl FnOnce() -> bool,
    ) -> Option<Self::Plan>;

    /// The hash function of messages, if it is one that we have.
    fn hash(plan: &Self::Plan) -> Option<Hash>;

    /// Whether a digest of this length may be signed.
    fn takes(plan: &Self::Plan, length: usize) -> bool;

    /// Signs a digest; returns the length of the signature. None if the default provider is to
    /// sign it.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn sign(
        key: &Arc<Self::Key>,
        plan: &Self::Plan,
        digest: &[u8],
        out: &mut [u8],
        job: Option<Job<'_>>,
    ) -> Result<Option<usize>, Trouble>;

    /// Whether a signature is one of this digest. Not called if there are no plans for it.
    fn verify(_key: &Self::Key, _plan: &Self::Plan, _digest: &[u8], _made: &[u8]) -> bool {
        false
    }
}

/// The settings of a context.
pub(crate) trait Settings: Sized {
    /// Asks a context for them.
    ///
    /// # Safety
    ///
    /// The context is one of these functions.
    unsafe fn of(functions: &Signatures, context: *mut c_void) -> Option<Self>;

    /// Calls `set` with a list of them, for another context.
    fn list<T>(&mut self, set: impl FnOnce(*const Param) -> T) -> T;
}
