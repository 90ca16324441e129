//! Peer: OpenSSL 1.1.1 and later, from the libcrypto found at run time, and a newer build of it
//! beside that one.
//!
//! `RAND_bytes` is a CTR-DRBG with AES-256 in each thread (NIST SP 800-90A).

use std::path::{Path, PathBuf};

use lanecrypt_libcrypto::Libcrypto;

use crate::library::{Slot, is_file};
use crate::{Draw, Failed, GeneratorPeer, PeerLibraries, generator};

const HINT: &str = "apt install libssl3 (or --peer-lib openssl=PATH of a libcrypto.so)";
const NEWEST_HINT: &str = "make peers (or --peer-lib openssl-newest=PATH of a libcrypto.so)";

static OPENSSL: Slot<Libcrypto> = Slot::new();
static NEWEST: Slot<Libcrypto> = Slot::new();

pub(crate) fn generators(libraries: &PeerLibraries) -> [GeneratorPeer; 1] {
    let found = library(libraries).map(|libcrypto| libcrypto.version().to_owned());
    [GeneratorPeer::tried("openssl", "rand-bytes", "aes-256-ctr", found, || {
        generator(RandBytes(*OPENSSL.opened()?))
    })]
}

/// The system's libcrypto, or that at the given path.
pub(crate) fn library(libraries: &PeerLibraries) -> Result<Libcrypto, String> {
    let opened = OPENSSL.open(libraries.path("openssl"), |path| match path {
        Some(path) => at(path),
        None => Libcrypto::open().map_err(|_| HINT.to_owned()),
    });
    opened.copied()
}

/// What `make peers` has built, or the libcrypto at the given path.
pub(crate) fn newest(libraries: &PeerLibraries) -> Result<Libcrypto, String> {
    let opened = NEWEST.open(libraries.path("openssl-newest"), |path| match path {
        Some(path) => at(path),
        None => at(&built().ok_or(NEWEST_HINT)?),
    });
    opened.copied()
}

fn at(path: &Path) -> Result<Libcrypto, String> {
    is_file(path)?;
    // SAFETY: the file is what `make peers` has built, or a libcrypto by the word of the user.
    unsafe { Libcrypto::open_at(path) }.map_err(|error| error.to_string())
}

/// The file that `make peers` makes, in the target folder that this program was built in.
fn built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let built = target_folder(&program)?.join("peers/libcrypto-newest.so");
    built.is_file().then_some(built)
}

/// The target folder of a program that lies where cargo builds one. No other place is believed: a
/// file that is loaded can do anything.
fn target_folder(program: &Path) -> Option<&Path> {
    let mut profile = program.parent()?;
    if profile.ends_with("deps") || profile.ends_with("examples") {
        profile = profile.parent()?;
    }
    (profile.ends_with("release") || profile.ends_with("debug")).then(|| profile.parent())?
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
