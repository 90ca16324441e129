//! Options of sockets that the C library does not define: refusing unsolicited descriptors, and the
//! groups of the other side.

use core::ffi::c_int;
use core::mem::{size_of, size_of_val};
use std::os::fd::{AsFd, AsRawFd as _};

use super::arch::USUAL_OPTIONS;

/// `SO_PASSRIGHTS` of Linux 6.16.
const PASS_RIGHTS: c_int = 83;
/// `SO_PEERGROUPS` of Linux 4.13.
const PEER_GROUPS: c_int = 59;
/// The most supplementary groups of a process (`NGROUPS_MAX`).
const MOST_GROUPS: usize = 1 << 16;

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

/// The supplementary groups of the process that has connected this socket; none if the kernel does
/// not say.
pub(crate) fn groups(socket: impl AsFd) -> Vec<u32> {
    if !USUAL_OPTIONS {
        return Vec::new();
    }
    let socket = socket.as_fd().as_raw_fd();
    // Most processes have few.
    let mut groups = vec![0_u32; 64];
    loop {
        let Ok(mut length) = libc::socklen_t::try_from(size_of_val(&groups[..])) else {
            return Vec::new();
        };
        let to = groups.as_mut_ptr().cast();
        // SAFETY: `to` has room for `length` bytes, which the call writes at most.
        let got =
            unsafe { libc::getsockopt(socket, libc::SOL_SOCKET, PEER_GROUPS, to, &raw mut length) };
        let count = length as usize / size_of::<u32>();
        match got {
            0 => {
                groups.truncate(count);
                return groups;
            }
            // There are more (`ERANGE`): the length is that of all.
            _ if count > groups.len() && count <= MOST_GROUPS => groups.resize(count, 0),
            _ => return Vec::new(),
        }
    }
}
