//! ML-KEM-768, the key encapsulation of FIPS 203, for many requests at a time.
//!
//! Two thirds of the work are Keccak, which runs in columns (see `keccak`): the streams of the
//! matrix, hashes and noise of all requests of a call share the permutations. A request that is
//! alone fills the columns with its own nine streams. The arithmetic runs on rows of 32
//! coefficients, one request after the other.
//!
//! Constant time in secret keys, seeds, messages, shared secrets, and in whether a ciphertext is
//! rejected: multiplications, additions, shifts and masks only, no division. The time depends on
//! the seed of the matrix, which is public, and on the number of requests.
//!
//! Callers draw randomness: kernels have none. No function allocates. A call uses at most 36 KiB of
//! stack; secret values in memory are wiped before it returns, except for what the compiler spills
//! (see [`wipe::stack`]).
//!
//! The encapsulation key is checked when it is set up; everything else of it is computed when it is
//! used, side by side with other requests. A decapsulation key keeps the matrix.
//!
//! | level | Keccak | rows |
//! |---|---|---|
//! | `Portable` | one state | arrays |
//! | `Avx2` | four states | two registers of 256 bits |
//! | `Avx512` | eight states, or four for one request | a register of 512 bits |

#[macro_use]
mod kernel;
mod code;
mod ntt;
pub(crate) mod portable;
mod row;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod x86_64;

use core::fmt;

use zeroize::ZeroizeOnDrop;

use self::row::Poly;
use crate::{Isa, Level, wipe};

/// Bytes of an encapsulation key.
pub const ENCAPSULATION_KEY: usize = 1184;
/// Bytes of a decapsulation key in its long form. The short form is the seed.
pub const DECAPSULATION_KEY: usize = 2400;
/// Bytes of a ciphertext.
pub const CIPHERTEXT: usize = 1088;
/// Bytes of a shared secret.
pub const SHARED: usize = 32;
/// Bytes of the seed of a key: d, then z.
pub const SEED: usize = 64;

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::mlkem, $($call)+: Avx512, Avx2, _ => portable) };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// How many states of Keccak run side by side. Calls with as many requests use them well.
#[must_use]
pub const fn lanes(isa: Isa) -> usize {
    if Level::Avx512.is_built() && isa.has(Level::Avx512) {
        8
    } else if Level::Avx2.is_built() && isa.has(Level::Avx2) {
        4
    } else {
        1
    }
}

/// A public key that passed the check of section 7.2: all its coefficients are remainders.
#[derive(Clone, PartialEq, Eq)]
#[repr(transparent)]
pub struct EncapsulationKey([u8; ENCAPSULATION_KEY]);

impl EncapsulationKey {
    /// Checks a key; `None` if a coefficient is not less than the modulus.
    #[must_use]
    pub fn new(bytes: &[u8; ENCAPSULATION_KEY]) -> Option<Self> {
        Self::is_canonical(bytes).then_some(Self(*bytes))
    }

    /// The bytes of the key.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; ENCAPSULATION_KEY] {
        &self.0
    }

    fn is_canonical(bytes: &[u8; ENCAPSULATION_KEY]) -> bool {
        // Two of four coefficients, with room for a carry, which this number makes.
        const EVEN: u64 = 0x000f_ff00_0fff;
        const CARRY: u64 = (4096 - 3329) * 0x0100_0001;
        let mut carries = 0;
        for i in 0..192 {
            // Behind the coefficients, there are other bytes.
            let four = bytes[6 * i..].first_chunk().expect("eight of 1184 bytes");
            let four = u64::from_le_bytes(*four);
            carries |= ((four & EVEN) + CARRY) | ((four >> 12 & EVEN) + CARRY);
        }
        carries & !EVEN == 0
    }
}

impl fmt::Debug for EncapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKey").finish_non_exhaustive()
    }
}

/// A secret key, expanded, with its encapsulation key and the matrix of both: 7.3 KiB. It is wiped
/// on drop.
///
/// Keys are set up in place, so that no copies of secrets are left where a key is moved from.
#[derive(Clone)]
pub struct DecapsulationKey {
    /// The matrix, row by row.
    matrix: [Poly; 9],
    /// The secret vector, transformed.
    secret: [Poly; 3],
    public: EncapsulationKey,
    /// The hash of the encapsulation key.
    hash: [u8; 32],
    /// z: what secrets of rejected ciphertexts are computed from.
    rejection: [u8; 32],
    /// d, if it is known.
    seed: [u8; 32],
    has_seed: bool,
}

impl DecapsulationKey {
    /// A place for a key. Until one is set up there, it decapsulates to numbers without meaning.
    #[must_use]
    pub const fn empty() -> Self {
        Self {
            matrix: [Poly::ZERO; 9],
            secret: [Poly::ZERO; 3],
            public: EncapsulationKey([0; ENCAPSULATION_KEY]),
            hash: [0; 32],
            rejection: [0; 32],
            seed: [0; 32],
            has_seed: false,
        }
    }

    /// Sets up the key of a seed, as [`generate`] does for many.
    pub fn set_seed(&mut self, isa: Isa, seed: &[u8; SEED]) {
        generate(isa, &[seed], core::slice::from_mut(self));
    }

    /// Sets up a key from its long form. `false` if the hash in it is not that of its encapsulation
    /// key (section 7.3), or if that key is none; it means nothing then.
    #[must_use]
    pub fn set_bytes(&mut self, isa: Isa, bytes: &[u8; DECAPSULATION_KEY]) -> bool {
        let key = self;
        best!(isa, import(bytes, key))
    }

    /// Writes the seed, if the key was set up from one, else nothing; whether it was.
    #[must_use]
    pub fn copy_seed(&self, seed: &mut [u8; SEED]) -> bool {
        if self.has_seed {
            let (d, z) = seed.split_at_mut(32);
            d.copy_from_slice(&self.seed);
            z.copy_from_slice(&self.rejection);
        }
        self.has_seed
    }

    /// Writes the long form.
    pub fn copy_bytes(&self, isa: Isa, bytes: &mut [u8; DECAPSULATION_KEY]) {
        let key = self;
        best!(isa, export(key, bytes));
    }

    /// The encapsulation key.
    #[must_use]
    pub const fn encapsulation_key(&self) -> &EncapsulationKey {
        &self.public
    }
}

impl fmt::Debug for DecapsulationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecapsulationKey").finish_non_exhaustive()
    }
}

impl Drop for DecapsulationKey {
    fn drop(&mut self) {
        self.secret.iter_mut().for_each(steps::wipe_poly);
        wipe::memory(&mut self.rejection);
        wipe::memory(&mut self.seed);
    }
}

impl ZeroizeOnDrop for DecapsulationKey {}

/// An encapsulation: a new shared secret for the owner of a key.
#[expect(clippy::exhaustive_structs, reason = "whoever has a batch makes it, field by field")]
#[derive(Clone, Copy)]
pub struct Encapsulation<'a> {
    /// Whom it is for.
    pub key: &'a EncapsulationKey,
    /// Random bytes, which are used once.
    pub randomness: &'a [u8; 32],
}

impl fmt::Debug for Encapsulation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encapsulation").field("key", self.key).finish_non_exhaustive()
    }
}

/// A decapsulation.
#[expect(clippy::exhaustive_structs, reason = "whoever has a batch makes it, field by field")]
#[derive(Clone, Copy, Debug)]
pub struct Decapsulation<'a> {
    /// The key.
    pub key: &'a DecapsulationKey,
    /// What was received.
    pub ciphertext: &'a [u8; CIPHERTEXT],
}

/// Sets up a key for each seed, which is 64 random bytes.
///
/// # Panics
///
/// If there are not as many keys as seeds.
pub fn generate(isa: Isa, seeds: &[&[u8; SEED]], keys: &mut [DecapsulationKey]) {
    assert_eq!(seeds.len(), keys.len(), "a key for each seed");
    best!(isa, generate(seeds, keys));
}

/// Computes a ciphertext and a shared secret for each job.
///
/// # Panics
///
/// If there are not as many ciphertexts and secrets as jobs.
pub fn encapsulate(
    isa: Isa,
    jobs: &[Encapsulation<'_>],
    ciphertexts: &mut [[u8; CIPHERTEXT]],
    secrets: &mut [[u8; SHARED]],
) {
    assert_eq!(jobs.len(), ciphertexts.len(), "a ciphertext for each job");
    assert_eq!(jobs.len(), secrets.len(), "a secret for each job");
    best!(isa, encapsulate(jobs, ciphertexts, secrets));
}

/// Computes the shared secret of each job.
///
/// A ciphertext that was not made for the key gives a secret that nobody else knows. Neither the
/// result nor the time reveals it.
///
/// # Panics
///
/// If there are not as many secrets as jobs.
pub fn decapsulate(isa: Isa, jobs: &[Decapsulation<'_>], secrets: &mut [[u8; SHARED]]) {
    assert_eq!(jobs.len(), secrets.len(), "a secret for each job");
    best!(isa, decapsulate(jobs, secrets));
}
