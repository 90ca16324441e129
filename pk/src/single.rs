//! One operation at a time.

use crate::mlkem768::CIPHERTEXT_LENGTH;
use crate::{Error, KeyError, Request, SharedSecret, ed25519, mlkem768, p256, process, x25519};

impl x25519::SecretKey {
    /// Its public key, which is computed now.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "every secret key has a public key")]
    pub fn public_key(&self) -> x25519::PublicKey {
        let mut public = [0; 32];
        let served = one(Request::x25519_public_key(self, &mut public));
        served.expect("every secret key has a public key");
        x25519::PublicKey::from_bytes(&public)
    }

    /// The secret that this key shares with the one of `public` (RFC 7748, section 6.1).
    ///
    /// # Errors
    ///
    /// [`Error::SmallOrder`].
    pub fn diffie_hellman(&self, public: &x25519::PublicKey) -> Result<SharedSecret, Error> {
        let mut shared = SharedSecret::empty();
        one(Request::x25519_shared_secret(self, public, &mut shared.0))?;
        Ok(shared)
    }
}

impl ed25519::SigningKey {
    /// Signs a message.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        let mut signature = [0; 64];
        one(Request::ed25519_sign(self, message, &mut signature))?;
        Ok(signature)
    }
}

impl ed25519::VerifyingKey {
    /// Checks a signature: S is less than the order, R is canonical and not of small order, and
    /// R = S B - k A, without multiplying by the cofactor.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        one(Request::ed25519_verify(self, message, signature))
    }
}

impl p256::SecretKey {
    /// Its public key, which is computed now.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn public_key(&self) -> Result<p256::PublicKey, Error> {
        let mut public = [0; 65];
        one(Request::p256_public_key(self, &mut public))?;
        p256::PublicKey::from_sec1_bytes(&public).map_err(|_: KeyError| Error::Fault)
    }

    /// The secret that this key shares with the one of `public`: the x coordinate of their point
    /// (SP 800-56A, section 5.7.1.2).
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn diffie_hellman(&self, public: &p256::PublicKey) -> Result<SharedSecret, Error> {
        let mut shared = SharedSecret::empty();
        one(Request::p256_shared_secret(self, public, &mut shared.0))?;
        Ok(shared)
    }
}

impl p256::SigningKey {
    /// Signs a message, with SHA-256: r and s, each of 32 bytes.
    ///
    /// The nonce is derived from the key, the digest and new random bytes (RFC 6979, section 3.6).
    ///
    /// # Errors
    ///
    /// [`Error::Entropy`], [`Error::Fault`].
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        let mut signature = [0; 64];
        one(Request::p256_sign(self, message, &mut signature))?;
        Ok(signature)
    }

    /// Signs a message with this digest; of a longer digest, its first 32 bytes.
    ///
    /// # Errors
    ///
    /// Same as [`sign`](Self::sign).
    pub fn sign_digest(&self, digest: &[u8; 32]) -> Result<[u8; 64], Error> {
        let mut signature = [0; 64];
        one(Request::p256_sign_digest(self, digest, &mut signature))?;
        Ok(signature)
    }

    /// Signs a message, with SHA-256, and returns the signature in DER.
    ///
    /// # Errors
    ///
    /// Same as [`sign`](Self::sign).
    pub fn sign_der(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut room = [0; p256::MAX_DER_LENGTH];
        Ok(p256::signature_to_der(&self.sign(message)?, &mut room).to_vec())
    }
}

impl p256::PublicKey {
    /// Checks a signature of ECDSA with SHA-256: r and s, each of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8; 64]) -> Result<(), Error> {
        one(Request::p256_verify(self, message, signature))
    }

    /// Checks the signature of a message with this digest; of a longer digest, its first 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`].
    pub fn verify_digest(&self, digest: &[u8; 32], signature: &[u8; 64]) -> Result<(), Error> {
        one(Request::p256_verify_digest(self, digest, signature))
    }

    /// Checks a signature of ECDSA with SHA-256, in DER.
    ///
    /// # Errors
    ///
    /// [`Error::Signature`].
    pub fn verify_der(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify(message, &p256::signature_from_der(signature)?)
    }
}

impl mlkem768::DecapsulationKey {
    /// The secret that was encapsulated. That of a wrong ciphertext is a secret that nobody else
    /// knows.
    ///
    /// # Errors
    ///
    /// [`Error::Fault`].
    pub fn decapsulate(&self, ciphertext: &[u8; CIPHERTEXT_LENGTH]) -> Result<SharedSecret, Error> {
        let mut shared = SharedSecret::empty();
        one(Request::mlkem768_decapsulate(self, ciphertext, &mut shared.0))?;
        Ok(shared)
    }
}

impl mlkem768::EncapsulationKey {
    /// Draws a secret, and encapsulates it.
    ///
    /// # Errors
    ///
    /// [`Error::Entropy`].
    pub fn encapsulate(&self) -> Result<([u8; CIPHERTEXT_LENGTH], SharedSecret), Error> {
        let (mut ciphertext, mut shared) = ([0; CIPHERTEXT_LENGTH], SharedSecret::empty());
        one(Request::mlkem768_encapsulate(self, &mut ciphertext, &mut shared.0))?;
        Ok((ciphertext, shared))
    }
}

/// Serves one request.
fn one(request: Request<'_>) -> Result<(), Error> {
    let mut requests = [request];
    // The outcome of the request says more than that of the batch.
    let _ = process(&mut requests);
    requests[0].outcome().unwrap_or(Ok(()))
}
