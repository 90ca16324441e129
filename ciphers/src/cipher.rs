//! The main interface: one keyed cipher with authentication, for any number of messages and
//! threads.

mod any_key;
mod chained;
mod key;
pub mod lanes;
mod limits;
mod message;
mod methods;
mod pieces;
mod tag;
pub mod typed;

use core::fmt;

use lanecrypt_kernels::{Isa, wipe};
use zeroize::ZeroizeOnDrop;

pub use self::any_key::AnyKey;
use self::any_key::Variants;
#[cfg(feature = "rustcrypto")]
pub(crate) use self::key::SingleKey;
use self::key::{Kernel, Key};
use self::limits::Limits;
pub use self::message::{AeadMessage, Opener, Sealer};
use crate::{Algorithm, Error, KeyError};

/// A keyed cipher with authentication: a [`Cipher`], or one with an algorithm that is chosen when
/// the program is compiled, such as [`Aes256Gcm`](crate::Aes256Gcm).
///
/// Where the algorithm is known, take the latter: it is smaller, and nothing of other algorithms is
/// linked. All lengths are constants: a key of another length does not compile, nonces of another
/// length are refused, and tags have 16 bytes. For other lengths of nonces and tags, which GCM has,
/// take a `Cipher`.
///
/// ```
/// use lanecrypt_ciphers::{Aes256Gcm, Nonces};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let key = [7; Aes256Gcm::KEY_LENGTH];
/// let cipher = Aes256Gcm::new(&key);
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
/// **Never use a nonce twice under one key.** What [`Cipher`] says of nonces, threads, wiping and
/// constant time holds for all.
pub struct AeadCipher<K: AeadKey> {
    key: K,
}

/// The expanded key of an [`AeadCipher`]: [`AnyKey`], or that of one algorithm. Only this crate
/// implements it.
#[expect(private_bounds, reason = "what it has is for this crate alone")]
pub trait AeadKey: Key {}

impl<K: Key> AeadKey for K {}

/// One keyed cipher with authentication: AES-GCM (NIST SP 800-38D), AES-GCM-SIV (RFC 8452), AES-SIV
/// (RFC 5297), ChaCha20-Poly1305 (RFC 8439), XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha),
/// AEGIS-128L or AEGIS-256 (draft-irtf-cfrg-aegis-aead).
///
/// The algorithm is chosen when the program runs. Where it is known before, types with one
/// algorithm, such as [`Aes256Gcm`](crate::Aes256Gcm), have the same methods, are smaller and link
/// nothing else.
///
/// A sealed message can only be read with the key. If the message, its associated data or its nonce
/// was changed, [`open`](Self::open) wipes its output and returns [`Error::Authentication`].
/// Associated data, such as the header of a packet, is authenticated but not encrypted.
///
/// **Never use a nonce twice under one key**: an attacker could then read both messages and forge
/// others. Only AES-GCM-SIV and AES-SIV survive it: then an attacker sees whether two messages
/// under the nonce, with their associated data, are the same, and nothing else.
/// [`Nonces`](crate::Nonces) and [`RandomNonces`](crate::RandomNonces) make nonces that do not
/// repeat. [`seal_next`](Self::seal_next) takes its nonces from them:
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
/// A packet is not bound to one key: someone who knows two keys can make a packet that opens under
/// both. Where that matters, for example with keys from passwords, identify the key by other means.
///
/// The key is expanded once and wiped on drop; [`boxed`](Self::boxed) leaves no copy of it
/// elsewhere. Requests only read the key, so any number of threads may share a cipher without a
/// lock. Requests do not allocate. [`hazmat::burn_stack`](crate::hazmat::burn_stack) wipes what
/// they leave on the stack and in registers. Constant time in key and data. Lengths, nonces,
/// associated data and whether a message is authentic are public.
///
/// Nonces have [`Algorithm::nonce_length`] bytes. GCM also accepts other lengths, from 1 to 2^61 -
/// 1 bytes. It hashes such a nonce to a counter block, which costs more, and the time of the
/// message then depends on the last 32 bits of the hash. Use 12 bytes: random nonces of other
/// lengths are just as likely to repeat.
///
/// One message has at most 2^36 - 32 bytes with GCM, 2^38 - 64 bytes with Poly1305, and 2^36 - 16
/// bytes with CTR and a code. With GCM and AEGIS, associated data has at most 2^61 - 1 bytes. With
/// AES-GCM-SIV, messages and associated data have at most 2^36 bytes each. AES-GCM-SIV and AES-SIV
/// have no messages in pieces: the first byte of the ciphertext depends on the last of the message.
///
/// With AES-SIV, nonces have 16 bytes or any other number from 1 on. The strings of the RFC are the
/// associated data, even if they are empty, and the nonce. The tag is the synthetic vector, V.
/// **The RFC writes it before the ciphertext; here it is the tag, behind the message.** Without a
/// nonce, and in the order of the RFC: [`DeterministicAesSiv`](crate::DeterministicAesSiv).
///
/// AES in CBC or CTR with an HMAC behind it is encrypt-then-MAC (RFC 7518, section 5.2): the key is
/// that of the code, then that of the cipher; the code is of the associated data, the nonce, the
/// ciphertext, and the length of the associated data in bits as 64 bits. With CBC, nonces must be
/// random, and data are whole blocks: other lengths are [`Error::DataLength`], also of packets to
/// open, in which they tell nothing. With CTR, the first counter block is the nonce of 12 bytes and
/// the number 1.
pub type Cipher = AeadCipher<AnyKey>;

/// Clears what making a cipher leaves on the stack: the frames of setting a key, and above them the
/// value that is moved to the caller.
type Cleared = wipe::SetUp<
    { wipe::below(size_of::<Cipher>() + align_of::<Cipher>(), wipe::SHALLOW) },
    { wipe::below(size_of::<Cipher>() + align_of::<Cipher>(), wipe::DEEP) },
>;

impl AeadCipher<AnyKey> {
    /// Expands `key`, for the best kernels that this processor can run.
    ///
    /// ```
    /// use lanecrypt_ciphers::{Algorithm, Cipher, Error};
    ///
    /// let refused = Cipher::new(Algorithm::AES_256_GCM, &[1; 16]);
    /// let error = refused.expect_err("half of a key");
    /// assert_eq!(error, Error::KeyLength);
    /// assert_eq!(error.to_string(), "aes-256-gcm: a key of 16 bytes where 32 are needed");
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm [does not authenticate](Algorithm::is_aead): such
    /// algorithms are in [`hazmat`](crate::hazmat). [`Error::KeyLength`].
    #[inline]
    pub fn new(algorithm: Algorithm, key: &[u8]) -> Result<Self, KeyError> {
        Self::with_isa(Isa::detect(), algorithm, key)
    }

    /// Same as [`new`](Self::new), with the kernels of `isa`.
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    pub fn with_isa(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, KeyError> {
        if !algorithm.is_aead() {
            return Err(KeyError::new(algorithm, Error::Unsupported));
        }
        if !algorithm.key_lengths().contains(key.len()) {
            return Err(KeyError::of_key(algorithm, key, Error::KeyLength));
        }
        let shallow = algorithm.sets_keys_shallowly(isa);
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
    /// ```
    /// use lanecrypt_ciphers::{Algorithm, Cipher};
    ///
    /// let cipher = Cipher::boxed(Algorithm::AES_128_GCM, &[1; 16]);
    /// assert!(cipher.is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`new`](Self::new).
    #[cfg(feature = "std")]
    #[inline]
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

    /// Replaces the key with another one of the same algorithm, for the same kernels. The length of
    /// tags stays the same.
    ///
    /// This is cheaper than a new cipher, which is moved and after which the old one is wiped.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`]. After an error nothing has changed.
    pub fn set_key(&mut self, key: &[u8]) -> Result<(), KeyError> {
        let outcome = self.rekey(key);
        let head = self.key.0.head();
        let algorithm = head.facts.algorithm;
        let shallow = algorithm.sets_keys_shallowly(head.isa);
        drop(wipe::SetUp::<{ wipe::SHALLOW }, { wipe::DEEP }>::new(shallow));
        outcome.map_err(|reason| KeyError::of_key(algorithm, key, reason))
    }

    /// Not inlined, so that its caller can clear the stack that it used.
    #[inline(never)]
    fn rekey(&mut self, key: &[u8]) -> Result<(), Error> {
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
        Variants::empty(isa, algorithm, |key| Self { key: AnyKey(key) })
    }

    /// Sets the length of tags in bytes. A shorter tag is the beginning of a longer one.
    ///
    /// GCM has tags of 12 to 16 bytes. It also has tags of 4 and 8 bytes, for protocols that must
    /// save bytes and survive some forgeries (SP 800-38D, appendix C). With tags of 4 bytes,
    /// ciphertext and associated data together have at most 2^10 bytes, and at most 2^11 such
    /// messages may be opened under one key. With tags of 8 bytes the limits are 2^21 bytes and
    /// 2^17 messages. Forged messages count, because each accepted forgery helps to find others.
    /// **The caller has to count them.** Poly1305, AES-GCM-SIV and AES-SIV have
    /// tags of 16 bytes only. With an HMAC, tags have
    /// 12 to 20 bytes (SHA-1), 16 to 32 (SHA-256) or 24 to 48 (SHA-384).
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]. After an error nothing has changed.
    pub fn set_tag_length(&mut self, bytes: usize) -> Result<(), Error> {
        let facts = &mut self.key.0.head_mut().facts;
        facts.limits = Limits::new(facts.algorithm, bytes)?;
        facts.tag_length = bytes;
        Ok(())
    }
}

impl<K: AeadKey> fmt::Debug for AeadCipher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.key.facts().algorithm;
        f.debug_struct("Cipher").field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

// Every expanded key wipes itself.
impl<K: AeadKey> ZeroizeOnDrop for AeadCipher<K> {}
