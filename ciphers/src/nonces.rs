//! Nonces that do not repeat.

mod random;

use core::fmt;
use core::ops::Deref;

use lanecrypt_kernels::fork::Generation;

pub use self::random::{CryptoRng, RandomNonces};
use crate::{Algorithm, Error};

/// The length of the longest nonce, that of XChaCha20-Poly1305, in words of 64 bits.
const WORDS: usize = 4;
/// The least number of bytes of a counter, so that a sequence does not end too early.
const SHORTEST_COUNTER: usize = 4;

/// One nonce of at most 32 bytes. It is public: it may be sent, stored and shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce {
    bytes: [u8; 8 * WORDS],
    length: usize,
}

impl Nonce {
    /// The nonce that has these bytes, such as one received with a packet.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`] if they are more than 32.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let mut nonce = Self { bytes: [0; 8 * WORDS], length: bytes.len() };
        nonce.bytes.get_mut(..bytes.len()).ok_or(Error::NonceLength)?.copy_from_slice(bytes);
        Ok(nonce)
    }
}

impl Deref for Nonce {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsRef<[u8]> for Nonce {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// In hexadecimal, the shortest readable form.
impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(")?;
        self.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// A source of nonces for [`Cipher::seal_next`](crate::Cipher::seal_next): [`Nonces`] or
/// [`RandomNonces`].
pub trait NonceSequence: sealed::Sealed {
    /// The number of bytes of each nonce.
    fn nonce_length(&self) -> usize;

    /// The next nonce, which differs from all earlier ones.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesExhausted`]: use another key. [`Error::Forked`]: a forked child needs another
    /// sequence. All later calls return the same error.
    fn fresh(&mut self) -> Result<Nonce, Error>;
}

/// Only the sequences of this crate are known not to repeat.
mod sealed {
    #[expect(unnameable_types, reason = "code that cannot name it cannot implement it")]
    pub trait Sealed {}
}

/// Nonces from a counter, which never repeat, however many are used.
///
/// The best choice for a program that can keep count. One sequence belongs to one key. Two
/// sequences that differ only in their counters must not serve the same key, so give them different
/// fixed fields: for example, one for each direction of a connection, or for each machine that
/// shares the key.
///
/// It cannot be cloned. After `fork` the parent can go on, and the child's copy returns
/// [`Error::Forked`] permanently: the child needs another key, or a sequence with another fixed
/// field. There are limits. A fork in a signal handler in the middle of [`fresh`](Self::fresh) can
/// give both processes the same nonce. Without the feature `std` forks are not detected. On kernels
/// before Linux 4.14 they are detected by the process ID, and so not in a child that has the same
/// ID in its own namespace.
///
/// **If a snapshot of a virtual machine is resumed twice, both copies have the same sequence**:
/// they need different keys, or one of them must never seal again. After a restart,
/// [`starting_at`](Self::starting_at) continues a sequence whose count is known. If the count is
/// not known, use another key.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Nonces};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// let mut nonces = Nonces::counter(Algorithm::AES_256_GCM, &[0xaa; 4])?;
/// assert_eq!(nonces.fresh()?[..], [0xaa, 0xaa, 0xaa, 0xaa, 0, 0, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(nonces.fresh()?[..], [0xaa, 0xaa, 0xaa, 0xaa, 0, 0, 0, 0, 0, 0, 0, 1]);
/// # Ok(())
/// # }
/// ```
pub struct Nonces {
    /// The nonce without the counter, as big-endian words. The counter is XORed into it.
    base: [u64; WORDS],
    length: usize,
    /// The counter of the next nonce, and the first counter that would repeat, at most 2^64.
    next: u128,
    end: u128,
    /// The bits of the flag behind the counter: 8 or none.
    flag: u32,
    /// The process that made it.
    made_in: Generation,
}

impl Nonces {
    /// Nonces of a fixed field followed by a big-endian counter (SP 800-38D, section 8.2.1; RFC
    /// 5116, section 3.2). The counter has at least 4 bytes; of a longer one the last 8 bytes
    /// count.
    ///
    /// The fixed field identifies the sender among those that seal under the same key: a device, a
    /// thread, a direction.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm does not authenticate or [needs random
    /// nonces](Algorithm::needs_random_nonces); [`Error::NonceLength`] if the
    /// fixed field leaves less than 4 bytes.
    pub fn counter(algorithm: Algorithm, fixed: &[u8]) -> Result<Self, Error> {
        let length = counted(algorithm)?;
        let counter = length.checked_sub(fixed.len()).ok_or(Error::NonceLength)?;
        if counter < SHORTEST_COUNTER {
            return Err(Error::NonceLength);
        }
        Ok(Self::new(fixed, length, counter))
    }

    /// Nonces of TLS 1.3 and QUIC: an initialization vector that both sides know, as long as a
    /// nonce, XORed with a big-endian 64-bit counter (RFC 8446, section 5.3; RFC 9001, section
    /// 5.3).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm does not authenticate or [needs random
    /// nonces](Algorithm::needs_random_nonces); [`Error::NonceLength`] if
    /// `iv` is not as long as its nonces.
    pub fn masked(algorithm: Algorithm, iv: &[u8]) -> Result<Self, Error> {
        let length = counted(algorithm)?;
        if iv.len() != length {
            return Err(Error::NonceLength);
        }
        Ok(Self::new(iv, length, 8))
    }

    /// Nonces of a fixed field, a big-endian counter and one byte for a flag, such as that of a
    /// last message or of a direction. The counter has 4 bytes of nonces of 12 bytes with a fixed
    /// field of 7: the layout of STREAM (Hoang, Reyhanitabar, Rogaway and Vizard, "Online
    /// Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", 2015).
    ///
    /// Nonces with the same count and different flags differ. [`fresh`](Self::fresh) gives the flag
    /// 0, [`fresh_flagged`](Self::fresh_flagged) any.
    ///
    /// ```
    /// use lanecrypt_ciphers::{Algorithm, Nonces};
    ///
    /// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
    /// let mut nonces = Nonces::flagged(Algorithm::AES_256_GCM, &[0xaa; 7])?;
    /// assert_eq!(nonces.fresh()?[7..], [0, 0, 0, 0, 0]);
    /// assert_eq!(nonces.fresh_flagged(1)?[7..], [0, 0, 0, 1, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm does not authenticate or [needs random
    /// nonces](Algorithm::needs_random_nonces); [`Error::NonceLength`] if the fixed field leaves
    /// less than 5 bytes.
    pub fn flagged(algorithm: Algorithm, fixed: &[u8]) -> Result<Self, Error> {
        let length = counted(algorithm)?;
        let counter = length.checked_sub(fixed.len() + 1).ok_or(Error::NonceLength)?;
        if counter < SHORTEST_COUNTER {
            return Err(Error::NonceLength);
        }
        // Counter and flag together are one number of 64 bits.
        let sequence = Self::new(fixed, length, counter.min(7));
        Ok(Self { flag: 8, ..sequence })
    }

    /// Starts the counter at `first` instead of 0: the number of nonces of this sequence that have
    /// been used before, or may have been.
    ///
    /// If no nonces are left, [`fresh`](Self::fresh) returns the error.
    #[must_use]
    pub fn starting_at(mut self, first: u64) -> Self {
        self.next = first.into();
        self
    }

    /// The next nonce, which differs from all earlier ones.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesExhausted`] at the end of the counter, and always from then on: use another
    /// key. [`Error::Forked`] in a child of the process that made the sequence.
    #[inline]
    pub fn fresh(&mut self) -> Result<Nonce, Error> {
        self.numbered(0)
    }

    /// Same as [`fresh`](Self::fresh), with this flag.
    ///
    /// # Errors
    ///
    /// Same as [`fresh`](Self::fresh), and [`Error::Unsupported`] if the nonces have no
    /// [flag](Self::flagged); nothing has changed then.
    #[inline]
    pub fn fresh_flagged(&mut self, flag: u8) -> Result<Nonce, Error> {
        if self.flag == 0 {
            return Err(Error::Unsupported);
        }
        self.numbered(flag)
    }

    #[inline(always)]
    fn numbered(&mut self, flag: u8) -> Result<Nonce, Error> {
        if self.next >= self.end {
            return Err(Error::NoncesExhausted);
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is below 2^64")]
        let counter = (self.next as u64) << self.flag | u64::from(flag);
        self.next += 1;
        let [first, second, third, last] = self.base;
        // In whole words from the front on, because the kernels read them like that right
        // afterwards.
        let words = match self.length {
            12 => [first ^ counter >> 32, second ^ counter << 32, third, last],
            16 => [first, second ^ counter, third, last],
            24 => [first, second, third ^ counter, last],
            _ => [first, second, third, last ^ counter],
        };
        // Checked last, so that a signal handler that forks has little chance to come afterwards.
        if !self.made_in.is_current() {
            return Err(Error::Forked);
        }
        Ok(Nonce::of_words(words, self.length))
    }

    /// `counter` is the number of bytes of the counter.
    fn new(fixed: &[u8], length: usize, counter: usize) -> Self {
        let mut bytes = [0; 8 * WORDS];
        bytes[..fixed.len()].copy_from_slice(fixed);
        let (words, _) = bytes.as_chunks();
        let base = core::array::from_fn(|i| u64::from_be_bytes(words[i]));
        let made_in = Generation::now();
        Self { base, length, next: 0, end: 1 << (8 * counter.min(8)), flag: 0, made_in }
    }
}

impl Nonce {
    #[inline]
    fn of_words(words: [u64; WORDS], length: usize) -> Self {
        let mut bytes = [0; 8 * WORDS];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_be_bytes();
        }
        Self { bytes, length }
    }
}

/// Bytes of the nonces of an algorithm for which a counter will do.
fn counted(algorithm: Algorithm) -> Result<usize, Error> {
    if algorithm.needs_random_nonces() {
        return Err(Error::Unsupported);
    }
    nonce_length(algorithm)
}

/// Bytes of the nonces of an algorithm that authenticates: 12, 16, 24 or 32.
fn nonce_length(algorithm: Algorithm) -> Result<usize, Error> {
    if algorithm.is_aead() { Ok(algorithm.nonce_length()) } else { Err(Error::Unsupported) }
}

impl NonceSequence for Nonces {
    #[inline]
    fn nonce_length(&self) -> usize {
        self.length
    }

    #[inline]
    fn fresh(&mut self) -> Result<Nonce, Error> {
        Self::fresh(self)
    }
}

impl sealed::Sealed for Nonces {}

/// Without the initialization vector, which TLS keeps secret.
impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nonces").field("next", &self.next).finish_non_exhaustive()
    }
}
