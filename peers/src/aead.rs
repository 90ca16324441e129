//! Ciphers with authentication as the tables measure them, and their loops, written once for all.

use crate::loops::{Addressed, Loops, Messages, Run};
use crate::peer::{Kind, Session};
use crate::{Direction, Failed, Peer, lengths, whole_blocks};

/// A whole message of an [`Aead`], with its nonce, associated data and tag.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "measuring code makes it, field by field")]
pub struct Packet<'a> {
    /// The index of the session that has its key.
    pub session: usize,
    /// The nonce.
    pub nonce: &'a [u8],
    /// The data that is authenticated but not encrypted.
    pub aad: &'a [u8],
    /// The data to encrypt in place, or the output of decryption.
    pub data: &'a mut [u8],
    /// The data to decrypt, as long as `data`; unused for sealing.
    pub sealed: &'a [u8],
    /// The tag, written or checked.
    pub tag: &'a mut [u8; 16],
}

impl Addressed for Packet<'_> {
    #[inline]
    fn session(&self) -> usize {
        self.session
    }
}

/// One algorithm with authentication, which seals or opens.
///
/// Packets are sealed in place, but opened from one buffer to another, because an opened packet
/// could not be opened again. In a batch, tags are compared after it is complete; a wrong tag is a
/// failed request.
pub trait Aead: for<'m> Messages<Packet<'m>> {
    /// Opens each packet once, in batches, and reports for each whether it was accepted. If there
    /// are `keys`, each packet uses the key at its position. An API that gives one answer for a
    /// whole batch gets one packet at a time.
    ///
    /// # Errors
    ///
    /// [`Failed`] if there are too few keys, or an API contradicts itself.
    fn opened(
        &mut self,
        packets: &mut [Packet<'_>],
        keys: Option<&[&[u8]]>,
        batch: usize,
    ) -> Result<Vec<bool>, Failed> {
        let _ = batch;
        let open = |(at, packet): (usize, &mut Packet<'_>)| {
            let key = keys.map(|keys| keys.get(at..=at).ok_or(Failed)).transpose()?;
            let run = Run::of(1).in_batches(1).with_keys(key);
            Ok(self.messages(core::slice::from_mut(packet), run).is_ok())
        };
        packets.iter_mut().enumerate().map(open).collect()
    }
}

/// One keyed algorithm with authentication: an API's calls for a whole message.
///
/// Every peer implements it, and so can callers for their own ciphers. Implementations mark the
/// timed methods `#[inline]`, so that the loops are compiled for each cipher and contain nothing
/// else. Dropping one frees its context.
pub trait Sealing {
    /// Encrypts the data in place and writes the tag: all calls of the API for one message under
    /// the kept key.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the nonce does not have the algorithm's length, or a call failed.
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed>;

    /// Decrypts the sealed data and checks the tag.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the tag is wrong, in which case the decrypted data must not be used; if the
    /// lengths of both buffers differ; and in the cases of [`Sealing::seal`].
    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed>;

    /// Sets another key in the same context.
    ///
    /// # Errors
    ///
    /// [`Failed`] if the key does not have the algorithm's length, or the call failed.
    fn key(&mut self, key: &[u8]) -> Result<(), Failed>;
}

/// Wraps `sessions`, which differ in their keys only, in the measured loops; `None` without any.
/// [`Direction::Encrypt`] seals, [`Direction::Decrypt`] opens.
#[must_use]
pub fn aead<S: Sealing + Send + 'static>(
    direction: Direction,
    sessions: Vec<S>,
) -> Option<Box<dyn Aead>> {
    Some(Box::new(Loops::new(direction, sessions)?))
}

impl<S: Sealing + Send + 'static> Session<dyn Aead> for S {
    fn boxed(direction: Direction, sessions: Vec<Self>) -> Option<Box<dyn Aead>> {
        aead(direction, sessions)
    }
}

impl<S: Sealing + Send> Messages<Packet<'_>> for Loops<S> {
    fn messages(&mut self, packets: &mut [Packet<'_>], run: Run<'_>) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => self.each(packets, run, S::key, S::seal),
            Direction::Decrypt => self.each(packets, run, S::key, S::open),
        }
    }
}

impl<S: Sealing + Send> Aead for Loops<S> {}

/// Whether two tags are equal, in constant time. Callers of a library that only computes tags need
/// this comparison.
#[inline]
pub(crate) fn same(a: &[u8; 16], b: &[u8; 16]) -> bool {
    u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b) == 0
}

impl Kind for dyn Aead {
    fn fault(peer: &Peer<Self>) -> Option<String> {
        (!works(peer)).then(|| format!("has no working {} here", peer.subject))
    }
}

/// Whether a sealed packet can be opened, and is refused once its tag is changed.
fn works(peer: &Peer<dyn Aead>) -> bool {
    tried(peer).unwrap_or(false)
}

fn tried(peer: &Peer<dyn Aead>) -> Option<bool> {
    let (key_len, nonce_len) = lengths(peer.subject)?;
    let (key, nonce) = ([0x3a; 64], [7; 32]);
    let (key, nonce) = (key.get(..key_len)?, nonce.get(..nonce_len)?);
    let length = if whole_blocks(peer.subject) { 80 } else { 83 };
    let (mut sealed, mut out, mut tag) = (vec![9; length], vec![0; length], [0; 16]);
    let (aad, data) = (b"associated", &mut sealed[..]);
    let packet = Packet { session: 0, nonce, aad, data, sealed: &[], tag: &mut tag };
    peer.open(Direction::Encrypt, &[key])?.messages(&mut [packet], Run::of(1)).ok()?;
    let mut aead = peer.open(Direction::Decrypt, &[key])?;
    let mut open = |tag: &mut [u8; 16]| {
        let (data, sealed) = (&mut out[..], &sealed[..]);
        let packet = Packet { session: 0, nonce, aad, data, sealed, tag };
        aead.messages(&mut [packet], Run::of(1))
    };
    open(&mut tag).ok()?;
    tag[15] ^= 1;
    let forged = open(&mut tag);
    tag[15] ^= 1;
    open(&mut tag).ok()?;
    Some(forged.is_err() && out == vec![9; length] && sealed != out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds its key and the nonce to each byte; the tag is filled with the key, the nonce and the
    /// associated data's length, XORed.
    struct Adding(u8);

    impl Adding {
        fn tag(&self, packet: &Packet<'_>) -> Result<[u8; 16], Failed> {
            let nonce = *packet.nonce.first().ok_or(Failed)?;
            Ok([self.0 ^ nonce ^ u8::try_from(packet.aad.len()).map_err(|_| Failed)?; 16])
        }
    }

    impl Sealing for Adding {
        fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
            let nonce = *packet.nonce.first().ok_or(Failed)?;
            for byte in &mut *packet.data {
                *byte = byte.wrapping_add(self.0 + nonce);
            }
            *packet.tag = self.tag(packet)?;
            Ok(())
        }

        fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
            Failed::unless(packet.data.len() == packet.sealed.len())?;
            let nonce = *packet.nonce.first().ok_or(Failed)?;
            for (out, byte) in packet.data.iter_mut().zip(packet.sealed) {
                *out = byte.wrapping_sub(self.0 + nonce);
            }
            Failed::unless(*packet.tag == self.tag(packet)?)
        }

        fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
            self.0 = *key.first().ok_or(Failed)?;
            Ok(())
        }
    }

    fn adding(direction: Direction, keys: &[u8]) -> Box<dyn Aead> {
        let sessions = keys.iter().map(|&key| Adding(key)).collect();
        aead(direction, sessions).expect("there are keys")
    }

    #[test]
    fn packets_go_to_their_sessions_again_and_again() {
        let (mut data, mut tags) = ([[0; 2]; 2], [[0; 16]; 2]);
        let ([a, b], [s, t]) = (&mut data, &mut tags);
        let mut batch = [
            Packet { session: 1, nonce: &[1], aad: &[0; 3], data: a, sealed: &[], tag: s },
            Packet { session: 0, nonce: &[2], aad: &[], data: b, sealed: &[], tag: t },
        ];
        let mut aead = adding(Direction::Encrypt, &[10, 50]);
        assert_eq!(aead.messages(&mut batch, Run::of(3)), Ok(()));
        assert_eq!(aead.messages(&mut [], Run::of(1)), Err(Failed), "no packet");
        assert_eq!((data, tags), ([[102; 2], [12; 2]], [[50 ^ 1 ^ 3; 16], [10 ^ 2; 16]]));
        assert!(super::aead::<Adding>(Direction::Encrypt, Vec::new()).is_none());
    }

    #[test]
    fn opening_leaves_the_sealed_bytes_and_fails_at_a_wrong_tag() {
        let (sealed, mut out, mut tag) = ([61, 62], [0; 2], [50 ^ 1; 16]);
        let mut aead = adding(Direction::Decrypt, &[50]);
        let mut batch = [Packet {
            session: 0,
            nonce: &[1],
            aad: &[],
            data: &mut out,
            sealed: &sealed,
            tag: &mut tag,
        }];
        assert_eq!(aead.messages(&mut batch, Run::of(4)), Ok(()));
        assert_eq!(batch[0].data, [10, 11]);
        batch[0].tag[3] ^= 1;
        assert_eq!(aead.messages(&mut batch, Run::of(1)), Err(Failed));
        batch[0].tag[3] ^= 1;
        batch[0].session = 1;
        assert_eq!(aead.messages(&mut batch, Run::of(1)), Err(Failed), "no such session");
    }

    #[test]
    fn keys_are_used_in_turn() {
        let (mut data, mut tag) = ([0; 1], [0; 16]);
        let mut aead = adding(Direction::Encrypt, &[0]);
        let keys: Option<&[&[u8]]> = Some(&[&[1], &[20]]);
        let (nonce, aad) = (&[0], &[]);
        let mut batch =
            [Packet { session: 0, nonce, aad, data: &mut data, sealed: &[], tag: &mut tag }];
        assert_eq!(aead.messages(&mut batch, Run::of(3).with_keys(keys)), Ok(()));
        assert_eq!((batch[0].data[0], *batch[0].tag), (22, [1; 16]));
        assert_eq!(
            aead.messages(&mut batch, Run::of(1).with_keys(Some(&[]))),
            Err(Failed),
            "no key"
        );
        batch[0].sealed = &[100];
        let mut aead = adding(Direction::Decrypt, &[0]);
        assert_eq!(aead.messages(&mut batch, Run::of(1).with_keys(keys)), Ok(()));
        assert_eq!(batch[0].data, [99]);
        assert_eq!(
            aead.messages(&mut batch, Run::of(2).with_keys(keys)),
            Err(Failed),
            "another tag"
        );
    }
}
