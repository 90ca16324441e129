//! One keyed stream of any stream algorithm of the table.

#[cfg(feature = "legacy")]
use alloc::boxed::Box;
use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::aes::AesCtr;
#[cfg(feature = "legacy")]
use lanecrypt_kernels::arc4::{Arc4, Key};
use lanecrypt_kernels::chacha::{ChaCha, Counter64, Ietf};
#[cfg(feature = "legacy")]
use lanecrypt_kernels::des::{Des, TripleDes};
#[cfg(feature = "legacy")]
use lanecrypt_kernels::hc128::Hc128;
use lanecrypt_kernels::null::Null;
use lanecrypt_kernels::salsa::Salsa;
use lanecrypt_kernels::serpent::Serpent;
use lanecrypt_kernels::{Ctr, Isa, Seek};
use zeroize::ZeroizeOnDrop;

use super::StreamCipher;
#[cfg(feature = "legacy")]
use super::keyed::triple_des_key;
use super::keyed::{bytes, either, serpent_key};
use crate::{Algorithm, Error, Mode, Primitive};

/// One keyed stream of an algorithm that is chosen at run time.
///
/// Lengths are checked once, when it is made; a request pays for its bytes and one branch. Where
/// the algorithm is known when the program is written, [`StreamCipher`] saves the branch.
pub struct Stream(Core);

#[cfg_attr(
    not(feature = "legacy"),
    expect(clippy::large_enum_variant, reason = "Serpent's schedule; boxing it would allocate")
)]
enum Core {
    Aes128Ctr(StreamCipher<AesCtr<128>>),
    Aes192Ctr(StreamCipher<AesCtr<192>>),
    Aes256Ctr(StreamCipher<AesCtr<256>>),
    ChaCha8Djb(StreamCipher<ChaCha<8, Counter64>>),
    ChaCha12Djb(StreamCipher<ChaCha<12, Counter64>>),
    ChaCha20Djb(StreamCipher<ChaCha<20, Counter64>>),
    ChaCha8Ietf(StreamCipher<ChaCha<8, Ietf>>),
    ChaCha12Ietf(StreamCipher<ChaCha<12, Ietf>>),
    ChaCha20Ietf(StreamCipher<ChaCha<20, Ietf>>),
    Salsa8(StreamCipher<Salsa<8>>),
    Salsa12(StreamCipher<Salsa<12>>),
    Salsa20(StreamCipher<Salsa<20>>),
    SerpentCtr(StreamCipher<Ctr<Serpent, 16>>),
    Null(StreamCipher<Null>),
    #[cfg(feature = "legacy")]
    DesCtr(StreamCipher<Ctr<Des, 8>>),
    #[cfg(feature = "legacy")]
    TripleDesCtr(StreamCipher<Ctr<TripleDes, 8>>),
    // Boxed, because their tables would make every stream larger by kilobytes.
    #[cfg(feature = "legacy")]
    Arc4(Box<StreamCipher<Arc4>>),
    #[cfg(feature = "legacy")]
    Hc128(Box<StreamCipher<Hc128>>),
}

/// Evaluates one expression for whichever core the stream has; or another one if that core cannot
/// seek.
macro_rules! for_core {
    ($self:expr, $stream:ident => $e:expr) => {
        for_core!($self, $stream => $e, else $e)
    };
    ($self:expr, $stream:ident => $e:expr, else $unseekable:expr) => {
        match $self {
            Core::Aes128Ctr($stream) => $e,
            Core::Aes192Ctr($stream) => $e,
            Core::Aes256Ctr($stream) => $e,
            Core::ChaCha8Djb($stream) => $e,
            Core::ChaCha12Djb($stream) => $e,
            Core::ChaCha20Djb($stream) => $e,
            Core::ChaCha8Ietf($stream) => $e,
            Core::ChaCha12Ietf($stream) => $e,
            Core::ChaCha20Ietf($stream) => $e,
            Core::Salsa8($stream) => $e,
            Core::Salsa12($stream) => $e,
            Core::Salsa20($stream) => $e,
            Core::SerpentCtr($stream) => $e,
            Core::Null($stream) => $e,
            #[cfg(feature = "legacy")]
            Core::DesCtr($stream) => $e,
            #[cfg(feature = "legacy")]
            Core::TripleDesCtr($stream) => $e,
            #[cfg(feature = "legacy")]
            Core::Arc4($stream) => $unseekable,
            #[cfg(feature = "legacy")]
            Core::Hc128($stream) => $unseekable,
        }
    };
}

impl Stream {
    /// A stream that begins at block 0.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::NonceLength`], or [`Error::Unsupported`] if `algorithm` is
    /// no stream.
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8], nonce: &[u8]) -> Result<Self, Error> {
        Self::at_block(isa, algorithm, key, nonce, 0)
    }

    /// A stream that begins at block `first`, as RFC 8439 uses it with block 1; byte offsets count
    /// from there.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); [`Error::KeystreamExhausted`] if there is no such block, and
    /// [`Error::Unsupported`] if `first` is not 0 and the algorithm does not number its blocks.
    pub fn at_block(
        isa: Isa,
        algorithm: Algorithm,
        key: &[u8],
        nonce: &[u8],
        first: u64,
    ) -> Result<Self, Error> {
        if !algorithm.is_stream() {
            return Err(Error::Unsupported);
        }
        if !algorithm.key_lengths().contains(key.len()) {
            return Err(Error::KeyLength);
        }
        if nonce.len() != algorithm.nonce_length() {
            return Err(Error::NonceLength);
        }
        if first != 0 && !algorithm.is_seekable() {
            return Err(Error::Unsupported);
        }
        let core = match (algorithm.primitive(), algorithm.mode()) {
            (Primitive::Aes128, _) => Core::Aes128Ctr(open(isa, bytes(key)?, nonce, first)?),
            (Primitive::Aes192, _) => Core::Aes192Ctr(open(isa, bytes(key)?, nonce, first)?),
            (Primitive::Aes256, _) => Core::Aes256Ctr(open(isa, bytes(key)?, nonce, first)?),
            (Primitive::ChaCha8, Mode::Ietf) => {
                Core::ChaCha8Ietf(open(isa, &either(key)?, nonce, first)?)
            }
            (Primitive::ChaCha12, Mode::Ietf) => {
                Core::ChaCha12Ietf(open(isa, &either(key)?, nonce, first)?)
            }
            (Primitive::ChaCha20, Mode::Ietf) => {
                Core::ChaCha20Ietf(open(isa, &either(key)?, nonce, first)?)
            }
            (Primitive::ChaCha8, _) => Core::ChaCha8Djb(open(isa, &either(key)?, nonce, first)?),
            (Primitive::ChaCha12, _) => Core::ChaCha12Djb(open(isa, &either(key)?, nonce, first)?),
            (Primitive::ChaCha20, _) => Core::ChaCha20Djb(open(isa, &either(key)?, nonce, first)?),
            (Primitive::Salsa8, _) => Core::Salsa8(open(isa, &either(key)?, nonce, first)?),
            (Primitive::Salsa12, _) => Core::Salsa12(open(isa, &either(key)?, nonce, first)?),
            (Primitive::Salsa20, _) => Core::Salsa20(open(isa, &either(key)?, nonce, first)?),
            (Primitive::Serpent128 | Primitive::Serpent192 | Primitive::Serpent256, _) => {
                Core::SerpentCtr(open(isa, &serpent_key(key)?, nonce, first)?)
            }
            // It has no form without a tag.
            (Primitive::XChaCha20, _) => return Err(Error::Unsupported),
            (Primitive::Null, _) => Core::Null(StreamCipher::at_block(isa, &(), &(), first)?),
            #[cfg(feature = "legacy")]
            (Primitive::Des, _) => Core::DesCtr(open(isa, bytes(key)?, nonce, first)?),
            #[cfg(feature = "legacy")]
            (Primitive::TripleDes, _) => {
                Core::TripleDesCtr(open(isa, &triple_des_key(key)?, nonce, first)?)
            }
            #[cfg(feature = "legacy")]
            (Primitive::Arc4, _) => {
                let key = Key::try_from(key).map_err(|_| Error::KeyLength)?;
                Core::Arc4(Box::new(StreamCipher::new(isa, &key, &())))
            }
            #[cfg(feature = "legacy")]
            (Primitive::Hc128, _) => {
                let nonce = nonce.try_into().map_err(|_| Error::NonceLength)?;
                Core::Hc128(Box::new(StreamCipher::new(isa, bytes(key)?, nonce)))
            }
        };
        Ok(Self(core))
    }

    /// Bytes to the end of the keystream, saturating at `u64::MAX`.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        for_core!(&self.0, stream => stream.remaining())
    }

    /// Goes to a byte offset, counted from where the stream began.
    ///
    /// An algorithm that [is seekable](Algorithm::is_seekable) does so at once. The others go
    /// forward only, at the cost of the keystream between, and at most
    /// [64 MiB](StreamCipher::REACH) at a time.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if the offset is past the end, [`Error::OutOfReach`] if the
    /// algorithm does not go there; nothing has changed then.
    pub fn seek(&mut self, offset: u64) -> Result<(), Error> {
        for_core!(&mut self.0, stream => stream.seek(offset), else stream.advance_to(offset))
    }

    /// Writes the next keystream bytes over `out`, which is never read.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if `out` is longer than [`remaining`](Self::remaining);
    /// nothing has changed then.
    pub fn keystream(&mut self, out: &mut [u8]) -> Result<(), Error> {
        for_core!(&mut self.0, stream => stream.keystream(out))
    }

    /// XORs the next keystream bytes into `data`: a slice in place, or an [`InOutBuf`] from one
    /// buffer to another. The same call encrypts and decrypts.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if `data` are longer than [`remaining`](Self::remaining);
    /// nothing has changed then.
    pub fn xor<'i, 'o>(&mut self, data: impl Into<InOutBuf<'i, 'o, u8>>) -> Result<(), Error> {
        let data = data.into();
        for_core!(&mut self.0, stream => stream.xor(data))
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl ZeroizeOnDrop for Stream {}

fn open<C: Seek<Nonce = [u8; N]>, const N: usize>(
    isa: Isa,
    key: &C::Key,
    nonce: &[u8],
    first: u64,
) -> Result<StreamCipher<C>, Error> {
    let nonce = nonce.try_into().map_err(|_| Error::NonceLength)?;
    StreamCipher::at_block(isa, key, nonce, first)
}
