//! The C library's error number, which a signal handler must not change.

use core::cell::Cell;

/// Restores the thread's error number when it is dropped.
pub(crate) struct Errno(libc::c_int);

impl Errno {
    /// Saves the current number.
    pub(crate) fn keep() -> Self {
        Self(number().get())
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        number().set(self.0);
    }
}

/// The calling thread's number; a cell cannot leave the thread.
fn number() -> &'static Cell<libc::c_int> {
    // SAFETY: the function has no preconditions.
    let place: *mut Cell<libc::c_int> = unsafe { libc::__errno_location() }.cast();
    // SAFETY: the C library's pointer to this thread's number is valid as long as the thread runs.
    unsafe { &*place }
}
