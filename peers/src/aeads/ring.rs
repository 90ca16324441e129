//! Peer: the crate `ring`, by the key type that takes a nonce with each message.
//!
//! It opens in place only; as requests here keep the sealed bytes, opening copies them first, which
//! is part of what is measured.

use ring::aead::{
    AES_128_GCM, AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, Tag,
    UnboundKey,
};

use crate::{AeadPeer, Failed, Sealing};

// A crate's version cannot be asked for, so it stands here; tests/crate_versions.rs holds it to the
// lock file.
const VERSION: &str = "ring 0.17.14";

pub(crate) fn aeads() -> [AeadPeer; 3] {
    [
        ("aes-128-gcm", &AES_128_GCM),
        ("aes-256-gcm", &AES_256_GCM),
        ("chacha20-poly1305", &CHACHA20_POLY1305),
    ]
    .map(|(name, algorithm)| {
        AeadPeer::tried(["ring", "crate", name], VERSION.to_owned(), |_, key| {
            Keyed::new(algorithm, key)
        })
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
        Failed::unless(out.len() == sealed.len())?;
        out.copy_from_slice(sealed);
        self.key
            .open_in_place_separate_tag(nonce, Aad::from(aad), Tag::from(*tag), out, 0..)
            .map_err(|_| Failed)?;
        Ok(())
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.key = expanded(self.algorithm, key)?;
        Ok(())
    }
}
