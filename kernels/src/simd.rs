//! Vector registers: loads and stores between arrays and registers, and empty assembly that hides
//! values from the optimiser.

mod aarch64;
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use self::aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use self::x86_64::*;
