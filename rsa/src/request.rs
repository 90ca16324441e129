//! A request: one signature to make or to check.

use core::fmt;

use crate::hash::Digest;
use crate::{Error, Padding, PrivateKey, PublicKey};

/// The most requests that share lanes.
pub(crate) const AT_ONCE: usize = 32;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Operation {
    /// Sign a message.
    Sign,
    /// Check a signature.
    Verify,
    /// The private operation on a number, see [`hazmat`](crate::hazmat).
    RawPrivate,
    /// The public operation on a number, see [`hazmat`](crate::hazmat).
    RawPublic,
}

/// One signature to make or to check, under a key of its own.
///
/// [`process`](crate::process) serves it once: a request that has an [`outcome`](Self::outcome) is
/// left as it is. It may be sent to another thread. The message is hashed when the request is made.
#[must_use = "a request is served by `process`"]
pub struct Request<'a> {
    pub(crate) work: Work<'a>,
    pub(crate) outcome: Option<Result<(), Error>>,
}

/// The key of a request, and what else it needs.
pub(crate) enum Work<'a> {
    Sign {
        key: &'a PrivateKey,
        padding: Padding,
        digest: Option<Digest>,
        salt: Option<&'a [u8]>,
        signature: &'a mut [u8],
    },
    Verify {
        key: &'a PublicKey,
        padding: Padding,
        digest: Option<Digest>,
        signature: &'a [u8],
    },
    RawPrivate {
        key: &'a PrivateKey,
        input: &'a [u8],
        output: &'a mut [u8],
    },
    RawPublic {
        key: &'a PublicKey,
        input: &'a [u8],
        output: &'a mut [u8],
    },
}

impl<'a> Request<'a> {
    pub(crate) const fn new(work: Work<'a>) -> Self {
        Self { work, outcome: None }
    }

    /// Signs a message into `signature`, which has
    /// [`signature_length`](PrivateKey::signature_length) bytes.
    pub fn sign(
        key: &'a PrivateKey,
        padding: Padding,
        message: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        let digest = Some(padding.hash().digest(&[message]));
        Self::new(Work::Sign { key, padding, digest, salt: None, signature })
    }

    /// Signs a message with this digest.
    pub fn sign_digest(
        key: &'a PrivateKey,
        padding: Padding,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        let digest = Digest::new(digest);
        Self::new(Work::Sign { key, padding, digest, salt: None, signature })
    }

    /// Checks the signature of a message.
    pub fn verify(
        key: &'a PublicKey,
        padding: Padding,
        message: &[u8],
        signature: &'a [u8],
    ) -> Self {
        let digest = Some(padding.hash().digest(&[message]));
        Self::new(Work::Verify { key, padding, digest, signature })
    }

    /// Checks the signature of a message with this digest.
    pub fn verify_digest(
        key: &'a PublicKey,
        padding: Padding,
        digest: &[u8],
        signature: &'a [u8],
    ) -> Self {
        let digest = Digest::new(digest);
        Self::new(Work::Verify { key, padding, digest, signature })
    }

    /// The outcome; `None` before the request has been processed.
    ///
    /// The errors are those of the keys' methods of the same name. After an error nothing has been
    /// written.
    #[must_use]
    pub const fn outcome(&self) -> Option<Result<(), Error>> {
        self.outcome
    }

    /// The operation.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self.work {
            Work::Sign { .. } => Operation::Sign,
            Work::Verify { .. } => Operation::Verify,
            Work::RawPrivate { .. } => Operation::RawPrivate,
            Work::RawPublic { .. } => Operation::RawPublic,
        }
    }

    /// The public key, or that of the private key.
    #[must_use]
    pub const fn public_key(&self) -> &'a PublicKey {
        match self.work {
            Work::Sign { key, .. } | Work::RawPrivate { key, .. } => key.public_key(),
            Work::Verify { key, .. } | Work::RawPublic { key, .. } => key,
        }
    }

    /// The private key, if there is one.
    pub(crate) const fn private_key(&self) -> Option<&'a PrivateKey> {
        match self.work {
            Work::Sign { key, .. } | Work::RawPrivate { key, .. } => Some(key),
            Work::Verify { .. } | Work::RawPublic { .. } => None,
        }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("operation", &self.operation())
            .field("key", self.public_key())
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}

/// A request may be sent to another thread and back.
const _: () = {
    const fn sent<T: Send + Sync>() {}
    sent::<Request<'_>>();
};
