//! Generators that keep a key and a buffer: their kinds, their places, and the kernel's
//! capabilities.

#[cfg_attr(target_arch = "x86_64", path = "linux/x86_64/mod.rs")]
#[cfg_attr(
    all(target_arch = "aarch64", target_pointer_width = "64"),
    path = "linux/aarch64/mod.rs"
)]
mod arch;
#[macro_use]
mod core_type;
mod capabilities;
mod copy_and_wipe;
mod erasing;
mod errno;
mod fastest;
pub(crate) mod generator;
mod kernel;
mod local;
mod lock_word;
mod memlock;
mod methods;
mod mixing;
mod owned;
mod owner;
mod page;
mod per_cpu;
mod per_thread;
#[macro_use]
mod static_generator;
mod page_guard;
mod pool;
mod pool_lock;
mod published;
mod rekeying;
mod rseq;
mod rseq_area;
mod rseq_watch;
mod shared;
mod single_thread;
mod slab;
mod strict;
mod table;
mod vdso;
mod volatile;
mod word;
mod words;

#[cfg(feature = "legacy")]
mod legacy;
#[cfg(feature = "study")]
mod study;

pub use self::capabilities::{Capabilities, capabilities};
pub use self::core_type::{ErasingCore, SeedCore};
pub use self::erasing::Erasing;
pub use self::fastest::Fastest;
pub use self::generator::Generator;
#[cfg(feature = "legacy")]
pub use self::legacy::{Arc4, Hc128, Salsa};
pub use self::owned::Owned;
pub use self::per_cpu::PerCpu;
pub use self::per_thread::PerThread;
pub use self::rekeying::{Counters, REKEY_INTERVAL, Rekeying, set_rekey_interval};
pub use self::shared::Shared;
pub use self::single_thread::SingleThread;
pub use self::static_generator::StaticGenerator;
pub use self::strict::Strict;
#[cfg(feature = "study")]
pub use self::study::{Diagnostic, Inlined};
pub use lanecrypt_kernels::aes::AesCtr;
pub use lanecrypt_kernels::chacha::ChaCha;
pub use lanecrypt_kernels::{Isa, Level};

/// The type that [`rng`](crate::rng) returns: the calling thread's generator.
pub type Rng = PerThread<Erasing>;
