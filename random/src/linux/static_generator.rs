//! The statics behind the placements that belong to the process: one set for each kind of
//! generator.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::thread::LocalKey;

use lanecrypt_kernels::aes::AesCtr;
use lanecrypt_kernels::chacha::ChaCha;

use crate::linux::erasing::Erasing;
use crate::linux::fastest::Fastest;
use crate::linux::generator::Generator;
use crate::linux::local::Local;
use crate::linux::published::Published;
use crate::linux::rekeying::Rekeying;
use crate::linux::table::Table;
use crate::sync::AtomicPtr;

/// A generator that every thread and every processor can have. Other crates cannot add one.
#[expect(
    private_interfaces,
    reason = "where the state of the process lies is this crate's business"
)]
pub trait StaticGenerator: Generator {
    /// The static data of this kind.
    #[doc(hidden)]
    fn statics() -> Statics<Self>;
}

/// The static data of one kind.
pub(crate) struct Statics<G: 'static> {
    /// The calling thread's generator.
    pub(crate) local: &'static LocalKey<Local<G>>,
    /// The key of thread-specific data for this kind, plus one, as an address.
    pub(crate) exit_key: &'static Published<c_void>,
    /// The processors' generators.
    pub(crate) table: &'static Table<G>,
}

macro_rules! static_generator {
    ($($kind:ty),* $(,)?) => {$(
        #[expect(private_interfaces, reason = "as for the trait")]
        impl StaticGenerator for $kind {
            #[inline(always)]
            fn statics() -> Statics<Self> {
                std::thread_local!(static LOCAL: Local<$kind> = const { Local::new() });
                static EXIT_KEY: Published<c_void> = Published(AtomicPtr::new(null_mut()));
                static TABLE: Table<$kind> = Table::new();
                Statics { local: &LOCAL, exit_key: &EXIT_KEY, table: &TABLE }
            }
        }
    )*};
}

static_generator!(
    Erasing<Fastest>,
    Erasing<ChaCha<8>>,
    Erasing<ChaCha<12>>,
    Erasing<ChaCha<20>>,
    Erasing<AesCtr<128>>,
    Erasing<AesCtr<256>>,
    Rekeying<ChaCha<8>>,
    Rekeying<ChaCha<12>>,
    Rekeying<ChaCha<20>>,
    Rekeying<AesCtr<128>>,
    Rekeying<AesCtr<256>>,
);
