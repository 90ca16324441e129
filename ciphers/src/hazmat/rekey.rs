//! Another key in the place of one that is there.

use lanecrypt_kernels::BlockEncrypt;

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
                cipher.set_key(&serpent_key(key)?);
            }
            #[cfg(feature = "legacy")]
            Keyed::DesCbc(cipher) | Keyed::DesCtr(cipher) | Keyed::DesEcb(cipher) => {
                cipher.set_key(bytes(key)?);
            }
            #[cfg(feature = "legacy")]
            Keyed::TripleDesCbc(cipher)
            | Keyed::TripleDesCtr(cipher)
            | Keyed::TripleDesEcb(cipher) => cipher.set_key(&triple_des_key(key)?),
            Keyed::Stream(stream) => stream.set_key(key)?,
            Keyed::Null => {}
        }
        Ok(())
    }
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
