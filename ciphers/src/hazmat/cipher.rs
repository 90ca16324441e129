//! One keyed algorithm, for any number of messages and threads.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{BlockEncrypt, Isa, Level, wipe};
use zeroize::ZeroizeOnDrop;

use super::block_modes::{cbc, ecb, no_iv, sized};
use super::keyed::{Keyed, by_mode};
use super::message::Message;
use super::sectors::data_unit;
use super::{Decryptor, Encryptor, Padding};
use crate::{Algorithm, Error, Primitive};

/// One keyed algorithm.
///
/// The key is expanded once and wiped on drop. Requests only read it, so that any number of threads
/// may share one cipher without a lock; they do not allocate, but for an [`Encryptor`] or
/// [`Decryptor`] of HC-128, whose tables take 4 KiB. As constant time as the algorithm's
/// [primitive](crate::Primitive::timing_leak) is; lengths, nonces and initialization vectors are
/// public.
///
/// Each message takes an initialization vector or nonce of its own, of
/// [`Algorithm::nonce_length`] bytes. **Nothing here checks that none is used twice**: see
/// [`hazmat`](super).
///
/// ChaCha and Salsa20 also take 16 bytes: the number of the block that the message begins with,
/// little-endian, in 4 bytes in the form of RFC 8439 and in 8 bytes otherwise, then the nonce. A
/// sample of QUIC, which makes a header's mask, has this form.
///
/// Input and output may be one buffer or two, and two cannot overlap:
///
/// ```compile_fail,E0502
/// # use lanecrypt_ciphers::{Algorithm, InOutBuf, Isa, hazmat::Cipher};
/// # let cipher = Cipher::new(Isa::detect(), Algorithm::AES_128_ECB, &[7; 16]).unwrap();
/// let mut data = [0; 48];
/// let apart = InOutBuf::new(&data[..32], &mut data[16..]).unwrap();
/// cipher.encrypt(&[], apart).unwrap();
/// ```
pub struct Cipher {
    pub(super) algorithm: Algorithm,
    pub(super) keyed: Keyed,
}

/// What a new cipher leaves on the stack: that of setting a key, and above it the value that is
/// moved to the caller.
type Cleared = wipe::SetUp<
    { wipe::below(size_of::<Cipher>() + align_of::<Cipher>(), wipe::SHALLOW) },
    { wipe::below(size_of::<Cipher>() + align_of::<Cipher>(), wipe::DEEP) },
>;

impl Cipher {
    /// Expands `key`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; [`Error::WeakKey`] if both halves of a key of XTS are the same;
    /// [`Error::Unsupported`] for algorithms that authenticate, which [`Cipher`](crate::Cipher)
    /// takes, and for ARC4: it has no nonce, so that all messages under one key would have the same
    /// keystream. A [`Stream`](super::Stream) takes it.
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        if !algorithm.key_lengths().contains(key.len()) {
            return Err(Error::KeyLength);
        }
        let shallow = match algorithm.primitive() {
            Primitive::Aes128 | Primitive::Aes192 | Primitive::Aes256 => isa.has(Level::AesNi),
            Primitive::Serpent128 | Primitive::Serpent192 | Primitive::Serpent256 => false,
            #[cfg(feature = "legacy")]
            Primitive::Des | Primitive::TripleDes => false,
            _ => true,
        };
        let _cleared = Cleared::new(shallow);
        Self::expand(isa, algorithm, key)
    }

    /// As [`new`](Self::new), on the heap: the key is expanded there, is wiped there on drop, and
    /// leaves no copy elsewhere.
    ///
    /// A cipher that is moved leaves its old bytes where it was, as every value does; only the box is
    /// moved here. Without an allocator, put a cipher of any other key where it is to stay, and
    /// [`set_key`](Self::set_key) there.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    #[cfg(feature = "std")]
    pub fn boxed(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Box<Self>, Error> {
        let mut place = Box::new(Self::empty(isa, algorithm)?);
        place.set_key(key)?;
        Ok(place)
    }

    /// What it does.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Encrypts one whole message without padding: a slice in place, or an [`InOutBuf`] from one
    /// buffer to another. With XTS that is one data unit, of 16 bytes to 16 MiB, and `iv` is its
    /// tweak.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`], [`Error::DataLength`] if `data` are not a multiple of
    /// [`Algorithm::granularity`] or no data unit, [`Error::KeystreamExhausted`] if they are longer
    /// than the keystream; nothing has changed then.
    #[inline]
    pub fn encrypt<'i, 'o>(
        &self,
        iv: &[u8],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.whole::<true>(iv, data.into())
    }

    /// Decrypts one whole message without padding: a slice in place, or an [`InOutBuf`] from one
    /// buffer to another.
    ///
    /// # Errors
    ///
    /// As [`encrypt`](Self::encrypt).
    #[inline]
    pub fn decrypt<'i, 'o>(
        &self,
        iv: &[u8],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.whole::<false>(iv, data.into())
    }

    /// Begins to encrypt a message that comes in pieces.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`], or [`Error::Unsupported`] if a stream is to be padded, and with XTS,
    /// whose data units come whole.
    #[inline]
    pub fn encryptor(&self, iv: &[u8], padding: Padding) -> Result<Encryptor<'_>, Error> {
        Message::new(self, iv, padding, 0).map(Encryptor::new)
    }

    /// Begins to decrypt a message that comes in pieces.
    ///
    /// # Errors
    ///
    /// As [`encryptor`](Self::encryptor).
    #[inline]
    pub fn decryptor(&self, iv: &[u8], padding: Padding) -> Result<Decryptor<'_>, Error> {
        Message::new(self, iv, padding, 0).map(Decryptor::new)
    }

    /// Begins to encrypt in the middle of a stream, with its block `first`, as RFC 8439 does with
    /// block 1. Blocks have [`Primitive::block_size`](crate::Primitive::block_size) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; [`Error::KeystreamExhausted`] if there is no such block;
    /// [`Error::Unsupported`] if `first` is not 0 and the algorithm
    /// [does not number its blocks](Algorithm::is_seekable).
    pub fn encryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Encryptor<'_>, Error> {
        Message::new(self, iv, Padding::None, first).map(Encryptor::new)
    }

    /// Begins to decrypt in the middle of a stream, with its block `first`.
    ///
    /// # Errors
    ///
    /// As [`encryptor_at_block`](Self::encryptor_at_block).
    pub fn decryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Decryptor<'_>, Error> {
        Message::new(self, iv, Padding::None, first).map(Decryptor::new)
    }

    pub(super) fn whole<const ENCRYPT: bool>(
        &self,
        iv: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        by_mode!(&self.keyed,
            cbc cipher => {
                let mut chain = *sized(iv)?;
                cbc::<ENCRYPT, _, _>(cipher, &mut chain, data)
            },
            ctr cipher => {
                // No slice is as long as 2^64 blocks.
                let mut counter = *sized(iv)?;
                cipher.ctr(&mut counter, data);
                Ok(())
            },
            ecb cipher => {
                no_iv(iv)?;
                ecb::<ENCRYPT, _, _>(cipher, data)
            },
            stream key => key.message(iv, data),
            xts xts => {
                let tweak = sized(iv)?;
                data_unit(data.len())?;
                if ENCRYPT {
                    xts.encrypt(tweak, data);
                } else {
                    xts.decrypt(tweak, data);
                }
                Ok(())
            },
            null => {
                no_iv(iv)?;
                copy(data);
                Ok(())
            },
        )
    }
}

/// What the null cipher does: from one buffer to another it copies, in place it does nothing.
#[inline]
pub(super) fn copy(data: InOutBuf<'_, '_, u8>) {
    let _copied = data.into_out_with_copied_in();
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

// Every expanded key wipes itself.
impl ZeroizeOnDrop for Cipher {}
