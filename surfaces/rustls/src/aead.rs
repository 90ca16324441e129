//! The ciphers of the suites: the one place where a key becomes a cipher.

use core::marker::PhantomData;

use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa};
use rustls::ConnectionTrafficSecrets;
use rustls::crypto::cipher::{AeadKey, Iv, NONCE_LEN};
use zeroize::Zeroize as _;

/// The bytes of a tag, with every cipher here.
pub(crate) const TAG_LENGTH: usize = 16;

/// A cipher of the suites that are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aead {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Aead {
    pub(crate) const fn algorithm(self) -> Algorithm {
        match self {
            Self::Aes128Gcm => Algorithm::AES_128_GCM,
            Self::Aes256Gcm => Algorithm::AES_256_GCM,
            Self::ChaCha20Poly1305 => Algorithm::CHACHA20_POLY1305,
        }
    }

    pub(crate) const fn key_length(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }

    /// The secrets of a connection that leaves rustls, for the kernel's TLS.
    pub(crate) fn secrets(self, key: AeadKey, iv: Iv) -> ConnectionTrafficSecrets {
        match self {
            Self::Aes128Gcm => ConnectionTrafficSecrets::Aes128Gcm { key, iv },
            Self::Aes256Gcm => ConnectionTrafficSecrets::Aes256Gcm { key, iv },
            Self::ChaCha20Poly1305 => ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv },
        }
    }
}

/// The key of one direction of a connection, with what its nonces are made of. `P` is the protocol,
/// which says what is done with it.
pub(crate) struct Keyed<P> {
    /// `None` if the key did not have the cipher's length: nothing is sealed or opened then.
    cipher: Option<Cipher>,
    iv: [u8; NONCE_LEN],
    protocol: PhantomData<P>,
}

impl<P> Keyed<P> {
    /// Expands `key` in its final place, so that no copy of it is left elsewhere. `iv` has at most
    /// 12 bytes; the nonce begins with them.
    pub(crate) fn boxed(aead: Aead, key: &AeadKey, iv: &[u8]) -> Box<Self> {
        let nothing = &[0; 32][..aead.key_length()];
        let cipher = Cipher::with_isa(Isa::detect(), aead.algorithm(), nothing).ok();
        let mut keyed = Box::new(Self { cipher, iv: [0; NONCE_LEN], protocol: PhantomData });
        keyed.iv.iter_mut().zip(iv).for_each(|(to, from)| *to = *from);
        let set = keyed.cipher.as_mut().map(|cipher| cipher.set_key(key.as_ref()));
        if set != Some(Ok(())) {
            keyed.cipher = None;
        }
        keyed
    }

    /// The nonce of a record: the number of the record in the last bytes (RFC 8446, section 5.3).
    #[inline]
    pub(crate) fn nonce(&self, number: u64) -> [u8; NONCE_LEN] {
        self.nonce_on_path(0, number)
    }

    /// The nonce of a packet on a path of multipath QUIC: the number of the path before that of the
    /// packet.
    #[inline]
    pub(crate) fn nonce_on_path(&self, path: u32, number: u64) -> [u8; NONCE_LEN] {
        let [a, b, c, d, iv @ ..] = self.iv;
        let path = (u32::from_be_bytes([a, b, c, d]) ^ path).to_be_bytes();
        let number = (u64::from_be_bytes(iv) ^ number).to_be_bytes();
        let mut nonce = [0; NONCE_LEN];
        nonce[..4].copy_from_slice(&path);
        nonce[4..].copy_from_slice(&number);
        nonce
    }

    /// What nonces begin with, where records bring the rest.
    #[cfg(feature = "tls12")]
    #[inline]
    pub(crate) fn iv(&self) -> &[u8; NONCE_LEN] {
        &self.iv
    }

    /// Seals a message and writes its tag.
    #[inline]
    pub(crate) fn seal(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), rustls::Error> {
        // An error of rustls is not free to make and drop, so none is made before there is one.
        let Some(cipher) = &self.cipher else { return Err(rustls::Error::EncryptError) };
        cipher.seal_detached(nonce, aad, data, tag).map_err(|_: Error| rustls::Error::EncryptError)
    }

    /// Opens a message with its tag behind it, if it is authentic, and returns the length of the
    /// message, which is at the front. Otherwise the message has been wiped.
    #[inline]
    pub(crate) fn open(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<usize, rustls::Error> {
        let Some(cipher) = &self.cipher else { return Err(rustls::Error::DecryptError) };
        let opened = cipher.open(nonce, aad, packet);
        opened.map(|message| message.len()).map_err(|_: Error| rustls::Error::DecryptError)
    }
}

impl<P> Drop for Keyed<P> {
    fn drop(&mut self) {
        // The cipher wipes itself.
        self.iv.zeroize();
    }
}
