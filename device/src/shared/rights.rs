//! Refusing unsolicited descriptors.

use core::ffi::c_int;
use core::mem::size_of;
use std::os::fd::{AsFd, AsRawFd as _};

use super::arch::USUAL_OPTIONS;

/// `SO_PASSRIGHTS` of Linux 6.16, which the C library does not define yet.
const PASS_RIGHTS: c_int = 83;

/// Makes the kernel refuse descriptors that are sent to this socket, and to those that it accepts
/// from now on; false if it is unsupported.
///
/// Otherwise receiving or discarding one closes it, for as long as its sender chooses: a socket may
/// be set to wait for its peer on close.
pub(crate) fn refuse_descriptors(socket: impl AsFd) -> bool {
    if !USUAL_OPTIONS {
        return false;
    }
    let (socket, off): (_, c_int) = (socket.as_fd().as_raw_fd(), 0);
    let Ok(length) = libc::socklen_t::try_from(size_of::<c_int>()) else { return false };
    // SAFETY: the pointer is to a number of this length, which the call only reads.
    let done = unsafe {
        libc::setsockopt(socket, libc::SOL_SOCKET, PASS_RIGHTS, (&raw const off).cast(), length)
    };
    done == 0
}
