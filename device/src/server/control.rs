//! Requests of clients on the socket.

mod admission;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use lanecrypt_engine::{Algorithm, Engine, Error};
use zeroize::Zeroizing;

pub(super) use self::admission::Accepted;
use super::background::Background;
use super::cost::CostTable;
use super::event::{Event, Observer};
use super::keys::Keys;
use super::limits::{Limits, has_memory};
use super::listener::Audience;
use super::peer::Peer;
#[cfg(feature = "rsa")]
use super::rsa_key_workers::{RsaKeyWorkers, padding};
#[cfg(feature = "rsa")]
use super::sessions::open_asymmetric;
use super::sessions::{Opened, SESSION, open};
use super::users::{User, Users};
use crate::protocol::socket::Packet;
use crate::protocol::{ControlRequest, ControlResponse, Greeting, LONGEST, NEWEST, OLDEST};
use crate::{RejectReason, Statistics};

/// The users that may connect, their keys, and their limits.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) engine: Engine,
    pub(super) costs: CostTable,
    pub(super) access: Access,
    #[cfg(feature = "rsa")]
    pub(super) rsa_workers: RsaKeyWorkers,
    pub(super) background: Background,
    pub(super) observer: Observer,
    /// The number of the next client.
    next: u64,
    /// Reserved for clients that connect when there are no free descriptors.
    spare: Vec<OwnedFd>,
    /// For replies, which need no memory then.
    packet: Packet,
}

/// What a reload replaces: keys, users and limits.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) keys: Keys,
    pub(super) users: Users,
    pub(super) allows_null: bool,
    pub(super) limits: Limits,
}

/// The result of a client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It was answered.
    Answered,
    /// A session was closed, and that was answered.
    Closed,
    /// Nothing was there.
    Nothing,
    /// Its rings are served from now on.
    Linked,
    /// The client is to be removed.
    Gone,
}

impl Access {
    /// Those that the permissions of the socket have to admit.
    pub(super) fn audience(&self) -> Audience {
        let own = rustix::process::geteuid().as_raw();
        let all = || [&self.users].into_iter().chain(self.keys.users());
        if all().any(|users| users.users.iter().any(|&user| user != own)) {
            return Audience::All;
        }
        let mut groups = all().flat_map(|users| &users.groups);
        match groups.next() {
            None => Audience::Own,
            Some(&group) if groups.all(|&other| other == group) => Audience::Group(group),
            Some(_) => Audience::All,
        }
    }

    pub(super) fn serves(&self, user: &User) -> bool {
        user.is_administrator() || self.users.contain(user) || self.keys.serve(user)
    }
}

impl Control {
    pub(super) fn new(
        engine: Engine,
        costs: CostTable,
        access: Access,
        observer: Observer,
        #[cfg(feature = "rsa")] rsa_workers: RsaKeyWorkers,
        background: Background,
    ) -> Self {
        let mut made = Self {
            engine,
            costs,
            access,
            #[cfg(feature = "rsa")]
            rsa_workers,
            background,
            observer,
            next: 0,
            spare: Vec::new(),
            packet: Packet::new(),
        };
        made.reserve_descriptors();
        made
    }

    /// Receives a request of a client, and replies.
    pub(super) fn hear(
        &mut self,
        peers: &mut [Peer],
        at: usize,
        statistics: impl Fn(&Self, &[Peer], &User) -> Statistics,
        ring: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Heard {
        let Some(peer) = peers.get_mut(at) else { return Heard::Gone };
        if !has_memory(LONGEST as u64) {
            return self.refuse_request(peer);
        }
        // A separate packet, from which the request is borrowed; it is wiped at the end.
        let mut packet = Packet::new();
        match packet.receive(&peer.socket) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Nothing,
            Err(_) => return Heard::Gone,
        }
        if peer.awaits_reply {
            // It had to wait for the reply.
            return Heard::Gone;
        }
        match packet.value() {
            (_, Some(ControlRequest::Hello { depth, arena, processor })) => {
                peer.processor = processor;
                self.begin(peers, at, depth, arena)
            }
            (_, Some(ControlRequest::Mapped)) => self.link(peer, ring),
            (_, Some(ControlRequest::Statistics)) => {
                let user = peer.user.clone();
                let answer = ControlResponse::Statistics(statistics(self, peers, &user));
                peers.get(at).map_or(Heard::Gone, |peer| send(&mut self.packet, peer, &answer))
            }
            (_, Some(asked)) => {
                let mut name = String::new();
                let answer = match self.answer(peers, at, &asked, &mut name) {
                    Ok(Some(answer)) => answer,
                    Ok(None) => return Heard::Answered,
                    Err(reason) => {
                        self.refuse_session(peers, at, &asked, reason);
                        ControlResponse::Refused(reason)
                    }
                };
                let sent =
                    peers.get(at).map_or(Heard::Gone, |peer| send(&mut self.packet, peer, &answer));
                match sent {
                    Heard::Answered if answer == ControlResponse::Closed => Heard::Closed,
                    sent => sent,
                }
            }
            (greeting, None) => {
                let refusal = match greeting.is_some_and(Greeting::is_other_version) {
                    true => RejectReason::Version { oldest: OLDEST, newest: NEWEST },
                    false => RejectReason::Malformed,
                };
                send(&mut self.packet, peer, &ControlResponse::Refused(refusal));
                Heard::Gone
            }
        }
    }

    /// Receives a request of a client, and refuses it, because there is no memory to answer it.
    fn refuse_request(&mut self, peer: &Peer) -> Heard {
        match self.packet.receive(&peer.socket) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Nothing,
            Err(_) => return Heard::Gone,
            Ok(()) => {}
        }
        let refusal = ControlResponse::Refused(RejectReason::Memory);
        let sent = send(&mut self.packet, peer, &refusal);
        // A refusal ends the connection of a client without shared memory.
        if peer.link().is_some() && !peer.awaits_reply { sent } else { Heard::Gone }
    }

    /// The reply to a request for a session; `None` if it is sent later. `name` is room for a name.
    fn answer<'n>(
        &mut self,
        peers: &mut [Peer],
        at: usize,
        asked: &ControlRequest<'_>,
        name: &'n mut String,
    ) -> Result<Option<ControlResponse<'n>>, RejectReason> {
        let access = &self.access;
        let user = peers.get(at).map(|peer| peer.user.clone()).ok_or(RejectReason::Malformed)?;
        let opened = match *asked {
            ControlRequest::Close { session } => {
                let peer = peers.get_mut(at).ok_or(RejectReason::Malformed)?;
                let (opened, requests) =
                    peer.sessions.remove(session).ok_or(RejectReason::Session)?;
                let named = opened.as_ref().and_then(|opened| opened.named.as_ref());
                let key = named.map(|key| key.name.as_str());
                let (client, user) = (peer.number, peer.user.number);
                let closed = Event::SessionClosed { client, user, session, key, requests };
                self.observer.tell(&closed);
                return Ok(Some(ControlResponse::Closed));
            }
            ControlRequest::Open { algorithm, key } => {
                let algorithm = self.algorithm(algorithm, key.len())?;
                access.limits.admit_session(peers, at, SESSION)?;
                self.open(algorithm, key)?
            }
            ControlRequest::Generate { algorithm, length } => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let algorithm = self.algorithm(algorithm, length)?;
                access.limits.admit_session(peers, at, SESSION)?;
                self.generate(algorithm, length)?
            }
            ControlRequest::Named { name } => {
                access.limits.admit_session(peers, at, 0)?;
                access.keys.find(name, &user).ok_or(RejectReason::Name)?
            }
            #[cfg(feature = "rsa")]
            ControlRequest::NamedRsa { name, ref scheme } => {
                access.limits.admit_session(peers, at, 0)?;
                access.keys.find_rsa(name, padding(scheme)?, &user)?
            }
            #[cfg(not(feature = "rsa"))]
            ControlRequest::NamedRsa { .. } => return Err(RejectReason::Algorithm),
            ControlRequest::PublicKey { session } => {
                let peer = peers.get(at).ok_or(RejectReason::Malformed)?;
                let place = peer.sessions.find(session).ok_or(RejectReason::Session)?;
                let opened = place.opened().ok_or(RejectReason::Session)?;
                return Ok(Some(ControlResponse::PublicKey(public_key(opened)?)));
            }
            ControlRequest::OpenRsa { .. } | ControlRequest::GenerateRsa { .. } => {
                // Checked first, so that no key is generated for nothing.
                access.limits.admit_session(peers, at, LONGEST as u64)?;
                let peer = peers.get_mut(at).ok_or(RejectReason::Malformed)?;
                self.make(peer.number, asked)?;
                peer.awaits_reply = true;
                return Ok(None);
            }
            ControlRequest::Hello { .. } | ControlRequest::Mapped | ControlRequest::Statistics => {
                return Err(RejectReason::Malformed);
            }
        };
        if let Some(algorithm) = opened.session().algorithm() {
            *name = algorithm.to_string();
        }
        let peer = peers.get_mut(at).ok_or(RejectReason::Malformed)?;
        self.keep(peer, opened, name).map(Some)
    }

    /// Reports a refused session.
    fn refuse_session(
        &mut self,
        peers: &[Peer],
        at: usize,
        asked: &ControlRequest<'_>,
        reason: RejectReason,
    ) {
        let Some(peer) = peers.get(at) else { return };
        // Never what may be a key.
        let asked = match *asked {
            ControlRequest::Open { algorithm, .. } | ControlRequest::Generate { algorithm, .. } => {
                algorithm
            }
            ControlRequest::Named { name } | ControlRequest::NamedRsa { name, .. } => name,
            ControlRequest::OpenRsa { .. } | ControlRequest::GenerateRsa { .. } => "rsa",
            _ => return,
        };
        let (client, user) = (peer.number, peer.user.number);
        self.observer.tell(&Event::SessionRefused { client, user, asked, reason });
    }

    /// Stores a session for a client; the name is that of its algorithm, if it is one of a cipher.
    fn keep<'n>(
        &mut self,
        peer: &mut Peer,
        opened: Opened,
        algorithm: &'n str,
    ) -> Result<ControlResponse<'n>, RejectReason> {
        let length = |bytes| u32::try_from(bytes).unwrap_or(0);
        let signature_length = length(opened.session().signature_length());
        let agreement_length = length(opened.session().agreement_length());
        let named = opened.named.clone();
        let session =
            peer.sessions.add(opened, self.access.limits.sessions).ok_or(RejectReason::Sessions)?;
        let key = named.as_ref().map(|key| key.name.as_str());
        let (client, user) = (peer.number, peer.user.number);
        self.observer.tell(&Event::SessionOpened { client, user, session, key, algorithm });
        let makes_nonces = named.is_some_and(|key| key.nonces.is_some());
        Ok(match (signature_length, agreement_length) {
            (0, 0) => ControlResponse::Session { session, algorithm, makes_nonces },
            (0, _) => ControlResponse::AgreementSession { session, agreement_length },
            _ => ControlResponse::SignatureSession { session, signature_length },
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
    pub(super) fn answer_made(&mut self, peers: &mut [Peer]) -> Vec<u64> {
        let mut gone = Vec::new();
        let made: Vec<_> = self.rsa_workers.made().collect();
        for (client, made) in made {
            // It may be gone. Its key is wiped then.
            let Some(at) = peers.iter().position(|peer| peer.number == client) else { continue };
            let opened = made.and_then(|(key, padding)| {
                let opened = open_asymmetric(&self.engine, (key, padding));
                self.access.limits.admit_session(peers, at, opened.memory())?;
                Ok(opened)
            });
            let Some(peer) = peers.get_mut(at) else { continue };
            peer.awaits_reply = false;
            let answer = opened.and_then(|opened| self.keep(peer, opened, ""));
            if send(&mut self.packet, peer, &answer.unwrap_or_else(ControlResponse::Refused))
                == Heard::Gone
            {
                gone.push(client);
            }
        }
        gone
    }

    /// Cancels what is being done for a client that has disconnected, unless it is begun, and frees
    /// what it had.
    pub(super) fn forget(&mut self, peer: Peer) {
        let (client, user) = (peer.number, peer.user.number);
        for place in peer.sessions.iter() {
            let named = place.opened().and_then(|opened| opened.named.as_ref());
            let (key, session) = (named.map(|key| key.name.as_str()), place.number());
            let requests = place.requests();
            let closed = Event::SessionClosed { client, user, session, key, requests };
            self.observer.tell(&closed);
        }
        self.observer.tell(&Event::Disconnected { client, user });
        #[cfg(feature = "rsa")]
        self.rsa_workers.forget(client);
        self.background.forget(client);
        self.background.discard(client, peer.memory(), peer);
    }

    fn open(&mut self, algorithm: Algorithm, key: &[u8]) -> Result<Opened, RejectReason> {
        open(&self.engine, &mut self.costs, algorithm, key).map_err(|error| match error {
            Error::KeyLength => RejectReason::KeyLength,
            Error::WeakKey => RejectReason::WeakKey,
            _ => RejectReason::Algorithm,
        })
    }

    /// With a key of this length, or the longest one if it is 0.
    fn generate(&mut self, algorithm: Algorithm, length: usize) -> Result<Opened, RejectReason> {
        let length = if length == 0 { algorithm.key_lengths().longest() } else { length };
        let mut key = Zeroizing::new(vec![0; length]);
        lanecrypt_random::try_fill(&mut key).map_err(|_| RejectReason::Entropy)?;
        self.open(algorithm, &key)
    }

    /// The algorithm of this name, for a key of this length; 0 stands for any.
    fn algorithm(&self, name: &str, length: usize) -> Result<Algorithm, RejectReason> {
        let algorithm: Algorithm = name.parse().map_err(|_| RejectReason::Algorithm)?;
        if algorithm == Algorithm::NULL && !self.access.allows_null {
            return Err(RejectReason::Null);
        }
        match length == 0 || algorithm.key_lengths().contains(length) {
            true => Ok(algorithm),
            false => Err(RejectReason::KeyLength),
        }
    }
}

/// The DER of the public key of a session.
#[cfg(feature = "_asymmetric")]
fn public_key(opened: &Opened) -> Result<Vec<u8>, RejectReason> {
    let key = opened.session().asymmetric_key().ok_or(RejectReason::Algorithm)?;
    key.to_spki_der().map_err(|_| RejectReason::Key)
}

#[cfg(not(feature = "_asymmetric"))]
fn public_key(_opened: &Opened) -> Result<Vec<u8>, RejectReason> {
    Err(RejectReason::Algorithm)
}

fn send(packet: &mut Packet, peer: &Peer, answer: &ControlResponse<'_>) -> Heard {
    // A client that does not read replies is removed.
    match packet.send(&peer.socket, answer, &[]) {
        Ok(()) => Heard::Answered,
        Err(_) => Heard::Gone,
    }
}
