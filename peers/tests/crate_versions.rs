//! The versions that crates are reported with are those of the lock file.

use lanecrypt_peers::{Availability, generators};

#[test]
fn versions_are_those_that_are_built() {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let lock = std::fs::read_to_string(lock).expect("the workspace has a lock file");
    let mut compared = 0;
    for peer in generators().iter().filter(|peer| peer.source == "rand") {
        let Availability::Found(versions) = &peer.availability else { panic!("{peer:?}") };
        for entry in versions.split(", ") {
            let (name, version) = entry.split_once(' ').expect("a name and a version");
            let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&package), "{} is reported as {entry}", peer.api);
            compared += 1;
        }
    }
    assert_eq!(compared, 11);
}
