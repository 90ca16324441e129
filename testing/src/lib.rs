//! What the tests of several crates share, and fuzz targets with them. It is not published.

#[cfg(feature = "ciphers")]
pub mod aeads;
#[cfg(feature = "engine")]
pub mod batches;
pub mod counting;
#[cfg(all(feature = "device", target_os = "linux"))]
pub mod device;
pub mod fixtures;
#[cfg(unix)]
pub mod harness;
pub mod keeper;
#[cfg(feature = "rsa")]
pub mod key_der;
mod levels;
pub mod numbers;
#[cfg(feature = "ciphers")]
pub mod property;
#[cfg(target_os = "linux")]
pub mod seccomp;
#[cfg(target_os = "linux")]
pub mod sys;
#[cfg(feature = "ciphers")]
pub mod vectors;
mod x86_64;

pub use levels::levels;
pub use x86_64::*;
