//! Many datagrams a system call: `recvmmsg` and `sendmmsg`.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use core::time::Duration;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, setsockopt, sockopt};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

use crate::relay::{AT_ONCE, Slot};

/// Bytes that the kernel may hold for a socket; it may allow less.
const BUFFER: usize = 4 << 20;

/// A socket, and the room that those calls need. It stays on its thread.
pub(crate) struct Socket {
    socket: UdpSocket,
    /// Of datagrams that are received.
    headers: MultiHeaders<SockaddrIn>,
}

/// A socket on the loopback address that waits at most so long for a datagram, and its address.
pub(crate) fn bind(patience: Duration) -> io::Result<(UdpSocket, SocketAddrV4)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_read_timeout(Some(patience))?;
    setsockopt(&socket, sockopt::RcvBuf, &BUFFER)?;
    setsockopt(&socket, sockopt::SndBuf, &BUFFER)?;
    match socket.local_addr()? {
        SocketAddr::V4(address) => Ok((socket, address)),
        SocketAddr::V6(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

impl Socket {
    pub(crate) fn new(socket: UdpSocket) -> Self {
        Self { socket, headers: MultiHeaders::preallocate(AT_ONCE, None) }
    }

    /// Receives what there is, [`AT_ONCE`] datagrams at most, and answers how many; none if nothing
    /// came in time, or at once if it is not to wait.
    pub(crate) fn receive(&mut self, slots: &mut [Slot], waits: bool) -> io::Result<usize> {
        let flags = if waits { MsgFlags::MSG_WAITFORONE } else { MsgFlags::MSG_DONTWAIT };
        let places = slots.iter_mut().map(|slot| {
            let place = [IoSliceMut::new(&mut slot.bytes)];
            ((&mut slot.length, &mut slot.from), place)
        });
        let (mut found, mut places): (Vec<_>, Vec<_>) = places.unzip();
        let fd = self.socket.as_raw_fd();
        let received = match recvmmsg(fd, &mut self.headers, &mut places, flags, None) {
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(0),
            received => received?,
        };
        let mut count = 0;
        for (message, (length, from)) in received.zip(&mut found) {
            // What did not fit is no datagram of ours.
            let is_cut = message.flags.contains(MsgFlags::MSG_TRUNC);
            **length = if is_cut { 0 } else { message.bytes };
            if let Some(address) = message.address {
                **from = SocketAddrV4::new(address.ip(), address.port());
            }
            count += 1;
        }
        Ok(count)
    }

    /// Sends datagrams, and answers how many of them the kernel took: the first ones.
    pub(crate) fn send<'d>(
        &mut self,
        datagrams: impl Iterator<Item = (&'d [u8], SocketAddrV4)>,
    ) -> io::Result<usize> {
        let datagrams = datagrams.take(AT_ONCE);
        let each = datagrams.map(|(bytes, to)| {
            ([IoSlice::new(bytes)], SocketAddrAny::from(to), SendAncillaryBuffer::default())
        });
        let mut each: Vec<_> = each.collect();
        let headers = each.iter_mut().map(|(bytes, to, no)| MMsgHdr::new_with_addr(to, bytes, no));
        let mut headers: Vec<_> = headers.collect();
        if headers.is_empty() {
            return Ok(0);
        }
        Ok(sendmmsg(&self.socket, &mut headers, SendFlags::empty())?)
    }
}
