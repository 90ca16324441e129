//! A library to be loaded at run time, by any program.

/// Fills `length` bytes at `out` with random bytes.
///
/// # Safety
///
/// They may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn draw(out: *mut u8, length: usize) {
    // SAFETY: the caller's promise.
    let out = unsafe { core::slice::from_raw_parts_mut(out, length) };
    lanecrypt_random::fill(out);
}
