//! One keyed algorithm, for any number of messages and threads.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{BlockEncrypt, Isa, wipe};
use zeroize::ZeroizeOnDrop;

use super::block_modes::{cbc, copy, data_unit, ecb, no_iv, sized};
use super::expanded_key::{ExpandedKey, by_mode, by_mode_of};
use super::legacy::raw_ciphers;
use crate::{Algorithm, Buffers, Error, KeyError};

/// One keyed algorithm.
///
/// The key is expanded once and wiped on drop. Requests only read it, so any number of threads may
/// share a cipher without a lock. Requests do not allocate, with one exception: an
/// [`Encryptor`](super::Encryptor) or [`Decryptor`](super::Decryptor) of HC-128 allocates 4 KiB for
/// its tables. As constant-time as the algorithm's [primitive](crate::Primitive::timing_leak) is.
/// Lengths, nonces and initialization vectors are public.
///
/// Each message takes its own initialization vector or nonce, of [`Algorithm::nonce_length`] bytes.
/// **Nothing here prevents one from being used twice**: see [`hazmat`](super).
///
/// ChaCha and Salsa20 also take 16 bytes: the number of the first block of the message, and then
/// the nonce. The number is little-endian, with 4 bytes in the form of RFC 8439 and with 8 bytes
/// otherwise. A sample of QUIC, from which the mask of a header is made, has this form.
///
/// Input and output may be one buffer or two. Two buffers cannot overlap:
///
/// ```compile_fail,E0502
/// # use lanecrypt_ciphers::{Algorithm, InOutBuf, Isa, hazmat::RawCipher};
/// # let cipher = RawCipher::new(Algorithm::AES_128_ECB, &[7; 16]).unwrap();
/// let mut data = [0; 48];
/// let apart = InOutBuf::new(&data[..32], &mut data[16..]).unwrap();
/// cipher.encrypt(&[], apart).unwrap();
/// ```
pub struct RawCipher {
    algorithm: Algorithm,
    isa: Isa,
    pub(super) key: ExpandedKey,
}

/// Clears what making a cipher leaves on the stack: the frames of setting a key, and above them the
/// value that is moved to the caller.
type Cleared = wipe::SetUp<
    { wipe::below(size_of::<RawCipher>() + align_of::<RawCipher>(), wipe::SHALLOW) },
    { wipe::below(size_of::<RawCipher>() + align_of::<RawCipher>(), wipe::DEEP) },
>;

impl RawCipher {
    /// Expands `key`, for the best kernels that this processor can run.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; [`Error::WeakKey`] if both halves of a key of XTS are the same;
    /// [`Error::Unsupported`] for algorithms that authenticate, which [`Cipher`](crate::Cipher)
    /// takes, and for ARC4. ARC4 has no nonce, so all messages under one key would have the same
    /// keystream; a [`Stream`](super::Stream) takes it.
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, KeyError> {
        Self::with_isa(Isa::detect(), algorithm, key)
    }

    /// Same as [`new`](Self::new), with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with_isa(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, KeyError> {
        if !algorithm.key_lengths().contains(key.len()) {
            return Err(KeyError::of_key(algorithm, key, Error::KeyLength));
        }
        let shallow = algorithm.primitive().sets_keys_shallowly(isa);
        let _cleared = Cleared::new(shallow);
        Self::expand(isa, algorithm, key)
    }

    /// Same as [`new`](Self::new), but on the heap. The key is expanded there, is wiped there on
    /// drop, and leaves no copy elsewhere.
    ///
    /// Moving a cipher leaves its old bytes behind, as with every value in Rust; here only the box
    /// is moved. Without an allocator, put a cipher with some other key in its final place, and
    /// call [`set_key`](Self::set_key) there.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    #[cfg(feature = "std")]
    pub fn boxed(algorithm: Algorithm, key: &[u8]) -> Result<Box<Self>, KeyError> {
        Self::boxed_with_isa(Isa::detect(), algorithm, key)
    }

    /// Same as [`boxed`](Self::boxed), with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    #[cfg(feature = "std")]
    pub fn boxed_with_isa(
        isa: Isa,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<Box<Self>, KeyError> {
        let mut place = Box::new(Self::empty(isa, algorithm)?);
        place.set_key(key)?;
        Ok(place)
    }

    /// Replaces the key with another one of the same algorithm, for the same kernels.
    ///
    /// This is cheaper than a new cipher, which is moved and after which the old one is wiped.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], [`Error::WeakKey`] as for [`new`](Self::new). After an error nothing
    /// has changed.
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), KeyError> {
        let outcome = self.rekey(key);
        let shallow = self.algorithm.primitive().sets_keys_shallowly(self.isa);
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(shallow));
        outcome.map_err(|reason| KeyError::of_key(self.algorithm, key, reason))
    }

    /// Not inlined, so that its caller can clear the stack that it used.
    #[inline(never)]
    fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
        if !self.algorithm.key_lengths().contains(key.len()) {
            return Err(Error::KeyLength);
        }
        self.key.set_key(key)
    }

    /// Expands `key`, whose length is right. The value is moved once, to the caller, from the stack
    /// right below it.
    //
    // Not inlined, so that its caller can clear that stack.
    #[inline(never)]
    fn expand(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, KeyError> {
        let mut place = Self::empty(isa, algorithm);
        if let Ok(cipher) = &mut place
            && let Err(reason) = cipher.rekey(key)
        {
            place = Err(KeyError::of_key(algorithm, key, reason));
        }
        place
    }

    /// A cipher without a key, which must be set before the cipher is used.
    ///
    /// Not inlined, so that functions that set keys do not use as much stack as this one.
    #[inline(never)]
    fn empty(isa: Isa, algorithm: Algorithm) -> Result<Self, KeyError> {
        ExpandedKey::empty(isa, algorithm, |key| Self { algorithm, isa, key })
    }

    /// Its algorithm.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Encrypts one whole message without padding: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another. With XTS, a message is one data
    /// unit of 16 bytes to 16 MiB, and `iv` is its tweak.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; [`Error::DataLength`] if the length of `data` is not a multiple of
    /// [`Algorithm::granularity`] or not that of a data unit; [`Error::KeystreamExhausted`] if
    /// `data` is longer than the keystream. After an error nothing has changed.
    #[inline]
    pub fn encrypt<'i, 'o>(&self, iv: &[u8], data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.whole::<true>(iv, data.in_out())
    }

    /// Decrypts one whole message without padding: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// # Errors
    ///
    /// Same as [`encrypt`](Self::encrypt).
    #[inline]
    pub fn decrypt<'i, 'o>(&self, iv: &[u8], data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.whole::<false>(iv, data.in_out())
    }

    pub(super) fn whole<const ENCRYPT: bool>(
        &self,
        iv: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        by_mode!(&self.key,
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

impl fmt::Debug for RawCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCipher").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

// Every expanded key wipes itself.
impl ZeroizeOnDrop for RawCipher {}
