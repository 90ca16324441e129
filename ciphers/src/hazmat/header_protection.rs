//! Masks for the headers of packets.

use core::fmt;

use lanecrypt_kernels::aes::AesForward;
use lanecrypt_kernels::chacha::{self, Key};
use lanecrypt_kernels::{BlockEncrypt, Isa};
use zeroize::ZeroizeOnDrop;

use super::keyed::bytes;
use crate::{Algorithm, Error};

/// The key of header protection (QUIC, RFC 9001, section 5.4), or of the encryption of record
/// numbers (DTLS 1.3, RFC 9147, section 4.2.3).
///
/// Each packet's mask is made of a sample of its ciphertext and hides the few bytes of its header
/// that would tell who sent it: the sender and the receiver add the same mask. The key is
/// expanded once and wiped on drop; requests only read it. Constant time.
///
/// Masks of many connections are made side by side as messages of
/// [`Algorithm::CHACHA20_IETF`]: zeros that are encrypted with the sample as their
/// [initialization vector](super::Cipher). Those of AES are too short to gain by it.
pub struct HeaderProtectionKey(Keyed);

enum Keyed {
    Aes128(AesForward<128>),
    Aes256(AesForward<256>),
    ChaCha20(Isa, Key),
}

impl HeaderProtectionKey {
    /// Expands `key`, which goes with packets that `algorithm` protects: AES-128-GCM (16 bytes),
    /// AES-256-GCM or ChaCha20-Poly1305 (32 bytes).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other algorithms, [`Error::KeyLength`].
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        Ok(Self(match algorithm {
            Algorithm::AES_128_GCM => Keyed::Aes128(AesForward::<128>::new(isa, bytes(key)?)),
            Algorithm::AES_256_GCM => Keyed::Aes256(AesForward::<256>::new(isa, bytes(key)?)),
            Algorithm::CHACHA20_POLY1305 => Keyed::ChaCha20(isa, bytes::<32>(key)?.into()),
            _ => return Err(Error::Unsupported),
        }))
    }

    /// The mask of the packet whose ciphertext has this sample.
    #[must_use]
    #[inline]
    pub fn mask(&self, sample: &[u8; 16]) -> [u8; 5] {
        let front = match &self.0 {
            Keyed::Aes128(cipher) => cipher.front(sample),
            Keyed::Aes256(cipher) => cipher.front(sample),
            Keyed::ChaCha20(isa, key) => chacha::front(*isa, key, sample),
        };
        let [a, b, c, d, e, ..] = front.to_le_bytes();
        [a, b, c, d, e]
    }
}

impl fmt::Debug for HeaderProtectionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeaderProtectionKey").finish_non_exhaustive()
    }
}

// Every expanded key wipes itself.
impl ZeroizeOnDrop for HeaderProtectionKey {}
