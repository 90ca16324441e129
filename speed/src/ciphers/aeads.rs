//! Ciphers with authentication: our checked layer, and the peers.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf};
use lanecrypt_peers::{Aead, AeadPeer, Direction, Failed, Sealing, aead};

use self::work::Packets;
use super::{CHECKED, Contender};
use crate::results::Point;
use crate::row::{Row, Work};

mod known;
mod work;

impl Contender<dyn Aead> {
    /// The peer, unless it is missing or measured with what is not built in here.
    pub(crate) fn aead_peer(peer: &AeadPeer) -> Option<Self> {
        let opened = peer.clone();
        let names = [peer.source, peer.api, peer.algorithm];
        Self::found(names, &peer.availability, move |direction, keys| opened.open(direction, keys))
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

    /// The row of messages of `size` bytes, one at a time: sealed, or opened with
    /// [`Direction::Decrypt`], each under a key of its own if that `is_fresh`.
    pub(crate) fn row(
        &self,
        table: &str,
        direction: Direction,
        size: usize,
        is_fresh: bool,
    ) -> Row {
        let request = Point {
            table: table.into(),
            op: op(direction).into(),
            size: Some(size as u64),
            batch: Some(1),
            threads: Some(1),
            key: Some(if is_fresh { "fresh" } else { "kept" }.into()),
            chained: Some(false),
            ..Point::default()
        };
        let suffix = format!("/{size}{}", if is_fresh { "/fresh" } else { "" });
        let contender = self.clone();
        self.described(request, &suffix, move || -> Option<Box<dyn Work>> {
            Some(Box::new(Packets::new(&contender, direction, size, is_fresh)?))
        })
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
