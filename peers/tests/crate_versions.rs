//! The versions that crates are reported with are those of the lock file.

use lanecrypt_peers::{Availability, PeerLibraries, aeads, ciphers, generators};

#[test]
fn versions_are_those_that_are_built() {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("the workspace has a lock file");
    let mut compared = 0;
    let mut reported = Vec::new();
    let libraries = PeerLibraries::new();
    for peer in generators(&libraries) {
        reported.push((peer.source, peer.api, peer.availability));
    }
    for peer in ciphers(&libraries) {
        reported.push((peer.source, peer.subject, peer.availability));
    }
    for peer in aeads(&libraries) {
        reported.push((peer.source, peer.subject, peer.availability));
    }
    let ring = cfg!(feature = "ring");
    let sources = ["rand", "rustcrypto", if ring { "ring" } else { "rand" }];
    reported.retain(|(source, ..)| sources.contains(source));
    for (_, name, availability) in reported {
        let Availability::Found(versions) = &availability else { panic!("{name}") };
        for entry in versions.split(", ") {
            let (name, version) = entry.split_once(' ').expect("a name and a version");
            let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&package), "{name} is reported as {entry}");
            compared += 1;
        }
    }
    assert_eq!(compared, 11 + 13 + 8 + if ring { 3 } else { 0 });
}
