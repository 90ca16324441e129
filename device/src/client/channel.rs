//! The rings and the arena, as a client uses them.

use core::fmt;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::Settings;
use super::connection::{Connection, dial, greet, system};
use super::watch::Watch;
use super::window::{Owner, Pending, Window};
use crate::protocol::request::{Request, completed};
use crate::protocol::socket::Packet;
use crate::protocol::{ControlRequest, ControlResponse};
use crate::shared::processor::here;
use crate::shared::wakeup::settle;
use crate::shared::{Layout, Mapping, Side};
use crate::{ConnectError, Error};

/// The number of requests that are published together before the daemon is notified of all.
const PART: u32 = 8;

/// A connection to a daemon.
pub(super) struct Channel {
    memory: Arc<Mapping>,
    /// Written to wake the daemon.
    doorbell: OwnedFd,
    /// Requests, and those of asymmetric keys: these have a separate part of the arena behind that
    /// of the others, so that late completions do not block bytes of others.
    window: Window,
    asymmetric_window: Window,
    /// The number of requests of asymmetric keys in flight, in either window, and the most.
    asymmetric: u32,
    most_asymmetric: u32,
    /// The numbers of requests in the ring, of those published to the daemon, and of completions
    /// read.
    submitted: u32,
    published: u32,
    read: u32,
    watch: Watch,
    /// When the daemon was last seen alive, and the number of unsuccessful checks since.
    seen: Instant,
    misses: u32,
    connection: Arc<Connection>,
}

/// A completion: its owner, the place of the answer, and the status.
pub(super) struct Done {
    pub(super) number: u64,
    pub(super) pending: Pending,
    pub(super) status: u32,
}

/// The bit of a number that is set for requests in the window of asymmetric keys.
pub(super) const ASYMMETRIC: u64 = 1 << 63;

/// The bytes of the arena that are reserved for asymmetric keys.
const ASYMMETRIC_ARENA: u32 = if cfg!(feature = "_asymmetric") { 1 << 16 } else { 0 };

impl Channel {
    /// Connects, and maps the memory from the daemon.
    pub(super) fn connect(path: &Path, settings: &Settings) -> Result<Self, ConnectError> {
        let strange = || ConnectError::NotADaemon(path.to_owned());
        let socket = dial(path)?;
        let mut packet = Packet::new();
        let wished = settings.arena.saturating_add(ASYMMETRIC_ARENA);
        let hello =
            ControlRequest::Hello { depth: settings.depth, arena: wished, processor: here() };
        let descriptors = greet(&socket, &mut packet, &hello, path)?;
        let [Some(memory), Some(doorbell)] = descriptors else { return Err(strange()) };
        let Some(ControlResponse::Welcome { depth, arena, signatures }) = packet.value().1 else {
            return Err(strange());
        };
        let layout = Layout::new(depth, arena).map_err(|_| strange())?;
        let memory = Arc::new(Mapping::open(memory, layout).map_err(system)?);
        // There is no reply: the rings are served from then on.
        let sent = packet.send(&socket, &ControlRequest::Mapped, &[]);
        sent.map_err(|_| ConnectError::NoDaemon(path.to_owned()))?;
        // A smaller arena than requested is shared by all.
        let asymmetric_arena = if arena >= wished { ASYMMETRIC_ARENA } else { 0 };
        let asymmetric_depth = signatures.clamp(1, depth).next_power_of_two();
        let arena = arena - asymmetric_arena;
        Ok(Self {
            doorbell,
            window: Window::new(depth, 0..arena),
            asymmetric_window: Window::new(asymmetric_depth, arena..arena + asymmetric_arena),
            asymmetric: 0,
            most_asymmetric: signatures.min(depth),
            submitted: 0,
            published: 0,
            read: 0,
            watch: Watch::new(memory.clone(), settings),
            seen: Instant::now(),
            misses: 0,
            connection: Arc::new(Connection::new(socket)),
            memory,
        })
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    pub(super) fn memory(&self) -> &Arc<Mapping> {
        &self.memory
    }

    /// The most requests in each window.
    pub(super) fn depths(&self) -> [usize; 2] {
        [self.window.depth(), self.asymmetric_window.depth()]
    }

    /// The length in bytes of the arena that every request may use.
    pub(super) fn longest(&self) -> usize {
        usize::try_from(self.window.arena()).unwrap_or(usize::MAX)
    }

    /// The number of requests that were not returned.
    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        self.window.len() + self.asymmetric_window.len()
    }

    /// The number of completions that were read.
    pub(super) fn read(&self) -> u32 {
        self.read
    }

    /// Whether the connection may be used.
    #[inline]
    pub(super) fn check_usable(&self) -> Result<(), Error> {
        self.connection.check_usable()
    }

    /// Writes a request to the ring, after `fill` has written its bytes to the arena at an offset.
    /// It is not [published](Self::publish) to the daemon yet.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if there is no room now, [`Error::TooLong`] if it exceeds the arena.
    #[inline]
    pub(super) fn put(
        &mut self,
        request: &Request<'_>,
        owner: Owner,
        fill: impl FnOnce(&Mapping, u32) -> bool,
    ) -> Result<u64, Error> {
        let span = request.span().filter(|&span| self.window.could_take(span));
        let span = span.ok_or(Error::TooLong)?;
        let is_asymmetric = request.code.is_asymmetric();
        if is_asymmetric && self.most_asymmetric == 0 {
            return Err(Error::NotAllowed);
        }
        let (number, offset) = match is_asymmetric {
            false if self.in_flight() < self.window.depth() => self.window.take(span),
            false => None,
            true => self.take_asymmetric(span),
        }
        .ok_or(Error::Full)?;
        let nonce = request.arena_nonce();
        let behind = offset + u32::try_from(nonce.len()).unwrap_or(0);
        // All of it is within the arena, because its span is.
        let filled = self.memory.write(offset, nonce) && fill(&self.memory, behind);
        debug_assert!(filled, "a span is as long as what is put into it");
        self.memory.write_submission(self.submitted, request.words(number, offset));
        self.submitted = self.submitted.wrapping_add(1);
        let header = u32::try_from(request.header).unwrap_or(0);
        let pending = Pending { owner, offset: behind + header, is_asymmetric };
        if number & ASYMMETRIC == 0 {
            self.window.wait(number, pending);
        } else {
            self.asymmetric_window.wait(number & !ASYMMETRIC, pending);
        }
        if self.submitted.is_multiple_of(PART) {
            // A daemon that is awake may begin; one that sleeps is woken when all are published.
            self.memory.submit(self.submitted);
        }
        Ok(number)
    }

    /// Takes a number and bytes for a request of an asymmetric key. If the separate part of the
    /// arena is too short, it is placed among the others.
    #[cold]
    fn take_asymmetric(&mut self, span: u32) -> Option<(u64, u32)> {
        if self.asymmetric == self.most_asymmetric || self.in_flight() >= self.window.depth() {
            return None;
        }
        let taken = if self.asymmetric_window.could_take(span) {
            self.asymmetric_window.take(span).map(|(number, offset)| (number | ASYMMETRIC, offset))
        } else {
            self.window.take(span)
        };
        self.asymmetric += u32::from(taken.is_some());
        taken
    }

    /// Publishes the requests in the ring to the daemon, and wakes it if it sleeps.
    #[inline]
    pub(super) fn publish(&mut self) {
        if self.published == self.submitted {
            return;
        }
        self.published = self.submitted;
        self.memory.submit(self.submitted);
        settle();
        if self.memory.wakeup(Side::Daemon).is_due() {
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
    /// daemon completed an unknown request.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Done>, Error> {
        if !self.is_ready() {
            return self.missed();
        }
        let (number, status) = completed(self.memory.read_completion(self.read));
        self.read = self.read.wrapping_add(1);
        self.misses = 0;
        let pending = match number & ASYMMETRIC {
            0 => self.window.answered(number),
            _ => self.asymmetric_window.answered(number & !ASYMMETRIC),
        };
        match pending {
            Some(pending) => {
                self.asymmetric -= u32::from(pending.is_asymmetric);
                Ok(Some(Done { number, pending, status }))
            }
            None => {
                self.connection.ends();
                Err(Error::Malformed)
            }
        }
    }

    #[inline]
    fn is_ready(&self) -> bool {
        self.memory.completed() != self.read
    }

    /// Checks now and then whether the daemon is alive.
    #[cold]
    fn missed(&mut self) -> Result<Option<Done>, Error> {
        self.misses = self.misses.wrapping_add(1);
        if self.misses.is_multiple_of(16)
            && self.seen.elapsed() >= self.watch.max_sleep()
            && !self.check_alive()
            && !self.is_ready()
        {
            return Err(Error::Disconnected);
        }
        match self.connection.is_gone() {
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
        if self.watch.wait_for(self.read) {
            return Ok(());
        }
        loop {
            self.watch.sleep(self.read, || false);
            if self.is_ready() {
                return Ok(());
            }
            if !self.poll_liveness() {
                // Its last completions are valid.
                return if self.is_ready() { Ok(()) } else { Err(Error::Disconnected) };
            }
        }
    }

    /// Whether the daemon is alive; checks at most twice in the longest sleep.
    pub(super) fn poll_liveness(&mut self) -> bool {
        let is_recent = self.seen.elapsed() < self.watch.max_sleep() / 2;
        if is_recent { !self.connection.is_gone() } else { self.check_alive() }
    }

    fn check_alive(&mut self) -> bool {
        self.seen = Instant::now();
        self.connection.check_alive()
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("memory", &self.memory).finish_non_exhaustive()
    }
}
