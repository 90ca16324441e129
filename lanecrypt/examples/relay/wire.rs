//! The format of a datagram: the peer whose key seals it, a counter, and the sealed payload.
//!
//! | bytes | |
//! |---|---|
//! | 4 | the peer whose key it is under |
//! | 8 | the counter of that key |
//! | 4 | sealed: to whom it goes; on the way from the relay, from whom it comes |
//! | any | sealed: the message |
//! | 16 | the tag |
//!
//! The first 12 bytes are authenticated. Each peer has one key per direction, so no counter is used
//! twice under one key.

use core::fmt;

/// Bytes of the header.
pub(crate) const HEADER: usize = 12;
/// Bytes of an address inside of the payload.
pub(crate) const ADDRESS: usize = 4;
/// Bytes of a tag.
pub(crate) const TAG: usize = 16;
/// Length of the longest datagram that is received whole.
pub(crate) const MOST: usize = 2048;
/// Maximum number of datagrams per turn.
pub(crate) const AT_ONCE: usize = 64;

/// The header, which precedes the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) peer: u32,
    pub(crate) counter: u64,
}

impl Header {
    /// Reads the header of a datagram that has room for all its parts.
    pub(crate) fn read(datagram: &[u8]) -> Result<Self, Dropped> {
        if datagram.len() < HEADER + ADDRESS + TAG {
            return Err(Dropped::Short);
        }
        let (peer, rest) = datagram.split_first_chunk().ok_or(Dropped::Short)?;
        let counter = rest.first_chunk().ok_or(Dropped::Short)?;
        Ok(Self { peer: u32::from_be_bytes(*peer), counter: u64::from_be_bytes(*counter) })
    }

    /// Writes the header to the start of a datagram, which has room for it.
    pub(crate) fn write(self, datagram: &mut [u8]) {
        datagram[..4].copy_from_slice(&self.peer.to_be_bytes());
        datagram[4..HEADER].copy_from_slice(&self.counter.to_be_bytes());
    }

    /// The nonce of a message: its counter.
    pub(crate) fn nonce(self) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&self.counter.to_be_bytes());
        nonce
    }
}

/// A datagram of a known peer, to be opened or sealed in place.
pub(crate) struct Datagram<'a> {
    pub(crate) peer: usize,
    pub(crate) nonce: [u8; 12],
    pub(crate) header: &'a [u8],
    /// Payload and tag.
    pub(crate) payload: &'a mut [u8],
}

impl<'a> Datagram<'a> {
    /// Splits bytes that begin with this header.
    pub(crate) fn new(header: Header, bytes: &'a mut [u8]) -> Self {
        let (front, payload) = bytes.split_at_mut(HEADER);
        Self { peer: header.peer as usize, nonce: header.nonce(), header: front, payload }
    }
}

/// The reason for dropping a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    Short,
    UnknownPeer,
    Replayed,
    Forged,
    NoReceiver,
}

impl Dropped {
    pub(crate) const ALL: [Self; 5] =
        [Self::Short, Self::UnknownPeer, Self::Replayed, Self::Forged, Self::NoReceiver];
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "too short",
            Self::UnknownPeer => "of unknown peers",
            Self::Replayed => "replayed",
            Self::Forged => "forged",
            Self::NoReceiver => "without a receiver",
        })
    }
}
