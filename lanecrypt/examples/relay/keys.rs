//! The keys of all peers, and three ways to open and seal the datagrams of a turn.

use lanecrypt::{Algorithm, BatchBuffer, Cipher, Engine, Error, Session};
use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::wire::{AT_ONCE, Datagram, TAG};

/// The cipher of the datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suite {
    Aes128Gcm,
    ChaCha20Poly1305,
}

impl Suite {
    pub(crate) const ALL: [Self; 2] = [Self::Aes128Gcm, Self::ChaCha20Poly1305];

    pub(crate) fn algorithm(self) -> Algorithm {
        match self {
            Self::Aes128Gcm => Algorithm::AES_128_GCM,
            Self::ChaCha20Poly1305 => Algorithm::CHACHA20_POLY1305,
        }
    }

    /// The part of a secret that is the key.
    pub(crate) fn key(self, secret: &[u8; 32]) -> &[u8] {
        match self {
            Self::Aes128Gcm => &secret[..16],
            Self::ChaCha20Poly1305 => secret,
        }
    }
}

/// The secrets of a peer: one for what it sends, one for what the relay sends it.
#[derive(Clone, Copy)]
pub(crate) struct Secrets {
    pub(crate) to_relay: [u8; 32],
    pub(crate) from_relay: [u8; 32],
}

/// Opens and seals datagrams.
pub(crate) trait Keys: Sized + Send {
    fn new(suite: Suite, peers: &[Secrets]) -> Result<Self, Error>;

    /// Opens each datagram in place and tells, in order, whether it is authentic.
    fn open<'a>(&mut self, datagrams: impl Iterator<Item = Datagram<'a>>, outcomes: &mut Vec<bool>);

    /// Seals each datagram in place and tells, in order, whether it was sealed.
    fn seal<'a>(&mut self, datagrams: impl Iterator<Item = Datagram<'a>>, outcomes: &mut Vec<bool>);
}

/// The keys of all peers.
struct Directions<K> {
    to_relay: Vec<K>,
    from_relay: Vec<K>,
}

impl<K> Directions<K> {
    /// Makes each key of its bytes.
    fn new(
        suite: Suite,
        peers: &[Secrets],
        key: impl Fn(&[u8]) -> Result<K, Error>,
    ) -> Result<Self, Error> {
        let keys = |secret: fn(&Secrets) -> &[u8; 32]| {
            peers.iter().map(|peer| key(suite.key(secret(peer)))).collect::<Result<_, _>>()
        };
        Ok(Self {
            to_relay: keys(|peer| &peer.to_relay)?,
            from_relay: keys(|peer| &peer.from_relay)?,
        })
    }
}

/// A batch that is filled with the datagrams of a turn; its buffer is reused.
pub(crate) struct Filled {
    buffer: BatchBuffer,
    sessions: Directions<Session>,
}

impl Keys for Filled {
    fn new(suite: Suite, peers: &[Secrets]) -> Result<Self, Error> {
        let engine = Engine::new();
        let session = |key: &[u8]| engine.session(suite.algorithm(), key);
        let sessions = Directions::new(suite, peers, session)?;
        Ok(Self { buffer: engine.batch_buffer(AT_ONCE), sessions })
    }

    fn open<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        let mut batch = self.buffer.batch();
        for Datagram { peer, nonce, header, payload } in datagrams {
            batch.open(&self.sessions.to_relay[peer], &nonce, header, payload);
        }
        // The number of failures adds nothing to the individual outcomes.
        let _ = batch.finish();
        outcomes.extend(self.buffer.outcomes().map(|outcome| outcome == Some(Ok(()))));
    }

    fn seal<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        let mut batch = self.buffer.batch();
        for Datagram { peer, nonce, header, payload } in datagrams {
            batch.seal(&self.sessions.from_relay[peer], &nonce, header, payload);
        }
        let _ = batch.finish();
        outcomes.extend(self.buffer.outcomes().map(|outcome| outcome == Some(Ok(()))));
    }
}

/// One datagram at a time.
pub(crate) struct Loop<K>(Directions<K>);

impl<K: PacketKey> Keys for Loop<K> {
    fn new(suite: Suite, peers: &[Secrets]) -> Result<Self, Error> {
        Directions::new(suite, peers, |key| K::new(suite, key)).map(Self)
    }

    fn open<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        outcomes.extend(datagrams.map(|datagram| self.0.to_relay[datagram.peer].open(datagram)));
    }

    fn seal<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        outcomes.extend(datagrams.map(|datagram| self.0.from_relay[datagram.peer].seal(datagram)));
    }
}

/// A key for one datagram at a time.
pub(crate) trait PacketKey: Sized + Send {
    fn new(suite: Suite, key: &[u8]) -> Result<Self, Error>;

    /// Opens a datagram in place, if it is authentic.
    fn open(&self, datagram: Datagram<'_>) -> bool;

    /// Seals a datagram in place.
    fn seal(&self, datagram: Datagram<'_>) -> bool;
}

impl PacketKey for Cipher {
    fn new(suite: Suite, key: &[u8]) -> Result<Self, Error> {
        Ok(Self::new(suite.algorithm(), key)?)
    }

    fn open(&self, Datagram { nonce, header, payload, .. }: Datagram<'_>) -> bool {
        self.open(&nonce, header, payload).is_ok()
    }

    fn seal(&self, Datagram { nonce, header, payload, .. }: Datagram<'_>) -> bool {
        self.seal(&nonce, header, payload).is_ok()
    }
}

/// The same with ring.
impl PacketKey for LessSafeKey {
    fn new(suite: Suite, key: &[u8]) -> Result<Self, Error> {
        let algorithm = match suite {
            Suite::Aes128Gcm => &AES_128_GCM,
            Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        };
        UnboundKey::new(algorithm, key).map(Self::new).or(Err(Error::KeyLength))
    }

    fn open(&self, Datagram { nonce, header, payload, .. }: Datagram<'_>) -> bool {
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.open_in_place(nonce, Aad::from(header), payload).is_ok()
    }

    fn seal(&self, Datagram { nonce, header, payload, .. }: Datagram<'_>) -> bool {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let (message, tag) = payload.split_at_mut(payload.len() - TAG);
        let made = self.seal_in_place_separate_tag(nonce, Aad::from(header), message);
        if let Ok(made) = &made {
            tag.copy_from_slice(made.as_ref());
        }
        made.is_ok()
    }
}
