//! Ciphers with authentication: our checked layer, and the peers.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa};
use lanecrypt_peers::{Aead, AeadPeer, Direction, Failed, Sealing, aead};

use self::work::Packets;
use super::served::{Served, Way};
use super::{BATCH, CHECKED, Contender, PROCESS, SESSION, Shape};
use crate::row::{Row, Work};

mod known;
mod work;

impl Contender<dyn Aead> {
    /// The peer, unless it is missing or measured with what is not built in here.
    pub(crate) fn aead_peer(peer: &AeadPeer) -> Option<Self> {
        let opened = peer.clone();
        let names = [peer.source, peer.api, peer.algorithm];
        let open = move |direction, keys: &[&[u8]]| opened.open(direction, keys);
        Some(Self { batches: peer.batches, ..Self::found(names, &peer.availability, open)? })
    }

    /// Ours for this algorithm, then ours at each lower level of instruction set that has a kernel
    /// of its own.
    pub(crate) fn all_our_aeads(algorithm: Algorithm) -> Vec<Self> {
        Self::at_levels(algorithm, |algorithm, isa| {
            Self::ours(CHECKED, algorithm, isa, move |_, keys| {
                let session = |key: &&[u8]| Cipher::with_isa(isa, algorithm, key).map(Checked);
                let sessions: Result<Vec<Checked>, Error> = keys.iter().map(session).collect();
                aead(sessions.ok()?)
            })
        })
    }

    /// The engine's sessions, in calls of their own.
    pub(crate) fn aead_session(algorithm: Algorithm) -> Self {
        Self::aead_served(Way::Alone, algorithm, Isa::detect())
    }

    /// The engine's batches and its slices of requests, each also at every lower level of instruction
    /// set that has a kernel of its own.
    pub(crate) fn all_our_aead_batches(algorithm: Algorithm) -> Vec<Self> {
        let ways = [Way::Filled, Way::Process].into_iter();
        ways.flat_map(|way| {
            Self::at_levels(algorithm, |algorithm, isa| Self::aead_served(way, algorithm, isa))
        })
        .collect()
    }

    fn aead_served(way: Way, algorithm: Algorithm, isa: Isa) -> Self {
        let api = match way {
            Way::Alone => SESSION,
            Way::Process => PROCESS,
            Way::Filled => BATCH,
        };
        let contender = Self::ours(api, algorithm, isa, move |direction, keys| {
            Some(Box::new(Served::new(algorithm, isa, direction, keys, way)?))
        });
        Self { batches: way != Way::Alone, ..contender }
    }

    /// The row of such messages: sealed, or opened with [`Direction::Decrypt`].
    pub(crate) fn row(&self, table: &str, direction: Direction, shape: Shape) -> Row {
        let request = shape.described(table, op(direction));
        let contender = self.clone();
        let row = self.described(request, &shape.suffix(), move || -> Option<Box<dyn Work>> {
            Some(Box::new(Packets::new(&contender, direction, shape)?))
        });
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
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        self.0.seal_detached(nonce, aad, data, tag).or(Err(Failed))
    }

    #[inline]
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed> {
        let data = InOutBuf::new(sealed, out).or(Err(Failed))?;
        self.0.open_detached(nonce, aad, data, tag).or(Err(Failed))
    }

    #[inline]
    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        self.0.set_key(key).or(Err(Failed))
    }
}
