//! Generators that keep a key and a buffer: their kinds, their places, and the kernel's facilities.

#[cfg_attr(target_arch = "x86_64", path = "linux/x86_64/mod.rs")]
mod arch;
mod core_type;
mod erasing;
mod errno;
mod facilities;
mod fastest;
pub(crate) mod generator;
mod hand_out;
mod held;
mod kernel;
mod local;
mod memlock;
mod methods;
mod mixing;
mod owner;
mod page;
mod per_cpu;
mod per_thread;
mod placed;
mod pool;
mod pool_lock;
mod quiet;
mod rekeying;
mod rseq;
mod shared;
mod single;
mod slab;
mod strict;
#[cfg(feature = "study")]
mod study;
mod table;
mod turn;
mod vdso;
mod volatile;
mod word;
mod words;

pub use self::core_type::{ErasingCore, SeedCore};
pub use self::erasing::Erasing;
pub use self::facilities::{Facilities, facilities};
pub use self::fastest::Fastest;
pub use self::generator::Generator;
pub use self::held::Held;
pub use self::per_cpu::PerCpu;
pub use self::per_thread::PerThread;
pub use self::placed::Placed;
pub use self::rekeying::{Counters, REKEY_INTERVAL, Rekeying, set_rekey_interval};
pub use self::shared::Shared;
pub use self::single::Single;
pub use self::strict::Strict;
#[cfg(feature = "study")]
pub use self::study::{Diagnostic, Inlined};
pub use lanecrypt_kernels::aes::AesCtr;
#[cfg(feature = "legacy")]
pub use lanecrypt_kernels::arc4::Arc4;
pub use lanecrypt_kernels::chacha::ChaCha;
#[cfg(feature = "legacy")]
pub use lanecrypt_kernels::hc128::Hc128;
pub use lanecrypt_kernels::salsa::Salsa;
pub use lanecrypt_kernels::{Isa, Level};

/// What [`rng`](crate::rng) returns: the calling thread's generator.
pub type Rng = PerThread<Erasing>;
