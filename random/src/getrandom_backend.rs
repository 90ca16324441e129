//! The backend of the crates `getrandom` 0.3 and 0.4: they return bytes from the calling thread's
//! generator.
//!
//! A program chooses it by the flag `--cfg getrandom_backend="custom"` for all of its crates, in
//! `RUSTFLAGS` or in `.cargo/config.toml`. Without the flag it is not called.

use getrandom::Error;

use crate::try_fill;

/// The function that both crates call, under the same name and with the same layout of errors.
///
/// # Safety
///
/// `out` can be written for `length` bytes, which may be uninitialised.
// A program in which another function has this name does not link.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(out: *mut u8, length: usize) -> Result<(), Error> {
    // Kernels take only initialised memory.
    // SAFETY: the caller's promise.
    unsafe { out.write_bytes(0, length) };
    // SAFETY: the caller's promise; the bytes are initialised now.
    let out = unsafe { core::slice::from_raw_parts_mut(out, length) };
    try_fill(out).map_err(|error| {
        let code = u16::try_from(error.raw_os_error()).unwrap_or(u16::MAX);
        Error::new_custom(code)
    })
}
