//! Peer: AWS-LC, by the crates aws-lc-rs and aws-lc-sys.

use lanecrypt_kernels::Level;

use crate::ia32cap;
use crate::project::{Hold, Project};
use crate::{Aead, Cipher, Generator, Operation, Peer, PeerLibraries, PublicKey, Signer};

#[cfg(feature = "aws-lc")]
mod built;
#[cfg(feature = "aws-lc")]
mod ciphers;
#[cfg(feature = "aws-lc")]
mod public_keys;
#[cfg(feature = "aws-lc")]
mod signatures;

pub(crate) struct AwsLc;

impl Project for AwsLc {
    fn source(&self) -> &'static str {
        "aws-lc"
    }

    fn hold(&self, level: Level) -> Hold {
        ia32cap::hold(level)
    }

    fn generators(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        vec![built::generator(["aws-lc", "system-random", "aes-256-ctr"])]
    }

    fn ciphers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
        let evp = ["aes-128-cbc", "aes-128-ctr", "aes-256-xts", "des-cbc", "3des-cbc"];
        let mut peers: Vec<_> =
            evp.map(|algorithm| built::cipher(["aws-lc", "evp", algorithm])).into();
        peers.push(built::cipher(["aws-lc", "direct", "chacha20-ietf"]));
        peers
    }

    fn aeads(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        ["aes-128-gcm", "aes-256-gcm", "aes-128-gcm-siv", "aes-256-gcm-siv", "chacha20-poly1305"]
            .map(|algorithm| built::aead(["aws-lc", "crate", algorithm]))
            .into()
    }

    fn signers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
        vec![built::signer(["aws-lc", "direct"])]
    }

    fn public_keys(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        Operation::ALL.map(|operation| built::public_key("crate", operation)).into()
    }
}

#[cfg(not(feature = "aws-lc"))]
mod built {
    use crate::Peer;
    use crate::peer::Kind;
    use crate::{Operation, PublicKey, SIGNATURES, Signer};

    pub(super) use absent as aead;
    pub(super) use absent as cipher;
    pub(super) use absent as generator;

    pub(super) fn absent<T: Kind + ?Sized + 'static>(names: [&'static str; 3]) -> Peer<T> {
        Peer::missing(names, "build with the feature aws-lc of lanecrypt-peers")
    }

    pub(super) fn signer([source, api]: [&'static str; 2]) -> Peer<dyn Signer> {
        absent([source, api, SIGNATURES])
    }

    pub(super) fn public_key(api: &'static str, operation: Operation) -> Peer<dyn PublicKey> {
        absent(["aws-lc", api, operation.name()])
    }
}
