//! A request: one operation.

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::mlkem768::{self, CIPHERTEXT_LENGTH};
use crate::{Error, ed25519, p256, x25519};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Operation {
    /// The public key of a secret key of X25519.
    X25519PublicKey,
    /// A shared secret of X25519.
    X25519SharedSecret,
    /// Sign a message by Ed25519.
    Ed25519Sign,
    /// Check a signature of Ed25519.
    Ed25519Verify,
    /// The public key of a secret key of P-256.
    P256PublicKey,
    /// A shared secret of P-256.
    P256SharedSecret,
    /// Sign a digest by ECDSA with P-256.
    P256Sign,
    /// Check a signature of ECDSA with P-256.
    P256Verify,
    /// A new key of ML-KEM-768.
    MlKem768Generate,
    /// A new shared secret, encapsulated by ML-KEM-768.
    MlKem768Encapsulate,
    /// Recover a shared secret by ML-KEM-768.
    MlKem768Decapsulate,
}

impl Operation {
    /// All operations.
    pub const ALL: &'static [Self] = &[
        Self::X25519PublicKey,
        Self::X25519SharedSecret,
        Self::Ed25519Sign,
        Self::Ed25519Verify,
        Self::P256PublicKey,
        Self::P256SharedSecret,
        Self::P256Sign,
        Self::P256Verify,
        Self::MlKem768Generate,
        Self::MlKem768Encapsulate,
        Self::MlKem768Decapsulate,
    ];
}

/// One operation, under a key of its own.
///
/// [`process`](crate::process) serves it once: a request that has an [`outcome`](Self::outcome) is
/// left as it is. It may be sent to another thread.
///
/// Outputs that are secret are the caller's to wipe.
#[must_use = "a request is served by `process`"]
pub struct Request<'a> {
    pub(crate) work: Work<'a>,
    pub(crate) outcome: Option<Result<(), Error>>,
}

/// The key of a request, and what else it needs.
pub(crate) enum Work<'a> {
    X25519PublicKey {
        secret: &'a x25519::SecretKey,
        public: &'a mut [u8; 32],
    },
    X25519SharedSecret {
        secret: &'a x25519::SecretKey,
        public: &'a x25519::PublicKey,
        shared: &'a mut [u8; 32],
    },
    Ed25519Sign {
        key: &'a ed25519::SigningKey,
        message: &'a [u8],
        signature: &'a mut [u8; 64],
    },
    Ed25519Verify {
        key: &'a ed25519::VerifyingKey,
        message: &'a [u8],
        signature: &'a [u8; 64],
    },
    P256PublicKey {
        secret: &'a p256::SecretKey,
        public: &'a mut [u8; 65],
    },
    P256SharedSecret {
        secret: &'a p256::SecretKey,
        public: &'a p256::PublicKey,
        shared: &'a mut [u8; 32],
    },
    P256Sign {
        key: &'a p256::SigningKey,
        digest: [u8; 32],
        hedge: Hedge<'a>,
        signature: &'a mut [u8; 64],
    },
    P256Verify {
        key: &'a p256::PublicKey,
        digest: [u8; 32],
        signature: &'a [u8; 64],
    },
    MlKem768Generate {
        key: &'a mut Option<mlkem768::DecapsulationKey>,
    },
    MlKem768Encapsulate {
        key: &'a mlkem768::EncapsulationKey,
        message: Option<&'a [u8; 32]>,
        ciphertext: &'a mut [u8; CIPHERTEXT_LENGTH],
        shared: &'a mut [u8; 32],
    },
    MlKem768Decapsulate {
        key: &'a mlkem768::DecapsulationKey,
        ciphertext: &'a [u8; CIPHERTEXT_LENGTH],
        shared: &'a mut [u8; 32],
    },
}

/// What the nonce of a signature depends on besides key and digest.
#[derive(Clone, Copy)]
pub(crate) enum Hedge<'a> {
    /// New random bytes.
    Random,
    /// These bytes, or nothing.
    Given(Option<&'a [u8; 32]>),
}

impl<'a> Request<'a> {
    pub(crate) const fn new(work: Work<'a>) -> Self {
        Self { work, outcome: None }
    }

    /// Computes the public key of a secret key of X25519.
    pub const fn x25519_public_key(
        secret: &'a x25519::SecretKey,
        public: &'a mut [u8; 32],
    ) -> Self {
        Self::new(Work::X25519PublicKey { secret, public })
    }

    /// Computes a shared secret by X25519. [`Error::SmallOrder`] if it would be zero.
    pub const fn x25519_shared_secret(
        secret: &'a x25519::SecretKey,
        public: &'a x25519::PublicKey,
        shared: &'a mut [u8; 32],
    ) -> Self {
        Self::new(Work::X25519SharedSecret { secret, public, shared })
    }

    /// Signs a message by Ed25519.
    pub const fn ed25519_sign(
        key: &'a ed25519::SigningKey,
        message: &'a [u8],
        signature: &'a mut [u8; 64],
    ) -> Self {
        Self::new(Work::Ed25519Sign { key, message, signature })
    }

    /// Checks a signature of Ed25519, as [`verify`](ed25519::VerifyingKey::verify) does.
    pub const fn ed25519_verify(
        key: &'a ed25519::VerifyingKey,
        message: &'a [u8],
        signature: &'a [u8; 64],
    ) -> Self {
        Self::new(Work::Ed25519Verify { key, message, signature })
    }

    /// Computes the public key of a secret key of P-256: 4, and both coordinates.
    pub const fn p256_public_key(secret: &'a p256::SecretKey, public: &'a mut [u8; 65]) -> Self {
        Self::new(Work::P256PublicKey { secret, public })
    }

    /// Computes a shared secret by ECDH with P-256: the x coordinate of the shared point.
    pub const fn p256_shared_secret(
        secret: &'a p256::SecretKey,
        public: &'a p256::PublicKey,
        shared: &'a mut [u8; 32],
    ) -> Self {
        Self::new(Work::P256SharedSecret { secret, public, shared })
    }

    /// Signs a message by ECDSA with P-256 and SHA-256. The message is hashed at once.
    pub fn p256_sign(
        key: &'a p256::SigningKey,
        message: &[u8],
        signature: &'a mut [u8; 64],
    ) -> Self {
        Self::p256_sign_digest(key, &Sha256::digest(message).into(), signature)
    }

    /// Signs a message with this digest; of a longer digest, its first 32 bytes.
    pub const fn p256_sign_digest(
        key: &'a p256::SigningKey,
        digest: &[u8; 32],
        signature: &'a mut [u8; 64],
    ) -> Self {
        Self::new(Work::P256Sign { key, digest: *digest, hedge: Hedge::Random, signature })
    }

    /// Checks a signature of ECDSA with P-256 and SHA-256. The message is hashed at once.
    pub fn p256_verify(key: &'a p256::PublicKey, message: &[u8], signature: &'a [u8; 64]) -> Self {
        Self::p256_verify_digest(key, &Sha256::digest(message).into(), signature)
    }

    /// Checks the signature of a message with this digest; of a longer digest, its first 32 bytes.
    pub const fn p256_verify_digest(
        key: &'a p256::PublicKey,
        digest: &[u8; 32],
        signature: &'a [u8; 64],
    ) -> Self {
        Self::new(Work::P256Verify { key, digest: *digest, signature })
    }

    /// Makes a new key of ML-KEM-768.
    pub const fn mlkem768_generate(key: &'a mut Option<mlkem768::DecapsulationKey>) -> Self {
        Self::new(Work::MlKem768Generate { key })
    }

    /// Draws a new shared secret and encapsulates it by ML-KEM-768.
    pub const fn mlkem768_encapsulate(
        key: &'a mlkem768::EncapsulationKey,
        ciphertext: &'a mut [u8; CIPHERTEXT_LENGTH],
        shared: &'a mut [u8; 32],
    ) -> Self {
        Self::new(Work::MlKem768Encapsulate { key, message: None, ciphertext, shared })
    }

    /// Recovers a shared secret by ML-KEM-768. That of a wrong ciphertext is a secret that nobody
    /// else knows.
    pub const fn mlkem768_decapsulate(
        key: &'a mlkem768::DecapsulationKey,
        ciphertext: &'a [u8; CIPHERTEXT_LENGTH],
        shared: &'a mut [u8; 32],
    ) -> Self {
        Self::new(Work::MlKem768Decapsulate { key, ciphertext, shared })
    }

    /// The outcome; `None` before the request has been processed. After an error nothing has been
    /// written.
    #[must_use]
    pub const fn outcome(&self) -> Option<Result<(), Error>> {
        self.outcome
    }

    /// The operation.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self.work {
            Work::X25519PublicKey { .. } => Operation::X25519PublicKey,
            Work::X25519SharedSecret { .. } => Operation::X25519SharedSecret,
            Work::Ed25519Sign { .. } => Operation::Ed25519Sign,
            Work::Ed25519Verify { .. } => Operation::Ed25519Verify,
            Work::P256PublicKey { .. } => Operation::P256PublicKey,
            Work::P256SharedSecret { .. } => Operation::P256SharedSecret,
            Work::P256Sign { .. } => Operation::P256Sign,
            Work::P256Verify { .. } => Operation::P256Verify,
            Work::MlKem768Generate { .. } => Operation::MlKem768Generate,
            Work::MlKem768Encapsulate { .. } => Operation::MlKem768Encapsulate,
            Work::MlKem768Decapsulate { .. } => Operation::MlKem768Decapsulate,
        }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("operation", &self.operation())
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}

/// A request may be sent to another thread and back.
const _: () = {
    const fn sent<T: Send + Sync>() {}
    sent::<Request<'_>>();
};
