//! Peer: OpenSSL 1.1.1 and later, from the libcrypto found at run time, and a newer build of it
//! beside that one.
//!
//! `RAND_bytes` is a CTR-DRBG with AES-256 in each thread (NIST SP 800-90A).

use std::path::{Path, PathBuf};

use lanecrypt_kernels::Level;
use lanecrypt_libcrypto::{Direction as Way, Libcrypto};

use crate::ia32cap;
use crate::library::{Slot, check_file};
use crate::project::{Hold, NamedLibrary, Project};
use crate::{
    Aead, Cipher, Direction, Draw, Failed, Generator, Peer, PeerLibraries, PublicKey, Signer,
    generator,
};

mod aeads;
mod chained;
mod ciphers;
mod public_keys;
mod signatures;

const HINT: &str = "apt install libssl3 (or --peer-lib openssl=PATH of a libcrypto.so)";
const NEWEST_HINT: &str = "make peers (or --peer-lib openssl-newest=PATH of a libcrypto.so)";

pub(crate) struct OpenSsl;

impl Project for OpenSsl {
    fn source(&self) -> &'static str {
        "openssl"
    }

    fn hold(&self, level: Level) -> Hold {
        ia32cap::hold(level)
    }

    fn generators(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Generator>> {
        let names = ["openssl", "rand-bytes", "aes-256-ctr"];
        let make = |libcrypto: &Libcrypto| generator(RandBytes(*libcrypto));
        vec![Peer::generator(names, &library(libraries), make)]
    }

    fn ciphers(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Cipher>> {
        ciphers::all(libraries)
    }

    fn aeads(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Aead>> {
        let mut peers = aeads::all(libraries);
        peers.extend(chained::all(libraries));
        peers
    }

    fn signers(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn Signer>> {
        signatures::all(libraries).into()
    }

    fn public_keys(&self, libraries: &PeerLibraries) -> Vec<Peer<dyn PublicKey>> {
        public_keys::all(libraries)
    }

    fn libraries(&self) -> &'static [NamedLibrary] {
        &[
            NamedLibrary { name: "openssl", open: |libraries| library(libraries).map(drop) },
            NamedLibrary { name: "openssl-newest", open: |libraries| newest(libraries).map(drop) },
        ]
    }
}

/// The system's libcrypto, or the one at the given path.
fn library(libraries: &PeerLibraries) -> Result<Libcrypto, String> {
    static OPENSSL: Slot<Libcrypto> = Slot::new();
    let opened = OPENSSL.open(libraries, "openssl", |path| match path {
        // SAFETY: the code that added the path has guaranteed the file.
        Some(path) => unsafe { at(path) },
        None => Libcrypto::open().map_err(|_| HINT.to_owned()),
    });
    opened.copied()
}

/// The build of `make peers`, or the libcrypto at the given path.
fn newest(libraries: &PeerLibraries) -> Result<Libcrypto, String> {
    static NEWEST: Slot<Libcrypto> = Slot::new();
    let opened = NEWEST.open(libraries, "openssl-newest", |path| match path {
        // SAFETY: the code that added the path has guaranteed the file.
        Some(path) => unsafe { at(path) },
        // SAFETY: `make peers` has built the file.
        None => unsafe { at(&built().ok_or(NEWEST_HINT)?) },
    });
    opened.copied()
}

/// Opens the libcrypto at `path`.
///
/// # Safety
///
/// The file is a libcrypto.
unsafe fn at(path: &Path) -> Result<Libcrypto, String> {
    check_file(path)?;
    // SAFETY: the caller guarantees the file.
    unsafe { Libcrypto::open_at(path) }.map_err(|error| error.to_string())
}

/// The file that `make peers` makes, in the target folder that this program was built in.
fn built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let built = target_folder(&program)?.join("peers/libcrypto-newest.so");
    built.is_file().then_some(built)
}

/// The target folder of a program that is where cargo builds one. No other place is trusted,
/// because a loaded file can do anything.
fn target_folder(program: &Path) -> Option<&Path> {
    let mut profile = program.parent()?;
    if profile.ends_with("deps") || profile.ends_with("examples") {
        profile = profile.parent()?;
    }
    (profile.ends_with("release") || profile.ends_with("debug")).then(|| profile.parent())?
}

const fn way(direction: Direction) -> Way {
    match direction {
        Direction::Encrypt => Way::Encrypt,
        Direction::Decrypt => Way::Decrypt,
    }
}

struct RandBytes(Libcrypto);

impl Draw for RandBytes {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failed> {
        self.0.random(buffer).map_err(|_| Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_cargos_is_a_target_folder() {
        let folder = |program| target_folder(Path::new(program)).and_then(Path::to_str);
        assert_eq!(folder("/w/target/release/lanecrypt"), Some("/w/target"));
        assert_eq!(folder("/w/target/debug/deps/test-0123"), Some("/w/target"));
        assert_eq!(folder("/usr/bin/lanecrypt"), None);
        assert_eq!(folder("/tmp/deps/x"), None);
        assert_eq!(folder("x"), None);
    }
}
