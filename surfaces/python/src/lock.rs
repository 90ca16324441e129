//! The interpreter's lock.

use pyo3::prelude::*;

/// Messages of this many bytes are served without the interpreter's lock. To give the lock away and
/// to take it again costs about 50 ns, and several milliseconds if another thread takes it
/// meanwhile; a message of this length takes 6 microseconds or more.
const RELEASE: usize = 1 << 16;

/// Runs `work` for so many bytes, without the interpreter's lock if they are many.
#[inline]
pub(crate) fn unlocked<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> T {
    if bytes < RELEASE { work() } else { py.detach(work) }
}
