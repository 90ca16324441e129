//! The front door: one keyed cipher with authentication, for any number of messages and threads.

mod attached;
mod keyed;
pub mod lanes;
mod limits;
mod opener;
mod pieces;
mod sealer;
mod tag;

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, wipe};
use zeroize::ZeroizeOnDrop;

use self::keyed::{Head, Keyed, Nonced, by_key, by_key_of, sealing_ciphers};
use self::limits::Limits;
pub use self::opener::Opener;
pub use self::sealer::Sealer;
use crate::{Algorithm, Error};

/// One keyed cipher with authentication: AES-GCM (NIST SP 800-38D), ChaCha20-Poly1305 (RFC 8439) or
/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha).
///
/// A message that is sealed can be read only with the key, and a change of it, of its associated
/// data or of its nonce is noticed: [`open`](Self::open) then answers [`Error::Authentication`] and
/// has wiped all that it wrote. Associated data are authenticated and not encrypted, such as the
/// header of a packet.
///
/// **Under one key no nonce may ever be used twice**: both messages could be read and others
/// forged. [`Nonces`](crate::Nonces) and [`RandomNonces`](crate::RandomNonces) make nonces that do
/// not repeat, and [`seal_next`](Self::seal_next) takes them from there:
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher, Nonces};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let key = [7; 32];
/// let cipher = Cipher::new(Algorithm::CHACHA20_POLY1305, &key)?;
/// let mut nonces = Nonces::counter(cipher.algorithm(), b"from")?;
///
/// let mut packet = *b"a message, and room for the tag:................";
/// let nonce = cipher.seal_next(&mut nonces, b"header", &mut packet)?;
///
/// let message = cipher.open(&nonce, b"header", &mut packet)?;
/// assert_eq!(message, b"a message, and room for the tag:");
/// # Ok(())
/// # }
/// ```
///
/// A packet does not say which key it was sealed under: whoever knows two keys can make one that
/// opens under both. Where that matters, as with keys from passwords, the key has to be told apart
/// by other means.
///
/// The key is expanded once and wiped on drop; [`boxed`](Self::boxed) leaves no copy of it
/// elsewhere. Requests only read it, so that any number of threads may share one cipher without a
/// lock; they do not allocate. What they leave on the stack and in registers
/// [`hazmat::burn_stack`](crate::hazmat::burn_stack) wipes. Constant time in key and data; lengths,
/// nonces, associated data and whether a message is authentic are public.
///
/// The length of nonces is [`Algorithm::nonce_length`]. GCM takes others, from 1 byte to 2^61 - 1,
/// which are hashed to a counter block and cost more; 12 bytes is the one to use, and random nonces
/// of any length are as likely to repeat as those of 12 bytes. (The last 32 bits of such a hash
/// show in the time that a message takes.) One message has at most 2^36 - 32 bytes with GCM, 2^38 -
/// 64 with Poly1305; associated data have at most 2^61 - 1 bytes with GCM.
pub struct Cipher {
    keyed: Keyed,
}

/// Clears what a new cipher leaves on the stack: the frames of setting a key, and above them the
/// value that is moved to the caller.
type Cleared = wipe::SetUp<
    { wipe::below(size_of::<Cipher>() + align_of::<Cipher>(), wipe::SHALLOW) },
    { wipe::below(size_of::<Cipher>() + align_of::<Cipher>(), wipe::DEEP) },
>;

impl Cipher {
    /// Expands `key`, for the best kernels that this processor can run.
    ///
    /// ```
    /// use lanecrypt_ciphers::{Algorithm, Cipher, Error};
    ///
    /// let refused = Cipher::new(Algorithm::AES_256_GCM, &[1; 16]);
    /// assert_eq!(refused.err(), Some(Error::KeyLength));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm [does not authenticate](Algorithm::is_aead); such
    /// are in [`hazmat`](crate::hazmat). [`Error::KeyLength`].
    #[inline]
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        Self::with_isa(Isa::detect(), algorithm, key)
    }

    /// Expands `key`, for the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_isa(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        if !algorithm.is_aead() {
            return Err(Error::Unsupported);
        }
        if !algorithm.key_lengths().contains(key.len()) {
            return Err(Error::KeyLength);
        }
        let shallow = algorithm.primitive().sets_keys_shallowly(isa);
        let _cleared = Cleared::new(shallow);
        Self::expand(isa, algorithm, key)
    }

    /// As [`new`](Self::new), on the heap: the key is expanded there, is wiped there on drop, and
    /// leaves no copy elsewhere.
    ///
    /// A cipher that is moved leaves its old bytes where it was, as every value does; only the box
    /// is moved here. Without an allocator, put a cipher of any other key where it is to stay, and
    /// [`set_key`](Self::set_key) there.
    ///
    /// ```
    /// use lanecrypt_ciphers::{Algorithm, Cipher};
    ///
    /// let cipher = Cipher::boxed(Algorithm::AES_128_GCM, &[1; 16]);
    /// assert!(cipher.is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    #[cfg(feature = "std")]
    #[inline]
    pub fn boxed(algorithm: Algorithm, key: &[u8]) -> Result<Box<Self>, Error> {
        Self::boxed_with_isa(Isa::detect(), algorithm, key)
    }

    /// As [`boxed`](Self::boxed), for the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    #[cfg(feature = "std")]
    pub fn boxed_with_isa(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Box<Self>, Error> {
        let mut place = Box::new(Self::empty(isa, algorithm)?);
        place.set_key(key)?;
        Ok(place)
    }

    /// Expands another key of the same algorithm in the place of this one, for the same kernels.
    /// The length of tags stays.
    ///
    /// Cheaper than a new cipher, which is moved and of which the old one is wiped.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]; nothing has changed then.
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), Error> {
        let outcome = self.rekey(key);
        let head = self.keyed.head();
        let shallow = head.algorithm.primitive().sets_keys_shallowly(head.isa);
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(shallow));
        outcome
    }

    /// A call of its own, so that its caller can clear the stack that it used.
    #[inline(never)]
    fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
        self.keyed.set_key(key)
    }

    /// Expands `key`, whose length is right. The value is moved once, to the caller, from the stack
    /// right below it.
    //
    // A call of its own, so that its caller can clear that.
    #[inline(never)]
    fn expand(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
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
    /// A call of its own, so that those who set keys are not as deep in the stack as this is.
    #[inline(never)]
    fn empty(isa: Isa, algorithm: Algorithm) -> Result<Self, Error> {
        Head::empty(isa, algorithm, |keyed| Self { keyed })
    }

    /// Its algorithm.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        self.keyed.head().algorithm
    }

    /// Bytes of a tag, which a sealed message is longer by: 16, unless
    /// [`set_tag_length`](Self::set_tag_length) says otherwise.
    #[must_use]
    #[inline]
    pub fn tag_length(&self) -> usize {
        self.keyed.head().tag_length
    }

    /// Makes tags of so many bytes: the first ones of those of 16.
    ///
    /// GCM has tags of 12 to 16 bytes, and of 4 and 8, which are for protocols that have to save
    /// bytes and survive some forgeries (SP 800-38D, appendix C). Then ciphertext and associated
    /// data have at most 2^10 bytes together with tags of 4 bytes, and 2^21 with tags of 8; and
    /// under one key no more than 2^11, or 2^17, messages of that length may be opened, forged ones
    /// included: each forgery that is accepted helps to find others. **Counting those is up to the
    /// caller.** Poly1305 has tags of 16 bytes only.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]; nothing has changed then.
    pub fn set_tag_length(&mut self, bytes: usize) -> Result<(), Error> {
        let head = self.keyed.head_mut();
        head.limits = Limits::new(head.algorithm, bytes)?;
        head.tag_length = bytes;
        Ok(())
    }

    /// Encrypts a whole message, a slice in place or an [`InOutBuf`] from one buffer to another,
    /// and writes its tag, of [`tag_length`](Self::tag_length) bytes.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`], [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`];
    /// nothing has changed then.
    //
    // Inlined, else kernels would wait for arguments that are stored in parts and read as a whole.
    #[inline(always)]
    pub fn seal_detached<'i, 'o>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let data = data.into();
        self.admit(aad.len(), data.len(), tag.len())?;
        by_key!(&self.keyed, key => key.seal_under(nonce, aad, data, tag))
    }

    /// Decrypts a whole message, a slice in place or an [`InOutBuf`] from one buffer to another, if
    /// its tag, of [`tag_length`](Self::tag_length) bytes, is the right one.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`]: the output has been wiped. [`Error::TagLength`],
    /// [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]; nothing has changed
    /// then.
    #[inline(always)]
    pub fn open_detached<'i, 'o>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Into<InOutBuf<'i, 'o, u8>>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let mut data = data.into();
        self.admit(aad.len(), data.len(), tag.len())?;
        let verdict = by_key!(&self.keyed, key => key.open_under(nonce, aad, data.reborrow(), tag));
        if verdict == Err(Error::Authentication) {
            wipe::memory(data.get_out());
        }
        verdict
    }

    /// Whether a message of these lengths may be asked for.
    #[inline]
    fn admit(&self, aad: usize, data: usize, tag: usize) -> Result<(), Error> {
        let head = self.keyed.head();
        if tag != head.tag_length {
            return Err(Error::TagLength);
        }
        head.limits.admit(aad as u64, data as u64)
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

// Every expanded key wipes itself.
impl ZeroizeOnDrop for Cipher {}
