//! The socket of a connection: control requests, and whether the daemon is alive.

use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use lanecrypt_kernels::fork::Generation;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, connect};

use crate::protocol::socket::{self, Packet};
use crate::protocol::{ControlRequest, ControlResponse, Greeting, MAGIC, RejectReason};
use crate::{ConnectError, Error};

/// A socket that a daemon has welcomed.
#[derive(Debug)]
pub(super) struct Connection {
    socket: OwnedFd,
    /// Held from a request to its reply.
    asking: Mutex<()>,
    is_gone: AtomicBool,
    process: Generation,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd) -> Self {
        let (asking, is_gone) = (Mutex::new(()), AtomicBool::new(false));
        Self { socket, asking, is_gone, process: Generation::now() }
    }

    /// Whether the process is that which has connected.
    #[inline]
    pub(super) fn ensure_open(&self) -> Result<(), Error> {
        if self.process.is_current() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Whether it may be used.
    #[inline]
    pub(super) fn check_usable(&self) -> Result<(), Error> {
        self.ensure_open()?;
        if self.is_gone() { Err(Error::Disconnected) } else { Ok(()) }
    }

    /// Sends a request, waits for the reply, and passes it to `take`.
    pub(super) fn ask<T>(
        &self,
        asked: &ControlRequest<'_>,
        take: impl FnOnce(ControlResponse<'_>) -> Option<T>,
    ) -> Result<T, Error> {
        self.check_usable()?;
        let _turn = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut packet = Packet::new();
        if let Err(error) = packet.send(&self.socket, asked, &[]) {
            // A packet that is too long is not sent.
            if error.kind() == io::ErrorKind::InvalidInput {
                return Err(Error::Denied(RejectReason::KeyLength));
            }
            return Err(self.lost());
        }
        if packet.receive(&self.socket).is_err() {
            return Err(self.lost());
        }
        match packet.value().1 {
            Some(ControlResponse::Refused(refusal)) => Err(Error::Denied(refusal)),
            Some(answer) => take(answer).ok_or(Error::Malformed),
            None => Err(Error::Malformed),
        }
    }

    /// Whether the daemon still holds its end of the socket.
    pub(super) fn check_alive(&self) -> bool {
        if self.is_gone() {
            return false;
        }
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Not whether there is a reply, for which another thread may wait.
        let mut ends = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        if poll(&mut ends, Some(&now)).is_ok_and(|count| count > 0) {
            self.ends();
        }
        !self.is_gone()
    }

    #[inline]
    pub(super) fn is_gone(&self) -> bool {
        // Relaxed: it publishes nothing else.
        self.is_gone.load(Ordering::Relaxed)
    }

    /// Marks it as unusable.
    pub(super) fn ends(&self) {
        // Relaxed: as in `is_gone`.
        self.is_gone.store(true, Ordering::Relaxed);
    }

    #[cold]
    fn lost(&self) -> Error {
        self.ends();
        Error::Disconnected
    }
}

/// Connects a socket to the daemon at this path.
pub(super) fn dial(path: &Path) -> Result<OwnedFd, ConnectError> {
    let too_long = || ConnectError::PathTooLong(path.to_owned());
    let address = socket::address(path).ok_or_else(too_long)?;
    let socket = socket::new(SocketFlags::empty()).map_err(system)?;
    loop {
        return match connect(&socket, &address) {
            Ok(()) => Ok(socket),
            Err(Errno::INTR) => continue,
            Err(Errno::NOENT | Errno::NOTDIR) => Err(ConnectError::NoSocket(path.to_owned())),
            Err(Errno::CONNREFUSED) => Err(ConnectError::NoDaemon(path.to_owned())),
            Err(Errno::ACCESS | Errno::PERM) => Err(ConnectError::Forbidden(path.to_owned())),
            Err(Errno::PROTOTYPE) => Err(ConnectError::NotADaemon(path.to_owned())),
            Err(error) => Err(system(error.into())),
        };
    }
}

/// Sends the first request to a daemon, and receives its reply into the packet.
pub(super) fn greet(
    socket: &OwnedFd,
    packet: &mut Packet,
    asked: &ControlRequest<'_>,
    path: &Path,
) -> Result<[Option<OwnedFd>; 2], ConnectError> {
    let strange = || ConnectError::NotADaemon(path.to_owned());
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe => ConnectError::NoDaemon(path.to_owned()),
        io::ErrorKind::InvalidData => strange(),
        _ => system(error),
    };
    // A daemon that refuses a client replies before it has read the request.
    let asked = packet.send(socket, asked, &[]);
    let mut came = packet.receive_descriptors(socket);
    if came.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset) {
        // The error is reported before the packet that was sent earlier.
        came = packet.receive_descriptors(socket);
    }
    let descriptors = match (came, asked) {
        (Ok(descriptors), _) => descriptors,
        (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(gone(error)),
    };
    match packet.value() {
        (_, Some(ControlResponse::Refused(refusal))) => Err(ConnectError::Refused(refusal)),
        (_, Some(_)) => Ok(descriptors),
        (Some(Greeting { magic: MAGIC, version }), None) if version != Greeting::OURS.version => {
            Err(ConnectError::Refused(RejectReason::Version(version)))
        }
        _ => Err(strange()),
    }
}

pub(super) fn system(error: io::Error) -> ConnectError {
    match error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) {
        true => ConnectError::Descriptors,
        false => ConnectError::System(error),
    }
}
