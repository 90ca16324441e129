//! The projects that peers come from.

use lanecrypt_kernels::Level;

use crate::{Aead, Cipher, Generator, Peer, PeerLibraries, PublicKey, Signer};

/// A project that Lanecrypt is measured against: one file or one folder here.
///
/// Missing peers are listed too, with a hint how to get them.
pub(crate) trait Project: Sync {
    /// The [`Peer::source`] of all its peers.
    fn source(&self) -> &'static str;

    /// How its code is held to a level of instruction sets.
    fn hold(&self, _level: Level) -> Hold {
        Hold::No
    }

    /// Its random number generators.
    fn generators(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        Vec::new()
    }

    /// Its ciphers without authentication.
    fn ciphers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
        Vec::new()
    }

    /// Its ciphers with authentication.
    fn aeads(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        Vec::new()
    }

    /// Its RSA signatures.
    fn signers(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
        Vec::new()
    }

    /// Its public-key operations of handshakes.
    fn public_keys(&self, _libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        Vec::new()
    }

    /// The shared libraries that a user may name a file for.
    fn libraries(&self) -> &'static [NamedLibrary] {
        &[]
    }
}

/// A shared library that a user may name a file for.
pub(crate) struct NamedLibrary {
    /// The name before the path.
    pub(crate) name: &'static str,
    /// Opens it, or returns the reason why that fails.
    pub(crate) open: fn(&PeerLibraries) -> Result<(), String>,
}

/// How a project is held to a level.
pub(crate) enum Hold {
    /// It chooses its code by itself, among some above the level.
    No,
    /// It has no code above the level, or is held when its library is set up.
    Yes,
    /// By this variable of the environment, which the library reads once.
    By(Variable),
}

/// A variable of the environment that holds a library.
#[derive(Clone, Copy)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// The value for a level, combined with the value that it has. It is the same if it is applied
    /// again.
    pub(crate) value: fn(Level, Option<&str>) -> Result<String, String>,
}
