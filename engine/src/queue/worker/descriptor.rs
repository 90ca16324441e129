//! A file descriptor that becomes readable when there are completions.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};

/// A descriptor that is not readable yet.
pub(super) fn make() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// Makes it readable.
pub(super) fn signal(descriptor: &OwnedFd) {
    // It fails only if it is readable already.
    let _ = rustix::io::write(descriptor, &1_u64.to_ne_bytes());
}

/// Makes it unreadable again.
pub(super) fn clear(descriptor: &OwnedFd) {
    // It fails only if it is not readable.
    let _ = rustix::io::read(descriptor, &mut [0; 8]);
}
