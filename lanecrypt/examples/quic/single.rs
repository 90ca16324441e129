//! Protects and opens one packet at a time.

use core::ops::Range;

use lanecrypt::Error;

use crate::header::{self, Dropped, Layout};
use crate::keys::PacketKeys;

/// A packet that was opened in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) number: u64,
    /// The position of its payload.
    pub(crate) payload: Range<usize>,
}

impl Opened {
    /// Describes an authentic packet. It is refused if its header is not allowed.
    pub(crate) fn new(packet: &[u8], header: usize, number: u64) -> Result<Self, Dropped> {
        header::check_reserved(packet[0])?;
        Ok(Self { number, payload: header..packet.len() - header::TAG })
    }
}

impl PacketKeys {
    /// Protects a packet of header, payload, and 16 bytes of room for the tag. The header ends with
    /// the packet number, **which must not have been used before under these keys**.
    ///
    /// # Errors
    ///
    /// As [`Layout::of_header`]; nothing changes then.
    pub(crate) fn protect(
        &self,
        number: u64,
        header: usize,
        packet: &mut [u8],
    ) -> Result<(), Error> {
        let layout = Layout::of_header(packet, header)?;
        let (head, payload) = packet.split_at_mut(header);
        self.aead.seal(&self.nonce(number), head, payload)?;
        let mask = self.header.mask(layout.sample(packet));
        header::protect(packet, layout.number_at, mask);
        Ok(())
    }

    /// Opens the first packet of a datagram, in place.
    ///
    /// # Errors
    ///
    /// [`Dropped`]; the header may have changed. A forged payload has been wiped.
    pub(crate) fn unprotect(
        &self,
        id_length: usize,
        largest: Option<u64>,
        datagram: &mut [u8],
    ) -> Result<Opened, Dropped> {
        let layout = Layout::of(datagram, id_length)?;
        let packet = &mut datagram[..layout.end];
        let mask = self.header.mask(layout.sample(packet));
        let (number, header) = header::unprotect(packet, layout, mask, largest);
        let (head, payload) = packet.split_at_mut(header);
        self.aead.open(&self.nonce(number), head, payload)?;
        Opened::new(packet, header, number)
    }
}
