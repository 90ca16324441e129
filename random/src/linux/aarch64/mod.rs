//! Functions that use instructions of AArch64; `arch` has the portable versions.

mod lock;
mod moves;
mod rseq_area;

pub(crate) use lock::lock;
pub(crate) use moves::{pair, wide};
pub(crate) use rseq_area::{exported, thread_pointer, unentered};

/// As in `arch`.
pub(crate) const ONE_LOAD: bool = true;
/// As in `arch`.
pub(crate) const VDSO_IS_KNOWN: bool = true;
