//! AES-GCM and ChaCha20-Poly1305 by jobs and bursts of jobs. The caller compares tags.

use super::gcm::direct;
use super::sessions::{Keys, Runner, Sessions};
use super::submit::{Api, Burst, ByJob};
use super::{Algorithm, ChaCha, Expanded, GcmSession, IpsecMb, Job};
use crate::aead::same;
use crate::{Aead, Direction, Failed, Messages, Packet, Peer, Run};

pub(super) fn all(found: &Result<&'static IpsecMb, String>) -> Vec<Peer<dyn Aead>> {
    let mut peers = vec![direct(found, "aes-128-gcm"), direct(found, "aes-256-gcm")];
    peers.extend(by::<Burst>(found));
    peers.extend(by::<ByJob>(found));
    peers
}

fn by<A: Api>(found: &Result<&'static IpsecMb, String>) -> [Peer<dyn Aead>; 3] {
    let [short, long, chacha] = ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"];
    [
        peer::<GcmSession<16>, A>(found, short, Algorithm::AES_128_GCM),
        peer::<GcmSession<32>, A>(found, long, Algorithm::AES_256_GCM),
        peer::<ChaCha, A>(found, chacha, Algorithm::CHACHA20_POLY1305),
    ]
}

fn peer<K: Expanded, A: Api>(
    found: &Result<&'static IpsecMb, String>,
    name: &'static str,
    algorithm: Algorithm,
) -> Peer<dyn Aead> {
    let names = ["ipsec-mb", A::NAME, name];
    Peer::<dyn Aead>::new(names, found, move |library, direction, keys| {
        Some(Box::new(Sessions::<K, A>::new(library, algorithm, direction, keys)?))
    })
    .in_batches()
}

impl<K: Expanded, A: Api> Messages<Packet<'_>> for Sessions<K, A> {
    fn messages(&mut self, packets: &mut [Packet<'_>], run: Run<'_>) -> Result<(), Failed> {
        match self.direction {
            Direction::Encrypt => self.run(packets, run, |runner, part, keys, tags| {
                together(runner, Direction::Encrypt, part, keys, tags)
            }),
            Direction::Decrypt => self.run(packets, run, |runner, part, keys, tags| {
                together(runner, Direction::Decrypt, part, keys, tags)?;
                let mut pairs = tags.iter().zip(part);
                Failed::unless(pairs.all(|(made, packet)| same(made, packet.tag)))
            }),
        }
    }
}

/// Runs packets as one batch; the tags of packets to open go to `tags`.
#[inline(always)]
fn together<K: Expanded, A: Api>(
    runner: &mut Runner<A>,
    direction: Direction,
    packets: &mut [Packet<'_>],
    keys: Keys<'_, K>,
    tags: &mut [[u8; 16]],
) -> Result<(), Failed> {
    let (algorithm, nonce_len) = (runner.algorithm, runner.algorithm.block());
    let count = packets.len();
    let describe = |place: usize, job: &mut Job| {
        let packet = packets.get_mut(place).ok_or(Failed)?;
        let len = packet.data.len();
        Failed::unless(packet.nonce.len() == nonce_len)?;
        let key = keys.of(place, packet.session)?;
        let to = packet.data.as_mut_ptr();
        let (from, tag) = match direction {
            Direction::Encrypt => (to.cast_const(), &mut *packet.tag),
            Direction::Decrypt => {
                Failed::unless(packet.sealed.len() == len)?;
                (packet.sealed.as_ptr(), tags.get_mut(place).ok_or(Failed)?)
            }
        };
        job.algorithm(algorithm, direction);
        job.message(key, packet.nonce, from, to, len);
        job.authenticated(packet.aad, tag);
        Ok(())
    };
    // SAFETY: packets and tags are borrowed here; data and sealed data have the given length, at
    // one place or apart; the nonce has the algorithm's length; and the keys stay in place.
    unsafe { runner.batch(direction, count, describe) }
}

impl<K: Expanded, A: Api> Aead for Sessions<K, A> {}
