//! RSA signatures of the crate `ring`. It hashes the message itself, and takes keys of 2048 to 4096
//! bits that know their primes.

use ring::rand::SystemRandom;
use ring::rsa::{KeyPair, KeyPairComponents, PublicKeyComponents};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256};

use super::built::VERSION;
use crate::{Failed, Peer, RsaKey, Signature, Signer, Signing};

pub(super) fn signer(names: [&'static str; 2]) -> Peer<dyn Signer> {
    Peer::signer(names, &Ok(VERSION), |_, _, key| Key::new(key))
}

struct Key {
    pair: KeyPair,
    public: PublicKeyComponents<Vec<u8>>,
    random: SystemRandom,
}

impl Key {
    fn new(key: &RsaKey<'_>) -> Result<Self, Failed> {
        let [p, q, dp, dq, qinv] = key.crt.ok_or(Failed)?;
        let public_key = PublicKeyComponents { n: key.n, e: key.e };
        let pair = KeyPairComponents { public_key, d: key.d, p, q, dP: dp, dQ: dq, qInv: qinv };
        let pair = KeyPair::from_components(&pair).map_err(|_| Failed)?;
        let public = PublicKeyComponents { n: key.n.to_vec(), e: key.e.to_vec() };
        Ok(Self { pair, public, random: SystemRandom::new() })
    }
}

impl Signing for Key {
    #[inline]
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { message, signature, .. } = signature;
        let signed = self.pair.sign(&RSA_PKCS1_SHA256, &self.random, message, signature);
        signed.map_err(|_| Failed)
    }

    #[inline]
    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { message, signature, .. } = signature;
        let verified = self.public.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature);
        verified.map_err(|_| Failed)
    }
}
