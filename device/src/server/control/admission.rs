//! New connections: admission, refusal, and the shared memory of clients.

use core::mem;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};

use super::{Control, Heard, send};
use crate::protocol::socket::discard;
use crate::protocol::{ControlRequest, ControlResponse, LONGEST};
use crate::server::background::Offer;
use crate::server::event::Event;
use crate::server::limits::has_memory;
use crate::server::peer::{Link, Peer, Stage};
use crate::server::sessions::Sessions;
use crate::server::users::User;
use crate::shared::{Layout, Mapping};
use crate::{RejectReason, Statistics};

/// The most descriptors that are reserved.
const SPARE: usize = 4;

/// The result of accepting a connection.
pub(in crate::server) enum Accepted {
    Peer(Peer),
    /// A client that was refused, or answered and closed.
    Done,
    Nobody,
    /// A client that can be neither served nor refused.
    Exhausted,
}

impl Control {
    /// Accepts a connection, in addition to these clients.
    pub(in crate::server) fn accept(
        &mut self,
        listener: &OwnedFd,
        peers: &mut Vec<Peer>,
        statistics: impl Fn(&Self, &[Peer], &User) -> Statistics,
    ) -> Accepted {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let mut is_short = false;
        let socket = match accept_with(listener, flags) {
            Err(Errno::MFILE | Errno::NFILE) => {
                is_short = true;
                if self.spare.pop().is_none() {
                    return Accepted::Exhausted;
                }
                accept_with(listener, flags)
            }
            accepted => accepted,
        };
        let accepted = match socket {
            Ok(socket) => self.admit(socket, peers, is_short, statistics),
            Err(Errno::INTR | Errno::CONNABORTED) => Accepted::Done,
            Err(_) => Accepted::Nobody,
        };
        self.reserve_descriptors();
        accepted
    }

    /// Decides on a connection. If there is no place or no descriptor for a client, it can only ask
    /// for statistics.
    fn admit(
        &mut self,
        socket: OwnedFd,
        peers: &mut Vec<Peer>,
        is_short: bool,
        statistics: impl Fn(&Self, &[Peer], &User) -> Statistics,
    ) -> Accepted {
        let number = self.next;
        self.next += 1;
        // Before anything is read: closing descriptors that came with a packet may take long.
        let Some((user, process)) = User::of(&socket) else {
            self.background.discard(number, 0, socket);
            return Accepted::Done;
        };
        if !self.access.serves(&user) {
            return self.refuse(number, socket, &user, RejectReason::User(user.number));
        }
        let is_full = peers.len() >= self.access.limits.places() || !has_memory(LONGEST as u64);
        if is_short || is_full {
            // A new client replaces the one that has been silent for longest, so that silent
            // clients cannot occupy all places.
            let silent = peers.iter().position(|peer| matches!(peer.stage, Stage::Silent));
            match silent.filter(|_| !is_short) {
                Some(silent) => {
                    let Peer { number, socket, user, .. } = peers.remove(silent);
                    let _ = self.refuse(number, socket, &user, RejectReason::Clients);
                }
                None => {
                    if self.packet.receive(&socket).is_ok()
                        && let (_, Some(ControlRequest::Statistics)) = self.packet.value()
                    {
                        let answer = ControlResponse::Statistics(statistics(self, peers, &user));
                        let _ = self.packet.send(&socket, &answer, &[]);
                        self.background.discard(number, 0, socket);
                        return Accepted::Done;
                    }
                    let reason =
                        if is_short { RejectReason::Descriptors } else { RejectReason::Clients };
                    return self.refuse(number, socket, &user, reason);
                }
            }
        }
        self.observer.tell(&Event::Connected { client: number, user: user.number, process });
        let (sessions, stage) = (Sessions::default(), Stage::Silent);
        let (processor, awaits_reply) = (0, false);
        Accepted::Peer(Peer { number, socket, user, sessions, processor, awaits_reply, stage })
    }

    /// Reserves descriptors, if some have become free.
    pub(in crate::server) fn reserve_descriptors(&mut self) {
        while self.spare.len() < SPARE
            && let Ok(spare) =
                rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        {
            self.spare.push(spare);
        }
    }

    fn refuse(
        &mut self,
        number: u64,
        socket: OwnedFd,
        user: &User,
        reason: RejectReason,
    ) -> Accepted {
        self.observer.tell(&Event::Refused { user: Some(user.number), reason });
        let _ = self.packet.send(&socket, &ControlResponse::Refused(reason), &[]);
        self.background.discard(number, 0, Refused(socket));
        Accepted::Done
    }

    /// Begins to make the shared memory of a client.
    pub(super) fn begin(&mut self, peers: &mut [Peer], at: usize, depth: u32, arena: u32) -> Heard {
        let limits = self.access.limits;
        let layout = Layout::nearest(depth, arena, limits.arena);
        let admitted = match peers.get(at).map(|peer| &peer.stage) {
            Some(Stage::Silent) => limits.admit_client(peers, at, layout.length() as u64),
            _ => Err(RejectReason::Malformed),
        };
        let Some(peer) = peers.get_mut(at) else { return Heard::Gone };
        match admitted.and_then(|()| self.background.make(peer.number, layout)) {
            Ok(()) => {
                (peer.awaits_reply, peer.stage) = (true, Stage::Waiting(layout));
                Heard::Answered
            }
            Err(reason) => {
                let user = Some(peer.user.number);
                self.observer.tell(&Event::Refused { user, reason });
                send(&mut self.packet, peer, &ControlResponse::Refused(reason));
                Heard::Gone
            }
        }
    }

    /// Sends clients their shared memory. Returns those that are to be removed.
    pub(in crate::server) fn offer_made(&mut self, peers: &mut [Peer]) -> Vec<u64> {
        let mut gone = Vec::new();
        let signatures = self.access.limits.signatures;
        let made: Vec<_> = self.background.made().collect();
        for (client, made) in made {
            // It may be gone. The memory is freed then.
            let Some(peer) = peers.iter_mut().find(|peer| peer.number == client) else { continue };
            peer.awaits_reply = false;
            let offered = made.and_then(|offer| {
                let layout = offer.mapping.layout();
                let (depth, arena) = (layout.depth(), layout.arena());
                let welcome = ControlResponse::Welcome { depth, arena, signatures };
                let descriptors = [offer.memory.as_fd(), offer.doorbell.as_fd()];
                let sent = self.packet.send(&peer.socket, &welcome, &descriptors);
                sent.map(|()| offer).map_err(|_| RejectReason::Descriptors)
            });
            match offered {
                Ok(offer) => peer.stage = Stage::Mapping(offer),
                Err(reason) => {
                    let user = Some(peer.user.number);
                    self.observer.tell(&Event::Refused { user, reason });
                    send(&mut self.packet, peer, &ControlResponse::Refused(reason));
                    gone.push(client);
                }
            }
        }
        gone
    }

    /// Serves the rings of a client from now on, if it had the memory to map.
    pub(super) fn link(
        &mut self,
        peer: &mut Peer,
        ring: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Heard {
        let Stage::Mapping(offer) = mem::replace(&mut peer.stage, Stage::Silent) else {
            send(&mut self.packet, peer, &ControlResponse::Refused(RejectReason::Malformed));
            return Heard::Gone;
        };
        let Offer { mapping, memory, doorbell } = offer;
        // A client that has sealed it itself does not keep to the protocol.
        if Mapping::seal(memory).is_err() || ring(doorbell.as_fd()).is_err() {
            return Heard::Gone;
        }
        peer.stage = Stage::Linked(Box::new(Link::new(mapping, doorbell)));
        Heard::Linked
    }
}

/// A connection that was refused. Its requests so far are read before it is closed, so that the
/// client gets the reply.
struct Refused(OwnedFd);

impl Drop for Refused {
    fn drop(&mut self) {
        discard(&self.0);
    }
}
