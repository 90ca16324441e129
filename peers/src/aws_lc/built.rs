//! AWS-LC, if it is built in. `SystemRandom` is a CTR-DRBG with AES-256 in each thread (NIST SP
//! 800-90A).

use aws_lc_rs::awslc_version;
use aws_lc_rs::rand::{SecureRandom, SystemRandom};

pub(super) use super::ciphers::cipher;
pub(super) use super::public_keys::public_key;
pub(super) use super::signatures::signer;
use crate::{Draw, Failed, Generator, Packet, Peer};

pub(super) fn generator(names: [&'static str; 3]) -> Peer<dyn Generator> {
    Peer::generator(names, &Ok(awslc_version()), |_| crate::generator(Fill(SystemRandom::new())))
}

struct Fill(SystemRandom);

impl Draw for Fill {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.fill(buffer).map_err(|_| Failed)
    }
}

crate::less_safe::less_safe_keys!(
    aws_lc_rs,
    awslc_version(),
    |key: &LessSafeKey, nonce, aad, packet: &mut Packet<'_>| {
        let Packet { data, sealed, tag, .. } = packet;
        key.open_separate_gather(nonce, aad, sealed, &tag[..], data).map_err(|_| Failed)
    },
    "aes-128-gcm-siv" => aws_lc_rs::aead::AES_128_GCM_SIV,
    "aes-256-gcm-siv" => aws_lc_rs::aead::AES_256_GCM_SIV,
);
