//! Requests of clients on the socket.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;

use lanecrypt_engine::{Algorithm, Engine, Error};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{SocketFlags, accept_with};
use zeroize::Zeroizing;

use super::keys::Keys;
use super::peer::{Link, Peer};
#[cfg(feature = "rsa")]
use super::rsa_key_workers::{RsaKeyWorkers, padding};
#[cfg(feature = "rsa")]
use super::sessions::open_rsa;
use super::sessions::{Opened, Sessions, open};
use super::worker::CompletionNotifier;
use crate::protocol::socket::Packet;
use crate::protocol::{ControlRequest, ControlResponse, Greeting, VERSION};
use crate::shared::{Layout, Mapping};
use crate::{RejectReason, Statistics};

/// Limits of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "settings")]
pub struct Limits {
    /// The most clients at a time.
    pub clients: usize,
    /// The most sessions of a client, up to 65,536.
    pub sessions: usize,
    /// The longest arena of a client in bytes, up to 64 MiB.
    pub arena: u32,
    /// The most signatures of a client that are being served.
    pub signatures: u32,
}

impl Default for Limits {
    /// 256 clients, each with 4,096 sessions, an arena of 16 MiB and 64 signatures.
    fn default() -> Self {
        Self { clients: 256, sessions: 4096, arena: 1 << 24, signatures: 64 }
    }
}

/// The users that may connect, and their limits.
#[derive(Debug)]
pub(super) struct Control {
    engine: Engine,
    keys: Keys,
    users: Vec<u32>,
    allows_null: bool,
    limits: Limits,
    #[cfg(feature = "rsa")]
    rsa_workers: RsaKeyWorkers,
    /// The user of this process.
    own: u32,
    /// The number of the next client.
    next: u64,
    /// Reserved for refusing a client that connects when there are no free descriptors.
    spare: Option<OwnedFd>,
}

/// The result of accepting a connection.
pub(super) enum Accepted {
    Peer(Peer),
    /// A client that was refused.
    Refused,
    Nobody,
    /// A client that can be neither served nor refused.
    Exhausted,
}

/// The result of a client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It was answered.
    Answered,
    /// The client received shared memory with an arena of this length. It runs on this processor.
    Linked { processor: u32, arena: u32 },
    /// The client is to be removed.
    Gone,
}

impl Control {
    pub(super) fn new(
        engine: Engine,
        keys: Keys,
        users: Vec<u32>,
        allows_null: bool,
        limits: Limits,
        notifier: &Arc<CompletionNotifier>,
    ) -> Self {
        let own = rustix::process::geteuid().as_raw();
        #[cfg(not(feature = "rsa"))]
        let _ = notifier;
        Self {
            engine,
            keys,
            users,
            allows_null,
            limits,
            #[cfg(feature = "rsa")]
            rsa_workers: RsaKeyWorkers::new(notifier),
            own,
            next: 0,
            spare: spare(),
        }
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

    /// Accepts a connection, in addition to these clients.
    pub(super) fn accept(&mut self, listener: &OwnedFd, peers: &mut Vec<Peer>) -> Accepted {
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
            return self.refuse(socket, RejectReason::User(user));
        }
        if peers.len() >= self.limits.clients {
            // A new client replaces the one that has been silent for longest, so that silent
            // clients cannot occupy all places.
            match peers.iter().position(|peer| peer.link.is_none()) {
                Some(silent) => {
                    let _ = self.refuse(peers.remove(silent).socket, RejectReason::Clients);
                }
                None => return self.refuse(socket, RejectReason::Clients),
            }
        }
        let number = self.next;
        self.next += 1;
        let sessions = Sessions::default();
        Accepted::Peer(Peer { number, socket, user, sessions, awaits_key: false, link: None })
    }

    /// Refuses a client for lack of descriptors, by means of the reserved one.
    #[cold]
    fn accept_by_spare(&mut self, listener: &OwnedFd) -> Accepted {
        let Some(spare) = self.spare.take() else { return Accepted::Exhausted };
        drop(spare);
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let accepted = match accept_with(listener, flags) {
            Ok(socket) => self.refuse(socket, RejectReason::Descriptors),
            Err(_) => Accepted::Nobody,
        };
        self.reserve_descriptor();
        accepted
    }

    /// Reserves a descriptor, if one has become free.
    pub(super) fn reserve_descriptor(&mut self) {
        if self.spare.is_none() {
            self.spare = spare();
        }
    }

    fn refuse(&self, socket: OwnedFd, refusal: RejectReason) -> Accepted {
        // Its requests so far are read, so that the connection is closed in order.
        let mut packet = Packet::new();
        let _ = packet.receive(&socket);
        let _ = packet.send(&socket, &ControlResponse::Refused(refusal), &[]);
        Accepted::Refused
    }

    /// Receives a request of a client, and replies.
    pub(super) fn hear(
        &mut self,
        peer: &mut Peer,
        statistics: &Statistics,
        ring: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Heard {
        // A separate packet, from which the request is borrowed; it is wiped at the end.
        let mut packet = Packet::new();
        match packet.receive(&peer.socket) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Answered,
            Err(_) => return Heard::Gone,
        }
        if peer.awaits_key {
            // It had to wait for the reply.
            return Heard::Gone;
        }
        match packet.value() {
            (_, Some(ControlRequest::Hello { depth, arena, processor })) => {
                let layout = Layout::nearest(depth, arena, self.limits.arena);
                self.link(peer, layout, processor, ring)
            }
            (_, Some(asked)) => {
                let mut name = String::new();
                match self.answer(peer, &asked, statistics, &mut name) {
                    Ok(Some(answer)) => send(peer, &answer),
                    Ok(None) => Heard::Answered,
                    Err(refusal) => send(peer, &ControlResponse::Refused(refusal)),
                }
            }
            (greeting, None) => {
                let is_other = greeting.is_some_and(Greeting::is_other_version);
                let refusal =
                    if is_other { RejectReason::Version(VERSION) } else { RejectReason::Malformed };
                send(peer, &ControlResponse::Refused(refusal));
                Heard::Gone
            }
        }
    }

    /// Sends a client its shared memory.
    fn link(
        &mut self,
        peer: &mut Peer,
        layout: Layout,
        processor: u32,
        ring: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Heard {
        if peer.link.is_some() {
            send(peer, &ControlResponse::Refused(RejectReason::Malformed));
            return Heard::Gone;
        }
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let made = Mapping::make(layout).and_then(|made| Ok((made, eventfd(0, flags)?)));
        let ((memory, descriptor), doorbell) = match made {
            Ok(made) => made,
            Err(error) => {
                let refusal = match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::MFILE | Errno::NFILE) => RejectReason::Descriptors,
                    _ => RejectReason::Memory,
                };
                send(peer, &ControlResponse::Refused(refusal));
                return Heard::Gone;
            }
        };
        let (depth, arena) = (layout.depth(), layout.arena());
        let welcome = ControlResponse::Welcome { depth, arena, signatures: self.limits.signatures };
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

    /// The reply to any request except for shared memory; `None` if it is sent later. `name` is
    /// room for a name.
    fn answer<'n>(
        &mut self,
        peer: &mut Peer,
        asked: &ControlRequest<'_>,
        statistics: &Statistics,
        name: &'n mut String,
    ) -> Result<Option<ControlResponse<'n>>, RejectReason> {
        let opened = match *asked {
            ControlRequest::Statistics => {
                return Ok(Some(ControlResponse::Statistics(statistics.clone())));
            }
            ControlRequest::Close { session } => {
                return match peer.sessions.remove(session) {
                    true => Ok(Some(ControlResponse::Closed)),
                    false => Err(RejectReason::Session),
                };
            }
            ControlRequest::Open { algorithm, key } => self.open(algorithm, key)?,
            ControlRequest::Generate { algorithm, length } => self.generate(algorithm, length)?,
            ControlRequest::Named { name } => {
                self.keys.find(name, peer.user, self.own).ok_or(RejectReason::Name)?
            }
            #[cfg(feature = "rsa")]
            ControlRequest::NamedRsa { name, ref scheme } => {
                self.keys.find_rsa(name, padding(scheme)?, peer.user, self.own)?
            }
            #[cfg(not(feature = "rsa"))]
            ControlRequest::NamedRsa { .. } => return Err(RejectReason::Algorithm),
            ControlRequest::PublicKey { session } => {
                let opened = peer.sessions.find(session).ok_or(RejectReason::Session)?;
                return Ok(Some(ControlResponse::PublicKey(public_key(opened)?)));
            }
            ControlRequest::OpenRsa { .. } | ControlRequest::GenerateRsa { .. } => {
                // Checked first, so that no key is generated for nothing.
                if peer.sessions.len() >= self.limits.sessions {
                    return Err(RejectReason::Sessions);
                }
                self.make(peer.number, asked)?;
                peer.awaits_key = true;
                return Ok(None);
            }
            ControlRequest::Hello { .. } => return Err(RejectReason::Malformed),
        };
        if let Some(algorithm) = opened.session().algorithm() {
            *name = algorithm.to_string();
        }
        self.keep(peer, opened, name).map(Some)
    }

    /// Stores a session for a client; the name is that of its algorithm, if it is one of a cipher.
    fn keep<'n>(
        &self,
        peer: &mut Peer,
        opened: Opened,
        algorithm: &'n str,
    ) -> Result<ControlResponse<'n>, RejectReason> {
        let signature_length = u32::try_from(opened.session().signature_length()).unwrap_or(0);
        let session =
            peer.sessions.add(opened, self.limits.sessions).ok_or(RejectReason::Sessions)?;
        Ok(match signature_length {
            0 => ControlResponse::Session { session, algorithm },
            _ => ControlResponse::RsaSession { session, signature_length },
        })
    }

    /// Begins to generate an RSA key for a client.
    #[cfg(feature = "rsa")]
    fn make(&mut self, client: u64, asked: &ControlRequest<'_>) -> Result<(), RejectReason> {
        match asked {
            ControlRequest::OpenRsa { scheme, key } => self.rsa_workers.check(client, scheme, key),
            ControlRequest::GenerateRsa { scheme, bits } => {
                self.rsa_workers.generate(client, scheme, *bits)
            }
            _ => Err(RejectReason::Malformed),
        }
    }

    #[cfg(not(feature = "rsa"))]
    fn make(&mut self, _client: u64, _asked: &ControlRequest<'_>) -> Result<(), RejectReason> {
        Err(RejectReason::Algorithm)
    }

    /// Replies to clients that waited for RSA keys. Returns those that are to be removed.
    #[cfg(feature = "rsa")]
    pub(super) fn answer_made(&self, peers: &mut [Peer]) -> Vec<u64> {
        let mut gone = Vec::new();
        for (client, made) in self.rsa_workers.made() {
            // It may be gone. Its key is wiped then.
            let Some(peer) = peers.iter_mut().find(|peer| peer.number == client) else { continue };
            peer.awaits_key = false;
            let opened = made.map(|(key, padding)| open_rsa(&self.engine, key, padding));
            let answer = opened.and_then(|opened| self.keep(peer, opened, ""));
            if send(peer, &answer.unwrap_or_else(ControlResponse::Refused)) == Heard::Gone {
                gone.push(client);
            }
        }
        gone
    }

    /// Cancels the key of a client that has disconnected, unless it is begun.
    #[cfg(feature = "rsa")]
    pub(super) fn forget(&self, client: u64) {
        self.rsa_workers.forget(client);
    }

    fn open(&self, algorithm: &str, key: &[u8]) -> Result<Opened, RejectReason> {
        let algorithm = self.algorithm(algorithm)?;
        open(&self.engine, algorithm, key).map_err(|error| match error {
            Error::KeyLength => RejectReason::KeyLength,
            Error::WeakKey => RejectReason::WeakKey,
            _ => RejectReason::Algorithm,
        })
    }

    fn generate(&self, algorithm: &str, length: u32) -> Result<Opened, RejectReason> {
        let lengths = self.algorithm(algorithm)?.key_lengths();
        let length = match length {
            0 => lengths.longest(),
            length => length as usize,
        };
        if !lengths.contains(length) {
            return Err(RejectReason::KeyLength);
        }
        let mut key = Zeroizing::new(vec![0; length]);
        lanecrypt_random::try_fill(&mut key).map_err(|_| RejectReason::Entropy)?;
        self.open(algorithm, &key)
    }

    fn algorithm(&self, name: &str) -> Result<Algorithm, RejectReason> {
        match name.parse() {
            Ok(Algorithm::NULL) if !self.allows_null => Err(RejectReason::Null),
            Ok(algorithm) => Ok(algorithm),
            Err(_) => Err(RejectReason::Algorithm),
        }
    }
}

/// The DER of the public key of a session.
#[cfg(feature = "rsa")]
fn public_key(opened: &Opened) -> Result<Vec<u8>, RejectReason> {
    let (key, _) = opened.session().rsa_key().ok_or(RejectReason::Algorithm)?;
    Ok(key.public_key().to_spki_der())
}

#[cfg(not(feature = "rsa"))]
fn public_key(_opened: &Opened) -> Result<Vec<u8>, RejectReason> {
    Err(RejectReason::Algorithm)
}

fn send(peer: &Peer, answer: &ControlResponse<'_>) -> Heard {
    // A client that does not read replies is removed.
    match Packet::new().send(&peer.socket, answer, &[]) {
        Ok(()) => Heard::Answered,
        Err(_) => Heard::Gone,
    }
}

/// Any descriptor.
fn spare() -> Option<OwnedFd> {
    rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}
