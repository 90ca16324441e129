//! Secret bytes.

use core::fmt;

use lanecrypt_random::EntropyError;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{Error, KeyError};

/// A secret that both sides of an exchange know. It is wiped on drop.
///
/// It is not uniformly random: a key derivation function, such as that of TLS, has to follow.
pub struct SharedSecret(pub(crate) Zeroizing<[u8; 32]>);

impl SharedSecret {
    /// What a request will write.
    pub(crate) fn empty() -> Self {
        Self(Zeroizing::new([0; 32]))
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl ZeroizeOnDrop for SharedSecret {}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedSecret").finish_non_exhaustive()
    }
}

/// New random bytes.
pub(crate) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, NoEntropy> {
    let mut bytes = Zeroizing::new([0; N]);
    lanecrypt_random::try_fill(&mut *bytes).map_err(|_: EntropyError| NoEntropy)?;
    Ok(bytes)
}

/// The system gave no random bytes.
pub(crate) struct NoEntropy;

impl From<NoEntropy> for Error {
    fn from(_: NoEntropy) -> Self {
        Self::Entropy
    }
}

impl From<NoEntropy> for KeyError {
    fn from(_: NoEntropy) -> Self {
        Self::Entropy
    }
}
