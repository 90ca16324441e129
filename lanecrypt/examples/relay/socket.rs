//! Many datagrams per system call: `recvmmsg` and `sendmmsg`.

use core::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use core::time::Duration;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd as _;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, setsockopt, sockopt};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

use crate::relay::Slot;
use crate::wire::AT_ONCE;

/// Requested size of the socket's buffers in bytes; the kernel may allow less.
const BUFFER: usize = 4 << 20;

/// A socket with the memory that these calls need. It stays on its thread.
pub(crate) struct Socket {
    socket: UdpSocket,
    /// For received datagrams.
    headers: MultiHeaders<SockaddrIn>,
}

/// Opens a socket on the loopback address and returns it with its address. Receiving waits at most
/// this long.
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

    /// Receives available datagrams, at most [`AT_ONCE`], and returns their number. It is zero if
    /// nothing arrived in time, or, without waiting, if nothing is there.
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
            // A datagram that did not fit is not one of the relay's.
            let is_cut = message.flags.contains(MsgFlags::MSG_TRUNC);
            **length = if is_cut { 0 } else { message.bytes };
            if let Some(address) = message.address {
                **from = SocketAddrV4::new(address.ip(), address.port());
            }
            count += 1;
        }
        Ok(count)
    }

    /// Sends datagrams and returns how many the kernel accepted, counted from the first.
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
