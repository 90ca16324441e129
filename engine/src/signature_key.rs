//! Keys of signatures, and their operations by the software of this processor.

use core::cell::Cell;

use lanecrypt_ciphers::Error;
use lanecrypt_rsa::{self as rsa, Backend, Padding, Workspace};

use crate::RsaKey;

/// The key of a session that makes or checks signatures, and their scheme.
///
/// It is converted from an RSA key with a padding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SignatureKey {
    /// RSA, with this padding.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    Rsa(RsaKey, Padding),
}

#[cfg(feature = "rsa")]
impl<K: Into<RsaKey>> From<(K, Padding)> for SignatureKey {
    fn from((key, padding): (K, Padding)) -> Self {
        Self::Rsa(key.into(), padding)
    }
}

impl SignatureKey {
    /// Whether it makes signatures. If not, it only checks them.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.private_key().is_some(),
        }
    }

    /// The length of its signatures in bytes.
    #[must_use]
    pub fn signature_length(&self) -> usize {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, _) => key.signature_length(),
        }
    }

    /// The RSA key and the padding of its signatures; `None` if it is another key.
    #[cfg(feature = "rsa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "rsa")))]
    #[must_use]
    #[expect(clippy::unnecessary_wraps, reason = "there are other keys")]
    pub fn rsa(&self) -> Option<(&RsaKey, Padding)> {
        match self {
            Self::Rsa(key, padding) => Some((key, *padding)),
        }
    }

    /// Signs a message.
    pub(crate) fn sign(&self, message: &[u8], signature: &mut [u8]) -> Result<(), Error> {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, padding) => {
                let key = key.private_key().ok_or(Error::Unsupported)?;
                with_workspace(Backend::Measured, |workspace| {
                    key.sign(*padding, message, signature, workspace)
                })
                .map_err(error)
            }
        }
    }

    /// Checks the signature of a message.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        match self {
            #[cfg(feature = "rsa")]
            Self::Rsa(key, padding) => with_workspace(Backend::Measured, |workspace| {
                key.public_key().verify(*padding, message, signature, workspace)
            })
            .map_err(error),
        }
    }

    /// A request to sign; none without a private key.
    pub(crate) fn signing<'r>(
        &'r self,
        message: &[u8],
        signature: &'r mut [u8],
    ) -> Option<rsa::Request<'r>> {
        let (key, padding) = self.rsa()?;
        Some(rsa::Request::sign(key.private_key()?, padding, message, signature))
    }

    /// A request to check a signature.
    pub(crate) fn verifying<'r>(
        &'r self,
        message: &[u8],
        signature: &'r [u8],
    ) -> Option<rsa::Request<'r>> {
        let (key, padding) = self.rsa()?;
        Some(rsa::Request::verify(key.public_key(), padding, message, signature))
    }
}

/// Lends the memory of this thread. It is wiped between requests, and grows to the size of the
/// thread's largest batch.
pub(crate) fn with_workspace<T>(backend: Backend, run: impl FnOnce(&mut Workspace) -> T) -> T {
    thread_local!(static KEPT: Cell<Option<Workspace>> = const { Cell::new(None) });
    // A thread that is ending no longer has this memory.
    let mut workspace = KEPT.try_with(Cell::take).ok().flatten().unwrap_or_default();
    workspace.set_backend(backend);
    let out = run(&mut workspace);
    let _ = KEPT.try_with(|kept| kept.set(Some(workspace)));
    out
}

/// The engine's name of an error.
pub(crate) fn error(error: rsa::Error) -> Error {
    match error {
        rsa::Error::Signature => Error::Authentication,
        rsa::Error::OutputLength => Error::OutputLength,
        rsa::Error::KeyTooShort => Error::KeyLength,
        rsa::Error::Entropy => Error::Entropy,
        rsa::Error::Fault => Error::Fault,
        // The others belong to operations that sessions do not have.
        _ => Error::Unsupported,
    }
}
