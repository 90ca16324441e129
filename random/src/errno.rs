//! The C library's error number, which a signal handler must leave as it found it.

/// Puts the thread's error number back when it is dropped.
pub(crate) struct Errno(libc::c_int);

impl Errno {
    /// Remembers the number as it is now.
    pub(crate) fn keep() -> Self {
        // SAFETY: the C library's pointer to this thread's number is always valid.
        Self(unsafe { place().read() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { place().write(self.0) };
    }
}

fn place() -> *mut libc::c_int {
    // SAFETY: the function has no preconditions.
    unsafe { libc::__errno_location() }
}
