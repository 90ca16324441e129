//! Functions that use instructions of x86-64; `arch` has the portable versions.

#[cfg_attr(not(target_pointer_width = "64"), path = "../arch/lock.rs")]
mod lock;
mod moves;
#[cfg_attr(not(target_pointer_width = "64"), path = "../arch/rseq_area.rs")]
mod rseq_area;

pub(crate) use lock::lock;
pub(crate) use moves::{by_vectors, pair, wide};
pub(crate) use rseq_area::{exported, thread_pointer, unentered};

/// As in `arch`.
pub(crate) const ONE_LOAD: bool = true;
/// As in `arch`.
pub(crate) const VDSO_IS_KNOWN: bool = cfg!(target_pointer_width = "64");
