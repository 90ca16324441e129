//! Random numbers: as fast as the fast generators, as safe as the safe ones.
//!
//! ```
//! let mut key = [0; 32];
//! lanecrypt_random::fill(&mut key);
//! let die: u8 = lanecrypt_random::range(1..=6);
//! let id: [u8; 16] = lanecrypt_random::bytes();
//! # assert!((1..=6).contains(&die) && id != [0; 16]);
//! ```
//!
//! Each thread has a generator of its own, found without a lock or a system call. It uses *fast key
//! erasure*: every refill of its 8 KiB buffer replaces the key first, and every byte is wiped
//! as it leaves, so that nothing in memory tells what was given out before. The state lives in a
//! page that the kernel empties in a forked child: what parent and child draw differs, and
//! noticing takes no system call.
//!
//! Kernel bytes go into every key: at least every 64 KiB and every second of use those of a system
//! call, else those of the vDSO (Linux 6.11), whose generator keeps its key in the memory of the
//! process. So whoever read that memory once knows the bytes that were buffered, at most 8,096, and
//! loses track within 64 KiB or a second.
//!
//! A signal that interrupts the making of keys and bytes leaves them in its frame, on whichever
//! stack; these are thrown away then, and others are made with signals blocked.
//!
//! All functions may be called in signal handlers, if they have 16 KiB of stack (64 KiB without
//! optimisation), and in destructors of thread-local values. They leave `errno` as it was.
//! When the kernel has no randomness to seed from, [`try_fill`] returns an error; the functions
//! that return plain numbers print one line and abort: nothing weak is ever returned.
//!
//! A generator has a kind, which says how its bytes are made, and a place, which says where its
//! state lives. Without a parameter the core is [`Fastest`]: AES-256-CTR where the processor has
//! instructions for AES, ChaCha20 elsewhere; `PerThread<Erasing<ChaCha<20>>>` names one.
//!
//! | kind | |
//! |---|---|
//! | [`Erasing`] | fast key erasure; what programs should use |
//! | [`Rekeying`] | NetBSD's `cprng_fast`: one cipher state that runs on for 512 MiB |
//!
//! | place | |
//! |---|---|
//! | [`PerThread`] | the default: a generator for each thread |
//! | [`PerCpu`] | one for each processor, for programs of very many threads |
//! | [`Held`] | in the hands of its user, who saves the look-up |
//! | [`Single`] | the same through a shared reference, for one thread |
//! | [`Shared`] | one behind a lock |
//!
//! # Not promised
//!
//! A copy of a running process or virtual machine repeats what its threads had buffered, and goes
//! on alike until the next system call's bytes come in, within 64 KiB or a second; copies of a
//! machine until their kernels have noticed. [`strict`] asks the kernel at every request instead. A
//! signal handler that forks when the draw that it interrupts is all but over leaves parent and
//! child with the same bytes. A process that shares its memory with its parent without being a
//! thread (`clone` with `CLONE_VM` but without a thread area of its own) must not draw at the same
//! time as the parent. A program that was linked with glibc 2.35 or later needs that version to
//! run. Bytes of a request that a signal interrupts while they are copied stay in the signal's
//! frame.

mod bytes;
mod core_type;
mod erasing;
mod errno;
mod error;
mod facilities;
mod fastest;
mod generator;
mod hand_out;
mod held;
mod kernel;
mod memlock;
mod mixing;
mod owner;
mod page;
mod per_cpu;
mod per_thread;
mod placed;
mod pool;
mod quiet;
mod range;
mod rekeying;
mod rng;
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

pub use bytes::bytes;
pub use core_type::{ErasingCore, SeedCore};
pub use erasing::Erasing;
pub use error::EntropyError;
pub use facilities::{Facilities, facilities};
pub use fastest::Fastest;
pub use generator::Generator;
pub use held::Held;
pub use lanecrypt_kernels::aes::AesCtr;
#[cfg(feature = "legacy")]
pub use lanecrypt_kernels::arc4::Arc4;
pub use lanecrypt_kernels::chacha::ChaCha;
#[cfg(feature = "legacy")]
pub use lanecrypt_kernels::hc128::Hc128;
pub use lanecrypt_kernels::salsa::Salsa;
pub use lanecrypt_kernels::{Isa, Level};
pub use per_cpu::PerCpu;
pub use per_thread::PerThread;
pub use placed::Placed;
pub use range::Uniform;
pub use rekeying::{Counters, REKEY_INTERVAL, Rekeying, set_rekey_interval};
pub use shared::Shared;
pub use single::Single;
pub use strict::Strict;
#[cfg(feature = "study")]
pub use study::{Diagnostic, Inlined};

use core::mem::MaybeUninit;
use core::ops::RangeBounds;

/// Fills `out` with random bytes.
///
/// Aborts the process, after one line on standard error, when the kernel cannot seed the
/// generator; see [`try_fill`].
#[inline]
pub fn fill(out: &mut [u8]) {
    PerThread::<Erasing>::fill(out);
}

/// Fills `out` with random bytes, or says why it cannot.
///
/// # Errors
///
/// [`EntropyError`] when the kernel gives no random bytes. `out` may be partly filled then and must
/// not be used.
#[inline]
pub fn try_fill(out: &mut [u8]) -> Result<(), EntropyError> {
    PerThread::<Erasing>::try_fill(out)
}

/// Fills memory that need not be initialised and returns it. Aborts like [`fill`].
///
/// It is set to zero first, because the kernels of the ciphers take initialised memory only: that
/// costs what `[0; N]` does.
#[inline]
pub fn fill_uninit(out: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    out.fill(MaybeUninit::new(0));
    // SAFETY: every byte was initialised above, and `u8` has the layout of its `MaybeUninit`.
    let out = unsafe { &mut *(core::ptr::from_mut(out) as *mut [u8]) };
    fill(out);
    out
}

/// A random 32-bit number. Aborts like [`fill`].
#[inline]
#[must_use]
pub fn u32() -> u32 {
    PerThread::<Erasing>::u32()
}

/// A random 64-bit number. Aborts like [`fill`].
#[inline]
#[must_use]
pub fn u64() -> u64 {
    PerThread::<Erasing>::u64()
}

/// A random integer of `range`, each with the same probability. Aborts like [`fill`].
///
/// # Panics
///
/// Panics if the range is empty, as indexing a slice out of bounds does.
#[inline]
#[must_use]
pub fn range<T: Uniform>(range: impl RangeBounds<T>) -> T {
    range::sample(range, u32, u64).expect("the range must not be empty")
}

/// The calling thread's generator as a value, for code that takes `rand_core` traits.
///
/// It holds nothing: each request finds the generator of the thread that makes it.
#[inline]
#[must_use]
pub const fn rng() -> PerThread {
    PerThread::new()
}

/// The calling thread's generator with kernel bytes mixed into every single request.
///
/// For programs that may be snapshotted or cloned at any instant; a request costs a system call.
#[inline]
#[must_use]
pub const fn strict() -> Strict {
    PerThread::new().strict()
}
