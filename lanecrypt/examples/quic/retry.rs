//! Retry packets have a tag and no other protection: RFC 9001, section 5.8.

use lanecrypt::{Algorithm, Engine, Error, Session};

/// Everyone knows the key and the nonce. The tag shows only that a packet is intact and that its
/// sender has seen the packet that it answers.
const KEY: [u8; 16] = [
    0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a, 0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e,
];
const NONCE: [u8; 12] = [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb];

/// Makes and checks the tags of Retry packets.
pub(crate) struct Retry(Session);

impl Retry {
    pub(crate) fn new(engine: &Engine) -> Result<Self, Error> {
        engine.session(Algorithm::AES_128_GCM, &KEY).map(Self)
    }

    /// The tag of `packet`, given without a tag, as the answer to an Initial packet that was sent
    /// to `original_id`.
    ///
    /// # Errors
    ///
    /// [`Error::AadLength`] if the connection ID is longer than 255 bytes.
    pub(crate) fn tag(&self, original_id: &[u8], packet: &[u8]) -> Result<[u8; 16], Error> {
        let mut tag = [0; 16];
        self.0.seal(&NONCE, &pseudo_packet(original_id, packet)?, &mut tag)?;
        Ok(tag)
    }

    /// Checks that `packet`, which ends with its tag, is such an answer.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if it is not; [`Error::AadLength`] as [`tag`](Self::tag).
    pub(crate) fn check(&self, original_id: &[u8], packet: &[u8]) -> Result<(), Error> {
        let (packet, tag) = packet.split_last_chunk::<16>().ok_or(Error::Authentication)?;
        let mut tag = *tag;
        self.0.open(&NONCE, &pseudo_packet(original_id, packet)?, &mut tag).map(drop)
    }
}

/// The authenticated bytes: the connection ID and the packet.
fn pseudo_packet(original_id: &[u8], packet: &[u8]) -> Result<Vec<u8>, Error> {
    let length = u8::try_from(original_id.len()).map_err(|_| Error::AadLength)?;
    Ok([&[length], original_id, packet].concat())
}
