//! Libraries that are not at the user's path, in a process of its own, because a library is opened
//! once.

use std::thread;

use lanecrypt_peers::{
    Availability, Direction, Peer, PeerLibraries, aeads, ciphers, generators, lengths, public_keys,
};

use crate::alone;

/// Says that the file can be loaded: it is none, no library, or the C library.
fn add(libraries: &mut PeerLibraries, assignment: &str) {
    // SAFETY: the files are not there, no libraries, or loaded already.
    unsafe { libraries.add(assignment) }.expect("a known name");
}

fn hint<T: ?Sized>(peer: &Peer<T>) -> &str {
    if let Some((key_len, _)) = lengths(peer.subject) {
        assert!(peer.open(Direction::Encrypt, &[&vec![1; key_len]]).is_none(), "{peer:?}");
    }
    match &peer.availability {
        Availability::Missing(hint) => hint,
        other => panic!("{peer:?}: {other:?}"),
    }
}

fn is_there<T: ?Sized>(peer: &Peer<T>) -> bool {
    matches!(peer.availability, Availability::Found(_))
}

/// Part of the hint for a peer that is a library; none for others.
fn part<T: ?Sized>(peer: &Peer<T>) -> Option<&'static str> {
    Some(match (peer.source, peer.api) {
        ("openssl", "evp" | "evp-oneshot" | "rand-bytes") => "/nonexistent/libcrypto.so",
        ("openssl", _) => "/nonexistent/newest.so",
        ("nettle", _) => "/nonexistent/libnettle.so",
        ("ipsec-mb", _) => "imb_get_version",
        ("crypto-mb", _) => "mbx_getversion",
        ("libgcrypt", _) => "gcry_check_version",
        ("libsodium", _) => NOT_A_LIBRARY,
        _ => return None,
    })
}

const NOT_A_LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

/// Whether the hint of each peer that is a library has its part, or `other`; how many there are.
fn hints<T: ?Sized>(peers: &[Peer<T>], other: Option<&str>) -> usize {
    let libraries = peers.iter().filter_map(|peer| Some((peer, part(peer)?)));
    libraries
        .inspect(|(peer, part)| assert!(hint(peer).contains(other.unwrap_or(part)), "{peer:?}"))
        .count()
}

#[test]
fn a_path_that_leads_nowhere_is_a_hint() {
    let outcome = alone::run("missing::in_a_process_of_its_own", &[]);
    outcome.unwrap_or_else(|printed| panic!("{printed}"));
}

#[test]
#[ignore = "it is what the other test starts"]
fn in_a_process_of_its_own() {
    if !alone::is_alone() {
        return;
    }
    let mut libraries = PeerLibraries::new();
    add(&mut libraries, "openssl=/nonexistent/libcrypto.so");
    add(&mut libraries, &format!("libsodium={NOT_A_LIBRARY}"));
    // A library, but a different one: it has none of the functions.
    add(&mut libraries, "libgcrypt=libc.so.6");

    // Several threads at once open it once.
    let lists = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| generators(&libraries)));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    for peers in lists {
        assert!(hints(&peers, None) >= 5);
        assert!(peers.iter().all(|peer| part(peer).is_none() || peer.make().is_none()));
        let mut kernel = peers.iter().filter(|p| p.source == "kernel" && p.api != "vdso");
        assert!(kernel.all(is_there), "{peers:?}");
    }

    add(&mut libraries, "openssl-newest=/nonexistent/newest.so");
    add(&mut libraries, "nettle=/nonexistent/libnettle.so");
    add(&mut libraries, "ipsec-mb=libc.so.6");
    add(&mut libraries, "crypto-mb=libc.so.6");
    let (raw, authenticated) = (ciphers(&libraries), aeads(&libraries));
    assert!(hints(&raw, None) > 30 && hints(&authenticated, None) > 20);
    assert!(hints(&public_keys(&libraries), None) > 30);
    assert!(raw.iter().filter(|peer| peer.source == "rustcrypto").all(is_there), "{raw:?}");
    let mut crates = authenticated.iter().filter(|peer| peer.source == "rustcrypto");
    assert!(crates.all(is_there), "{authenticated:?}");

    // The process cannot have a second library of the same name.
    let none = PeerLibraries::new();
    hints(&generators(&none), Some("another path"));
    hints(&ciphers(&none), Some("another path"));
    hints(&aeads(&none), Some("another path"));
    hints(&public_keys(&none), Some("another path"));
}
