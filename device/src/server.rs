//! The daemon.
//!
//! One thread serves all requests except slow ones: it runs batch passes, and handles the sockets
//! in between, every quarter of a millisecond as estimated from what it has served, and before it
//! sleeps. It sleeps in `epoll`, which waits for clients, sockets and other threads at once. Each
//! client wakes it by an eventfd of its own. The daemon never reads that eventfd, because the
//! client shares its flags and could make a read block; `epoll` reports edges instead.
//!
//! Nothing that a client does makes this thread wait: other threads make, free and fill shared
//! memory, close sockets, and serve what takes long.

mod asymmetric;
mod background;
mod control;
mod cost;
mod event;
mod handle;
mod keys;
mod limits;
mod listener;
mod long;
mod nonces;
mod parts;
mod pass;
mod peer;
mod placement;
mod prepared;
#[cfg(feature = "rsa")]
mod rsa_key_workers;
mod sessions;
mod settings;
mod users;
mod uses;
mod worker;

use core::fmt;
use core::mem::{self, MaybeUninit};
use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use lanecrypt_kernels::wipe;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::thread::CpuSet;

use self::control::{Accepted, Control, Heard};
pub use self::event::{Event, Requests};
use self::handle::Command;
pub use self::handle::Handle;
pub use self::keys::{Key, KeyError};
pub use self::limits::Limits;
use self::limits::Usage;
pub use self::listener::BindError;
use self::listener::Listener;
pub use self::nonces::NonceSource;
use self::pass::{BatchPass, Workers, links, publish};
use self::peer::Peer;
pub use self::placement::Placement;
use self::placement::{Move, Sharing, step};
pub use self::prepared::Prepared;
pub use self::settings::Server;
use self::users::User;
use self::worker::{CompletionNotifier, TRACES};
use crate::Statistics;
use crate::protocol::status;
use crate::shared::processor::{here, take_short_turns};
use crate::shared::wakeup::settle;
use crate::shared::{Mapping, Side};
use crate::spin::Spin;

/// The numbers of events that are not of a client.
const LISTENER: u64 = u64::MAX;
const NEWS: u64 = u64::MAX - 1;

/// The most events that are received at a time.
const EVENTS: usize = 64;
/// The most connections that are accepted before the rings are checked.
const ACCEPTED: usize = 16;
/// The time between two checks of the sockets, in nanoseconds, as estimated.
const INTERVAL: u64 = 250_000;
/// The longest time of handling events before the rings are checked.
const HANDLING: Duration = Duration::from_micros(250);
/// About how many nanoseconds a check of idle rings takes.
const LOOK: u64 = 40;
/// The time for submitted requests when the daemon stops, and then for what other threads have
/// begun.
const ANSWERING: Duration = Duration::from_millis(300);
const GRACE: Duration = Duration::from_millis(300);

/// A daemon that listens. Dropping it ends all connections.
pub struct Daemon {
    control: Control,
    turn: BatchPass,
    workers: Workers,
    notifier: Arc<CompletionNotifier>,
    handle: Handle,
    spin: Spin,
    placement: Placement,
    sharing: Sharing,
    listener: Listener,
    epoll: OwnedFd,
    /// The bytes that clients may use together, whatever the limits are.
    memory: u64,
    /// The numbers of the received events.
    events: Vec<u64>,
    peers: Vec<Peer>,
    statistics: Statistics,
    /// The processor that was published to clients.
    processor: Option<u32>,
    /// The time since the sockets were checked, in nanoseconds, as estimated.
    unchecked: u64,
    /// Whether no client is accepted, because there are no free descriptors.
    is_deaf: bool,
    /// Whether sessions have ended since the stack was wiped.
    has_traces: bool,
}

impl Daemon {
    /// Controls the daemon from other threads.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// What this kernel does not have, for the administrator: one line each.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        if !self.listener.refuses_descriptors {
            missing.push(
                "Linux before 6.16: who may connect can delay the daemon by descriptors that take \
                 long to close",
            );
        }
        if !Mapping::can_be_sealed() {
            missing.push(
                "Linux before 5.1: clients can delay the daemon by removing pages of shared memory",
            );
        }
        missing
    }

    /// Serves clients until [`Handle::stop`] is called, and ends all connections then. Scheduler
    /// and placement of the calling thread are changed.
    ///
    /// # Errors
    ///
    /// The processor of the [placement](Server::placement) does not exist; the system refuses to
    /// wait.
    pub fn run(&mut self) -> io::Result<()> {
        let allowed = self.placement.begin()?;
        take_short_turns();
        let ended = self.serve(&allowed);
        self.peers.clear();
        ended
    }

    fn serve(&mut self, allowed: &CpuSet) -> io::Result<()> {
        loop {
            if self.notifier.take() && self.answer_late() {
                self.finish();
                return Ok(());
            }
            if mem::take(&mut self.has_traces) {
                // Kernels may have left round keys of sessions that have ended.
                wipe::stack::<TRACES>();
                wipe::registers();
            }
            let took = self.serve_turn();
            self.forget_broken();
            self.unchecked += took.time;
            if self.unchecked >= INTERVAL {
                self.look(Some(Duration::ZERO))?;
            } else if took.all == 0 {
                self.idle(allowed)?;
            }
            self.handle_events(allowed);
        }
    }

    fn serve_turn(&mut self) -> pass::PassCounts {
        self.turn.serve(&self.peers, &mut self.workers, &mut self.statistics)
    }

    /// Completes the requests that other threads have served, and obeys commands. Whether to stop.
    #[cold]
    fn answer_late(&mut self) -> bool {
        self.answer_served();
        let gone = self.control.offer_made(&mut self.peers).into_iter();
        #[cfg(feature = "rsa")]
        let gone = gone.chain(self.control.answer_made(&mut self.peers));
        let gone: Vec<u64> = gone.collect();
        if !gone.is_empty() {
            self.forget(|peer| gone.contains(&peer.number));
        }
        let mut stops = false;
        for command in self.handle.take() {
            match command {
                Command::Stop => stops = true,
                Command::Reload(prepared) => self.reload(*prepared),
                Command::Statistics(sender) => {
                    // The other side may have given up.
                    let _ = sender.try_send(self.statistics());
                }
            }
        }
        stops
    }

    /// Completes the requests that other threads have served.
    fn answer_served(&mut self) {
        self.workers.asymmetric.answer(&self.peers, &mut self.statistics);
        for (client, number, status, span) in self.workers.long.done() {
            self.statistics.requests += 1;
            self.statistics.failed += u64::from(status != status::SERVED);
            if let Some(link) = link_of(&self.peers, client) {
                link.messages.ends(span);
                link.complete(number, status);
            }
        }
        publish(&self.peers);
    }

    /// Completes the requests that were submitted until now, except those that take long: they are
    /// refused, unless they are finished soon.
    fn finish(&mut self) {
        self.workers.is_closed = true;
        let Workers { asymmetric, long, .. } = &self.workers;
        for (client, number, _) in asymmetric.cancel().chain(long.cancel()) {
            if let Some(link) = link_of(&self.peers, client) {
                link.complete(number, status::SHUTTING_DOWN);
            }
        }
        let until = Instant::now() + ANSWERING;
        let mut left: u64 = links(&self.peers).map(|(_, link)| u64::from(link.available())).sum();
        while left > 0 && Instant::now() < until {
            match self.serve_turn().all {
                0 => break,
                served => left = left.saturating_sub(served as u64),
            }
        }
        publish(&self.peers);
        let until = Instant::now() + GRACE;
        self.workers.asymmetric.wait_for_begun(until);
        self.workers.long.wait_for_begun(until);
        self.answer_served();
        self.turn.wipe();
    }

    /// Replaces keys, users and limits.
    fn reload(&mut self, prepared: Prepared) {
        let Prepared { engine, costs, mut access, .. } = prepared;
        self.has_traces = true;
        let control = &mut self.control;
        access.limits = access.limits.within_memory(self.memory);
        access.keys.follow(&control.access.keys);
        (control.engine, control.costs, control.access) = (engine, costs, access);
        self.workers.asymmetric.allow(control.access.limits.signatures);
        let Control { access, observer, .. } = control;
        let mut ended_sessions = 0;
        for Peer { sessions, user, .. } in &mut self.peers {
            ended_sessions += sessions.rebind(|opened| access.keys.successor(opened, user));
        }
        let keys = u32::try_from(access.keys.len()).unwrap_or(u32::MAX);
        observer.tell(&Event::Reloaded { keys, ended_sessions });
        let gone: Vec<u64> = self
            .peers
            .iter()
            .filter(|peer| !access.serves(&peer.user))
            .map(|peer| peer.number)
            .collect();
        self.forget(|peer| gone.contains(&peer.number));
    }

    /// Waits for events: spinning at first, then asleep.
    fn idle(&mut self, allowed: &CpuSet) -> io::Result<()> {
        // The processor of its last sleep: to query it each time would take longer than a check.
        let processor = self.processor.unwrap_or_else(|| self.publish_processor());
        let Self { peers, spin, epoll, events, turn, notifier, unchecked, .. } = self;
        links(peers).for_each(|(_, link)| link.waits());
        let is_needed = |(_, link): (usize, &peer::Link)| {
            link.is_busy() && link.memory.processor(Side::Client) == Some(processor)
        };
        let same = links(peers).any(is_needed);
        let is_there = || notifier.is_there() || links(peers).any(|(_, link)| link.available() > 0);
        // Yielding lets others run for as long as the system decides.
        let mut last = same.then(Instant::now);
        let found = spin.wait_for(same, || {
            *unchecked += match &mut last {
                None => LOOK,
                Some(last) => nanoseconds(mem::replace(last, Instant::now()).elapsed()),
            };
            if *unchecked < INTERVAL {
                return is_there();
            }
            *unchecked = 0;
            is_there() || look(epoll, events, Some(Duration::ZERO)).is_ok() && !events.is_empty()
        });
        if found {
            let direction = self.sharing.found(same, Instant::now);
            self.apply(direction, allowed);
            return Ok(());
        }
        turn.wipe();
        let direction = self.sharing.sleeps(Instant::now);
        self.apply(direction, allowed);
        self.publish_processor();
        links(&self.peers).for_each(|(_, link)| link.memory.wakeup(Side::Daemon).falls_asleep());
        settle();
        let is_there = links(&self.peers).any(|(_, link)| link.available() > 0);
        let slept = if is_there { Ok(()) } else { self.look(None) };
        links(&self.peers).for_each(|(_, link)| link.memory.wakeup(Side::Daemon).wakes_up());
        self.statistics.sleeps += u64::from(!is_there);
        slept
    }

    /// Leaves the processor that it shares with a client, unless clients use all others, too; or
    /// returns to it.
    fn apply(&mut self, direction: Move, allowed: &CpuSet) {
        if direction == Move::Stay || self.placement != Placement::Auto {
            return;
        }
        // It may have been moved since the last query.
        let here = self.publish_processor();
        let used = || {
            let busy = links(&self.peers).filter(|(_, link)| link.is_busy());
            busy.filter_map(|(_, link)| link.memory.processor(Side::Client))
        };
        let aside = direction == Move::Aside;
        if used().any(|processor| processor == here) == aside {
            step(allowed, used(), aside);
            self.publish_processor();
        }
    }

    /// Publishes its processor to clients, if it has changed.
    fn publish_processor(&mut self) -> u32 {
        let processor = here();
        if self.processor != Some(processor) {
            self.processor = Some(processor);
            links(&self.peers).for_each(|(_, link)| link.memory.runs_on(Side::Daemon, processor));
        }
        processor
    }

    fn look(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.unchecked = 0;
        look(&self.epoll, &mut self.events, timeout)
    }

    /// Handles events of the sockets. Those for which there is no time are reported again.
    fn handle_events(&mut self, allowed: &CpuSet) {
        if self.events.is_empty() {
            return;
        }
        let until = Instant::now() + HANDLING;
        for at in 0..self.events.len() {
            let Some(&event) = self.events.get(at) else { break };
            match event {
                LISTENER => self.accept(allowed),
                // A doorbell needs no handling; the next pass finds the requests.
                data if data % 2 == 1 => continue,
                data => self.hear(data / 2, allowed),
            }
            if Instant::now() >= until {
                break;
            }
        }
        self.events.clear();
    }

    fn accept(&mut self, allowed: &CpuSet) {
        // The others are accepted the next time: repeated connections must not delay the daemon's
        // clients.
        for _ in 0..ACCEPTED {
            let Self { control, listener, peers, statistics, .. } = self;
            let accepted = control.accept(&listener.socket, peers, |control, peers, user| {
                statistics_for(statistics, control, peers, user)
            });
            match accepted {
                Accepted::Nobody => return,
                Accepted::Done => {}
                Accepted::Exhausted => {
                    // Until a client disconnects, so that it is not notified repeatedly.
                    let _ = epoll::delete(&self.epoll, &self.listener.socket);
                    self.is_deaf = true;
                    return;
                }
                Accepted::Peer(peer) => {
                    let number = peer.number;
                    let data = epoll::EventData::new_u64(number * 2);
                    if epoll::add(&self.epoll, &peer.socket, data, epoll::EventFlags::IN).is_ok() {
                        self.peers.push(peer);
                        // Most have sent their first request.
                        self.hear(number, allowed);
                    }
                }
            }
        }
    }

    /// Receives a request of a client, or its disconnection.
    fn hear(&mut self, number: u64, allowed: &CpuSet) {
        let Self { control, peers, epoll, statistics, .. } = self;
        let Some(at) = peers.iter().position(|peer| peer.number == number) else { return };
        let data = epoll::EventData::new_u64(number * 2 + 1);
        // Edges, so that nothing has to be read.
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let heard = control.hear(
            peers,
            at,
            |control, peers, user| statistics_for(statistics, control, peers, user),
            |doorbell| Ok(epoll::add(&*epoll, doorbell, data, flags)?),
        );
        match heard {
            Heard::Answered | Heard::Nothing => {}
            Heard::Closed => self.has_traces = true,
            Heard::Gone => self.forget(|peer| peer.number == number),
            Heard::Linked => {
                let processor = self.peers.get(at).map_or(0, |peer| peer.processor);
                self.placement.welcome(processor, allowed);
                // The client receives the processor of the daemon.
                self.processor = None;
            }
        }
    }

    /// Ends the connections of some clients, and their sessions with them.
    fn forget(&mut self, which: impl Fn(&Peer) -> bool) {
        self.has_traces = true;
        for peer in self.peers.extract_if(.., |peer| which(peer)) {
            // Their other ends may stay open, and would still cause events.
            let _ = epoll::delete(&self.epoll, &peer.socket);
            if let Some(link) = peer.link() {
                let _ = epoll::delete(&self.epoll, &link.doorbell);
            }
            self.workers.asymmetric.forget(peer.number);
            self.workers.long.forget(peer.number);
            self.control.forget(peer);
        }
        self.control.reserve_descriptors();
        if self.is_deaf {
            let (data, flags) = (epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN);
            self.is_deaf = epoll::add(&self.epoll, &self.listener.socket, data, flags).is_err();
        }
    }

    #[inline]
    fn forget_broken(&mut self) {
        if links(&self.peers).any(|(_, link)| link.is_broken()) {
            self.forget(|peer| peer.link().is_some_and(peer::Link::is_broken));
        }
    }

    fn statistics(&self) -> Statistics {
        all_statistics(&self.statistics, &self.control, &self.peers)
    }
}

fn link_of(peers: &[Peer], client: u64) -> Option<&peer::Link> {
    peers.iter().find(|peer| peer.number == client)?.link()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The statistics with the numbers of now.
fn all_statistics(statistics: &Statistics, control: &Control, peers: &[Peer]) -> Statistics {
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let usage = Usage::of(peers);
    Statistics {
        clients: count(usage.clients),
        sessions: count(usage.sessions),
        named_keys: count(control.access.keys.len()),
        memory: usage.memory,
        memory_limit: control.access.limits.memory,
        ..statistics.clone()
    }
}

/// The statistics that a user may see: all of them, if it administers the daemon, or the numbers of
/// its own clients, sessions and keys.
fn statistics_for(
    statistics: &Statistics,
    control: &Control,
    peers: &[Peer],
    user: &User,
) -> Statistics {
    if user.is_administrator() {
        return all_statistics(statistics, control, peers);
    }
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let usage = Usage::of_user(peers, user.number);
    Statistics {
        clients: count(usage.clients),
        sessions: count(usage.sessions),
        named_keys: count(control.access.keys.count_for(user)),
        memory: usage.memory,
        ..Statistics::new()
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
