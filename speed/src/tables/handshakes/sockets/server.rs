//! The server: one thread, its sockets and an `epoll`.

use core::net::SocketAddr;
use core::sync::atomic::AtomicBool;
use std::io::{self, ErrorKind, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::net::{SocketFlags, accept_with, listen, sockopt};
use rustls_lanecrypt::HandshakePool;
use rustls_lanecrypt::rustls::{ServerConfig, ServerConnection};

use super::{ANSWER, LOOK, Round, wait};
use crate::clock::as_f64;
use crate::processors::processor_time;

/// The number of the listening socket among the events.
const LISTENER: u64 = u64::MAX;

/// A server that is listening.
pub(super) struct Server {
    config: Arc<ServerConfig>,
    /// Advances connections together, if it is to.
    pool: Option<HandshakePool>,
    listener: TcpListener,
    epoll: OwnedFd,
    /// Whether there may be a connection to accept.
    may_accept: bool,
    /// Those that wait.
    connections: Vec<Option<Connection>>,
    /// The places without a connection.
    free: Vec<usize>,
    /// Those that continue.
    ready: Vec<Connection>,
}

/// Nanoseconds of a handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// Of the server's thread on its processor.
    pub(super) processor: f64,
    pub(super) wall: f64,
}

impl Server {
    pub(super) fn new(config: Arc<ServerConfig>, pool: Option<HandshakePool>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        // All connections of a round wait to be accepted.
        listen(&listener, 1024)?;
        // Its connections inherit this.
        sockopt::set_tcp_nodelay(&listener, true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), flags)?;
        let (connections, free, ready) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { config, pool, listener, epoll, may_accept: false, connections, free, ready })
    }

    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves the connections of a round. It fails with the first of them that fails, and soon
    /// after `stop` is set.
    pub(super) fn serve(&mut self, round: Round, stop: &AtomicBool) -> io::Result<Timed> {
        self.close();
        self.connections.resize_with(round.at_once, || None);
        self.free = (0..round.at_once).rev().collect();
        let (mut start, mut end) = (None, None);
        let mut events = Vec::with_capacity(round.at_once + 1);
        let mut served = 0;
        while served < round.all() {
            if self.may_accept && !self.free.is_empty() {
                events.clear();
            } else {
                wait(&self.epoll, &mut events, &LOOK, stop)?;
            }
            events.iter().for_each(|event| self.mark(event));
            self.accept()?;
            served += self.advance()?;
            let now = || (served, processor_time(), Instant::now());
            if start.is_none() && served >= round.untimed {
                start = Some(now());
            }
            if end.is_none() && served >= round.untimed + round.timed {
                end = Some(now());
            }
        }
        let ends = start.zip(end).ok_or(ErrorKind::InvalidInput)?;
        let ((first, before, start), (last, after, end)) = ends;
        let handshakes = as_f64((last - first).max(1) as u64);
        let wall = (end - start).as_secs_f64() * 1e9;
        Ok(Timed { processor: as_f64(after - before) / handshakes, wall: wall / handshakes })
    }

    /// Closes the connections that are left.
    pub(super) fn close(&mut self) {
        self.connections.clear();
        self.ready.clear();
    }

    /// Marks what can continue.
    fn mark(&mut self, event: &Event) {
        let number = event.data.u64();
        if number == LISTENER {
            self.may_accept = true;
            return;
        }
        let slot = usize::try_from(number).ok().and_then(|at| self.connections.get_mut(at));
        if let Some(connection) = slot.and_then(Option::take) {
            let flags = event.flags;
            if connection.is_served && flags.contains(EventFlags::HUP) {
                self.free.push(connection.slot);
            } else {
                self.ready.push(connection);
            }
        }
    }

    /// Accepts connections, as many as there may be at once.
    fn accept(&mut self) -> io::Result<()> {
        while self.may_accept
            && let Some(slot) = self.free.pop()
        {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let stream = match accept_with(&self.listener, flags).map_err(io::Error::from) {
                Ok(stream) => TcpStream::from(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.may_accept = false;
                    self.free.push(slot);
                    break;
                }
                Err(error) => return Err(error),
            };
            epoll::add(&self.epoll, &stream, EventData::new_u64(slot as u64), EventFlags::IN)?;
            let tls = ServerConnection::new(self.config.clone()).map_err(io::Error::other)?;
            let tls = Box::new(tls);
            self.ready.push(Connection { slot, stream, tls, is_served: false });
        }
        Ok(())
    }

    /// Advances the marked connections; returns how many handshakes are complete by that.
    fn advance(&mut self) -> io::Result<usize> {
        let ready = self.ready.iter_mut();
        let steps: Vec<io::Result<Step>> = match &mut self.pool {
            Some(pool) => pool.run(ready.map(|connection| || connection.advance())),
            None => ready.map(|connection| connection.advance()).collect(),
        };
        let mut served = 0;
        for (connection, step) in self.ready.drain(..).zip(steps) {
            let step = step?;
            served += usize::from(step == Step::IsServed);
            let slot = connection.slot;
            match step {
                Step::HasLeft => self.free.push(slot),
                _ => self.connections[slot] = Some(connection),
            }
        }
        Ok(served)
    }
}

/// A client's connection.
struct Connection {
    slot: usize,
    stream: TcpStream,
    tls: Box<ServerConnection>,
    /// Whether the client has its answer.
    is_served: bool,
}

/// What a connection has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Waits,
    /// The handshake is complete by this step.
    IsServed,
    HasLeft,
}

impl Connection {
    /// Reads, continues and writes.
    fn advance(&mut self) -> io::Result<Step> {
        match self.tls.read_tls(&mut self.stream) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Step::Waits),
            Ok(0) | Err(_) if self.is_served => return Ok(Step::HasLeft),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => (),
            Err(error) => return Err(error),
        }
        self.tls.process_new_packets().map_err(io::Error::other)?;
        let is_complete = !self.is_served && !self.tls.is_handshaking();
        if is_complete {
            self.tls.writer().write_all(&ANSWER)?;
            self.is_served = true;
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream)?;
        }
        Ok(if is_complete { Step::IsServed } else { Step::Waits })
    }
}
