//! Packet headers (RFC 9000, section 17) as far as packet protection reads them, and header
//! protection (RFC 9001, section 5.4).

use core::fmt;

use lanecrypt::Error;

use crate::number;

/// Version 1.
pub(crate) const VERSION: u32 = 1;
/// The first bit of a long header.
const LONG: u8 = 0x80;
/// A bit that is set in every packet of version 1.
const FIXED: u8 = 0x40;
/// Maximum length of a connection ID.
const LONGEST_ID: usize = 20;
/// The sample is taken as if the packet number had 4 bytes, whatever its length.
const SAMPLE_BEHIND: usize = 4;
/// Length of a sample.
const SAMPLE: usize = 16;
/// Length of a mask.
pub(crate) const MASK: usize = 5;
/// Length of a tag.
pub(crate) const TAG: usize = 16;

/// The reason for dropping a packet. Its sender does not learn the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// The packet ends before its header or before the sample.
    TooShort,
    /// Not version 1, or a packet without packet protection (Retry, Version Negotiation).
    OtherKind,
    /// It failed authentication: forged, damaged, or under other keys.
    Refused(Error),
    /// It is authentic, but sets bits that must be zero; the connection must be closed.
    ReservedBits,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("a packet was too short"),
            Self::OtherKind => f.write_str("a packet was of another kind"),
            Self::Refused(error) => write!(f, "a packet was refused: {error}"),
            Self::ReservedBits => f.write_str("a packet set reserved bits"),
        }
    }
}

impl core::error::Error for Dropped {}

impl From<Error> for Dropped {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The position of a protected packet in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The start of its packet number.
    pub(crate) number_at: usize,
    /// Its end, where the next packet of the datagram begins.
    pub(crate) end: usize,
}

impl Layout {
    /// The layout of the first packet of a datagram. A short header does not give the length of the
    /// connection ID; the receiver chose it and passes it as `id_length`.
    pub(crate) fn of(datagram: &[u8], id_length: usize) -> Result<Self, Dropped> {
        let mut reader = Reader { bytes: datagram, at: 0 };
        let first = reader.byte()?;
        let end = if first & LONG == 0 {
            reader.take(id_length)?;
            datagram.len()
        } else {
            reader.long_header(first)?
        };
        if first & FIXED == 0 {
            return Err(Dropped::OtherKind);
        }
        let number_at = reader.at;
        if end < number_at + SAMPLE_BEHIND + SAMPLE {
            return Err(Dropped::TooShort);
        }
        Ok(Self { number_at, end })
    }

    /// The layout of a packet to be protected, from the length of its header. `packet` is the whole
    /// packet, with room for the tag.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if it is too short for its sample. A payload has to be padded to 4
    /// bytes less the length of the packet number.
    pub(crate) fn of_header(packet: &[u8], header: usize) -> Result<Self, Error> {
        let first = *packet.first().ok_or(Error::DataLength)?;
        let number_at = header.checked_sub(number_length(first)).ok_or(Error::DataLength)?;
        let end = packet.len();
        let least = (number_at + SAMPLE_BEHIND + SAMPLE).max(header + TAG);
        if number_at == 0 || end < least {
            return Err(Error::DataLength);
        }
        Ok(Self { number_at, end })
    }

    /// The sample of the ciphertext from which the mask is made.
    pub(crate) fn sample(self, packet: &[u8]) -> &[u8; SAMPLE] {
        let behind = packet.get(self.number_at + SAMPLE_BEHIND..);
        behind.and_then(<[u8]>::first_chunk).expect("the layout's packet has room for it")
    }
}

/// Reads from the start of a datagram.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Dropped> {
        let end = self.at.checked_add(bytes).ok_or(Dropped::TooShort)?;
        let taken = self.bytes.get(self.at..end).ok_or(Dropped::TooShort)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Dropped> {
        Ok(self.take(1)?[0])
    }

    /// A number of 1, 2, 4 or 8 bytes (RFC 9000, section 16).
    fn varint(&mut self) -> Result<usize, Dropped> {
        let first = self.byte()?;
        let more = (1 << (first >> 6)) - 1;
        let rest = self.take(more)?;
        let number = rest.iter().fold(u64::from(first & 0x3f), |n, &b| n << 8 | u64::from(b));
        usize::try_from(number).map_err(|_| Dropped::TooShort)
    }

    /// Reads a long header up to the packet number and returns the end of the packet.
    fn long_header(&mut self, first: u8) -> Result<usize, Dropped> {
        if self.take(4)? != VERSION.to_be_bytes() {
            return Err(Dropped::OtherKind);
        }
        for _source_and_destination in 0..2 {
            let length = usize::from(self.byte()?);
            if length > LONGEST_ID {
                return Err(Dropped::OtherKind);
            }
            self.take(length)?;
        }
        match first >> 4 & 3 {
            // Initial: a token comes before the length.
            0 => {
                let token = self.varint()?;
                self.take(token)?;
            }
            // 0-RTT and Handshake.
            1 | 2 => {}
            _ => return Err(Dropped::OtherKind),
        }
        let length = self.varint()?;
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        end.ok_or(Dropped::TooShort)
    }
}

/// Protects the header of a packet whose payload is sealed.
pub(crate) fn protect(packet: &mut [u8], number_at: usize, mask: [u8; MASK]) {
    // The length of the packet number must be read before it is masked.
    let length = number_length(packet[0]);
    mask_first(&mut packet[0], mask[0]);
    mask_number(&mut packet[number_at..number_at + length], mask);
}

/// Removes header protection and returns the packet number and the length of the header.
pub(crate) fn unprotect(
    packet: &mut [u8],
    layout: Layout,
    mask: [u8; MASK],
    largest: Option<u64>,
) -> (u64, usize) {
    mask_first(&mut packet[0], mask[0]);
    let end = layout.number_at + number_length(packet[0]);
    let carried = &mut packet[layout.number_at..end];
    mask_number(carried, mask);
    (number::read(carried, largest), end)
}

/// Length of the packet number, from the first byte of an unprotected header.
pub(crate) fn number_length(first: u8) -> usize {
    usize::from(first & 3) + 1
}

/// Refuses an opened packet whose reserved bits are not zero (RFC 9000, section 17).
pub(crate) fn check_reserved(first: u8) -> Result<(), Dropped> {
    let reserved = if first & LONG == 0 { 0x18 } else { 0x0c };
    if first & reserved == 0 { Ok(()) } else { Err(Dropped::ReservedBits) }
}

fn mask_first(first: &mut u8, mask: u8) {
    *first ^= mask & if *first & LONG == 0 { 0x1f } else { 0x0f };
}

fn mask_number(number: &mut [u8], mask: [u8; MASK]) {
    for (byte, mask) in number.iter_mut().zip(&mask[1..]) {
        *byte ^= mask;
    }
}
