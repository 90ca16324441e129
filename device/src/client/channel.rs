//! The connection: the socket, the shared memory, and sleeping.

use core::fmt;
use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use lanecrypt_kernels::fork::Generation;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SocketFlags, connect};
use rustix::thread::{futex, sched_getcpu};

use super::Settings;
use super::window::{Owner, Pending, Window};
use crate::protocol::request::{Request, completed};
use crate::protocol::socket::{self, Packet};
use crate::protocol::{Answer, Asked, Greeting, MAGIC, Refusal};
use crate::shared::bell::{Bell, settle};
use crate::shared::{Layout, Mapping, Side};
use crate::spin::Spin;
use crate::{ConnectError, Error};

/// How many requests are published together before the daemon is told of all.
const PART: u32 = 8;

/// A connection to a daemon.
pub(super) struct Channel {
    memory: Mapping,
    socket: OwnedFd,
    /// Written to wake the daemon.
    doorbell: OwnedFd,
    window: Window,
    /// How many requests are in the ring, how many of them the daemon has been told of, and how many
    /// completions have been read.
    submitted: u32,
    told: u32,
    read: u32,
    spin: Spin,
    /// When the daemon was last seen alive, and how often nothing has been found since.
    seen: Instant,
    misses: u32,
    /// For how long it sleeps before it looks whether the daemon lives.
    nap: Duration,
    is_gone: bool,
    process: Generation,
}

/// A completion: who waits for it, where the answer is, and the status.
pub(super) struct Done {
    pub(super) number: u64,
    pub(super) pending: Pending,
    pub(super) status: u32,
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

/// Asks a daemon that has not been greeted, and receives its answer into the packet.
pub(super) fn greet(
    socket: &OwnedFd,
    packet: &mut Packet,
    asked: &Asked<'_>,
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
    // A daemon that refuses a client says so before it has read what is asked.
    let asked = packet.send(socket, asked, &[]);
    let mut came = packet.receive_descriptors(socket);
    if came.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset) {
        // The error comes before the packet that was sent before.
        came = packet.receive_descriptors(socket);
    }
    let descriptors = match (came, asked) {
        (Ok(descriptors), _) => descriptors,
        (Err(_), Err(error)) | (Err(error), Ok(())) => return Err(gone(error)),
    };
    match packet.value() {
        (_, Some(Answer::Refused(refusal))) => Err(ConnectError::Refused(refusal)),
        (_, Some(_)) => Ok(descriptors),
        (Some(Greeting { magic: MAGIC, version }), None) if version != Greeting::OURS.version => {
            Err(ConnectError::Refused(Refusal::Version(version)))
        }
        _ => Err(strange()),
    }
}

impl Channel {
    /// Connects, and maps the memory that the daemon gives.
    pub(super) fn connect(path: &Path, settings: &Settings) -> Result<Self, ConnectError> {
        let strange = || ConnectError::NotADaemon(path.to_owned());
        let socket = dial(path)?;
        let mut packet = Packet::new();
        let processor = here();
        let hello = Asked::Hello { depth: settings.depth, arena: settings.arena, processor };
        let descriptors = greet(&socket, &mut packet, &hello, path)?;
        let [Some(memory), Some(doorbell)] = descriptors else { return Err(strange()) };
        let Some(Answer::Welcome { depth, arena }) = packet.value().1 else {
            return Err(strange());
        };
        let layout = Layout::new(depth, arena).map_err(|_| strange())?;
        let memory = Mapping::open(memory, layout).map_err(system)?;
        Ok(Self {
            memory,
            socket,
            doorbell,
            window: Window::new(depth, arena),
            submitted: 0,
            told: 0,
            read: 0,
            spin: Spin::new(settings.spin),
            seen: Instant::now(),
            misses: 0,
            nap: settings.nap,
            is_gone: false,
            process: Generation::now(),
        })
    }

    /// Asks by the socket, and has `take` look at the answer.
    pub(super) fn ask<T>(
        &mut self,
        asked: &Asked<'_>,
        take: impl FnOnce(Answer<'_>) -> Option<T>,
    ) -> Result<T, Error> {
        self.is_usable()?;
        let mut packet = Packet::new();
        if let Err(error) = packet.send(&self.socket, asked, &[]) {
            // A packet that is too long has not been sent.
            if error.kind() == io::ErrorKind::InvalidInput {
                return Err(Error::Denied(Refusal::KeyLength));
            }
            return Err(self.lost());
        }
        if packet.receive(&self.socket).is_err() {
            return Err(self.lost());
        }
        match packet.value().1 {
            Some(Answer::Refused(refusal)) => Err(Error::Denied(refusal)),
            Some(answer) => take(answer).ok_or(Error::Malformed),
            None => Err(Error::Malformed),
        }
    }

    pub(super) fn memory(&self) -> &Mapping {
        &self.memory
    }

    /// The number of requests that have not been given back.
    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.window.len()
    }

    /// Whether the connection may be used.
    #[inline]
    pub(super) fn is_usable(&self) -> Result<(), Error> {
        match (self.process.is_current(), self.is_gone) {
            (false, _) => Err(Error::Forked),
            (true, true) => Err(Error::Disconnected),
            (true, false) => Ok(()),
        }
    }

    /// Puts a request into the ring, after `fill` has put its bytes from an offset on into the arena.
    /// The daemon is not [told](Self::tell) of it yet.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if there is no room now, [`Error::TooLong`] if there never is.
    #[inline]
    pub(super) fn put(
        &mut self,
        request: &Request<'_>,
        owner: Owner,
        fill: impl FnOnce(&Mapping, u32) -> bool,
    ) -> Result<u64, Error> {
        let span = request.span().filter(|&span| self.window.could_take(span));
        let span = span.ok_or(Error::TooLong)?;
        let (number, offset) = self.window.take(span).ok_or(Error::Full)?;
        let long = request.long_nonce();
        let behind = offset + u32::try_from(long.len()).unwrap_or(0);
        // All of it is within the arena, because its span is.
        let filled = self.memory.write(offset, long) && fill(&self.memory, behind);
        debug_assert!(filled, "a span is as long as what is put into it");
        self.memory.write_submission(self.submitted, request.words(number, offset));
        self.submitted = self.submitted.wrapping_add(1);
        let header = u32::try_from(request.header).unwrap_or(0);
        self.window.wait(number, Pending { owner, offset: behind + header });
        if self.submitted.is_multiple_of(PART) {
            // A daemon that is awake may begin; one that sleeps is woken when it is told of all.
            self.memory.submit(self.submitted);
        }
        Ok(number)
    }

    /// Tells the daemon of the requests that have been put, and wakes it if it sleeps.
    #[inline]
    pub(super) fn tell(&mut self) {
        if self.told == self.submitted {
            return;
        }
        self.told = self.submitted;
        self.memory.submit(self.submitted);
        settle();
        if self.memory.bell(Side::Daemon).is_to_ring() {
            self.ring();
        }
    }

    #[cold]
    fn ring(&self) {
        // It can only fail if the descriptor is full, and then the daemon is woken anyway.
        let _ = rustix::io::write(&self.doorbell, &1_u64.to_ne_bytes());
    }

    /// The next completion, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] if there is none and the daemon is gone; [`Error::Malformed`] if the
    /// daemon answered what nobody has asked.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Done>, Error> {
        if !self.is_ready() {
            return self.missed();
        }
        let (number, status) = completed(self.memory.read_completion(self.read));
        self.read = self.read.wrapping_add(1);
        self.misses = 0;
        match self.window.answered(number) {
            Some(pending) => Ok(Some(Done { number, pending, status })),
            None => {
                self.is_gone = true;
                Err(Error::Malformed)
            }
        }
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.memory.completed() != self.read
    }

    /// Now and then looks whether the daemon lives.
    #[cold]
    fn missed(&mut self) -> Result<Option<Done>, Error> {
        self.misses = self.misses.wrapping_add(1);
        if self.misses.is_multiple_of(16)
            && self.seen.elapsed() >= self.nap
            && !self.lives()
            && !self.is_ready()
        {
            return Err(Error::Disconnected);
        }
        match self.is_gone {
            true => Err(Error::Disconnected),
            false => Ok(None),
        }
    }

    /// Waits until there is a completion.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] if the daemon is gone.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        let Self { memory, read, spin, .. } = self;
        let is_ready = || memory.completed() != *read;
        if is_ready() {
            return Ok(());
        }
        let processor = here();
        // The daemon, if it is awake, gives way as well.
        memory.runs_on(Side::Client, processor);
        let same = memory.processor(Side::Daemon) == Some(processor);
        if spin.finds(same, is_ready) {
            return Ok(());
        }
        loop {
            self.nap();
            if self.is_ready() {
                return Ok(());
            }
            if self.is_gone || (self.seen.elapsed() >= self.nap / 2 && !self.lives()) {
                // What it published last counts.
                return if self.is_ready() { Ok(()) } else { Err(self.lost()) };
            }
        }
    }

    /// Sleeps until the daemon wakes this side, or for a while.
    fn nap(&self) {
        let bell = self.memory.bell(Side::Client);
        bell.falls_asleep();
        settle();
        if !self.is_ready() {
            // One that is too long for the system has no end.
            let nap = Timespec::try_from(self.nap).ok();
            // Whatever it says, one looks afterwards. Without the flag for private memory, because
            // the other side has a mapping of its own.
            let flags = futex::Flags::empty();
            let _ = futex::wait(bell.word(), flags, Bell::ASLEEP, nap.as_ref());
        }
        bell.wakes_up();
    }

    /// Whether the daemon still holds its end of the socket.
    fn lives(&mut self) -> bool {
        self.seen = Instant::now();
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut ends = [PollFd::new(&self.socket, PollFlags::IN)];
        // It sends nothing that it has not been asked for; so anything says that it is gone.
        let found = poll(&mut ends, Some(&now));
        if found.is_ok_and(|count| count > 0) {
            self.is_gone = true;
        }
        !self.is_gone
    }

    #[cold]
    fn lost(&mut self) -> Error {
        self.is_gone = true;
        Error::Disconnected
    }
}

/// The processor that this thread runs on.
fn here() -> u32 {
    u32::try_from(sched_getcpu()).unwrap_or(u32::MAX)
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("memory", &self.memory).finish_non_exhaustive()
    }
}

fn system(error: io::Error) -> ConnectError {
    match error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) {
        true => ConnectError::Descriptors,
        false => ConnectError::System(error),
    }
}
