//! Another key in the place of one that is there.

#[cfg(feature = "legacy")]
use lanecrypt_kernels::des::TripleDes;
use lanecrypt_kernels::serpent::Serpent;
use lanecrypt_kernels::{BlockEncrypt, Level, wipe};

use super::cipher::Cipher;
#[cfg(feature = "legacy")]
use super::keyed::triple_des_key;
use super::keyed::{Keyed, StreamKey, bytes, serpent_key, two_halves};
use crate::Error;

impl Cipher {
    /// Expands another key of the same algorithm in the place of this one, for the same kernels.
    ///
    /// Cheaper than a new cipher, which is moved and of which the old one is wiped.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::WeakKey`] as [`new`](Self::new); nothing has changed then.
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let outcome = self.rekey(key);
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(self.is_shallow()));
        outcome
    }

    /// Whether setting a key takes [`wipe::SHALLOW`] bytes of stack at most.
    #[inline]
    fn is_shallow(&self) -> bool {
        match &self.keyed {
            Keyed::Aes128Cbc(cipher) | Keyed::Aes128Ecb(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes192Cbc(cipher) | Keyed::Aes192Ecb(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes256Cbc(cipher) | Keyed::Aes256Ecb(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes128Ctr(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes192Ctr(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes256Ctr(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes128Xts(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Aes256Xts(cipher) => cipher.isa().has(Level::AesNi),
            Keyed::Stream(_) | Keyed::Null => true,
            _ => false,
        }
    }

    /// A call of its own, so that its caller can clear the stack that it used.
    #[inline(never)]
    pub(super) fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.algorithm().key_lengths().contains(key.len()) {
            return Err(Error::KeyLength);
        }
        match &mut self.keyed {
            Keyed::Aes128Cbc(cipher) | Keyed::Aes128Ecb(cipher) => cipher.set_key(bytes(key)?),
            Keyed::Aes192Cbc(cipher) | Keyed::Aes192Ecb(cipher) => cipher.set_key(bytes(key)?),
            Keyed::Aes256Cbc(cipher) | Keyed::Aes256Ecb(cipher) => cipher.set_key(bytes(key)?),
            Keyed::Aes128Ctr(cipher) => cipher.set_key(bytes(key)?),
            Keyed::Aes192Ctr(cipher) => cipher.set_key(bytes(key)?),
            Keyed::Aes256Ctr(cipher) => cipher.set_key(bytes(key)?),
            Keyed::Aes128Xts(cipher) => cipher.set_key(two_halves(key)?),
            Keyed::Aes256Xts(cipher) => cipher.set_key(two_halves(key)?),
            Keyed::SerpentCbc(cipher) | Keyed::SerpentCtr(cipher) | Keyed::SerpentEcb(cipher) => {
                serpent(cipher, key)?;
            }
            #[cfg(feature = "legacy")]
            Keyed::DesCbc(cipher) | Keyed::DesCtr(cipher) | Keyed::DesEcb(cipher) => {
                cipher.set_key(bytes(key)?);
            }
            #[cfg(feature = "legacy")]
            Keyed::TripleDesCbc(cipher)
            | Keyed::TripleDesCtr(cipher)
            | Keyed::TripleDesEcb(cipher) => triple_des(cipher, key)?,
            Keyed::Stream(stream) => stream.set_key(key)?,
            Keyed::Null => {}
        }
        Ok(())
    }
}

/// A call of its own, as is the next, so that AES needs no room on the stack for what these parse.
#[inline(never)]
fn serpent(cipher: &mut Serpent, key: &[u8]) -> Result<(), Error> {
    cipher.set_key(&serpent_key(key)?);
    Ok(())
}

#[cfg(feature = "legacy")]
#[inline(never)]
fn triple_des(cipher: &mut TripleDes, key: &[u8]) -> Result<(), Error> {
    cipher.set_key(&triple_des_key(key)?);
    Ok(())
}

impl StreamKey {
    fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        match self {
            Self::ChaCha8Djb(kept) => kept.set_key(key),
            Self::ChaCha12Djb(kept) => kept.set_key(key),
            Self::ChaCha20Djb(kept) => kept.set_key(key),
            Self::ChaCha8Ietf(kept) => kept.set_key(key),
            Self::ChaCha12Ietf(kept) => kept.set_key(key),
            Self::ChaCha20Ietf(kept) => kept.set_key(key),
            Self::Salsa8(kept) => kept.set_key(key),
            Self::Salsa12(kept) => kept.set_key(key),
            Self::Salsa20(kept) => kept.set_key(key),
            #[cfg(feature = "legacy")]
            Self::Hc128(kept, _) => {
                **kept = *bytes(key)?;
                Ok(())
            }
        }
    }
}
