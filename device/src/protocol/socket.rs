//! Packets on the socket.

use core::mem::MaybeUninit;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, recvmsg,
    sendmsg, socket_with,
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Greeting, LONGEST};

/// The longest path of a socket in bytes.
pub(crate) const LONGEST_PATH: usize = 107;

/// The address of a socket at this path; `None` if the path is too long.
pub(crate) fn address(path: &Path) -> Option<SocketAddrUnix> {
    // With its terminator it fills the buffer of other programs.
    let fits = path.as_os_str().len() <= LONGEST_PATH;
    fits.then(|| SocketAddrUnix::new(path).ok()).flatten()
}

/// A socket of the kind that both sides use.
pub(crate) fn new(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Receives a packet, if there is one, and drops it.
pub(crate) fn discard(socket: impl AsFd) {
    // What does not fit is lost.
    let _ = recv(&socket, &mut [0; 1], RecvFlags::empty());
}

/// Room for one packet. It may hold keys, and is wiped on drop; [`wipe`](Self::wipe) does so
/// before.
#[derive(Debug)]
pub(crate) struct Packet {
    bytes: Zeroizing<Box<[u8]>>,
    used: usize,
}

impl Packet {
    pub(crate) fn new() -> Self {
        Self { bytes: Zeroizing::new(vec![0; LONGEST].into_boxed_slice()), used: 0 }
    }

    /// Overwrites its content.
    pub(crate) fn wipe(&mut self) {
        use zeroize::Zeroize as _;
        if let Some(used) = self.bytes.get_mut(..self.used) {
            used.zeroize();
        }
        self.used = 0;
    }

    /// Sends a greeting and a value, and descriptors with them.
    ///
    /// # Errors
    ///
    /// Those of the socket; `InvalidInput` if the value is too long for a packet.
    pub(crate) fn send(
        &mut self,
        socket: impl AsFd,
        value: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
        self.wipe();
        self.used = LONGEST;
        let pair = (Greeting::OURS, value);
        let length = postcard::to_slice(&pair, &mut self.bytes).map_err(too_long)?.len();
        let bytes = self.bytes.get(..length).unwrap_or_default();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let slices = [IoSlice::new(bytes)];
        let sent = retry(|| sendmsg(&socket, &slices, &mut control, SendFlags::NOSIGNAL));
        self.used = length;
        self.wipe();
        sent.map(drop)
    }

    /// Receives a packet. The kernel closes descriptors that were sent with it.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the other side has closed; `InvalidData` if the packet is too long; those
    /// of the socket.
    pub(crate) fn receive(&mut self, socket: impl AsFd) -> io::Result<()> {
        // A packet is received whole or not at all.
        let (_, whole) = retry(|| recv(&socket, &mut **self.bytes, RecvFlags::TRUNC))?;
        self.take(whole)
    }

    /// The same, with up to two descriptors.
    ///
    /// # Errors
    ///
    /// Same as [`receive`](Self::receive).
    pub(crate) fn receive_descriptors(
        &mut self,
        socket: impl AsFd,
    ) -> io::Result<[Option<OwnedFd>; 2]> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::TRUNC;
        let mut slices = [IoSliceMut::new(&mut self.bytes)];
        let whole = retry(|| recvmsg(&socket, &mut slices, &mut control, flags))?.bytes;
        let mut came = [None, None];
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                let mut rooms = came.iter_mut();
                for descriptor in descriptors {
                    // A descriptor without room is closed.
                    if let Some(room) = rooms.next() {
                        *room = Some(descriptor);
                    }
                }
            }
        }
        self.take(whole)?;
        Ok(came)
    }

    fn take(&mut self, whole: usize) -> io::Result<()> {
        match whole {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            whole if whole > LONGEST => {
                self.used = LONGEST;
                self.wipe();
                Err(io::ErrorKind::InvalidData.into())
            }
            whole => {
                self.used = whole;
                Ok(())
            }
        }
    }

    /// The greeting of the received packet, and its value if its sender speaks a version of ours.
    pub(crate) fn value<'p, T: Deserialize<'p>>(&'p self) -> (Option<Greeting>, Option<T>) {
        let bytes = self.bytes.get(..self.used).unwrap_or_default();
        let Ok((greeting, rest)) = postcard::take_from_bytes::<Greeting>(bytes) else {
            return (None, None);
        };
        let value = match postcard::take_from_bytes(rest) {
            Ok((value, [])) if greeting.common(Greeting::OURS).is_some() => Some(value),
            _ => None,
        };
        (Some(greeting), value)
    }
}

/// Repeats a call that a signal has interrupted.
fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::socketpair;

    use super::super::{ControlRequest, ControlResponse, NEWEST, RejectReason};
    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        socketpair(family, kind, SocketFlags::CLOEXEC, None).expect("there are sockets")
    }

    #[test]
    fn packets_and_descriptors_come_as_they_were_sent() {
        let (near, far) = pair();
        let mut packet = Packet::new();
        let asked = ControlRequest::Open { algorithm: "aes-128-gcm", key: &[7; 16] };
        packet.send(&near, &asked, &[]).expect("there is room");
        assert!(packet.bytes.iter().all(|&byte| byte == 0), "keys are wiped");
        packet.receive(&far).expect("it was sent");
        assert_eq!(packet.value(), (Some(Greeting::OURS), Some(asked)));
        packet.wipe();
        assert!(packet.bytes.iter().all(|&byte| byte == 0), "keys are wiped");

        let welcome = ControlResponse::Welcome { depth: 2, arena: 4096, signatures: 3 };
        packet.send(&far, &welcome, &[near.as_fd(), far.as_fd()]).expect("there is room");
        let descriptors = packet.receive_descriptors(&near).expect("it was sent");
        assert!(descriptors.iter().all(Option::is_some));
        assert_eq!(packet.value().1, Some(welcome));

        drop(far);
        drop(descriptors);
        let gone = packet.receive(&near).expect_err("nobody is there");
        assert_eq!(gone.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn other_versions_are_told_from_nonsense() {
        let (near, far) = pair();
        let mut packet = Packet::new();
        let newest = NEWEST + 2;
        let other = Greeting { newest, oldest: NEWEST + 1, ..Greeting::OURS };
        let mut bytes = [0; 64];
        let sent = postcard::to_slice(&(other, 3_u8, 4_u64), &mut bytes).expect("there is room");
        rustix::net::send(&near, sent, SendFlags::empty()).expect("there is room");
        packet.receive(&far).expect("it was sent");
        assert_eq!(packet.value::<ControlRequest<'_>>(), (Some(other), None));
        // A later program that speaks ours, too.
        let later = Greeting { newest, ..Greeting::OURS };
        let sent = postcard::to_slice(&(later, ControlRequest::Statistics), &mut bytes);
        rustix::net::send(&near, sent.expect("room"), SendFlags::empty()).expect("room");
        packet.receive(&far).expect("it was sent");
        assert_eq!(packet.value(), (Some(later), Some(ControlRequest::Statistics)));
        rustix::net::send(&near, &[0xff; 30], SendFlags::empty()).expect("there is room");
        packet.receive(&far).expect("it was sent");
        assert_eq!(packet.value::<ControlRequest<'_>>().1, None);
        // Bytes behind the value.
        let sent =
            postcard::to_slice(&(Greeting::OURS, ControlRequest::Statistics, 1_u8), &mut bytes);
        rustix::net::send(&near, sent.expect("there is room"), SendFlags::empty()).expect("room");
        packet.receive(&far).expect("it was sent");
        assert_eq!(packet.value::<ControlRequest<'_>>(), (Some(Greeting::OURS), None));
    }

    #[test]
    fn packets_that_are_too_long_are_refused() {
        let (near, far) = pair();
        let mut packet = Packet::new();
        rustix::net::send(&near, &[1; LONGEST + 1], SendFlags::empty()).expect("there is room");
        let refused = packet.receive(&far).expect_err("it is too long");
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
        let key = vec![0; LONGEST];
        let asked = ControlRequest::Open { algorithm: "null", key: &key };
        let refused = packet.send(&near, &asked, &[]).expect_err("it is too long");
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        packet
            .send(&far, &ControlResponse::Refused(RejectReason::Malformed), &[])
            .expect("there is room");
    }
}
