//! Lanecrypt for C and C++: what `include/lanecrypt.h` declares.
//!
//! The header is the documentation. Every function here checks what came from C (null, misaligned,
//! overlapping or too long arguments), makes slices of it, calls the crate below and translates the
//! outcome. There is no other logic.
//!
//! Errors are numbers ([`code`](self)). No panic crosses the border: calls for single messages and
//! random numbers end the process at one, as `extern "C"` does, because to catch it would cost each
//! call; all others answer `LC_ERR_INTERNAL`. No argument is known to cause one.

mod algorithm;
mod batch;
mod code;
#[cfg(all(feature = "device", target_os = "linux"))]
mod device;
mod ffi_args;
#[cfg(feature = "file")]
mod file;
mod hazmat;
mod nonces;
mod operation;
mod random;
mod session;
#[cfg(any(feature = "pk", feature = "rsa"))]
mod signatures;
mod single;
#[cfg(all(test, feature = "device", feature = "file", feature = "pk"))]
mod tests;
