//! Peer: the crates of the RustCrypto project.

use crate::project::Project;
use crate::{Aead, Cipher, Peer, PeerLibraries, PublicKey, Signer};

mod aeads;
mod chained;
mod ciphers;
mod public_keys;
mod signatures;

pub(crate) struct RustCrypto;

impl Project for RustCrypto {
    fn source(&self) -> &'static str {
        "rustcrypto"
    }

    fn ciphers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
        ciphers::all()
    }

    fn aeads(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        aeads::all().into()
    }

    fn signers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
        vec![signatures::signer()]
    }

    fn public_keys(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        public_keys::all()
    }
}
