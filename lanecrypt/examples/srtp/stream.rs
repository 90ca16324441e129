//! One stream in one direction, one packet at a time: RFC 7714, sections 8 and 9.

use lanecrypt::{Engine, Error, Session};

use crate::keys::Material;
use crate::rtp::{Dropped, Header};
use crate::window::Window;

/// Bytes that protection adds to a packet.
pub(crate) const TAG: usize = 16;

/// The packets of one source (SSRC) in one direction, sent or received.
pub(crate) struct Stream {
    pub(crate) session: Session,
    salt: [u8; 12],
    ssrc: u32,
    pub(crate) window: Window,
}

/// The place of a packet in its stream.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Bytes of the header.
    pub(crate) header: usize,
    pub(crate) index: u64,
    pub(crate) iv: [u8; 12],
}

impl Stream {
    /// A stream of the source `ssrc` under a session key.
    ///
    /// # Errors
    ///
    /// The keys of a [`Material`] cause no errors.
    pub(crate) fn new(engine: &Engine, material: &Material, ssrc: u32) -> Result<Self, Error> {
        let session = engine.session(material.profile.algorithm(), material.key())?;
        Ok(Self { session, salt: material.salt, ssrc, window: Window::default() })
    }

    /// Protects an RTP packet in place; the buffer has 16 bytes of room for the tag.
    ///
    /// # Errors
    ///
    /// [`Dropped::Replayed`] if a packet with this sequence number was sent before: no two packets
    /// may be encrypted under one IV. [`Dropped::Malformed`], [`Dropped::OtherStream`],
    /// [`Dropped::Exhausted`].
    pub(crate) fn protect(&mut self, packet: &mut [u8]) -> Result<(), Dropped> {
        let place = self.sending(packet)?;
        let (header, payload) = packet.split_at_mut(place.header);
        Ok(self.session.seal(&place.iv, header, payload)?)
    }

    /// Opens a packet in place. The RTP packet is at its start and 16 bytes shorter.
    ///
    /// # Errors
    ///
    /// [`Dropped`]; a forged packet does not change the stream.
    pub(crate) fn unprotect(&mut self, packet: &mut [u8]) -> Result<(), Dropped> {
        let place = self.received(packet)?;
        let (header, payload) = packet.split_at_mut(place.header);
        self.session.open(&place.iv, header, payload)?;
        self.window.mark(place.index)
    }

    /// The place of a packet to be sent; marks its index as used.
    pub(crate) fn sending(&mut self, packet: &[u8]) -> Result<Place, Dropped> {
        let place = self.received(packet)?;
        self.window.mark(place.index)?;
        Ok(place)
    }

    /// The place of a received packet, if its header is correct.
    pub(crate) fn received(&self, packet: &[u8]) -> Result<Place, Dropped> {
        let end = packet.len().checked_sub(TAG).ok_or(Dropped::Malformed)?;
        let Header { length, sequence, ssrc } = Header::read(&packet[..end])?;
        if ssrc != self.ssrc {
            return Err(Dropped::OtherStream);
        }
        let index = self.window.guess(sequence)?;
        if !self.window.is_new(index) {
            return Err(Dropped::Replayed);
        }
        Ok(Place { header: length, index, iv: iv(&self.salt, ssrc, index) })
    }
}

/// The IV of a packet: zeros, the source, and the index in 6 bytes, XORed with the salt.
pub(crate) fn iv(salt: &[u8; 12], ssrc: u32, index: u64) -> [u8; 12] {
    let plain = u128::from(ssrc) << 48 | u128::from(index);
    let plain = plain.to_be_bytes();
    core::array::from_fn(|at| salt[at] ^ plain[4 + at])
}
