//! Reproducible numbers, not for secrets.

use core::convert::Infallible;
use core::fmt;
use core::ops::RangeBounds;

use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, Seek as _, StreamCore as _};
use rand_core::{SeedableRng, TryRng};

use crate::range::{self, Uniform};

/// The bytes of one refill: one pass of the widest kernel.
const BUFFER: usize = 1024;

/// Reproducible numbers for simulations, games and tests. **Not for keys, nonces or other
/// secrets**: the seed determines all of them, they are not erased, and a forked child draws the
/// same ones as its parent.
///
/// A seed gives the same numbers on every machine, at every level and in every version: those of
/// `ChaCha8Rng` in the crates `rand_chacha` and `chacha20`, which is the keystream of ChaCha8 with
/// a nonce of zero, in little-endian words of 32 bits. A request takes whole words; one of 64 bits
/// takes two, the low one first. After 2^68 words they repeat.
///
/// Different seeds give independent streams, for example one for each thread. It has the traits of
/// `rand_core` 0.10, but not `CryptoRng`.
///
/// ```
/// use lanecrypt_random::InsecureRng;
///
/// let mut rng = InsecureRng::seed_from_u64(7);
/// let mut again = InsecureRng::seed_from_u64(7);
/// let die: u8 = rng.range(1..=6);
/// assert_eq!(again.range(1..=6), die);
/// assert_eq!(rng.u64(), again.u64());
/// ```
pub struct InsecureRng {
    core: ChaCha<8>,
    seed: [u8; 32],
    /// The number of refills.
    refills: u64,
    buffer: [u8; BUFFER],
    /// The place of the next word, a multiple of 4.
    next: usize,
}

impl InsecureRng {
    /// The numbers of a seed of 32 bytes.
    #[must_use]
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let core = ChaCha::new(Isa::detect(), &seed.into(), &[0; 8]);
        Self { core, seed, refills: 0, buffer: [0; BUFFER], next: BUFFER }
    }

    /// The numbers of a short seed, which is expanded as `rand_core` does.
    #[must_use]
    pub fn seed_from_u64(seed: u64) -> Self {
        <Self as SeedableRng>::seed_from_u64(seed)
    }

    /// The next 32-bit number.
    #[inline]
    #[must_use]
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.word())
    }

    /// The next 64-bit number.
    #[inline]
    #[must_use]
    pub fn u64(&mut self) -> u64 {
        let low = self.u32();
        u64::from(low) | u64::from(self.u32()) << 32
    }

    /// Fills `out` with the next bytes. The rest of the last word is dropped.
    pub fn fill(&mut self, out: &mut [u8]) {
        let mut rest = out;
        while !rest.is_empty() {
            if self.next == BUFFER {
                self.refill();
            }
            let ready = &self.buffer[self.next..];
            let (to, behind) = rest.split_at_mut(ready.len().min(rest.len()));
            to.copy_from_slice(&ready[..to.len()]);
            self.next += to.len().next_multiple_of(4);
            rest = behind;
        }
    }

    /// The next integer of `range`, all with the same probability.
    ///
    /// # Panics
    ///
    /// Panics if the range is empty, as indexing a slice out of bounds does.
    #[inline]
    #[must_use]
    pub fn range<T: Uniform>(&mut self, range: impl RangeBounds<T>) -> T {
        range::sample(range, self, Self::u32, Self::u64).expect("the range must not be empty")
    }

    /// The next four bytes.
    #[inline]
    fn word(&mut self) -> [u8; 4] {
        if self.next == BUFFER {
            self.refill();
        }
        let word = self.buffer[self.next..].first_chunk().copied().unwrap_or_default();
        self.next += 4;
        word
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        self.core.keystream(&mut self.buffer);
        self.refills += 1;
        self.next = 0;
    }
}

impl Clone for InsecureRng {
    fn clone(&self) -> Self {
        let Self { seed, refills, buffer, next, .. } = *self;
        let mut clone = Self { refills, buffer, next, ..Self::from_seed(seed) };
        clone.core.seek(refills * (BUFFER / ChaCha::<8>::BLOCK) as u64);
        clone
    }
}

impl SeedableRng for InsecureRng {
    type Seed = [u8; 32];

    fn from_seed(seed: [u8; 32]) -> Self {
        Self::from_seed(seed)
    }
}

impl TryRng for InsecureRng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.u32())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.u64())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.fill(out);
        Ok(())
    }
}

impl fmt::Debug for InsecureRng {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InsecureRng").finish_non_exhaustive()
    }
}
