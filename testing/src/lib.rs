//! What the tests of several crates share, and fuzz targets with them. It is not published.

#[cfg(feature = "ciphers")]
pub mod aeads;
#[cfg(feature = "engine")]
pub mod batches;
pub mod counting;
#[cfg(target_arch = "x86_64")]
pub mod depth;
#[cfg(unix)]
pub mod harness;
#[cfg(feature = "rsa")]
pub mod key_der;
mod levels;
pub mod numbers;
#[cfg(target_arch = "x86_64")]
pub mod on_stack;
#[cfg(feature = "ciphers")]
pub mod property;
#[cfg(all(feature = "ciphers", target_arch = "x86_64"))]
pub mod remains;
#[cfg(target_os = "linux")]
pub mod seccomp;
#[cfg(target_os = "linux")]
pub mod sys;
#[cfg(feature = "ciphers")]
pub mod vectors;

pub use levels::levels;
