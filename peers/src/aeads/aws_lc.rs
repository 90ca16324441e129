//! Peer: ciphers of AWS-LC that authenticate, by the crate aws-lc-rs and its key type that takes a
//! nonce with each message.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};

use crate::{AeadPeer, Failed, Sealing};

pub(crate) fn aeads() -> [AeadPeer; 3] {
    [
        ("aes-128-gcm", &AES_128_GCM),
        ("aes-256-gcm", &AES_256_GCM),
        ("chacha20-poly1305", &CHACHA20_POLY1305),
    ]
    .map(|(name, algorithm)| {
        let version = aws_lc_rs::awslc_version().to_owned();
        AeadPeer::tried(["aws-lc", "crate", name], version, |_, key| Keyed::new(algorithm, key))
    })
}

/// A key of an algorithm.
struct Keyed {
    key: LessSafeKey,
    algorithm: &'static Algorithm,
}

impl Keyed {
    fn new(algorithm: &'static Algorithm, key: &[u8]) -> Result<Self, Failed> {
        Ok(Self { key: expanded(algorithm, key)?, algorithm })
    }
}

#[inline]
fn expanded(algorithm: &'static Algorithm, key: &[u8]) -> Result<LessSafeKey, Failed> {
    UnboundKey::new(algorithm, key).map(LessSafeKey::new).map_err(|_| Failed)
}

impl Sealing for Keyed {
    #[inline]
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Failed)?;
        let made = self.key.seal_in_place_separate_tag(nonce, Aad::from(aad), data);
        *tag = made.map_err(|_| Failed)?.as_ref().try_into().map_err(|_| Failed)?;
        Ok(())
    }

    #[inline]
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed> {
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Failed)?;
        self.key.open_separate_gather(nonce, Aad::from(aad), sealed, tag, out).map_err(|_| Failed)
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = expanded(self.algorithm, key)?;
        Ok(())
    }
}
