//! A cipher with authentication as the tables measure it.

use core::fmt;
use std::sync::Arc;

use crate::{Availability, Direction, Failed, Sealing, aead};

/// One request of an [`Aead`]: a whole message with its nonce, associated data and tag.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct Packet<'a> {
    /// Which of the sessions has its key, counted from zero.
    pub session: usize,
    /// The nonce.
    pub nonce: &'a [u8],
    /// What is authenticated, but not encrypted.
    pub aad: &'a [u8],
    /// What is encrypted in place; where to decrypt to.
    pub data: &'a mut [u8],
    /// What is decrypted, as long as `data`; unused for sealing.
    pub sealed: &'a [u8],
    /// The tag, written or checked.
    pub tag: &'a mut [u8; 16],
}

/// One algorithm with authentication in one direction, in one or more sessions that have each a key
/// of their own.
///
/// The loops are inside the implementation, so that a dynamic call happens once a batch and nothing
/// but the request itself is inside the loop. Packets are sealed in place, but opened from one
/// buffer to another: an opened packet could not be opened again. All methods end at the first
/// request that fails.
pub trait Aead: Send {
    /// Makes `requests` requests: the packets of `batch` in their order, and from the first again
    /// as often as needed. Each is sealed under the key of its session.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Sealing::seal`], when there is no such session, or where sessions were
    /// made for the other direction.
    fn seal(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed>;

    /// The same with a key set before each packet: request after request, the keys of `keys` in
    /// turn, from the first again as often as needed.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Aead::seal`] and [`Sealing::key`], or when there are no keys.
    fn seal_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed>;

    /// Opens packets, as [`Aead::seal`] seals them.
    ///
    /// # Errors
    ///
    /// [`Failed`] when a tag is wrong, and otherwise as for [`Aead::seal`].
    fn open(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed>;

    /// The same with a key set before each packet, as for [`Aead::seal_rekeyed`].
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Aead::open`] and [`Sealing::key`], or when there are no keys.
    fn open_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed>;

    /// The same requests as [`Aead::seal`], where the API is handed `batch` of them before the first
    /// result is needed: in one call, or in several and a last one that waits for all, as the API
    /// has it. An API that knows no batches goes from packet to packet. The last batch of a round
    /// through `packets`, and the last of all, may be shorter.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Aead::seal`]; an API that knows batches also refuses a `batch` of zero.
    fn seal_batches(
        &mut self,
        packets: &mut [Packet<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        let _ = batch;
        self.seal(packets, requests)
    }

    /// The same with a key set for each packet: the requests of [`Aead::seal_rekeyed`] in batches.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Aead::seal_batches`] and [`Aead::seal_rekeyed`].
    fn seal_batches_rekeyed(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        let _ = batch;
        self.seal_rekeyed(packets, keys, requests)
    }

    /// Opens packets in batches, as [`Aead::seal_batches`] seals them. Tags are compared once the
    /// batch is back.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Aead::open`] and [`Aead::seal_batches`].
    fn open_batches(
        &mut self,
        packets: &mut [Packet<'_>],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        let _ = batch;
        self.open(packets, requests)
    }

    /// The same with a key set for each packet: the requests of [`Aead::open_rekeyed`] in batches.
    ///
    /// # Errors
    ///
    /// [`Failed`] as for [`Aead::open_batches`] and [`Aead::open_rekeyed`].
    fn open_batches_rekeyed(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: &[&[u8]],
        batch: usize,
        requests: usize,
    ) -> Result<(), Failed> {
        let _ = batch;
        self.open_rekeyed(packets, keys, requests)
    }

    /// Opens each packet once, in batches as [`Aead::open_batches`] does, under the key of `keys` at
    /// its place if there are any, and says of each whether it was taken for authentic. An API that
    /// answers for a whole batch is handed one packet at a time.
    ///
    /// # Errors
    ///
    /// [`Failed`] when there are too few keys, or an API contradicts itself.
    fn opened(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: Option<&[&[u8]]>,
        batch: usize,
    ) -> Result<Vec<bool>, Failed> {
        let _ = batch;
        let open = |(at, packet): (usize, &mut Packet<'_>)| {
            let packet = core::slice::from_mut(packet);
            match keys {
                None => Ok(self.open_batches(packet, 1, 1).is_ok()),
                Some(keys) => {
                    let key = keys.get(at).ok_or(Failed)?;
                    Ok(self.open_batches_rekeyed(packet, &[key], 1, 1).is_ok())
                }
            }
        };
        packets.iter_mut().enumerate().map(open).collect()
    }
}

/// A peer with authentication, found or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AeadPeer {
    /// Who made it.
    pub source: &'static str,
    /// The interface through which it is called.
    pub api: &'static str,
    /// The algorithm, one that [`aead_lengths`] knows.
    pub algorithm: &'static str,
    /// Whether it can be used here.
    pub availability: Availability,
    /// Whether [`Aead::seal_batches`] is more than a loop: the API takes many messages at a time.
    pub batches: bool,
    sessions: Sessions,
}

impl AeadPeer {
    /// The cipher with one session for each key; `None` when the peer is missing or refuses a key,
    /// and without keys. [`Direction::Encrypt`] seals, [`Direction::Decrypt`] opens; the other
    /// calls may fail.
    ///
    /// Any number of threads may call it at the same time.
    #[must_use]
    pub fn open(&self, direction: Direction, keys: &[&[u8]]) -> Option<Box<dyn Aead>> {
        let (key_len, _) = aead_lengths(self.algorithm)?;
        if keys.iter().any(|key| key.len() != key_len) {
            return None;
        }
        (self.sessions.0)(direction, keys)
    }

    /// A peer of the version that was `found`, if it also works. `open` makes one session.
    pub(crate) fn tried<S: Sealing + Send + 'static>(
        names: [&'static str; 3],
        version: String,
        open: impl Fn(Direction, &[u8]) -> Result<S, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self::made(names, version, move |direction, keys| {
            let made: Result<Vec<S>, Failed> =
                keys.iter().map(|key| open(direction, key)).collect();
            aead(made.ok()?)
        })
    }

    /// The same, where `open` makes all sessions at once.
    pub(crate) fn made(
        [source, api, algorithm]: [&'static str; 3],
        version: String,
        open: impl Fn(Direction, &[&[u8]]) -> Option<Box<dyn Aead>> + Send + Sync + 'static,
    ) -> Self {
        let sessions = Sessions(Arc::new(open));
        let availability = Availability::Found(version);
        let mut peer = Self { source, api, algorithm, availability, batches: false, sessions };
        if let (None, Availability::Found(version)) = (peer.works(), &peer.availability) {
            let hint = format!("{source} {version} has no working {algorithm} here");
            peer.availability = Availability::Missing(hint);
            peer.sessions = Sessions(Arc::new(|_, _| None));
        }
        peer
    }

    /// A peer that is not here, and what to do about it.
    pub(crate) fn missing(names: [&'static str; 3], hint: &str) -> Self {
        let [source, api, algorithm] = names;
        let sessions = Sessions(Arc::new(|_, _| None));
        let availability = Availability::Missing(hint.to_owned());
        Self { source, api, algorithm, availability, batches: false, sessions }
    }

    /// The same peer, whose API takes many messages at a time.
    pub(crate) fn in_batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// Something if what is sealed opens again, and does not once the tag is changed.
    fn works(&self) -> Option<()> {
        let (key_len, nonce_len) = aead_lengths(self.algorithm)?;
        let (key, nonce) = ([0x3a; 32], [7; 24]);
        let (key, nonce) = (key.get(..key_len)?, nonce.get(..nonce_len)?);
        let (mut sealed, mut out, mut tag) = ([9; 83], [0; 83], [0; 16]);
        let (aad, data) = (b"associated", &mut sealed);
        let packet = Packet { session: 0, nonce, aad, data, sealed: &[], tag: &mut tag };
        self.open(Direction::Encrypt, &[key])?.seal(&mut [packet], 1).ok()?;
        let mut aead = self.open(Direction::Decrypt, &[key])?;
        let mut open = |tag: &mut [u8; 16]| {
            let (data, sealed) = (&mut out, &sealed);
            aead.open(&mut [Packet { session: 0, nonce, aad, data, sealed, tag }], 1)
        };
        open(&mut tag).ok()?;
        tag[15] ^= 1;
        let forged = open(&mut tag);
        tag[15] ^= 1;
        open(&mut tag).ok()?;
        (forged.is_err() && out == [9; 83] && sealed != out).then_some(())
    }
}

/// Bytes of the key and of the nonce of an algorithm with authentication that peers are measured
/// with; `None` for others. Tags have 16 bytes.
#[must_use]
pub fn aead_lengths(algorithm: &str) -> Option<(usize, usize)> {
    match algorithm {
        "aes-128-gcm" => Some((16, 12)),
        "aes-256-gcm" => Some((32, 12)),
        "chacha20-poly1305" => Some((32, 12)),
        "xchacha20-poly1305" => Some((32, 24)),
        _ => None,
    }
}

/// Makes the sessions of a peer.
#[derive(Clone)]
#[expect(clippy::type_complexity, reason = "written once")]
struct Sessions(Arc<dyn Fn(Direction, &[&[u8]]) -> Option<Box<dyn Aead>> + Send + Sync>);

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}
