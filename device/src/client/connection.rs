//! The socket of a connection: control requests, and whether the daemon is alive.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use lanecrypt_kernels::fork::Generation;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{SocketFlags, connect};

use crate::protocol::socket::{self, Packet};
use crate::protocol::{ControlRequest, ControlResponse, Greeting, RejectReason};
use crate::{ConnectError, Error, Statistics};

/// The pause before a daemon without places is asked again.
const RETRY: Duration = Duration::from_millis(1);

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

/// The statistics of the daemon at this path.
pub(super) fn statistics(path: &Path, within: Duration) -> Result<Statistics, ConnectError> {
    let until = Instant::now() + within;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match ask_statistics(path, left) {
            // The daemon has no place for it, and had not received the request when it looked.
            Err(ConnectError::Refused(RejectReason::Clients | RejectReason::Descriptors))
                if Instant::now() < until =>
            {
                std::thread::sleep(RETRY);
            }
            answered => return answered,
        }
    }
}

fn ask_statistics(path: &Path, within: Duration) -> Result<Statistics, ConnectError> {
    let socket = dial_within(path, Some(within))?;
    let mut packet = Packet::new();
    greet(&socket, &mut packet, &ControlRequest::Statistics, path)?;
    match packet.value().1 {
        Some(ControlResponse::Statistics(statistics)) => Ok(statistics),
        _ => Err(ConnectError::NotADaemon(path.to_owned())),
    }
}

/// Connects a socket to the daemon at this path.
pub(super) fn dial(path: &Path) -> Result<OwnedFd, ConnectError> {
    dial_within(path, None)
}

/// The same; connecting, sending and receiving each end after this time.
fn dial_within(path: &Path, within: Option<Duration>) -> Result<OwnedFd, ConnectError> {
    let too_long = || ConnectError::PathTooLong(path.to_owned());
    let address = socket::address(path).ok_or_else(too_long)?;
    let socket = socket::new(SocketFlags::empty()).map_err(system)?;
    if let Some(within) = within {
        // Zero would be no limit.
        let within = Some(within.max(Duration::from_millis(1)));
        for direction in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&socket, direction, within).map_err(|error| system(error.into()))?;
        }
    }
    loop {
        return match connect(&socket, &address) {
            Ok(()) => Ok(socket),
            Err(Errno::INTR) => continue,
            Err(Errno::NOENT | Errno::NOTDIR) => Err(ConnectError::NoSocket(path.to_owned())),
            Err(Errno::CONNREFUSED) => Err(ConnectError::NoDaemon(path.to_owned())),
            Err(Errno::ACCESS | Errno::PERM) => Err(ConnectError::Forbidden(path.to_owned())),
            Err(Errno::AGAIN) => Err(ConnectError::TimedOut(path.to_owned())),
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
        io::ErrorKind::WouldBlock => ConnectError::TimedOut(path.to_owned()),
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
        (Some(greeting), None) if greeting.is_other_version() => {
            let Greeting { oldest, newest, .. } = greeting;
            Err(ConnectError::Refused(RejectReason::Version { oldest, newest }))
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
