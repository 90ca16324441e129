//! What is on x86-64 only, or something else on other processors.

pub mod clock;
pub mod depth;
pub mod on_stack;
#[cfg(feature = "ciphers")]
pub mod residue;

/// The first expression on x86-64, and the second on other processors. Names in the one that is
/// not taken need not exist.
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! on_x86_64 {
    ($here:expr, $elsewhere:expr) => {
        $here
    };
}

#[cfg(not(target_arch = "x86_64"))]
#[macro_export]
macro_rules! on_x86_64 {
    ($here:expr, $elsewhere:expr) => {
        $elsewhere
    };
}
