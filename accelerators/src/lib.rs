//! Drivers of an engine with load balancing and failover, and simulated accelerator cards.
//!
//! [`Balanced`] is a [`Driver`](lanecrypt_engine::Driver) that combines several others: each batch
//! goes to the one with the lowest cost, or is divided among them. With migration, sessions move
//! when their driver fails. [`model`] has a driver that takes the time of a card, and computes the
//! size from which a card is faster than software. Both use only the public interface of drivers.
//!
//! # Security
//!
//! - **Keys.** Each member of a [`Balanced`] holds the keys of the sessions that it may serve.
//! - **Timing.** The division of a batch shows in its time. It depends on algorithms, lengths,
//!   numbers and measured times, not on keys or contents.
//! - **Migration** ([`Balanced::with_migration`] only) keeps a copy of each session's key until the
//!   session is dropped, in memory that is locked, excluded from core dumps, and wiped. If no more
//!   memory may be locked, no session is opened. While a session moves, a copy of its key is on the
//!   stack of the moving thread, which wipes it. A child after `fork` has an unlocked copy of the
//!   keys.
//! - **Messages under migration** are copied before a driver other than the software gets them. The
//!   copies are in ordinary memory, and are wiped when the batch is served or has to be moved. A
//!   message without an answer is served again from its copy: the same plaintext under the same
//!   nonce, so the ciphertext is the same.
//! - **Not promised:** a driver that reports success counts as right. Failures that it does not
//!   report go undetected. A failed driver may keep keys and messages.
//! - **[`model`]** is for tests and studies. It runs the software implementation and delays the
//!   result. It holds no RSA key.
//!
//! Migration keeps keys in pages (`mmap`, `mlock`, `madvise`, `munmap`). If a filter of system
//! calls refuses these, a session is refused with `Error::KeyMemory`.

#![forbid(unsafe_code)]

mod balanced;
pub mod model;

pub use balanced::{Balanced, Member, MembersError};
