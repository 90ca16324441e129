//! Functions that use instructions of AArch64; `arch` has the portable versions.

#[path = "../arch/lock.rs"]
mod lock;
mod moves;
#[path = "../arch/rseq_area.rs"]
mod rseq_area;

pub(crate) use lock::lock;
pub(crate) use moves::{pair, wide};
pub(crate) use rseq_area::{Area, offset};

/// As in `arch`.
pub(crate) const ONE_LOAD: bool = true;
/// As in `arch`.
pub(crate) const VDSO_IS_KNOWN: bool = true;
