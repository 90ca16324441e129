//! Peer: the crate `ring`.

use crate::project::Project;
use crate::{Aead, Peer, PeerLibraries};

pub(crate) struct Ring;

impl Project for Ring {
    fn aeads(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]
            .map(|algorithm| built::aead(["ring", "crate", algorithm]))
            .into()
    }
}

/// It opens only in place. Requests here keep the sealed bytes, so opening copies them first, and
/// the copy is part of the measured time.
#[cfg(feature = "ring")]
mod built {
    use ring::aead::Tag;

    use crate::{Failed, Packet};

    // A crate's version cannot be asked for, so it stands here; tests/crate_versions.rs holds it to
    // the lock file.
    const VERSION: &str = "ring 0.17.14";

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
    use crate::{Aead, Peer};

    pub(super) fn aead(names: [&'static str; 3]) -> Peer<dyn Aead> {
        Peer::missing(names, "build with the feature ring of lanecrypt-peers")
    }
}
