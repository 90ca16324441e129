//! Whole handshakes of TLS 1.3 through rustls, over sockets of this machine: a thread with `epoll`
//! serves many connections at once, and a thread on another processor is the clients.
//!
//! Rounds of all servers take turns. What counts is the time of the server's thread on its
//! processor, which other programs lengthen less than the time by the clock.

use core::sync::atomic::{AtomicBool, Ordering};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

use lanecrypt_kernels::Isa;
use lanecrypt_peers::Operation;
use rustix::event::epoll::{self, Event};
use rustix::time::Timespec;
use rustls_lanecrypt::rustls::client::Resumption;
use rustls_lanecrypt::rustls::crypto::CryptoProvider;
use rustls_lanecrypt::rustls::{ClientConfig, NamedGroup};
use rustls_lanecrypt::{HandshakePool, over};

use self::clients::{Clients, Trusting};
use self::server::{Server, Timed};
use super::NAME;
use super::through_rustls::{API, BASES, POOL, client_config, server_config, version};
use super::view::SOCKETS_OPERATIONS;
use crate::clock;
use crate::peer_set::PeerSet;
use crate::processors::{self, Pinned};
use crate::results::Point;
use crate::sampler::{Sampled, TOO_SHORT};
use crate::statistics::Estimate;
use crate::table::{Extra, How};

mod clients;
mod server;
#[cfg(test)]
#[path = "../../../tests/unit/sockets.rs"]
mod tests;

pub(super) const EXTRA: Extra = Extra { ids, measure };

/// Connections at once, the most important number first.
const AT_ONCE: [usize; 3] = [64, 8, 1];
/// Rounds of each server, if the time allows.
const ROUNDS: usize = 101;
/// What a server sends when it has verified the client's end of the handshake.
const ANSWER: [u8; 1] = [42];
/// How long a server sleeps until it looks whether its clients have failed.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Clients do not sleep, so that the server does not pay for waking them.
const NONE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// The handshakes of a round.
#[derive(Clone, Copy, Debug)]
struct Round {
    at_once: usize,
    /// Those before the clock runs.
    untimed: usize,
    timed: usize,
}

impl Round {
    /// The usual one: some twenty milliseconds. Both ends of all connections are fewer files than
    /// the 1024 that a process may usually have open.
    const fn of(at_once: usize) -> Self {
        let timed = if at_once == 1 { 64 } else { 256 };
        Self { at_once, untimed: at_once, timed }
    }

    /// With those after the clock has stopped: it stops before there are fewer at once.
    const fn all(self) -> usize {
        self.untimed + self.timed + self.at_once
    }
}

/// Waits for events of sockets, and looks after each `sleep` whether it is to stop.
fn wait(
    epoll: &OwnedFd,
    events: &mut Vec<Event>,
    sleep: &Timespec,
    stop: &AtomicBool,
) -> io::Result<()> {
    loop {
        // It orders nothing: what failed is returned by the thread that has set it.
        if stop.load(Ordering::Relaxed) {
            return Err(io::Error::new(ErrorKind::ConnectionAborted, "the other side has failed"));
        }
        events.clear();
        match epoll::wait(epoll, rustix::buffer::spare_capacity(events), Some(sleep)) {
            Err(error) if error != rustix::io::Errno::INTR => return Err(error.into()),
            _ if events.is_empty() => (),
            _ => return Ok(()),
        }
    }
}

/// A provider of rustls, and how its servers advance connections.
struct Kind {
    point: Point,
    provider: CryptoProvider,
    is_pool: bool,
}

/// The peers that are asked for, and ours over the first provider.
fn kinds(peers: &PeerSet<'_>) -> Vec<Kind> {
    let bases = BASES.iter().filter_map(|base| {
        let version = Some(version(peers, base.source)?);
        let point = Point { version, ..of_base(base.source) };
        Some(Kind { point, provider: (base.make)(), is_pool: false })
    });
    let ours = BASES.first().map(|base| {
        let point = of_pool().of_ours(Isa::detect());
        Kind { point, provider: over((base.make)()), is_pool: true }
    });
    ours.into_iter().chain(bases).collect()
}

fn of_base(source: &str) -> Point {
    Point { source: source.into(), api: API.into(), ..Point::default() }
}

fn of_pool() -> Point {
    Point { source: "lanecrypt".into(), api: POOL.into(), ..Point::default() }
}

/// A point, named.
fn named(point: Point, operation: &str, at_once: usize) -> Point {
    let subject = Operation::Server.names()[0];
    let Point { source, api, .. } = &point;
    Point {
        id: format!("{NAME}/{source}/{api}/{subject}/{operation}/c{at_once}"),
        table: NAME.into(),
        subject: subject.into(),
        op: operation.into(),
        depth: u32::try_from(at_once).ok(),
        threads: Some(1),
        ..point
    }
}

/// The points of a kind with so many connections.
fn points(point: &Point, at_once: usize) -> [Point; 2] {
    SOCKETS_OPERATIONS.map(|operation| named(point.clone(), operation, at_once))
}

/// Every id that [`measure`] can return.
fn ids() -> Vec<String> {
    let kinds = BASES.iter().map(|base| of_base(base.source)).chain([of_pool()]);
    let all = kinds.flat_map(|kind| AT_ONCE.map(|at_once| points(&kind, at_once)));
    all.flatten().map(|point| point.id).collect()
}

/// Measures the points that are wanted, until the time is over.
fn measure(how: &How<'_>, sampled: &mut Sampled) {
    let &[first, second, ..] = &*processors::allowed() else {
        sampled.remarks.push("handshakes over sockets need 2 processors".into());
        return;
    };
    let _pinned = Pinned::to(first);
    let mut states = Vec::new();
    let kinds = kinds(how.peers);
    for at_once in AT_ONCE {
        for Kind { point, provider, is_pool } in &kinds {
            let points = points(point, at_once);
            if !points.iter().any(|point| (how.fits)(&point.id)) {
                continue;
            }
            match State::new(provider.clone(), *is_pool, Round::of(at_once), second) {
                Ok(state) => states.push((points, state)),
                Err(error) => failed(sampled, &points[0], &error),
            }
        }
    }
    for _ in 0..ROUNDS {
        for (_, state) in &mut states {
            if !how.limits.over() && state.error.is_none() {
                state.round();
            }
        }
    }
    for (points, state) in states {
        match &state.error {
            Some(error) => failed(sampled, &points[0], error),
            None if state.rounds.is_empty() => {
                sampled.remarks.push(format!("{}: {TOO_SHORT}", points[0].id));
            }
            None => {
                let figures = [|it: &Timed| it.processor, |it: &Timed| it.wall];
                for (point, figure) in points.into_iter().zip(figures) {
                    let ns = state.rounds.iter().map(figure);
                    let cycles: Vec<f64> = ns.map(|ns| ns * clock::ghz()).collect();
                    let estimate = Estimate::between(&cycles).filter(|_| (how.fits)(&point.id));
                    sampled.points.extend(estimate.map(|estimate| {
                        let point = point.measured(estimate).with_passes(&cycles);
                        Point { verified: true, ..point }
                    }));
                }
            }
        }
    }
}

/// Notes that a handshake failed: there is no figure then.
fn failed(sampled: &mut Sampled, point: &Point, error: &io::Error) {
    sampled.remarks.push(format!("not measured: {}: a handshake failed: {error}", point.id));
    sampled.wrong += usize::from(point.is_ours());
}

/// A server that is measured, and its clients.
struct State {
    server: Server,
    clients: Clients,
    round: Round,
    /// The processor of the clients.
    processor: usize,
    rounds: Vec<Timed>,
    error: Option<io::Error>,
}

impl State {
    /// A server that has served clients which check everything, by the first provider.
    fn new(
        provider: CryptoProvider,
        is_pool: bool,
        round: Round,
        processor: usize,
    ) -> io::Result<Self> {
        let make = BASES.first().map(|base| base.make).ok_or(ErrorKind::Unsupported)?;
        let mut config = server_config(provider).ok_or(ErrorKind::InvalidInput)?;
        config.send_tls13_tickets = 0;
        let mut server = Server::new(Arc::new(config), is_pool.then(HandshakePool::new))?;
        let checking = client(make())?;
        let mut checking = Clients::new(Arc::new(checking), server.address()?);
        let few = Round { untimed: 0, timed: round.at_once, ..round };
        together(&mut server, &mut checking, few, processor)?;
        let mut quick = client(over(make()))?;
        quick.dangerous().set_certificate_verifier(Arc::new(Trusting));
        let clients = Clients::new(Arc::new(quick), server.address()?);
        Ok(Self { server, clients, round, processor, rounds: Vec::new(), error: None })
    }

    fn round(&mut self) {
        let Self { server, clients, round, processor, .. } = self;
        match together(server, clients, *round, *processor) {
            Ok(timed) => self.rounds.push(timed),
            Err(error) => self.error = Some(error),
        }
    }
}

/// A client that checks everything, and resumes nothing.
fn client(provider: CryptoProvider) -> io::Result<ClientConfig> {
    let config = client_config(provider, NamedGroup::X25519);
    let mut config = config.ok_or(ErrorKind::InvalidInput)?;
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// A round of a server on this thread, with its clients on another processor.
fn together(
    server: &mut Server,
    clients: &mut Clients,
    round: Round,
    processor: usize,
) -> io::Result<Timed> {
    let stop = &AtomicBool::new(false);
    // It orders nothing: what failed is returned.
    let note = |has_failed: bool| stop.fetch_or(has_failed, Ordering::Relaxed);
    let (connected, served) = thread::scope(|scope| {
        let clients = scope.spawn(move || {
            let _pinned = Pinned::to(processor);
            let connected = clients.connect(round, stop);
            note(connected.is_err());
            connected
        });
        let served = server.serve(round, stop);
        note(served.is_err());
        (clients.join().unwrap_or(Err(ErrorKind::Other.into())), served)
    });
    server.close();
    match (connected, served) {
        (Ok(()), served) => served,
        (Err(error), Ok(_)) => Err(error),
        (Err(error), Err(other)) => Err(if is_reason(&error) { error } else { other }),
    }
}

/// Whether it is not just that the other side has failed.
fn is_reason(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let kinds = [BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof];
    !kinds.contains(&error.kind())
}
