//! SRTCP: RFC 7714, section 9. Control packets are few, so they are processed one at a time.

use lanecrypt::{Engine, Error, Session};

use crate::keys::Material;
use crate::rtp::Dropped;
use crate::stream::{TAG, iv};
use crate::window::Window;

/// Bytes that are never encrypted: the first word and the source.
const HEADER: usize = 8;
/// The encryption flag in the last word of a packet; the other bits are the packet's index.
const ENCRYPTED: u32 = 1 << 31;
/// Bytes that protection adds to a packet.
pub(crate) const ADDED: usize = TAG + 4;

/// The control packets of one source in one direction.
pub(crate) struct Control {
    session: Session,
    salt: [u8; 12],
    /// The index of the next packet to send.
    next: u32,
    window: Window,
}

impl Control {
    /// Starts with this index for the first packet, which is 1 under a new master key.
    ///
    /// # Errors
    ///
    /// The keys of a [`Material`] cause no errors.
    pub(crate) fn new(engine: &Engine, material: &Material, first: u32) -> Result<Self, Error> {
        let session = engine.session(material.profile.algorithm(), material.key())?;
        Ok(Self { session, salt: material.salt, next: first, window: Window::default() })
    }

    /// Protects an RTCP packet in place; the buffer has 20 bytes of room for tag and index.
    ///
    /// # Errors
    ///
    /// [`Dropped::Malformed`] if the packet is shorter than a header and the room;
    /// [`Dropped::Exhausted`] after 2^31 packets.
    pub(crate) fn protect(&mut self, packet: &mut [u8]) -> Result<(), Dropped> {
        let (packet, index) = packet.split_last_chunk_mut().ok_or(Dropped::Malformed)?;
        if packet.len() < HEADER + TAG {
            return Err(Dropped::Malformed);
        }
        if self.next >= ENCRYPTED {
            return Err(Dropped::Exhausted);
        }
        *index = (ENCRYPTED | self.next).to_be_bytes();
        let (header, payload) = packet.split_at_mut(HEADER);
        let iv = self.iv(header, self.next);
        self.session.seal(&iv, &[header, index].concat(), payload)?;
        self.next += 1;
        Ok(())
    }

    /// Opens a packet in place, encrypted or with only a tag. The RTCP packet is at its start and
    /// 20 bytes shorter.
    ///
    /// # Errors
    ///
    /// [`Dropped::Malformed`], [`Dropped::Replayed`], [`Dropped::Refused`].
    pub(crate) fn unprotect(&mut self, packet: &mut [u8]) -> Result<(), Dropped> {
        let (packet, last) = packet.split_last_chunk_mut().ok_or(Dropped::Malformed)?;
        if packet.len() < HEADER + TAG {
            return Err(Dropped::Malformed);
        }
        let word = u32::from_be_bytes(*last);
        let index = word & !ENCRYPTED;
        if !self.window.is_new(u64::from(index)) {
            return Err(Dropped::Replayed);
        }
        let clear = if word & ENCRYPTED != 0 { HEADER } else { packet.len() - TAG };
        let (clear, payload) = packet.split_at_mut(clear);
        let iv = self.iv(clear, index);
        self.session.open(&iv, &[&*clear, last].concat(), payload)?;
        self.window.mark(u64::from(index))
    }

    /// The IV, formed as for an RTP packet, but with an index of 31 bits.
    fn iv(&self, header: &[u8], index: u32) -> [u8; 12] {
        let ssrc = header[4..HEADER].iter().fold(0, |ssrc, &byte| ssrc << 8 | u32::from(byte));
        iv(&self.salt, ssrc, u64::from(index))
    }
}
