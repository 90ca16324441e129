//! A client's identifiers of sessions.

use lanecrypt_engine::Algorithm;

/// A session in a daemon, by number. It is valid for this client only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    pub(crate) number: u32,
    algorithm: Option<Algorithm>,
    makes_nonces: bool,
    signature_length: u32,
    agreement_length: u32,
}

impl Session {
    /// A session of a cipher.
    pub(super) fn of_cipher(number: u32, algorithm: Algorithm, makes_nonces: bool) -> Self {
        let algorithm = Some(algorithm);
        Self { number, algorithm, makes_nonces, signature_length: 0, agreement_length: 0 }
    }

    /// A session with an asymmetric key. One of the lengths is zero.
    pub(super) fn asymmetric(number: u32, signature_length: u32, agreement_length: u32) -> Self {
        let (algorithm, makes_nonces) = (None, false);
        Self { number, algorithm, makes_nonces, signature_length, agreement_length }
    }

    /// The algorithm of its cipher; `None` if it has an asymmetric key.
    #[must_use]
    pub fn algorithm(self) -> Option<Algorithm> {
        self.algorithm
    }

    /// Whether the daemon makes the nonces to seal with, as it does for its named keys unless their
    /// settings say otherwise: then only [`seal_next`](crate::Client::seal_next) seals.
    #[must_use]
    pub fn makes_nonces(self) -> bool {
        self.makes_nonces
    }

    /// The length of a nonce in bytes; 0 without one.
    #[must_use]
    pub fn nonce_length(self) -> usize {
        self.algorithm.map_or(0, Algorithm::nonce_length)
    }

    /// The length of a tag in bytes, which sealing adds to a message; 0 without authentication.
    #[must_use]
    pub fn tag_length(self) -> usize {
        self.algorithm.map_or(0, Algorithm::tag_length)
    }

    /// The length of its signatures in bytes; 0 if it is not for signatures.
    #[must_use]
    pub fn signature_length(self) -> usize {
        self.signature_length as usize
    }

    /// The length in bytes of what it [agrees](crate::Client::agree) on: 32 of a secret, after 1088
    /// of a ciphertext if it encapsulates; 0 if it is not for key exchange.
    #[must_use]
    pub fn agreement_length(self) -> usize {
        self.agreement_length as usize
    }
}
