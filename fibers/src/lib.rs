//! Closures that wait for operations together, so that the operations are processed in batches.
//!
//! A library that computes something expensive deep inside of another library's call, such as the
//! signature of a handshake, cannot collect such computations: the call returns only when its
//! result is there. [`Pool::run`] takes several closures. Each runs on a stack of its own until it
//! returns, or until it calls [`wait`] with a job, somewhere below. When no closure can continue,
//! all jobs are passed to one function as a slice, and each closure continues with its own job.
//!
//! ```
//! use core::convert::Infallible;
//! use lanecrypt_fibers::{Current, Pool, wait};
//!
//! thread_local! {
//!     static CURRENT: Current<u64> = const { Current::new() };
//! }
//!
//! /// Called by code that knows nothing of pools.
//! fn square(number: u64) -> u64 {
//!     // Outside of a pool, the job comes back as it is.
//!     wait(&CURRENT, number).unwrap_or_else(|number| number * number)
//! }
//!
//! let mut pool = Pool::new(&CURRENT);
//! let closures = [2, 3, 4].map(|number| move || square(number) + 1);
//! // All three numbers come at once.
//! let results = pool.run(closures, |jobs| jobs.iter_mut().for_each(|job| *job *= *job));
//! assert_eq!(results, [5, 10, 17]);
//! assert_eq!(square(5), 25);
//! ```
//!
//! There are no timers and no threads. A single closure runs on the caller's stack, and its jobs
//! are not collected.
//!
//! # What closures must not do
//!
//! All closures of a call share the thread. A closure that waits while it holds a lock blocks the
//! thread forever if another closure takes the same lock.
//!
//! # Stacks
//!
//! A pool has at most [`Pool::AT_ONCE`] stacks of [`Pool::STACK_SIZE`] bytes, which are made at
//! first use and kept. The system gives them memory page by page, as it is used. Below each is a
//! page without access, so that a closure with too deep a stack ends the process.
//!
//! # Platforms
//!
//! Stacks are those of the crate `corosensei`, on x86-64 (Unix, Windows) and AArch64 (Unix).
//! Elsewhere, closures run one after the other on the caller's stack, and [`wait`] returns each job
//! at once.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod in_turn;
mod outcomes;
mod stacks;

#[cfg(not(all(
    not(miri),
    any(all(target_arch = "x86_64", any(unix, windows)), all(target_arch = "aarch64", unix))
)))]
pub use in_turn::{Current, Pool, is_waiting_possible, wait};
#[cfg(all(
    not(miri),
    any(all(target_arch = "x86_64", any(unix, windows)), all(target_arch = "aarch64", unix))
))]
pub use stacks::{Current, Pool, is_waiting_possible, wait};
