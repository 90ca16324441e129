//! Ciphers with authentication.

use lanecrypt_ciphers::{Algorithm, Cipher, InOutBuf, Isa, KeyError};
use lanecrypt_peers::{Aead, Direction, Failed, Packet, Sealing, aead};

use super::packets::Packets;
use super::served::Served;
use super::{Api, CipherUnderTest, Shape};
use crate::row::Row;

impl Api for dyn Aead {
    fn checked(
        algorithm: Algorithm,
        isa: Isa,
        direction: Direction,
        keys: &[&[u8]],
    ) -> Option<Box<Self>> {
        let session = |key: &&[u8]| Cipher::with_isa(isa, algorithm, key).map(Checked);
        let sessions: Result<Vec<Checked>, KeyError> = keys.iter().map(session).collect();
        aead(direction, sessions.ok()?)
    }

    fn served(sessions: Served) -> Box<Self> {
        Box::new(sessions)
    }

    fn row(
        candidate: &CipherUnderTest<Self>,
        table: &str,
        direction: Direction,
        shape: Shape,
    ) -> Row {
        let request = shape.described(table, op(direction));
        let made = candidate.clone();
        let make = move || Packets::new(&made, direction, shape);
        let row = candidate.described(request, &shape.suffix(), make);
        Row { batches: shape.batches(), ..row }
    }
}

/// The name of an operation in the results.
pub(crate) const fn op(direction: Direction) -> &'static str {
    match direction {
        Direction::Encrypt => "seal",
        Direction::Decrypt => "open",
    }
}

/// Our checked layer as programs call it.
struct Checked(Cipher);

impl Sealing for Checked {
    #[inline]
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        self.0.seal_detached(nonce, aad, &mut **data, &mut tag[..]).or(Err(Failed))
    }

    #[inline]
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, sealed, tag, .. } = packet;
        let data = InOutBuf::new(sealed, data).or(Err(Failed))?;
        self.0.open_detached(nonce, aad, data, &tag[..]).or(Err(Failed))
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.0.set_key(key).or(Err(Failed))
    }
}
