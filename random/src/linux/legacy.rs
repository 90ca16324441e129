//! Old stream ciphers, for comparison.

use core::ffi::c_void;
use core::ptr::null_mut;

use lanecrypt_kernels::{Isa, StreamCore};
pub use lanecrypt_kernels_legacy::arc4::Arc4;
pub use lanecrypt_kernels_legacy::hc128::Hc128;
pub use lanecrypt_kernels_legacy::salsa::Salsa;

use crate::linux::core_type::{ErasingCore, SALSA_STACK, SeedCore, halves};
use crate::linux::erasing::Erasing;
use crate::linux::local::Local;
use crate::linux::published::Published;
use crate::linux::rekeying::Rekeying;
use crate::linux::static_generator::{StaticGenerator, Statics};
#[cfg(feature = "study")]
use crate::linux::study::{Diagnostic, Inlined};
use crate::linux::table::Table;
use crate::sync::AtomicPtr;

salsa_family!(Salsa);

/// A generator of 128-bit strength. Not constant time: it indexes tables by secrets.
// SAFETY: numbers only; those that index tables are masked.
unsafe impl SeedCore for Hc128 {
    #[inline]
    fn stack(_isa: Isa) -> usize {
        12_288
    }

    /// The seed is the key and the nonce.
    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        let [key, nonce] = halves(seed);
        Self::new(isa, key, nonce)
    }
}

/// Broken: its output can be distinguished from random bytes. For comparison only.
// SAFETY: numbers only; those that index the table are masked.
unsafe impl SeedCore for Arc4 {
    #[inline]
    fn stack(_isa: Isa) -> usize {
        2048
    }

    /// The seed is the key. The first 3,072 bytes, which have the strongest bias, are dropped
    /// (Mironov, "(Not So) Random Shuffles of RC4", 2002).
    #[inline]
    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        let mut core = Self::new(isa, &seed.into(), &());
        core.discard(3072);
        core
    }
}

static_generator!(
    Erasing<Salsa<8>>,
    Erasing<Salsa<12>>,
    Erasing<Salsa<20>>,
    Rekeying<Salsa<8>>,
    Rekeying<Salsa<12>>,
    Rekeying<Salsa<20>>,
    Rekeying<Arc4>,
    Rekeying<Hc128>,
);

#[cfg(feature = "study")]
static_generator!(Diagnostic<Rekeying<Hc128>>, Inlined<Hc128>);
