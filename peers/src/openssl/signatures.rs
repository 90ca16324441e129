//! Peer: RSA signatures of OpenSSL, by its EVP interface. A context with its key is kept.

use lanecrypt_libcrypto::{Libcrypto, RsaContext, RsaNumbers, RsaPadding, Side};

use super::{library, newest};
use crate::{Direction, Failed, Peer, PeerLibraries, RsaKey, Signature, Signer, Signing};

/// The system's build, and that of `make peers` as the newest.
pub(super) fn all(libraries: &PeerLibraries) -> [Peer<dyn Signer>; 2] {
    [("evp", library(libraries)), ("evp-newest", newest(libraries))]
        .map(|(api, found)| Peer::signer(["openssl", api], &found, open))
}

fn open(libcrypto: &Libcrypto, direction: Direction, key: &RsaKey<'_>) -> Result<Evp, Failed> {
    let &RsaKey { n, e, d, crt } = key;
    let side = match direction {
        Direction::Encrypt => Side::Sign,
        Direction::Decrypt => Side::Verify,
    };
    let numbers = RsaNumbers { n, e, d, crt };
    let context = libcrypto.rsa(&numbers, &RsaPadding::PKCS1V15_SHA256, side);
    context.map(Evp).map_err(|_| Failed)
}

struct Evp(RsaContext);

impl Signing for Evp {
    #[inline]
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        self.0.sign(signature.digest, signature.signature).map_err(|_| Failed)
    }

    #[inline]
    fn verify(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        self.0.verify(signature.digest, signature.signature).map_err(|_| Failed)
    }
}
