//! The ciphers of the suites: the one place where a key becomes a cipher.
//!
//! A record is gathered from the caller's chunks into its own allocation, with room for the type
//! and the tag, and sealed there. An opened record stays in place: rustls takes a range, so nothing
//! is moved behind an explicit nonce.

use core::marker::PhantomData;

use lanecrypt_ciphers::{Aes128Gcm, Aes256Gcm, Algorithm, ChaCha20Poly1305, Error};
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

/// A type with one algorithm. Keys of its length make it.
pub(crate) trait Typed: Sized + Send + Sync + 'static {
    /// A cipher with a key that everybody knows.
    fn without_key() -> Self;

    /// Expands another key in its place; false if it has another length.
    fn set(&mut self, key: &[u8]) -> bool;

    fn seal(&self, nonce: &[u8], aad: &[u8], data: &mut [u8], tag: &mut [u8]) -> Result<(), Error>;

    fn open(&self, nonce: &[u8], aad: &[u8], packet: &mut [u8]) -> Result<usize, Error>;
}

macro_rules! typed {
    ($($cipher:ident),*) => {$(
        impl Typed for $cipher {
            fn without_key() -> Self {
                Self::new(&[0; Self::KEY_LENGTH])
            }

            fn set(&mut self, key: &[u8]) -> bool {
                key.try_into().map(|key| self.set_key(key)).is_ok()
            }

            #[inline(always)]
            fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: &mut [u8],
                tag: &mut [u8],
            ) -> Result<(), Error> {
                self.seal_detached(nonce, aad, data, tag)
            }

            #[inline(always)]
            fn open(&self, nonce: &[u8], aad: &[u8], packet: &mut [u8]) -> Result<usize, Error> {
                self.open(nonce, aad, packet).map(|message| message.len())
            }
        }
    )*};
}

typed!(Aes128Gcm, Aes256Gcm, ChaCha20Poly1305);

/// The key of one direction of a connection, with what its nonces are made of. `P` is the protocol,
/// which says what is done with it.
pub(crate) struct Keyed<C, P> {
    cipher: C,
    /// Whether the key had the cipher's length: otherwise nothing is sealed or opened.
    //
    // Not an `Option` around the cipher: to set it to `None`, the compiler may copy the whole value
    // from the stack, with what keys have left there.
    has_key: bool,
    iv: [u8; NONCE_LEN],
    /// Zeros up to the end of a cache line, by which ciphers are aligned. Bytes that are nobody's
    /// would be copied from the stack, with what keys have left there.
    _zeros: [u8; 64 - NONCE_LEN - 1],
    protocol: PhantomData<P>,
}

/// The [`Keyed`] of a cipher, as one of the objects that rustls takes: with AES-GCM by the first
/// protocol, with ChaCha20-Poly1305 by the second.
macro_rules! keyed {
    ($aead:expr, $gcm:ty, $chacha:ty, $key:expr, $iv:expr) => {{
        use lanecrypt_ciphers::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};
        match $aead {
            Aead::Aes128Gcm => Keyed::<Aes128Gcm, $gcm>::boxed($key, $iv),
            Aead::Aes256Gcm => Keyed::<Aes256Gcm, $gcm>::boxed($key, $iv),
            Aead::ChaCha20Poly1305 => Keyed::<ChaCha20Poly1305, $chacha>::boxed($key, $iv),
        }
    }};
}
pub(crate) use keyed;

impl<C: Typed, P> Keyed<C, P> {
    /// Expands `key` in its final place, so that no copy of it is left elsewhere. `iv` has at most
    /// 12 bytes; the nonce begins with them.
    pub(crate) fn boxed(key: &AeadKey, iv: &[u8]) -> Box<Self> {
        const { assert!(size_of::<Self>() == size_of::<C>() + 64, "every byte is some field's") };
        let cipher = C::without_key();
        let mut keyed = Box::new(Self {
            cipher,
            has_key: false,
            iv: [0; NONCE_LEN],
            _zeros: [0; 64 - NONCE_LEN - 1],
            protocol: PhantomData,
        });
        keyed.iv.iter_mut().zip(iv).for_each(|(to, from)| *to = *from);
        keyed.has_key = keyed.cipher.set(key.as_ref());
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
        if !self.has_key {
            return Err(rustls::Error::EncryptError);
        }
        self.cipher.seal(nonce, aad, data, tag).map_err(|_: Error| rustls::Error::EncryptError)
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
        if !self.has_key {
            return Err(rustls::Error::DecryptError);
        }
        self.cipher.open(nonce, aad, packet).map_err(|_: Error| rustls::Error::DecryptError)
    }
}

impl<C, P> Drop for Keyed<C, P> {
    fn drop(&mut self) {
        // The cipher wipes itself.
        self.iv.zeroize();
    }
}
