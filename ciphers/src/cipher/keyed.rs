//! What the key of each algorithm is expanded to, and which nonces it takes.

use inout::InOutBuf;
use lanecrypt_kernels::chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use lanecrypt_kernels::gcm::AesGcm;
#[cfg(doc)]
use lanecrypt_kernels::wipe;
use lanecrypt_kernels::{Aead, Isa, Level};

use super::limits::Limits;
use super::{Cipher, tag};
use crate::{Algorithm, Error, Mode, Primitive};

/// An expanded key; a request finds its kernel by one branch.
//
// What stands before the keys is in the same places of all variants, so that it is found without
// looking which one it is, and in the cache line of what tells them apart: keys begin a line, and
// requests of many sessions have few to spare.
#[repr(u8)]
pub(super) enum Keyed {
    Aes128Gcm(Head, AesGcm<128>),
    Aes192Gcm(Head, AesGcm<192>),
    Aes256Gcm(Head, AesGcm<256>),
    ChaCha20Poly1305(Head, ChaCha20Poly1305),
    XChaCha20Poly1305(Head, XChaCha20Poly1305),
}

/// What there is to know of a cipher besides its key.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) limits: Limits,
    pub(super) algorithm: Algorithm,
    pub(super) tag_length: usize,
}

/// Evaluates an expression for the kernel of a [`Keyed`].
macro_rules! by_key {
    ($keyed:expr, $key:ident => $result:expr) => {
        match $keyed {
            Keyed::Aes128Gcm(_, $key) => $result,
            Keyed::Aes192Gcm(_, $key) => $result,
            Keyed::Aes256Gcm(_, $key) => $result,
            Keyed::ChaCha20Poly1305(_, $key) => $result,
            Keyed::XChaCha20Poly1305(_, $key) => $result,
        }
    };
}

pub(super) use by_key;

impl Cipher {
    /// Expands `key`, whose length is right. The value is moved once, to the caller, from the stack
    /// right below it.
    //
    // A call of its own, so that its caller can clear that.
    #[inline(never)]
    pub(super) fn expand(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        let mut place = Self::empty(isa, algorithm);
        if let Ok(cipher) = &mut place
            && let Err(error) = cipher.rekey(key)
        {
            place = Err(error);
        }
        place
    }

    /// The place of a key, which has to be set before anything is asked.
    ///
    /// Each arm returns its result by itself: were they joined first, each would be copied. A call of
    /// its own, so that those who set keys are not as deep in the stack as this is.
    #[inline(never)]
    pub(super) fn empty(isa: Isa, algorithm: Algorithm) -> Result<Self, Error> {
        let tag_length = 16;
        let limits = Limits::new(algorithm, tag_length)?;
        let head = Head { limits, algorithm, tag_length };
        macro_rules! keyed {
            ($variant:ident, $kernel:ty) => {
                return Ok(Self { keyed: Keyed::$variant(head, <$kernel>::empty(isa)) })
            };
        }
        match (algorithm.primitive(), algorithm.mode()) {
            (Primitive::Aes128, Mode::Gcm) => keyed!(Aes128Gcm, AesGcm<128>),
            (Primitive::Aes192, Mode::Gcm) => keyed!(Aes192Gcm, AesGcm<192>),
            (Primitive::Aes256, Mode::Gcm) => keyed!(Aes256Gcm, AesGcm<256>),
            (Primitive::ChaCha20, Mode::Poly1305) => keyed!(ChaCha20Poly1305, ChaCha20Poly1305),
            (Primitive::XChaCha20, Mode::Poly1305) => keyed!(XChaCha20Poly1305, XChaCha20Poly1305),
            _ => Err(Error::Unsupported),
        }
    }
}

/// The key as an array of the length that the kernel takes.
#[inline]
fn bytes<const N: usize>(key: &[u8]) -> Result<&[u8; N], Error> {
    key.try_into().map_err(|_| Error::KeyLength)
}

impl Keyed {
    #[inline]
    pub(super) fn head(&self) -> &Head {
        match self {
            Self::Aes128Gcm(head, _)
            | Self::Aes192Gcm(head, _)
            | Self::Aes256Gcm(head, _)
            | Self::ChaCha20Poly1305(head, _)
            | Self::XChaCha20Poly1305(head, _) => head,
        }
    }

    pub(super) fn head_mut(&mut self) -> &mut Head {
        match self {
            Self::Aes128Gcm(head, _)
            | Self::Aes192Gcm(head, _)
            | Self::Aes256Gcm(head, _)
            | Self::ChaCha20Poly1305(head, _)
            | Self::XChaCha20Poly1305(head, _) => head,
        }
    }

    /// Whether setting a key takes [`wipe::SHALLOW`] bytes of stack at most.
    #[inline]
    pub(super) fn is_shallow(&self) -> bool {
        match self {
            Self::Aes128Gcm(_, key) => key.isa().has(Level::AesNi),
            Self::Aes192Gcm(_, key) => key.isa().has(Level::AesNi),
            Self::Aes256Gcm(_, key) => key.isa().has(Level::AesNi),
            Self::ChaCha20Poly1305(..) | Self::XChaCha20Poly1305(..) => true,
        }
    }

    /// Expands a key in the place of the one that is there.
    #[inline]
    pub(super) fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        by_key!(self, kernel => kernel.set_key(bytes(key)?));
        Ok(())
    }
}

/// A kernel that is asked with a nonce of any length, and that writes or compares the tag itself: a
/// tag that came back inside of a `Result` would be copied in pieces, which takes as long as half of
/// a short message.
pub(super) trait Nonced<const KEY: usize, const NONCE: usize>: Aead<KEY, NONCE> {
    /// As [`Aead::seal`], with a tag of as many bytes as there is room for.
    #[inline(always)]
    fn seal_under(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        match nonce.try_into() {
            Ok(nonce) => {
                tag::put(&self.seal(nonce, aad, data), tag);
                Ok(())
            }
            Err(_) => self.seal_under_other(nonce, aad, data, tag),
        }
    }

    /// As [`Aead::open`], or [`Error::Authentication`] if the tag is not how the right one begins.
    #[inline(always)]
    fn open_under(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
        tag: &[u8],
    ) -> Result<(), Error> {
        match nonce.try_into() {
            Ok(nonce) => tag::compare(&self.open(nonce, aad, data), tag),
            Err(_) => self.open_under_other(nonce, aad, data, tag),
        }
    }

    /// As [`Aead::begin`].
    #[inline]
    fn begin_under(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
        match nonce.try_into() {
            Ok(nonce) => Ok(self.begin(nonce)),
            Err(_) => self.begin_under_other(nonce),
        }
    }

    /// What the algorithm does with a nonce that has not the usual length: it refuses it.
    #[cold]
    fn seal_under_other(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &mut [u8],
    ) -> Result<(), Error> {
        Err(Error::NonceLength)
    }

    /// As [`seal_under_other`](Self::seal_under_other).
    #[cold]
    fn open_under_other(
        &self,
        _nonce: &[u8],
        _aad: &[u8],
        _data: InOutBuf<'_, '_, u8>,
        _tag: &[u8],
    ) -> Result<(), Error> {
        Err(Error::NonceLength)
    }

    /// As [`seal_under_other`](Self::seal_under_other).
    #[cold]
    fn begin_under_other(&self, _nonce: &[u8]) -> Result<Self::Message, Error> {
        Err(Error::NonceLength)
    }
}

impl Nonced<32, 12> for ChaCha20Poly1305 {}
impl Nonced<32, 24> for XChaCha20Poly1305 {}

/// GCM hashes nonces of other lengths to a counter block.
macro_rules! hashes_nonces {
    ($kernel:ty, $key:literal) => {
        impl Nonced<$key, 12> for $kernel {
            #[cold]
            #[inline(never)]
            fn seal_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &mut [u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::put(&self.seal_from(&self.counter_block(nonce), aad, data), tag);
                Ok(())
            }

            #[cold]
            #[inline(never)]
            fn open_under_other(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
                tag: &[u8],
            ) -> Result<(), Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                tag::compare(&self.open_from(&self.counter_block(nonce), aad, data), tag)
            }

            #[cold]
            #[inline(never)]
            fn begin_under_other(&self, nonce: &[u8]) -> Result<Self::Message, Error> {
                Limits::admit_nonce(nonce.len() as u64)?;
                Ok(self.begin_from(&self.counter_block(nonce)))
            }
        }
    };
}

hashes_nonces!(AesGcm<128>, 16);
hashes_nonces!(AesGcm<192>, 24);
hashes_nonces!(AesGcm<256>, 32);
