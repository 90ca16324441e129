//! The statics behind the placements that belong to the process: one set for each kind of generator.

use core::sync::atomic::AtomicU32;
use std::thread::LocalKey;

use lanecrypt_kernels::aes::AesCtr;
#[cfg(feature = "legacy")]
use lanecrypt_kernels::arc4::Arc4;
use lanecrypt_kernels::chacha::ChaCha;
#[cfg(feature = "legacy")]
use lanecrypt_kernels::hc128::Hc128;
use lanecrypt_kernels::salsa::Salsa;

use crate::erasing::Erasing;
use crate::fastest::Fastest;
use crate::generator::Generator;
#[cfg(feature = "legacy")]
use crate::legacy::{Diagnostic, Inlined};
use crate::per_thread::Local;
use crate::rekeying::Rekeying;
use crate::rseq::Table;

/// A generator that every thread and every processor can have one of.
#[expect(private_bounds, reason = "where the state of the process lies is this crate's business")]
pub trait Placed: Generator + Statics {}

pub(crate) trait Statics {
    /// The calling thread's generator of this kind.
    fn local() -> &'static LocalKey<Local>;

    /// The key of thread-specific data for this kind, plus one; zero before it was made.
    fn exit_key() -> &'static AtomicU32;

    /// The processors' generators of this kind.
    fn table() -> &'static Table;
}

macro_rules! placed {
    ($($kind:ty),* $(,)?) => {$(
        impl Placed for $kind {}

        impl Statics for $kind {
            #[inline(always)]
            fn local() -> &'static LocalKey<Local> {
                std::thread_local!(static LOCAL: Local = const { Local::new() });
                &LOCAL
            }

            fn exit_key() -> &'static AtomicU32 {
                static KEY: AtomicU32 = AtomicU32::new(0);
                &KEY
            }

            #[inline(always)]
            fn table() -> &'static Table {
                static TABLE: Table = Table::new();
                &TABLE
            }
        }
    )*};
}

placed!(
    Erasing<Fastest>,
    Erasing<ChaCha<8>>,
    Erasing<ChaCha<12>>,
    Erasing<ChaCha<20>>,
    Erasing<Salsa<8>>,
    Erasing<Salsa<12>>,
    Erasing<Salsa<20>>,
    Erasing<AesCtr<128>>,
    Erasing<AesCtr<256>>,
    Rekeying<ChaCha<8>>,
    Rekeying<ChaCha<12>>,
    Rekeying<ChaCha<20>>,
    Rekeying<Salsa<8>>,
    Rekeying<Salsa<12>>,
    Rekeying<Salsa<20>>,
    Rekeying<AesCtr<128>>,
    Rekeying<AesCtr<256>>,
);

#[cfg(feature = "legacy")]
placed!(Rekeying<Arc4>, Rekeying<Hc128>, Diagnostic<Rekeying<Hc128>>, Inlined<Hc128>,);
