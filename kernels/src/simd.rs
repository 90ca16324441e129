//! Vector registers: loads and stores between arrays and registers, and empty assembly that hides
//! values from the optimiser.

mod aarch64;
mod blocks;
mod parts;
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use self::aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use self::x86_64::*;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use self::{blocks::*, parts::*};
/// There is one way to load and to store a part.
#[cfg(target_arch = "aarch64")]
pub use self::{load_part as load128_part, store_part as store128_part};
