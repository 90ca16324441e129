//! The daemon.
//!
//! One thread serves all requests except slow ones: it runs batch passes, and handles the sockets
//! after 64 of them and before it sleeps. It sleeps in `epoll`, which waits for clients, sockets
//! and signals at once. Each client wakes it by an eventfd of its own. The daemon never reads that
//! eventfd, because the client shares its flags and could make a read block; `epoll` reports edges
//! instead.

mod control;
mod keys;
mod listener;
mod pass;
mod peer;
mod placement;
#[cfg(feature = "rsa")]
mod rsa_key;
#[cfg(feature = "rsa")]
mod rsa_key_workers;
mod sessions;
mod settings;
mod signatures;
mod worker;

use core::fmt;
use core::mem::MaybeUninit;
use core::time::Duration;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::thread::CpuSet;

pub use self::control::Limits;
use self::control::{Accepted, Control, Heard};
pub use self::keys::{Key, KeyError};
pub use self::listener::BindError;
use self::listener::Listener;
use self::pass::{BatchPass, links, publish};
use self::peer::Peer;
pub use self::placement::Placement;
use self::placement::{Move, Sharing, step};
pub use self::settings::{Prepared, Server};
use self::signatures::Signatures;
use self::worker::CompletionNotifier;
use crate::Statistics;
use crate::shared::Side;
use crate::shared::processor::here;
use crate::shared::wakeup::settle;
use crate::spin::Spin;

/// The numbers of events that are not of a client.
const LISTENER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;
const NEWS: u64 = u64::MAX - 2;

/// The most events that are handled before the rings are checked.
const EVENTS: usize = 64;
/// The most connections that are accepted before the rings are checked.
const ACCEPTED: usize = 16;
/// The number of passes before the sockets are checked.
const TURNS: u32 = 64;
/// The number of checks of idle rings before the sockets are checked.
const LOOKS: u32 = 2048;

/// A daemon that listens. Dropping it ends all connections.
pub struct Daemon {
    control: Control,
    turn: BatchPass,
    signatures: Signatures,
    notifier: Arc<CompletionNotifier>,
    spin: Spin,
    placement: Placement,
    sharing: Sharing,
    listener: Listener,
    epoll: OwnedFd,
    /// The numbers of the received events.
    events: Vec<u64>,
    peers: Vec<Peer>,
    statistics: Statistics,
    /// The processor that was published to clients.
    processor: Option<u32>,
    /// Whether no client is accepted, because there are no free descriptors.
    is_deaf: bool,
}

impl Daemon {
    /// Serves clients until `stop` is readable. Requests that were submitted before that are
    /// answered.
    ///
    /// # Errors
    ///
    /// The processor of the [placement](Server::placement) does not exist; the system refuses to
    /// wait.
    pub fn run(&mut self, stop: impl AsFd) -> io::Result<()> {
        let allowed = self.placement.begin()?;
        let data = epoll::EventData::new_u64(STOP);
        epoll::add(&self.epoll, stop.as_fd(), data, epoll::EventFlags::IN)?;
        let ended = self.serve(&allowed);
        let _ = epoll::delete(&self.epoll, stop.as_fd());
        ended
    }

    fn serve(&mut self, allowed: &CpuSet) -> io::Result<()> {
        let mut turns = 0;
        loop {
            if self.notifier.take() {
                self.answer_late();
            }
            let served = self.serve_turn();
            self.forget_broken();
            turns += 1;
            if served > 0 && turns < TURNS {
                continue;
            }
            turns = 0;
            if served > 0 {
                self.look(Some(Duration::ZERO))?;
            } else {
                self.idle(allowed)?;
            }
            if self.handle(allowed) {
                return self.finish();
            }
        }
    }

    fn serve_turn(&mut self) -> usize {
        self.turn.serve(&self.peers, &mut self.signatures, &mut self.statistics)
    }

    /// Completes the requests that other threads have served.
    #[cold]
    fn answer_late(&mut self) {
        self.signatures.answer(&self.peers, &mut self.statistics);
        publish(&self.peers);
        #[cfg(feature = "rsa")]
        for number in self.control.answer_made(&mut self.peers) {
            self.forget(|peer| peer.number == number);
        }
    }

    /// Completes all requests that were submitted until now.
    fn finish(&mut self) -> io::Result<()> {
        let mut left: u64 = links(&self.peers).map(|(_, link)| u64::from(link.available())).sum();
        while left > 0 {
            match self.serve_turn() {
                0 => break,
                served => left = left.saturating_sub(served as u64),
            }
        }
        while self.signatures.wait() {
            self.signatures.answer(&self.peers, &mut self.statistics);
            publish(&self.peers);
        }
        self.turn.wipe();
        Ok(())
    }

    /// Waits for events: spinning at first, then asleep.
    fn idle(&mut self, allowed: &CpuSet) -> io::Result<()> {
        // The processor of its last sleep: to query it each time would take longer than a check.
        let processor = self.processor.unwrap_or_else(|| self.tells_processor());
        let Self { peers, spin, epoll, events, turn, notifier, .. } = self;
        links(peers).for_each(|(_, link)| link.waits());
        let is_needed = |(_, link): (usize, &peer::Link)| {
            link.is_busy() && link.memory.processor(Side::Client) == Some(processor)
        };
        let same = links(peers).any(is_needed);
        let is_there = || notifier.is_there() || links(peers).any(|(_, link)| link.available() > 0);
        let mut looks = 0;
        let found = spin.finds(same, || {
            looks += 1;
            is_there()
                || (looks % LOOKS == 0
                    && look(epoll, events, Some(Duration::ZERO)).is_ok()
                    && !events.is_empty())
        });
        if found {
            let goes = self.sharing.found(same, Instant::now);
            self.goes(goes, allowed);
            return Ok(());
        }
        turn.wipe();
        let goes = self.sharing.sleeps(Instant::now);
        self.goes(goes, allowed);
        self.tells_processor();
        let Self { peers, epoll, events, .. } = self;
        links(peers).for_each(|(_, link)| link.memory.wakeup(Side::Daemon).falls_asleep());
        settle();
        let is_there = links(peers).any(|(_, link)| link.available() > 0);
        let slept = if is_there { Ok(()) } else { look(epoll, events, None) };
        links(peers).for_each(|(_, link)| link.memory.wakeup(Side::Daemon).wakes_up());
        self.statistics.sleeps += u64::from(!is_there);
        slept
    }

    /// Leaves the processor that it shares with a client, unless clients use all others, too; or
    /// returns to it.
    fn goes(&mut self, goes: Move, allowed: &CpuSet) {
        if goes == Move::Stay || self.placement != Placement::Auto {
            return;
        }
        // It may have been moved since the last query.
        let here = self.tells_processor();
        let used = || {
            let busy = links(&self.peers).filter(|(_, link)| link.is_busy());
            busy.filter_map(|(_, link)| link.memory.processor(Side::Client))
        };
        let aside = goes == Move::Aside;
        if used().any(|processor| processor == here) == aside {
            step(allowed, used(), aside);
            self.tells_processor();
        }
    }

    /// Publishes its processor to clients, if it has changed.
    fn tells_processor(&mut self) -> u32 {
        let processor = here();
        if self.processor != Some(processor) {
            self.processor = Some(processor);
            links(&self.peers).for_each(|(_, link)| link.memory.runs_on(Side::Daemon, processor));
        }
        processor
    }

    fn look(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        look(&self.epoll, &mut self.events, timeout)
    }

    /// Handles events of the sockets. Whether the daemon is to stop.
    fn handle(&mut self, allowed: &CpuSet) -> bool {
        let mut stops = false;
        for at in 0..self.events.len() {
            let Some(&event) = self.events.get(at) else { break };
            match event {
                LISTENER => self.accept(),
                STOP => stops = true,
                // A doorbell needs no handling; the next pass finds the requests.
                data if data % 2 == 1 => {}
                data => self.hear(data / 2, allowed),
            }
        }
        self.events.clear();
        stops
    }

    fn accept(&mut self) {
        // The others are accepted the next time: repeated connections must not delay the daemon's
        // clients.
        for _ in 0..ACCEPTED {
            match self.control.accept(&self.listener.socket, &mut self.peers) {
                Accepted::Nobody => return,
                Accepted::Refused => {}
                Accepted::Exhausted => {
                    // Until a client disconnects, so that it is not notified repeatedly.
                    let _ = epoll::delete(&self.epoll, &self.listener.socket);
                    self.is_deaf = true;
                    return;
                }
                Accepted::Peer(peer) => {
                    let data = epoll::EventData::new_u64(peer.number * 2);
                    if epoll::add(&self.epoll, &peer.socket, data, epoll::EventFlags::IN).is_ok() {
                        self.peers.push(peer);
                    }
                }
            }
        }
    }

    /// Receives a request of a client, or its disconnection.
    fn hear(&mut self, number: u64, allowed: &CpuSet) {
        let statistics = self.statistics();
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.number == number) else { return };
        let Self { control, epoll, .. } = self;
        let data = epoll::EventData::new_u64(number * 2 + 1);
        // Edges, so that nothing has to be read.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let heard = control
            .hear(peer, &statistics, |doorbell| Ok(epoll::add(&*epoll, doorbell, data, flags)?));
        match heard {
            Heard::Answered => {}
            Heard::Gone => self.forget(|peer| peer.number == number),
            Heard::Linked { processor, arena } => {
                self.turn.fits(arena);
                self.placement.welcome(processor, allowed);
                // The client receives the processor of the daemon.
                self.processor = None;
            }
        }
    }

    /// Ends the connections of some clients, and their sessions with them.
    fn forget(&mut self, which: impl Fn(&Peer) -> bool) {
        for peer in self.peers.iter().filter(|peer| which(peer)) {
            // Its other end may stay open, and would still cause events.
            if let Some(link) = &peer.link {
                let _ = epoll::delete(&self.epoll, &link.doorbell);
            }
            self.signatures.forget(peer.number);
            #[cfg(feature = "rsa")]
            self.control.forget(peer.number);
        }
        self.peers.retain(|peer| !which(peer));
        self.control.reserve_descriptor();
        if self.is_deaf {
            let (data, flags) = (epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN);
            self.is_deaf = epoll::add(&self.epoll, &self.listener.socket, data, flags).is_err();
        }
    }

    #[inline]
    fn forget_broken(&mut self) {
        if links(&self.peers).any(|(_, link)| link.is_broken()) {
            self.forget(|peer| peer.link.as_ref().is_some_and(peer::Link::is_broken));
        }
    }

    fn statistics(&self) -> Statistics {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Statistics {
            clients: count(links(&self.peers).count()),
            sessions: count(self.peers.iter().map(|peer| peer.sessions.len()).sum()),
            named_keys: self.control.named_keys(),
            ..self.statistics.clone()
        }
    }
}

/// Waits for events of the sockets.
fn look(epoll: &OwnedFd, events: &mut Vec<u64>, timeout: Option<Duration>) -> io::Result<()> {
    events.clear();
    let timeout = timeout.map(|_| Timespec { tv_sec: 0, tv_nsec: 0 });
    let mut room = [MaybeUninit::uninit(); EVENTS];
    match epoll::wait(epoll, &mut room, timeout.as_ref()) {
        Ok((came, _)) => {
            events.extend(came.iter().map(|event| event.data.u64()));
            Ok(())
        }
        Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl fmt::Debug for Daemon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Daemon").field("clients", &self.peers.len()).finish_non_exhaustive()
    }
}
