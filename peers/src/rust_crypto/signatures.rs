//! RSA signatures of the crate `rsa`, blinded, as it recommends. It computes the primes of keys
//! that come without them, so there are no signatures without CRT.

use rsa::traits::PublicKeyParts as _;
use rsa::{BoxedUint, Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};
use sha2::Sha256;

use crate::{Failed, Peer, RsaKey, Signature, Signer, Signing};

// A crate's version cannot be asked for, so it stands here; tests/peers/crate_versions.rs holds it
// to the lock file.
const VERSION: &str = "rsa 0.10.0-rc.20";

pub(super) fn signer() -> Peer<dyn Signer> {
    Peer::signer(["rustcrypto", "crate"], &Ok(VERSION), |_, _, key| Key::new(key))
}

struct Key {
    private: RsaPrivateKey,
    public: RsaPublicKey,
}

impl Key {
    fn new(key: &RsaKey<'_>) -> Result<Self, Failed> {
        let [p, q, ..] = key.crt.ok_or(Failed)?;
        let [n, e, d, p, q] = [key.n, key.e, key.d, p, q].map(BoxedUint::from_be_slice_vartime);
        let private = RsaPrivateKey::from_components(n, e, d, vec![p, q]).map_err(|_| Failed)?;
        let public = private.to_public_key();
        Failed::unless(public.size() == key.n.len())?;
        Ok(Self { private, public })
    }
}

impl Signing for Key {
    #[inline]
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        let padding = Pkcs1v15Sign::new::<Sha256>();
        let made = self.private.sign_with_rng(&mut rand::rng(), padding, &digest[..]);
        let made = made.map_err(|_| Failed)?;
        Failed::unless(made.len() == signature.len())?;
        signature.copy_from_slice(&made);
        Ok(())
    }

    #[inline]
    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        let padding = Pkcs1v15Sign::new::<Sha256>();
        self.public.verify(padding, &digest[..], signature).map_err(|_| Failed)
    }
}
