//! The measured loops of ciphers with authentication, written once for all of them.

use crate::crypt::rounds;
use crate::{Aead, Failed, Packet};

/// One keyed algorithm with authentication: what an API offers for a whole message.
///
/// Every peer implements it, and whoever measures ciphers of his own beside them. Implementations
/// mark what is timed `#[inline]`, so that the loops are compiled for each cipher and contain
/// nothing else. Dropping one frees its context.
pub trait Sealing {
    /// Encrypts `data` in place and writes the tag: everything that the API needs for one message
    /// under the kept key.
    ///
    /// # Errors
    ///
    /// [`Failed`] when `nonce` is of another length than the algorithm's, or a call failed.
    fn seal(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed>;

    /// Decrypts `sealed` to `out` and checks the tag.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the tag is wrong, and then what is in `out` must not be used; when the
    /// lengths of `sealed` and `out` differ; and as for [`Sealing::seal`].
    fn open(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
        tag: &[u8; 16],
        out: &mut [u8],
    ) -> Result<(), Failed>;

    /// Sets another key in the same context.
    ///
    /// # Errors
    ///
    /// [`Failed`] when the key's length is not the algorithm's, or the call failed.
    fn key(&mut self, key: &[u8]) -> Result<(), Failed>;
}

/// Wraps `sessions`, which differ in their keys only, in the measured loops; `None` without any.
#[must_use]
pub fn aead<S: Sealing + Send + 'static>(sessions: Vec<S>) -> Option<Box<dyn Aead>> {
    if sessions.is_empty() {
        return None;
    }
    Some(Box::new(Loops(sessions)))
}

/// The sessions, one at least.
struct Loops<S>(Vec<S>);

impl<S: Sealing + Send> Aead for Loops<S> {
    fn seal(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        let sessions = self.0.as_mut_slice();
        rounds(batch.len(), requests, |count| {
            for packet in &mut batch[..count] {
                let session = sessions.get_mut(packet.session).ok_or(Failed)?;
                session.seal(packet.nonce, packet.aad, packet.data, packet.tag)?;
            }
            Ok(())
        })
    }

    fn seal_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        let sessions = self.0.as_mut_slice();
        let mut keys = keys.iter().cycle();
        rounds(batch.len(), requests, |count| {
            for packet in &mut batch[..count] {
                let session = sessions.get_mut(packet.session).ok_or(Failed)?;
                session.key(keys.next().ok_or(Failed)?)?;
                session.seal(packet.nonce, packet.aad, packet.data, packet.tag)?;
            }
            Ok(())
        })
    }

    fn open(&mut self, batch: &mut [Packet<'_>], requests: usize) -> Result<(), Failed> {
        let sessions = self.0.as_mut_slice();
        rounds(batch.len(), requests, |count| {
            for packet in &mut batch[..count] {
                let session = sessions.get_mut(packet.session).ok_or(Failed)?;
                session.open(packet.nonce, packet.aad, packet.sealed, packet.tag, packet.data)?;
            }
            Ok(())
        })
    }

    fn open_rekeyed(
        &mut self,
        batch: &mut [Packet<'_>],
        keys: &[&[u8]],
        requests: usize,
    ) -> Result<(), Failed> {
        let sessions = self.0.as_mut_slice();
        let mut keys = keys.iter().cycle();
        rounds(batch.len(), requests, |count| {
            for packet in &mut batch[..count] {
                let session = sessions.get_mut(packet.session).ok_or(Failed)?;
                session.key(keys.next().ok_or(Failed)?)?;
                session.open(packet.nonce, packet.aad, packet.sealed, packet.tag, packet.data)?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds its key and the nonce to each byte; the tag is filled with the key, the nonce and the
    /// associated data's length, XORed.
    struct Adding(u8);

    impl Sealing for Adding {
        fn seal(
            &mut self,
            nonce: &[u8],
            aad: &[u8],
            data: &mut [u8],
            tag: &mut [u8; 16],
        ) -> Result<(), Failed> {
            let nonce = *nonce.first().ok_or(Failed)?;
            for byte in data {
                *byte = byte.wrapping_add(self.0 + nonce);
            }
            *tag = [self.0 ^ nonce ^ u8::try_from(aad.len()).map_err(|_| Failed)?; 16];
            Ok(())
        }

        fn open(
            &mut self,
            nonce: &[u8],
            aad: &[u8],
            sealed: &[u8],
            tag: &[u8; 16],
            out: &mut [u8],
        ) -> Result<(), Failed> {
            Failed::unless(out.len() == sealed.len())?;
            let mut right = [0; 16];
            self.seal(nonce, aad, &mut [], &mut right)?;
            let nonce = *nonce.first().ok_or(Failed)?;
            for (out, byte) in out.iter_mut().zip(sealed) {
                *out = byte.wrapping_sub(self.0 + nonce);
            }
            Failed::unless(*tag == right)
        }

        fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
            self.0 = *key.first().ok_or(Failed)?;
            Ok(())
        }
    }

    fn adding(keys: &[u8]) -> Box<dyn Aead> {
        aead(keys.iter().map(|&key| Adding(key)).collect()).expect("there are keys")
    }

    #[test]
    fn packets_go_to_their_sessions_again_and_again() {
        let (mut data, mut tags) = ([[0; 2]; 2], [[0; 16]; 2]);
        let ([a, b], [s, t]) = (&mut data, &mut tags);
        let mut batch = [
            Packet { session: 1, nonce: &[1], aad: &[0; 3], data: a, sealed: &[], tag: s },
            Packet { session: 0, nonce: &[2], aad: &[], data: b, sealed: &[], tag: t },
        ];
        let mut aead = adding(&[10, 50]);
        assert_eq!(aead.seal(&mut batch, 3), Ok(()));
        assert_eq!(aead.seal(&mut [], 1), Err(Failed), "no packet");
        assert_eq!((data, tags), ([[102; 2], [12; 2]], [[50 ^ 1 ^ 3; 16], [10 ^ 2; 16]]));
        assert!(super::aead::<Adding>(Vec::new()).is_none());
    }

    #[test]
    fn opening_leaves_the_sealed_bytes_and_fails_at_a_wrong_tag() {
        let (sealed, mut out, mut tag) = ([61, 62], [0; 2], [50 ^ 1; 16]);
        let mut aead = adding(&[50]);
        let mut batch = [Packet {
            session: 0,
            nonce: &[1],
            aad: &[],
            data: &mut out,
            sealed: &sealed,
            tag: &mut tag,
        }];
        assert_eq!(aead.open(&mut batch, 4), Ok(()));
        assert_eq!(batch[0].data, [10, 11]);
        batch[0].tag[3] ^= 1;
        assert_eq!(aead.open(&mut batch, 1), Err(Failed));
        batch[0].tag[3] ^= 1;
        batch[0].session = 1;
        assert_eq!(aead.open(&mut batch, 1), Err(Failed), "no such session");
    }

    #[test]
    fn keys_are_used_in_turn() {
        let (mut data, mut tag) = ([0; 1], [0; 16]);
        let mut aead = adding(&[0]);
        let (nonce, aad) = (&[0], &[]);
        let mut batch =
            [Packet { session: 0, nonce, aad, data: &mut data, sealed: &[], tag: &mut tag }];
        assert_eq!(aead.seal_rekeyed(&mut batch, &[&[1], &[20]], 3), Ok(()));
        assert_eq!((batch[0].data[0], *batch[0].tag), (22, [1; 16]));
        assert_eq!(aead.seal_rekeyed(&mut batch, &[], 1), Err(Failed), "no key");
        batch[0].sealed = &[100];
        assert_eq!(aead.open_rekeyed(&mut batch, &[&[1], &[20]], 1), Ok(()));
        assert_eq!(batch[0].data, [99]);
        assert_eq!(aead.open_rekeyed(&mut batch, &[&[1], &[20]], 2), Err(Failed), "another tag");
    }
}
