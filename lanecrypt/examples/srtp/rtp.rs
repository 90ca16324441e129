//! The RTP packet headers (RFC 3550, section 5.1) that SRTP reads, and the reasons for dropping
//! packets.

use core::fmt;

use lanecrypt::Error;

/// The reason for dropping a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// The packet is too short, or not version 2.
    Malformed,
    /// There is no such stream, or the packet's source is not the stream's.
    OtherStream,
    /// The packet is a duplicate or too old to tell, or a packet with this index was sent before.
    Replayed,
    /// All indices have been used; a new master key is needed.
    Exhausted,
    /// It failed authentication: forged, damaged, or under another key.
    Refused(Error),
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("a packet was malformed"),
            Self::OtherStream => f.write_str("a packet was of another stream"),
            Self::Replayed => f.write_str("a packet was replayed"),
            Self::Exhausted => f.write_str("all indices of a key are used"),
            Self::Refused(error) => write!(f, "a packet was refused: {error}"),
        }
    }
}

impl core::error::Error for Dropped {}

impl From<Error> for Dropped {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The header fields that SRTP uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Length in bytes, including contributing sources and extension: all of this is authenticated
    /// and not encrypted.
    pub(crate) length: usize,
    pub(crate) sequence: u16,
    pub(crate) ssrc: u32,
}

impl Header {
    /// Reads the header of a packet, protected or not.
    pub(crate) fn read(packet: &[u8]) -> Result<Self, Dropped> {
        /// Bytes of the fixed part.
        const FIXED: usize = 12;
        const EXTENSION: u8 = 0x10;
        let fixed = packet.first_chunk::<FIXED>().ok_or(Dropped::Malformed)?;
        let [first, _, s0, s1, _, _, _, _, a, b, c, d] = *fixed;
        if first >> 6 != 2 {
            return Err(Dropped::Malformed);
        }
        let mut length = FIXED + 4 * usize::from(first & 0x0f);
        if first & EXTENSION != 0 {
            let extension = packet.get(length..length + 4).ok_or(Dropped::Malformed)?;
            length += 4 + 4 * usize::from(u16::from_be_bytes([extension[2], extension[3]]));
        }
        if packet.len() < length {
            return Err(Dropped::Malformed);
        }
        let (sequence, ssrc) = (u16::from_be_bytes([s0, s1]), u32::from_be_bytes([a, b, c, d]));
        Ok(Self { length, sequence, ssrc })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let mut packet = [0; 100];
        for (first, words, length) in [(0x80, 0, 12), (0x83, 9, 24), (0x90, 2, 24), (0xb1, 3, 32)] {
            packet[0] = first;
            let at = 12 + 4 * usize::from(first & 0x0f);
            packet[at + 3] = words;
            assert_eq!(Header::read(&packet).map(|header| header.length), Ok(length));
            assert!(Header::read(&packet[..length]).is_ok());
            assert_eq!(Header::read(&packet[..length - 1]), Err(Dropped::Malformed));
            packet = [0; 100];
        }
    }

    #[test]
    fn fields() {
        let packet = [0x80, 0x60, 0x12, 0x34, 1, 2, 3, 4, 0xde, 0xad, 0xbe, 0xef, 9];
        let expected = Header { length: 12, sequence: 0x1234, ssrc: 0xdead_beef };
        assert_eq!(Header::read(&packet), Ok(expected));
    }

    #[test]
    fn other_versions() {
        for first in [0x00, 0x40, 0xc0] {
            let mut packet = [0; 40];
            packet[0] = first;
            assert_eq!(Header::read(&packet), Err(Dropped::Malformed));
        }
    }
}
