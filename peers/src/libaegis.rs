//! Peer: the crate `aegis`, which is libaegis: AEGIS-128L and AEGIS-256 with tags of 16 bytes.

use lanecrypt_kernels::Level;

use crate::project::{Hold, Project};
use crate::{Aead, Peer, PeerLibraries};

pub(crate) struct Libaegis;

impl Project for Libaegis {
    fn source(&self) -> &'static str {
        "libaegis"
    }

    /// It asks the processor itself; its code for one message takes AES-NI and AVX.
    fn hold(&self, level: Level) -> Hold {
        if level.includes(Level::Avx2) { Hold::Yes } else { Hold::No }
    }

    fn aeads(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        vec![
            built::aegis_128l(["libaegis", "crate", "aegis-128l"]),
            built::aegis_256(["libaegis", "crate", "aegis-256"]),
        ]
    }
}

/// It opens only in place. Requests here keep the sealed bytes, so opening copies them first, and
/// the copy is part of the measured time.
#[cfg(feature = "aegis")]
mod built {
    use crate::{Aead, Failed, Packet, Peer, Sealing};

    // A crate's version cannot be asked for, so it stands here;
    // tests/peers/crate_versions.rs holds it to the lock file.
    const VERSION: &str = "aegis 0.9.20";

    /// A cipher that takes its key with each message.
    macro_rules! cipher {
        ($function:ident, $session:ident, $cipher:ty, $bytes:literal) => {
            pub(super) fn $function(names: [&'static str; 3]) -> Peer<dyn Aead> {
                Peer::keyed(names, &Ok(VERSION), |_, _, key| {
                    key.try_into().map($session).map_err(|_| Failed)
                })
            }

            struct $session([u8; $bytes]);

            impl Sealing for $session {
                #[inline]
                fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
                    let nonce = packet.nonce.try_into().map_err(|_| Failed)?;
                    let cipher = <$cipher>::new(&self.0, nonce);
                    *packet.tag = cipher.encrypt_in_place(packet.data, packet.aad);
                    Ok(())
                }

                #[inline]
                fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
                    Failed::unless(packet.data.len() == packet.sealed.len())?;
                    packet.data.copy_from_slice(packet.sealed);
                    let nonce = packet.nonce.try_into().map_err(|_| Failed)?;
                    let cipher = <$cipher>::new(&self.0, nonce);
                    let opened = cipher.decrypt_in_place(packet.data, packet.tag, packet.aad);
                    opened.map_err(|_| Failed)
                }

                #[inline]
                fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
                    self.0 = key.try_into().map_err(|_| Failed)?;
                    Ok(())
                }
            }
        };
    }

    cipher!(aegis_128l, Aegis128L, aegis::aegis128l::Aegis128L<16>, 16);
    cipher!(aegis_256, Aegis256, aegis::aegis256::Aegis256<16>, 32);
}

#[cfg(not(feature = "aegis"))]
mod built {
    use crate::{Aead, Peer};

    const HINT: &str = "build with the feature aegis of lanecrypt-peers";

    pub(super) fn aegis_128l(names: [&'static str; 3]) -> Peer<dyn Aead> {
        Peer::missing(names, HINT)
    }

    pub(super) use aegis_128l as aegis_256;
}
