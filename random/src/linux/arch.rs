//! The portable versions of the functions that `x86_64` and `aarch64` implement with instructions
//! of their processors.

mod lock;
mod moves;
mod rseq_area;

pub(crate) use lock::lock;
pub(crate) use moves::{wide, wide as pair};
pub(crate) use rseq_area::{exported, thread_pointer, unentered};

/// Whether the processor reads a number of 32 or 64 bits by one instruction from any address. A
/// fork then finds it either unread or read.
pub(crate) const ONE_LOAD: bool = cfg!(target_arch = "aarch64");

/// Whether the form of the kernel's image is known, and how its functions are called.
pub(crate) const VDSO_IS_KNOWN: bool = false;
