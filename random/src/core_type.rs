//! Which stream cores can drive a generator.

use lanecrypt_kernels::aes::AesCtr;
use lanecrypt_kernels::chacha::ChaCha;
use lanecrypt_kernels::{Isa, StreamCore};

/// A stream core that fast key erasure can run on: keyed by 32 bytes, one key a refill.
///
/// Its keystream must not reveal its key; every core here is a cipher of 256-bit strength.
pub trait SeedCore: StreamCore {
    /// Bytes of stack that keying it and making up to 16 KiB of keystream use at most, on any
    /// instruction set; they are wiped after each refill. Longer requests may use 8 KiB.
    const STACK: usize;

    /// A core keyed by `seed`, with an all-zero nonce: each seed is used once.
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self;
}

impl<const ROUNDS: usize> SeedCore for ChaCha<ROUNDS> {
    const STACK: usize = 4096;

    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        Self::new(isa, &seed.into(), &[0; 8])
    }
}

impl SeedCore for AesCtr<256> {
    // Debug builds inline less.
    const STACK: usize = if cfg!(debug_assertions) { 8192 } else { 2048 };

    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        Self::new(isa, seed, &[0; 16])
    }
}
