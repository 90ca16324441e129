//! Random numbers: as fast as the fastest generators, as safe as the safest ones.
//!
//! ```
//! let mut key = [0; 32];
//! lanecrypt_random::fill(&mut key);
//! let die: u8 = lanecrypt_random::range(1..=6);
//! let id: [u8; 16] = lanecrypt_random::bytes();
//! # assert!((1..=6).contains(&die) && id != [0; 16]);
//! ```
//!
//! Each thread has its own generator, which it finds without a lock or a system call. The generator
//! uses *fast key erasure*: every refill of its 8 KiB buffer first replaces the key, and every byte
//! is wiped as it is handed out. So the memory does not reveal earlier output. The state is in a
//! page that the kernel empties in a forked child. Parent and child therefore draw different bytes,
//! and detecting a fork takes no system call.
//!
//! Kernel bytes are mixed into every key. At least every 64 KiB and every second of use they are
//! from a system call, otherwise from the vDSO (Linux 6.11), whose generator keeps its key in the
//! memory of the process. So an attacker with one copy of that memory can compute the buffered
//! bytes, at most 8,096, and all output until the next system call, within 64 KiB or a second.
//!
//! A signal that interrupts the generation of keys and bytes saves them in its frame on a stack.
//! These keys and bytes are discarded, and others are generated with signals blocked.
//!
//! All functions may be called in signal handlers that have 16 KiB of stack (64 KiB without
//! optimisation), and in destructors of thread-local values. They preserve `errno`. If the kernel
//! has no randomness for a seed, [`try_fill`] returns an error. Functions that return plain numbers
//! then print one line and abort. Weak bytes are never returned.
//!
//! A generator has a kind, which defines how its bytes are computed, and a place, which defines
//! where its state is: `PerThread<Erasing<ChaCha<20>>>`. The default core is [`Fastest`]:
//! AES-256-CTR if the processor has AES instructions, otherwise ChaCha20.
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
//! | [`Owned`] | a value of its user, without a look-up |
//! | [`SingleThread`] | the same through a shared reference, for one thread |
//! | [`Shared`] | one behind a lock |
//!
//! [`InsecureRng`] returns reproducible numbers for simulations. It is not for secrets.
//!
//! Generators implement the traits of [`rand_core`] 0.10, with the features `rand_core_09` and
//! `rand_core_06` also those of older versions, which `rand` 0.9 and 0.8 require. With the feature
//! `getrandom_backend` the crates `getrandom` 0.3 and 0.4 use this crate.
//!
//! # Other systems than Linux
//!
//! Every request is passed to the generator of the system, by the crate `getrandom`. Nothing is
//! buffered: detecting forks and signals requires Linux. All functions are available; the
//! generators above are not. In a browser (`wasm32-unknown-unknown`) the feature `wasm_js` is
//! needed.
//!
#![doc = include_str!("security.md")]

mod bytes;
mod error;
#[cfg(all(feature = "getrandom_backend", target_os = "linux"))]
mod getrandom_backend;
mod insecure;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other_os;
mod range;
mod rng;
#[cfg(target_os = "linux")]
mod sync;

pub use bytes::bytes;
pub use error::EntropyError;
pub use insecure::InsecureRng;
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use other_os::{Rng, Strict};
pub use rand_core;
pub use range::Uniform;

use core::mem::MaybeUninit;
use core::ops::RangeBounds;

/// Fills `out` with random bytes.
///
/// Aborts the process, after one line on standard error, if the kernel cannot seed the generator;
/// see [`try_fill`].
#[inline]
pub fn fill(out: &mut [u8]) {
    Rng::fill(out);
}

/// Fills `out` with random bytes, or returns an error.
///
/// # Errors
///
/// [`EntropyError`] if the kernel gives no random bytes. `out` may then be partly filled and must
/// not be used.
#[inline]
pub fn try_fill(out: &mut [u8]) -> Result<(), EntropyError> {
    Rng::try_fill(out)
}

/// Fills memory that may be uninitialised, and returns it. Aborts like [`fill`].
///
/// The memory is first set to zero, because the kernels of the ciphers take only initialised
/// memory. This costs as much as `[0; N]`.
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
    Rng::u32()
}

/// A random 64-bit number. Aborts like [`fill`].
#[inline]
#[must_use]
pub fn u64() -> u64 {
    Rng::u64()
}

/// A random integer of `range`, all with the same probability. Aborts like [`fill`].
///
/// # Panics
///
/// Panics if the range is empty, as indexing a slice out of bounds does.
#[inline]
#[must_use]
pub fn range<T: Uniform>(range: impl RangeBounds<T>) -> T {
    range::sample(range, &mut (), |()| u32(), |()| u64()).expect("the range must not be empty")
}

/// The calling thread's generator as a value, for code that takes `rand_core` traits.
///
/// The value is empty: each request finds the generator of the thread that makes it.
#[inline]
#[must_use]
pub const fn rng() -> Rng {
    Rng::new()
}

/// The calling thread's generator, with kernel bytes mixed into every request.
///
/// For programs that may be snapshotted or cloned at any moment. Each request costs a system call.
#[inline]
#[must_use]
pub const fn strict() -> Strict {
    Rng::new().strict()
}
