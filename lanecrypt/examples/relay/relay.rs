//! The relay: its state for each peer, and the work of one turn of its event loop.

use core::net::SocketAddrV4;
use core::time::Duration;
use std::time::Instant;

use lanecrypt::Error;

use crate::keys::{Keys, Secrets, Suite};
use crate::wire::{ADDRESS, AT_ONCE, Datagram, Dropped, HEADER, Header, MOST};

/// Buffer for a datagram, used to receive, open, seal and send it.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: usize,
    pub(crate) from: SocketAddrV4,
    /// The destination, if it is forwarded.
    pub(crate) to: Option<SocketAddrV4>,
    /// Its header, until the datagram is dropped.
    header: Option<Header>,
}

impl Slot {
    pub(crate) fn new() -> Self {
        let from = SocketAddrV4::new([127, 0, 0, 1].into(), 0);
        Self { bytes: vec![0; MOST], length: 0, from, to: None, header: None }
    }

    fn datagram(&mut self) -> Option<Datagram<'_>> {
        let bytes = self.bytes.get_mut(..self.length)?;
        Some(Datagram::new(self.header?, bytes))
    }

    /// Drops the datagram.
    fn drop(&mut self) {
        (self.header, self.to) = (None, None);
    }
}

/// The state of a peer, besides its keys.
#[derive(Clone, Default)]
struct Peer {
    /// The source address of its last authentic datagram.
    address: Option<SocketAddrV4>,
    /// The counter of that datagram; only higher counters are accepted.
    received: Option<u64>,
    /// The number of datagrams sealed for it, which is the next counter.
    sent: u64,
}

/// Forwards datagrams from peer to peer.
pub(crate) struct Relay<K> {
    keys: K,
    peers: Vec<Peer>,
    dropped: [u64; Dropped::ALL.len()],
    /// The outcomes of the datagrams of a turn; kept to reuse the memory.
    outcomes: Vec<bool>,
    /// Time spent in opening and sealing.
    pub(crate) protecting: Duration,
    pub(crate) turns: u32,
}

impl<K: Keys> Relay<K> {
    pub(crate) fn new(suite: Suite, secrets: &[Secrets]) -> Result<Self, Error> {
        Ok(Self {
            keys: K::new(suite, secrets)?,
            peers: vec![Peer::default(); secrets.len()],
            dropped: [0; Dropped::ALL.len()],
            outcomes: Vec::with_capacity(AT_ONCE),
            protecting: Duration::ZERO,
            turns: 0,
        })
    }

    /// Opens the received datagrams and seals the outgoing ones, in place.
    pub(crate) fn turn(&mut self, slots: &mut [Slot]) {
        let Self { keys, peers, dropped, outcomes, protecting, turns } = self;
        *turns += 1;

        let start = Instant::now();
        outcomes.clear();
        let received = slots.iter_mut().filter_map(|slot| {
            slot.drop();
            match expected(peers, slot) {
                Ok(header) => slot.header = Some(header),
                Err(why) => dropped[why as usize] += 1,
            }
            slot.datagram()
        });
        keys.open(received, outcomes);
        *protecting += start.elapsed();

        let opened = slots.iter_mut().filter(|slot| slot.header.is_some());
        for (slot, &is_authentic) in opened.zip(&*outcomes) {
            if let Err(why) = address(peers, slot, is_authentic) {
                slot.drop();
                dropped[why as usize] += 1;
            }
        }

        let start = Instant::now();
        outcomes.clear();
        keys.seal(slots.iter_mut().filter_map(Slot::datagram), outcomes);
        let sealed = slots.iter_mut().filter(|slot| slot.header.is_some());
        for (slot, &is_sealed) in sealed.zip(&*outcomes) {
            if !is_sealed {
                slot.drop();
            }
        }
        *protecting += start.elapsed();
    }

    /// The number of datagrams that were dropped for this reason.
    pub(crate) fn dropped(&self, why: Dropped) -> u64 {
        self.dropped[why as usize]
    }
}

/// The header of a datagram, if it may be accepted. It has not been authenticated yet.
fn expected(peers: &[Peer], slot: &Slot) -> Result<Header, Dropped> {
    let header = Header::read(slot.bytes.get(..slot.length).ok_or(Dropped::Short)?)?;
    let peer = peers.get(header.peer as usize).ok_or(Dropped::UnknownPeer)?;
    if peer.received >= Some(header.counter) {
        return Err(Dropped::Replayed);
    }
    Ok(header)
}

/// Turns an opened datagram into one for its receiver.
fn address(peers: &mut [Peer], slot: &mut Slot, is_authentic: bool) -> Result<(), Dropped> {
    let header = slot.header.filter(|_| is_authentic).ok_or(Dropped::Forged)?;
    let sender = peers.get_mut(header.peer as usize).ok_or(Dropped::UnknownPeer)?;
    // A turn may contain a datagram twice.
    if sender.received >= Some(header.counter) {
        return Err(Dropped::Replayed);
    }
    sender.received = Some(header.counter);
    sender.address = Some(slot.from);

    let (front, payload) = slot.bytes.split_at_mut(HEADER);
    let receiver = payload.first_chunk_mut::<ADDRESS>().ok_or(Dropped::Short)?;
    let to = u32::from_be_bytes(*receiver);
    *receiver = header.peer.to_be_bytes();
    let peer = peers.get_mut(to as usize).ok_or(Dropped::NoReceiver)?;
    slot.to = Some(peer.address.ok_or(Dropped::NoReceiver)?);
    let header = Header { peer: to, counter: peer.sent };
    // At one datagram per nanosecond the counters last for 584 years.
    peer.sent += 1;
    header.write(front);
    slot.header = Some(header);
    Ok(())
}
