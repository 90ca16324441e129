//! The stream cores that can drive a generator.

use lanecrypt_kernels::aes::AesCtr;
use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, StreamCore};

/// A stream core that can drive a generator. Its key has 32 bytes.
///
/// # Safety
///
/// The core is in memory that a fork may empty at any moment, and it moves between threads with its
/// generator. Therefore:
///
/// - All bytes zero is a value of the type at any moment, even in the middle of a method.
/// - It may be sent to another thread.
/// - It owns nothing outside of itself, because it is overwritten and wiped, never dropped.
/// - Its methods do not draw from a generator and do not panic.
pub unsafe trait SeedCore: StreamCore {
    /// The most bytes of stack that are used on processors of this level to set the key and make up
    /// to 16 KiB of keystream. They are wiped after each refill. Longer requests may use 8 KiB if
    /// that is more.
    fn stack(isa: Isa) -> usize;

    /// A core with the key `seed`. Each seed is used once.
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self;
}

/// A core for fast key erasure: a new key at each refill costs little, and the keystream does not
/// reveal its key.
pub trait ErasingCore: SeedCore {}

/// A core of the Salsa20 family, with any number of rounds.
macro_rules! salsa_family {
    ($core:ident) => {
        // SAFETY: numbers only, which are used as numbers only.
        unsafe impl<const ROUNDS: usize> SeedCore for $core<ROUNDS> {
            #[inline]
            fn stack(_isa: Isa) -> usize {
                SALSA_STACK
            }

            /// The seed is the key; the nonce is zero.
            #[inline]
            fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
                Self::new(isa, &seed.into(), &[0; 8])
            }
        }

        impl<const ROUNDS: usize> ErasingCore for $core<ROUNDS> {}
    };
}

salsa_family!(ChaCha);

/// Debug builds inline less.
pub(super) const SALSA_STACK: usize = if cfg!(debug_assertions) { 8192 } else { 4096 };

/// Without AES instructions round keys are unpacked on the stack.
#[inline]
fn aes_stack(isa: Isa) -> usize {
    if cfg!(debug_assertions) {
        12_288
    } else if isa.has_aes() {
        2048
    } else {
        8192
    }
}

// SAFETY: numbers only, which are used as numbers only.
unsafe impl SeedCore for AesCtr<256> {
    #[inline]
    fn stack(isa: Isa) -> usize {
        aes_stack(isa)
    }

    /// The seed is the key; the counter begins at zero.
    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        Self::new(isa, seed, &[0; 16])
    }
}

impl ErasingCore for AesCtr<256> {}

/// A generator with the strength of AES-128.
// SAFETY: numbers only, which are used as numbers only.
unsafe impl SeedCore for AesCtr<128> {
    #[inline]
    fn stack(isa: Isa) -> usize {
        aes_stack(isa)
    }

    /// The seed is the key and the first counter block.
    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        let [key, counter] = halves(seed);
        Self::new(isa, key, counter)
    }
}

impl ErasingCore for AesCtr<128> {}

/// The two halves of a seed.
pub(super) fn halves(seed: &[u8; 32]) -> [&[u8; 16]; 2] {
    let (halves, _) = seed.as_chunks();
    [&halves[0], &halves[1]]
}
