//! The reported versions of crates are those of the lock file.

use lanecrypt_peers::{
    Availability, PeerLibraries, aeads, ciphers, generators, public_keys, signers,
};

#[test]
fn versions_are_those_that_are_built() {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("the workspace has a lock file");
    let libraries = PeerLibraries::new();
    let mut reported = Vec::new();
    reported.extend(generators(&libraries).into_iter().map(|peer| peer.availability));
    reported.extend(ciphers(&libraries).into_iter().map(|peer| peer.availability));
    reported.extend(aeads(&libraries).into_iter().map(|peer| peer.availability));
    reported.extend(signers(&libraries).into_iter().map(|peer| peer.availability));
    reported.extend(public_keys(&libraries).into_iter().map(|peer| peer.availability));
    let mut compared = 0;
    for availability in reported {
        let Availability::Found(versions) = availability else { continue };
        for entry in versions.split(", ") {
            let Some((name, version)) = entry.split_once(' ') else { continue };
            let name = format!("name = \"{name}\"\n");
            // Other versions are those of shared libraries.
            if lock.contains(&name) {
                let package = format!("{name}version = \"{version}\"\n");
                assert!(lock.contains(&package), "{entry} is not what is built");
                compared += 1;
            }
        }
    }
    let of_ring = if cfg!(feature = "ring") { 4 + 7 } else { 0 };
    assert!(compared >= 11 + 13 + 8 + 1 + 22 + of_ring, "{compared}");
}
