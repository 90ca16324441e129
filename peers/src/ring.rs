//! Peer: the crate `ring`.

use lanecrypt_kernels::Level;

use crate::project::{Hold, Project};
use crate::{Aead, Operation, Peer, PeerLibraries, PublicKey, Signer};

#[cfg(feature = "ring")]
mod public_keys;
#[cfg(feature = "ring")]
mod signatures;

pub(crate) struct Ring;

impl Project for Ring {
    fn source(&self) -> &'static str {
        "ring"
    }

    /// It asks the processor itself; its highest code is AES-GCM with VAES.
    fn hold(&self, level: Level) -> Hold {
        if level.includes(Level::Avx2Vaes) { Hold::Yes } else { Hold::No }
    }

    fn aeads(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]
            .map(|algorithm| built::aead(["ring", "crate", algorithm]))
            .into()
    }

    fn signers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
        vec![built::signer(["ring", "crate"])]
    }

    fn public_keys(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        [
            Operation::X25519Generate,
            Operation::Ed25519Sign,
            Operation::Ed25519Verify,
            Operation::P256Generate,
            Operation::P256Sign,
            Operation::P256Verify,
            Operation::Server,
        ]
        .map(|operation| built::public_key(["ring", "crate"], operation))
        .into()
    }
}

/// It opens only in place. Requests here keep the sealed bytes, so opening copies them first, and
/// the copy is part of the measured time.
#[cfg(feature = "ring")]
mod built {
    use ring::aead::Tag;

    pub(super) use super::public_keys::public_key;
    pub(super) use super::signatures::signer;
    use crate::{Failed, Packet};

    // A crate's version cannot be asked for, so it stands here;
    // tests/peers/crate_versions.rs holds it to the lock file.
    pub(super) const VERSION: &str = "ring 0.17.14";

    crate::less_safe::less_safe_keys!(
        ring,
        VERSION,
        |key: &LessSafeKey, nonce, aad, packet: &mut Packet<'_>| {
            Failed::unless(packet.data.len() == packet.sealed.len())?;
            packet.data.copy_from_slice(packet.sealed);
            let tag = Tag::from(*packet.tag);
            let opened = key.open_in_place_separate_tag(nonce, aad, tag, packet.data, 0..);
            opened.map(drop).map_err(|_| Failed)
        }
    );
}

#[cfg(not(feature = "ring"))]
mod built {
    use crate::{Aead, Operation, Peer, PublicKey, SIGNATURES, Signer};

    const HINT: &str = "build with the feature ring of lanecrypt-peers";

    pub(super) fn aead(names: [&'static str; 3]) -> Peer<dyn Aead> {
        Peer::missing(names, HINT)
    }

    pub(super) fn signer([source, api]: [&'static str; 2]) -> Peer<dyn Signer> {
        Peer::missing([source, api, SIGNATURES], HINT)
    }

    pub(super) fn public_key(
        [source, api]: [&'static str; 2],
        operation: Operation,
    ) -> Peer<dyn PublicKey> {
        Peer::missing([source, api, operation.name()], HINT)
    }
}
