//! Random nonces.

use core::fmt;

use super::{Nonce, NonceSequence, WORDS, nonce_length, sealed};
use crate::{Algorithm, Error};
use lanecrypt_kernels::fork::Generation;

/// A secure generator: everything that has the trait `CryptoRng` of `rand_core` 0.10.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `CryptoRng` of `rand_core` 0.10",
    label = "not a secure generator of this generation of `rand_core`",
    note = "generators of `rand` 0.8 and 0.9 have the traits of older generations; \
            `lanecrypt::random::rng()` has those of 0.10"
)]
pub trait CryptoRng: rand_core::CryptoRng {}

impl<R: rand_core::CryptoRng + ?Sized> CryptoRng for R {}

/// The most nonces of 96 bits under one key, from all senders together: the probability that two of
/// them are equal is then below 2^-32 (SP 800-38D, section 8.3).
const MOST_OF_96_BITS: u64 = 1 << 32;
/// The same of 128 bits.
const MOST_OF_128_BITS: u64 = 1 << 48;

/// Random nonces, for programs that cannot keep count.
///
/// There are 2^32 nonces of 96 bits under one key, for all senders with that key together; with
/// more, the probability that two are equal becomes too high. Nonces of XChaCha20-Poly1305 have 192
/// bits, and no program uses enough of them for two to be equal. One `RandomNonces` belongs to one
/// key; make another one for each key.
///
/// As secure as the generator. A forked child's copy returns [`Error::Forked`] permanently, like
/// that of [`Nonces`](crate::Nonces). Its count is no longer that of the key, and a generator with
/// its state in ordinary memory would give parent and child the same nonces. The child has to make
/// another one, with [`already_used`](Self::already_used) and a generator that detects forks, such
/// as `lanecrypt::random::rng()`.
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
    /// The process that made it.
    made_in: Generation,
}

impl<R: CryptoRng> RandomNonces<R> {
    /// Nonces of the algorithm's length, made by `rng`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm does not authenticate.
    pub fn new(algorithm: Algorithm, rng: R) -> Result<Self, Error> {
        let length = nonce_length(algorithm)?;
        let left = match length {
            12 => MOST_OF_96_BITS,
            16 => MOST_OF_128_BITS,
            _ => u64::MAX,
        };
        Ok(Self { rng, length, left, made_in: Generation::now() })
    }

    /// Counts `used` messages that were sealed under the key before, in an earlier run or by
    /// others.
    #[must_use]
    pub fn already_used(mut self, used: u64) -> Self {
        self.left = self.left.saturating_sub(used);
        self
    }

    /// The next nonce, which differs from all earlier ones except with negligible probability.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesExhausted`] after 2^32 nonces of 96 bits, or 2^64 - 1 of 192 bits, and always
    /// from then on: use another key. [`Error::Forked`] in a child of the process that made the
    /// sequence.
    #[inline]
    pub fn fresh(&mut self) -> Result<Nonce, Error> {
        self.left = self.left.checked_sub(1).ok_or(Error::NoncesExhausted)?;
        let mut bytes = [0; 8 * WORDS];
        self.rng.fill_bytes(&mut bytes[..self.length]);
        // Checked last, as in `Nonces`: the parent may have drawn the same bytes before.
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
