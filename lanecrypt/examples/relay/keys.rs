//! The keys of all peers, and three ways to open and seal the datagrams of a turn.

use lanecrypt::{Algorithm, Cipher, Engine, Error, Room, Session};
use ring::aead::{AES_128_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::wire::{Datagram, TAG};

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

/// A batch that is filled with the datagrams of a turn; its room is reused.
pub(crate) struct Filled {
    room: Room,
    to_relay: Vec<Session>,
    from_relay: Vec<Session>,
}

impl Keys for Filled {
    fn new(suite: Suite, peers: &[Secrets]) -> Result<Self, Error> {
        let engine = Engine::new();
        let open = |secret| engine.session(suite.algorithm(), suite.key(secret));
        Ok(Self {
            room: engine.room(crate::relay::AT_ONCE),
            to_relay: peers.iter().map(|peer| open(&peer.to_relay)).collect::<Result<_, _>>()?,
            from_relay: peers
                .iter()
                .map(|peer| open(&peer.from_relay))
                .collect::<Result<_, _>>()?,
        })
    }

    fn open<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        let mut batch = self.room.batch();
        for Datagram { peer, nonce, header, payload } in datagrams {
            batch.open(&self.to_relay[peer], &nonce, header, payload);
        }
        // The number of failures adds nothing to the individual outcomes.
        let _ = batch.finish();
        outcomes.extend(self.room.outcomes().map(|outcome| outcome == Some(Ok(()))));
    }

    fn seal<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        let mut batch = self.room.batch();
        for Datagram { peer, nonce, header, payload } in datagrams {
            batch.seal(&self.from_relay[peer], &nonce, header, payload);
        }
        let _ = batch.finish();
        outcomes.extend(self.room.outcomes().map(|outcome| outcome == Some(Ok(()))));
    }
}

/// One datagram at a time.
pub(crate) struct Loop {
    to_relay: Vec<Cipher>,
    from_relay: Vec<Cipher>,
}

impl Keys for Loop {
    fn new(suite: Suite, peers: &[Secrets]) -> Result<Self, Error> {
        let new = |secret| Cipher::new(suite.algorithm(), suite.key(secret));
        Ok(Self {
            to_relay: peers.iter().map(|peer| new(&peer.to_relay)).collect::<Result<_, _>>()?,
            from_relay: peers.iter().map(|peer| new(&peer.from_relay)).collect::<Result<_, _>>()?,
        })
    }

    fn open<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        for Datagram { peer, nonce, header, payload } in datagrams {
            outcomes.push(self.to_relay[peer].open(&nonce, header, payload).is_ok());
        }
    }

    fn seal<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        for Datagram { peer, nonce, header, payload } in datagrams {
            outcomes.push(self.from_relay[peer].seal(&nonce, header, payload).is_ok());
        }
    }
}

/// The same with ring.
pub(crate) struct Ring {
    to_relay: Vec<LessSafeKey>,
    from_relay: Vec<LessSafeKey>,
}

impl Keys for Ring {
    fn new(suite: Suite, peers: &[Secrets]) -> Result<Self, Error> {
        let algorithm = match suite {
            Suite::Aes128Gcm => &AES_128_GCM,
            Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        };
        let new = |secret| {
            let key = UnboundKey::new(algorithm, suite.key(secret)).or(Err(Error::KeyLength))?;
            Ok(LessSafeKey::new(key))
        };
        Ok(Self {
            to_relay: peers.iter().map(|peer| new(&peer.to_relay)).collect::<Result<_, _>>()?,
            from_relay: peers.iter().map(|peer| new(&peer.from_relay)).collect::<Result<_, _>>()?,
        })
    }

    fn open<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        for Datagram { peer, nonce, header, payload } in datagrams {
            let nonce = Nonce::assume_unique_for_key(nonce);
            let key = &self.to_relay[peer];
            outcomes.push(key.open_in_place(nonce, Aad::from(header), payload).is_ok());
        }
    }

    fn seal<'a>(
        &mut self,
        datagrams: impl Iterator<Item = Datagram<'a>>,
        outcomes: &mut Vec<bool>,
    ) {
        for Datagram { peer, nonce, header, payload } in datagrams {
            let nonce = Nonce::assume_unique_for_key(nonce);
            let key = &self.from_relay[peer];
            let (message, tag) = payload.split_at_mut(payload.len() - TAG);
            let made = key.seal_in_place_separate_tag(nonce, Aad::from(header), message);
            if let Ok(made) = &made {
                tag.copy_from_slice(made.as_ref());
            }
            outcomes.push(made.is_ok());
        }
    }
}
