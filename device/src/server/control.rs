//! What clients ask by the socket.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use lanecrypt_engine::{Algorithm, Engine, Error};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{SocketFlags, accept_with};
use zeroize::{Zeroize as _, Zeroizing};

use super::Limits;
use super::keys::Keys;
use super::peer::{Link, Peer};
use super::sessions::{Opened, Sessions, open};
use crate::protocol::socket::Packet;
use crate::protocol::{Answer, Asked, Greeting, VERSION};
use crate::shared::{Layout, Mapping};
use crate::{Refusal, Statistics};

/// Who may connect, and what they may have.
#[derive(Debug)]
pub(super) struct Control {
    engine: Engine,
    keys: Keys,
    users: Vec<u32>,
    allows_null: bool,
    limits: Limits,
    /// The user of this process.
    own: u32,
    /// The number of the next client.
    next: u64,
    /// Kept for a client that comes when there are no more descriptors, to tell it so.
    spare: Option<OwnedFd>,
}

/// What has come to the socket that listens.
pub(super) enum Accepted {
    Peer(Peer),
    /// Somebody who was refused.
    Refused,
    Nobody,
    /// Somebody who can be neither served nor refused.
    Exhausted,
}

/// What a client has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It has been answered.
    Answered,
    /// It has got shared memory with an arena of this length. It runs on this processor.
    Linked { processor: u32, arena: u32 },
    /// It is to be forgotten.
    Gone,
}

impl Control {
    pub(super) fn new(
        engine: Engine,
        keys: Keys,
        users: Vec<u32>,
        allows_null: bool,
        limits: Limits,
    ) -> Self {
        let own = rustix::process::geteuid().as_raw();
        let spare = spare();
        Self { engine, keys, users, allows_null, limits, own, next: 0, spare }
    }

    pub(super) fn named_keys(&self) -> u32 {
        u32::try_from(self.keys.len()).unwrap_or(u32::MAX)
    }

    /// Whether users other than that of this process may connect.
    pub(super) fn serves_others(&self) -> bool {
        self.users.iter().any(|&user| user != self.own) || self.keys.serve_others(self.own)
    }

    fn serves(&self, user: u32) -> bool {
        user == self.own || self.users.contains(&user) || self.keys.serve(user)
    }

    /// Accepts somebody who has connected, beside so many clients.
    pub(super) fn accept(&mut self, listener: &OwnedFd, clients: usize) -> Accepted {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = match accept_with(listener, flags) {
            Ok(socket) => socket,
            Err(Errno::MFILE | Errno::NFILE) => return self.accept_by_spare(listener),
            Err(Errno::INTR | Errno::CONNABORTED) => return Accepted::Refused,
            Err(_) => return Accepted::Nobody,
        };
        let Ok(user) = socket_peercred(&socket).map(|peer| peer.uid.as_raw()) else {
            return Accepted::Refused;
        };
        if !self.serves(user) {
            return self.refuse(socket, Refusal::User(user));
        }
        if clients >= self.limits.clients {
            return self.refuse(socket, Refusal::Clients);
        }
        let number = self.next;
        self.next += 1;
        Accepted::Peer(Peer { number, socket, user, sessions: Sessions::default(), link: None })
    }

    /// Tells somebody that there are no descriptors, by the one that was kept for that.
    #[cold]
    fn accept_by_spare(&mut self, listener: &OwnedFd) -> Accepted {
        let Some(spare) = self.spare.take() else { return Accepted::Exhausted };
        drop(spare);
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let accepted = match accept_with(listener, flags) {
            Ok(socket) => self.refuse(socket, Refusal::Descriptors),
            Err(_) => Accepted::Nobody,
        };
        self.has_room();
        accepted
    }

    /// A descriptor may have become free.
    pub(super) fn has_room(&mut self) {
        if self.spare.is_none() {
            self.spare = spare();
        }
    }

    fn refuse(&self, socket: OwnedFd, refusal: Refusal) -> Accepted {
        // What it has asked so far is read, so that the connection ends in order.
        let mut packet = Packet::new();
        let _ = packet.receive(&socket);
        let _ = packet.send(&socket, &Answer::Refused(refusal), &[]);
        Accepted::Refused
    }

    /// Hears what a client asks, and answers.
    pub(super) fn hear(
        &mut self,
        peer: &mut Peer,
        statistics: &Statistics,
        ring: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Heard {
        // One of its own, from which what is asked can be borrowed; it is wiped in the end.
        let mut packet = Packet::new();
        match packet.receive(&peer.socket) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Answered,
            Err(_) => return Heard::Gone,
        }
        match packet.value() {
            (_, Some(Asked::Hello { depth, arena, processor })) => {
                let layout = Layout::nearest(depth, arena, self.limits.arena);
                self.link(peer, layout, processor, ring)
            }
            (_, Some(asked)) => {
                let mut name = String::new();
                let answer = self.answer(peer, &asked, statistics, &mut name);
                send(peer, &answer.unwrap_or_else(Answer::Refused))
            }
            (greeting, None) => {
                let is_other = greeting.is_some_and(Greeting::is_other_version);
                let refusal = if is_other { Refusal::Version(VERSION) } else { Refusal::Malformed };
                send(peer, &Answer::Refused(refusal));
                Heard::Gone
            }
        }
    }

    /// Gives a client its shared memory.
    fn link(
        &mut self,
        peer: &mut Peer,
        layout: Layout,
        processor: u32,
        ring: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Heard {
        if peer.link.is_some() {
            send(peer, &Answer::Refused(Refusal::Malformed));
            return Heard::Gone;
        }
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let made = Mapping::make(layout).and_then(|made| Ok((made, eventfd(0, flags)?)));
        let ((memory, descriptor), doorbell) = match made {
            Ok(made) => made,
            Err(error) => {
                let refusal = match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::MFILE | Errno::NFILE) => Refusal::Descriptors,
                    _ => Refusal::Memory,
                };
                send(peer, &Answer::Refused(refusal));
                return Heard::Gone;
            }
        };
        let welcome = Answer::Welcome { depth: layout.depth(), arena: layout.arena() };
        let descriptors = [descriptor.as_fd(), doorbell.as_fd()];
        if Packet::new().send(&peer.socket, &welcome, &descriptors).is_err() {
            return Heard::Gone;
        }
        if ring(doorbell.as_fd()).is_err() {
            return Heard::Gone;
        }
        peer.link = Some(Link::new(memory, doorbell));
        Heard::Linked { processor, arena: layout.arena() }
    }

    /// The answer to what a client asks besides shared memory. `name` is room for a name.
    fn answer<'n>(
        &mut self,
        peer: &mut Peer,
        asked: &Asked<'_>,
        statistics: &Statistics,
        name: &'n mut String,
    ) -> Result<Answer<'n>, Refusal> {
        let opened = match *asked {
            Asked::Statistics => return Ok(Answer::Statistics(statistics.clone())),
            Asked::Close { session } => {
                return match peer.sessions.remove(session) {
                    true => Ok(Answer::Closed),
                    false => Err(Refusal::Session),
                };
            }
            Asked::Open { algorithm, key } => self.open(algorithm, key)?,
            Asked::Generate { algorithm, length } => self.generate(algorithm, length)?,
            Asked::Named { name } => {
                self.keys.find(name, peer.user, self.own).ok_or(Refusal::Name)?
            }
            Asked::Hello { .. } => return Err(Refusal::Malformed),
        };
        *name = opened.session().algorithm().ok_or(Refusal::Algorithm)?.to_string();
        let session = peer.sessions.add(opened, self.limits.sessions).ok_or(Refusal::Sessions)?;
        Ok(Answer::Session { session, algorithm: name })
    }

    fn open(&self, algorithm: &str, key: &[u8]) -> Result<Opened, Refusal> {
        let algorithm = self.algorithm(algorithm)?;
        open(&self.engine, algorithm, key).map_err(|error| match error {
            Error::KeyLength => Refusal::KeyLength,
            Error::WeakKey => Refusal::WeakKey,
            _ => Refusal::Algorithm,
        })
    }

    fn generate(&self, algorithm: &str, length: u32) -> Result<Opened, Refusal> {
        let lengths = self.algorithm(algorithm)?.key_lengths();
        let length = match length {
            0 => lengths.longest(),
            length => length as usize,
        };
        if !lengths.contains(length) {
            return Err(Refusal::KeyLength);
        }
        let mut key = Zeroizing::new(vec![0; length]);
        lanecrypt_random::try_fill(&mut key).map_err(|_| Refusal::Entropy)?;
        let opened = self.open(algorithm, &key);
        key.zeroize();
        opened
    }

    fn algorithm(&self, name: &str) -> Result<Algorithm, Refusal> {
        match name.parse() {
            Ok(Algorithm::NULL) if !self.allows_null => Err(Refusal::Null),
            Ok(algorithm) => Ok(algorithm),
            Err(_) => Err(Refusal::Algorithm),
        }
    }
}

fn send(peer: &Peer, answer: &Answer<'_>) -> Heard {
    // A client that reads no answers is none.
    match Packet::new().send(&peer.socket, answer, &[]) {
        Ok(()) => Heard::Answered,
        Err(_) => Heard::Gone,
    }
}

/// Any descriptor.
fn spare() -> Option<OwnedFd> {
    rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}
