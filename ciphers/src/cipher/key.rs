//! Expanded keys: what they do with messages ([`Kernel`]), and the facts of their algorithm
//! ([`Key`]).

use inout::InOutBuf;
use lanecrypt_kernels::{Aead, Bytes, Incremental};

use super::limits::Limits;
use super::tag;
use crate::{Algorithm, Error};

/// What an expanded key does with a message: every [`Aead`] of the kernels, a cipher with an HMAC,
/// and the key of any algorithm, which chooses among them by a branch.
///
/// It writes or compares the tag itself. A tag that is returned inside of a `Result` is copied in
/// pieces, which takes as long as half of a short message.
pub(super) trait Kernel: Sized {
    /// A message in pieces, which wipes itself.
    type Message;

    /// Expands a key in the place of the one that is there.
    fn set_key(&mut self, key: &[u8]) -> Result<(), Error>;

    /// Encrypts a message, and writes as much of its tag as there is room for.
    fn seal_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error>;

    /// Decrypts a message, or returns [`Error::Authentication`] if the tag is not the beginning of
    /// the right one.
    fn open_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error>;

    /// Begins a message in pieces: first associated data, then data, in one direction. A kernel
    /// that has none returns [`Error::Unsupported`].
    fn begin_message(&self, nonce: &[u8]) -> Result<Self::Message, Error>;

    /// Takes the next associated data.
    fn associate_next(&self, message: &mut Self::Message, aad: &[u8]);

    /// Encrypts the next data.
    fn encrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    /// Decrypts the next data.
    fn decrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>);

    /// Writes as much of the tag as there is room for.
    fn finish(&self, message: Self::Message, tag: &mut [u8]);

    /// Whether a tag is the beginning of the right one.
    fn verify(&self, message: Self::Message, tag: &[u8]) -> Result<(), Error>;
}

impl<K: Aead> Kernel for K {
    type Message = <K as Aead>::Message;

    #[inline]
    fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        Aead::set_key(self, K::Key::from_slice(key).ok_or(Error::KeyLength)?);
        Ok(())
    }

    #[inline(always)]
    fn seal_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let Some(usual) = K::Nonce::from_slice(nonce) else {
            return seal_hashed(self, nonce, aad, data, tag);
        };
        tag::put(&self.seal(usual, aad, data), tag);
        Ok(())
    }

    #[inline(always)]
    fn open_message(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let Some(usual) = K::Nonce::from_slice(nonce) else {
            return open_hashed(self, nonce, aad, data, tag);
        };
        tag::compare(&self.open(usual, aad, data, tag::whole(tag)), tag)
    }

    #[inline]
    fn begin_message(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
        if nonce.len() != K::Nonce::LENGTH {
            Limits::admit_nonce(nonce.len() as u64)?;
        }
        match self.begin(nonce) {
            Some(message) => Ok(message),
            None => Err(Error::NonceLength),
        }
    }

    #[inline]
    fn associate_next(&self, message: &mut Self::Message, aad: &[u8]) {
        message.associate(self, aad);
    }

    #[inline]
    fn encrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>) {
        message.encrypt(self, data);
    }

    #[inline]
    fn decrypt_next(&self, message: &mut Self::Message, data: InOutBuf<'_, '_, u8>) {
        message.decrypt(self, data);
    }

    #[inline]
    fn finish(&self, message: Self::Message, tag: &mut [u8]) {
        tag::put(&message.tag(self), tag);
    }

    #[inline]
    fn verify(&self, message: Self::Message, tag: &[u8]) -> Result<(), Error> {
        tag::compare(&message.tag(self), tag)
    }
}

#[cold]
#[inline(never)]
fn seal_hashed<K: Aead>(
    key: &K,
    nonce: &[u8],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    tag: &mut [u8],
) -> Result<(), Error> {
    Limits::admit_nonce(nonce.len() as u64)?;
    tag::put(&key.seal_hashed(nonce, aad, data).ok_or(Error::NonceLength)?, tag);
    Ok(())
}

#[cold]
#[inline(never)]
fn open_hashed<K: Aead>(
    key: &K,
    nonce: &[u8],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    tag: &[u8],
) -> Result<(), Error> {
    Limits::admit_nonce(nonce.len() as u64)?;
    let right = key.open_hashed(nonce, aad, data, tag::whole(tag));
    tag::compare(&right.ok_or(Error::NonceLength)?, tag)
}

/// The facts of a key's algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(super) limits: Limits,
    pub(super) algorithm: Algorithm,
    pub(super) tag_length: usize,
}

impl Facts {
    /// With tags of the usual length.
    pub(super) const fn of(algorithm: Algorithm) -> Result<Self, Error> {
        let tag_length = algorithm.tag_length();
        match Limits::new(algorithm, tag_length) {
            Ok(limits) => Ok(Self { limits, algorithm, tag_length }),
            Err(error) => Err(error),
        }
    }

    /// Checks the lengths of a message.
    #[inline]
    pub(super) fn admit(&self, aad: usize, data: usize, tag: usize) -> Result<(), Error> {
        if tag != self.tag_length {
            return Err(Error::TagLength);
        }
        self.limits.admit(aad as u64, data as u64)
    }
}

/// A [`Kernel`] whose algorithm is known.
pub(super) trait Key: Kernel {
    /// The facts of its algorithm.
    fn facts(&self) -> &Facts;

    /// Checks the length of a nonce, where the type fixes it: what kernels do with other lengths is
    /// then no part of the program.
    #[inline(always)]
    fn admit_nonce(&self, _nonce: &[u8]) -> Result<(), Error> {
        Ok(())
    }
}

/// An [`Aead`] that is the key of one algorithm: all lengths are constants, so nothing of the table
/// of algorithms is in a program, and no check that is always true.
pub(crate) trait SingleKey: Aead {
    /// Its algorithm.
    const ALGORITHM: Algorithm;
    /// The facts of it.
    const FACTS: Facts = match Facts::of(Self::ALGORITHM) {
        Ok(facts) => facts,
        Err(_) => panic!("the usual length of tags"),
    };

    /// Clears the stack after a key was set in a value that is then moved to the caller.
    type Cleared;

    /// Makes one, which clears the stack when it is dropped.
    fn cleared(shallow: bool) -> Self::Cleared;
}

impl<K: SingleKey> Key for K {
    #[inline(always)]
    fn facts(&self) -> &Facts {
        const { &K::FACTS }
    }

    #[inline(always)]
    fn admit_nonce(&self, nonce: &[u8]) -> Result<(), Error> {
        if nonce.len() == K::Nonce::LENGTH { Ok(()) } else { Err(Error::NonceLength) }
    }
}
