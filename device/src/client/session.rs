//! A client's identifiers of sessions.

use lanecrypt_engine::Algorithm;

/// A session in a daemon, by number. It is valid for this client only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    pub(crate) number: u32,
    algorithm: Option<Algorithm>,
    makes_nonces: bool,
    signature_length: u32,
}

impl Session {
    /// A session of a cipher.
    pub(super) fn of_cipher(number: u32, algorithm: Algorithm, makes_nonces: bool) -> Self {
        Self { number, algorithm: Some(algorithm), makes_nonces, signature_length: 0 }
    }

    /// A session for signatures.
    pub(super) fn of_signatures(number: u32, signature_length: u32) -> Self {
        Self { number, algorithm: None, makes_nonces: false, signature_length }
    }

    /// The algorithm of its cipher; `None` if it is for signatures.
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

    /// The length of its signatures in bytes; 0 for the session of a cipher.
    #[must_use]
    pub fn signature_length(self) -> usize {
        self.signature_length as usize
    }
}
