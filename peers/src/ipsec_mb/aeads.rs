//! AES-GCM and ChaCha20-Poly1305 by jobs and bursts of jobs. Comparing tags is the caller's.

use super::gcm::direct;
use super::sessions::Sessions;
use super::{Algorithm, Api, ChaCha, Expanded, GcmSession, IpsecMb};
use crate::aead::same;
use crate::{Aead, Direction, Failed, Messages, Packet, Peer, Run};

type Found = Result<&'static IpsecMb, String>;

pub(super) fn all(found: &Found) -> Vec<Peer<dyn Aead>> {
    let [short, long, chacha] = ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"];
    let mut peers = vec![direct(found, short), direct(found, long)];
    for api in [Api::Burst, Api::Job] {
        peers.push(peer::<GcmSession<16>>(found, api, short, Algorithm::AES_128_GCM));
        peers.push(peer::<GcmSession<32>>(found, api, long, Algorithm::AES_256_GCM));
        peers.push(peer::<ChaCha>(found, api, chacha, Algorithm::CHACHA20_POLY1305));
    }
    peers
}

fn peer<K: Expanded>(
    found: &Found,
    api: Api,
    name: &'static str,
    algorithm: Algorithm,
) -> Peer<dyn Aead> {
    let names = ["ipsec-mb", api.name(), name];
    Peer::<dyn Aead>::new(names, found, move |library, direction, keys| {
        Some(Box::new(Sessions::<K>::new(library, api, algorithm, direction, keys)?))
    })
    .in_batches()
}

impl<K: Expanded> Messages<Packet<'_>> for Sessions<K> {
    fn messages(&mut self, packets: &mut [Packet<'_>], run: Run<'_>) -> Result<(), Failed> {
        let (direction, nonce_len) = (self.direction, self.algorithm.block());
        self.run(
            packets,
            run,
            |packet, made, key, job| {
                let (to, len) = (packet.data.as_mut_ptr(), packet.data.len());
                Failed::unless(packet.nonce.len() == nonce_len)?;
                let (from, tag) = match direction {
                    Direction::Encrypt => (to.cast_const(), &mut *packet.tag),
                    Direction::Decrypt => {
                        Failed::unless(packet.sealed.len() == len)?;
                        (packet.sealed.as_ptr(), made)
                    }
                };
                job.message(key, packet.nonce, from, to, len);
                job.authenticated(packet.aad, tag);
                Ok(())
            },
            |packets, tags| {
                let mut pairs = tags.iter().zip(packets);
                let right = direction == Direction::Encrypt
                    || pairs.all(|(made, packet)| same(made, packet.tag));
                Failed::unless(right)
            },
        )
    }
}

impl<K: Expanded> Aead for Sessions<K> {}
