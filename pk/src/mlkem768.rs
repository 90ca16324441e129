//! ML-KEM-768 (FIPS 203): a secret that one side draws and encapsulates for the other.

mod encapsulation_key;

use core::fmt;

pub use encapsulation_key::{ENCAPSULATION_KEY_LENGTH, EncapsulationKey};
use lanecrypt_kernels::{Isa, mlkem as kernel};
use subtle::ConstantTimeEq as _;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::KeyError;
use crate::encoding;
use crate::secret::random;

/// The length of a ciphertext.
pub const CIPHERTEXT_LENGTH: usize = 1088;

/// The length of a seed.
pub const SEED_LENGTH: usize = 64;

/// The length of a decapsulation key in the form of FIPS 203.
pub(crate) const DECAPSULATION_KEY_LENGTH: usize = 2400;

/// A key that recovers shared secrets. It owns its encapsulation key, is wiped on drop, and may be
/// used by many threads at once.
///
/// It is kept as its seed, and expanded.
pub struct DecapsulationKey {
    seed: Zeroizing<[u8; SEED_LENGTH]>,
    pub(crate) expanded: kernel::DecapsulationKey,
    public: EncapsulationKey,
    #[cfg(feature = "aws-lc")]
    pub(crate) aws_lc: crate::aws_lc::MlKem768,
}

impl DecapsulationKey {
    /// The key of a seed, d and z, which have to be random and secret. Computes the encapsulation
    /// key.
    #[must_use]
    pub fn from_seed(seed: &[u8; SEED_LENGTH]) -> Self {
        let mut expanded = kernel::DecapsulationKey::empty();
        expanded.set_seed(Isa::detect(), seed);
        Self::of(seed, &expanded)
    }

    pub(crate) fn of(seed: &[u8; SEED_LENGTH], expanded: &kernel::DecapsulationKey) -> Self {
        let public = EncapsulationKey::of(expanded.encapsulation_key().clone());
        Self {
            seed: Zeroizing::new(*seed),
            expanded: expanded.clone(),
            public,
            #[cfg(feature = "aws-lc")]
            aws_lc: Default::default(),
        }
    }

    /// A new key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Entropy`].
    pub fn generate() -> Result<Self, KeyError> {
        Ok(Self::from_seed(&*random()?))
    }

    /// The seed that it was made of.
    #[must_use]
    pub fn as_seed(&self) -> &[u8; SEED_LENGTH] {
        &self.seed
    }

    /// Its encapsulation key.
    #[must_use]
    pub const fn encapsulation_key(&self) -> &EncapsulationKey {
        &self.public
    }

    /// The key in the form of FIPS 203.
    pub(crate) fn to_expanded(&self) -> Zeroizing<[u8; DECAPSULATION_KEY_LENGTH]> {
        let mut bytes = Zeroizing::new([0; DECAPSULATION_KEY_LENGTH]);
        self.expanded.copy_bytes(Isa::detect(), &mut bytes);
        bytes
    }

    /// A key from the DER of `PrivateKeyInfo` (PKCS#8, RFC 9935) that has the seed.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        let (seed, expanded) = encoding::read_seed(der)?;
        let key = Self::from_seed(&seed);
        match expanded {
            Some(expanded) if !bool::from(expanded.ct_eq(&key.to_expanded()[..])) => {
                Err(KeyError::Inconsistent)
            }
            _ => Ok(key),
        }
    }

    /// A key from PEM, `PRIVATE KEY` (PKCS#8), that has the seed.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the encoding or the key is invalid.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::from_pkcs8_der(encoding::private_pem(pem)?.as_bytes())
    }

    /// The DER of `PrivateKeyInfo` (PKCS#8), with the seed.
    #[must_use]
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        encoding::write_seed(&self.seed).to_bytes()
    }

    /// PEM, `PRIVATE KEY` (PKCS#8), with the seed.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        encoding::to_private_pem(&encoding::write_seed(&self.seed))
    }
}

impl ZeroizeOnDrop for DecapsulationKey {}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecapsulationKey").field("public", &self.public).finish_non_exhaustive()
    }
}
