//! Nonces at random.

use core::fmt;

use lanecrypt_kernels::fork::Generation;
use rand_core::CryptoRng;

use super::{Nonce, NonceSequence, WORDS, nonce_length, sealed};
use crate::{Algorithm, Error};

/// Most nonces of 96 bits under one key, by all who seal with it: two of them are then equal with a
/// probability below 2^-32 (SP 800-38D, section 8.3).
const MOST_OF_96_BITS: u64 = 1 << 32;

/// Nonces at random, for whoever cannot keep count.
///
/// Of 96 bits there are 2^32 under one key, all who seal with that key taken together; then the
/// chance that two are equal gets too large. Those of XChaCha20-Poly1305 have 192 bits, and nobody
/// reaches the point where two are equal. One `RandomNonces` belongs to one key; make another with
/// each.
///
/// As safe as the generator. A forked child's copy answers [`Error::Forked`] for ever, like that of
/// [`Nonces`](crate::Nonces): its count is no longer that of the key, and a generator that keeps its
/// state in ordinary memory gives the parent and the child the same nonces. The child makes another
/// one, with [`already_used`](Self::already_used) and a generator such as `lanecrypt::random::rng()`,
/// which notices forks itself.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher, RandomNonces};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// let cipher = Cipher::new(Algorithm::XCHACHA20_POLY1305, &[7; 32])?;
/// let mut nonces = RandomNonces::new(cipher.algorithm(), lanecrypt_random::rng())?;
/// let mut packet = [1; 100 + 16];
/// let nonce = cipher.seal_next(&mut nonces, b"", &mut packet)?;
/// assert_eq!(cipher.open(&nonce, b"", &mut packet)?, [1; 100]);
/// # Ok(())
/// # }
/// ```
pub struct RandomNonces<R> {
    rng: R,
    length: usize,
    left: u64,
    /// The process that it belongs to.
    made_in: Generation,
}

impl<R: CryptoRng> RandomNonces<R> {
    /// Nonces of the algorithm's length, which `rng` makes.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm does not authenticate.
    pub fn new(algorithm: Algorithm, rng: R) -> Result<Self, Error> {
        let length = nonce_length(algorithm)?;
        let left = if length == 12 { MOST_OF_96_BITS } else { u64::MAX };
        Ok(Self { rng, length, left, made_in: Generation::now() })
    }

    /// Takes into account that `used` messages have been sealed under the key before: by an earlier
    /// run, or by others.
    #[must_use]
    pub fn already_used(mut self, used: u64) -> Self {
        self.left = self.left.saturating_sub(used);
        self
    }

    /// The next nonce, which is none of those before but by a chance that never comes.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesExhausted`] after 2^32 nonces of 96 bits, or 2^64 - 1 of 192 bits, and from
    /// then on always: it takes another key. [`Error::Forked`] in a child of the process that made
    /// the sequence.
    #[inline]
    pub fn fresh(&mut self) -> Result<Nonce, Error> {
        self.left = self.left.checked_sub(1).ok_or(Error::NoncesExhausted)?;
        let mut bytes = [0; 8 * WORDS];
        self.rng.fill_bytes(&mut bytes[..self.length]);
        // Last, as in `Nonces`: what the generator drew before, the parent may have drawn, too.
        if !self.made_in.is_current() {
            return Err(Error::Forked);
        }
        Ok(Nonce { bytes, length: self.length })
    }
}

impl<R: CryptoRng> NonceSequence for RandomNonces<R> {
    #[inline]
    fn nonce_length(&self) -> usize {
        self.length
    }

    #[inline]
    fn fresh(&mut self) -> Result<Nonce, Error> {
        Self::fresh(self)
    }
}

impl<R> sealed::Sealed for RandomNonces<R> {}

impl<R> fmt::Debug for RandomNonces<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RandomNonces").field("left", &self.left).finish_non_exhaustive()
    }
}
