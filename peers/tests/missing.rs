//! Libraries that are not where the user says. Alone in its process, because a library is opened
//! once.

use std::thread;

use lanecrypt_peers::{
    AeadPeer, Availability, CipherPeer, Direction, GeneratorPeer, PeerLibraries, aead_lengths,
    aeads, aeads_with, ciphers, ciphers_with, generators, generators_with, lengths,
};

const LIBRARIES: [&str; 6] = PeerLibraries::NAMES;

fn hint(peer: &GeneratorPeer) -> &str {
    assert!((peer.make)().is_none(), "{peer:?}");
    match &peer.availability {
        Availability::Missing(hint) => hint,
        other => panic!("{} {}: {other:?}", peer.source, peer.api),
    }
}

fn cipher_hint(peer: &CipherPeer) -> &str {
    let (key_len, _) = lengths(peer.algorithm).expect("a known algorithm");
    assert!(peer.open(Direction::Encrypt, &[&vec![1; key_len]]).is_none(), "{peer:?}");
    match &peer.availability {
        Availability::Missing(hint) => hint,
        other => panic!("{} {} {}: {other:?}", peer.source, peer.api, peer.algorithm),
    }
}

fn aead_hint(peer: &AeadPeer) -> &str {
    let (key_len, _) = aead_lengths(peer.algorithm).expect("a known algorithm");
    assert!(peer.open(Direction::Encrypt, &[&vec![1; key_len]]).is_none(), "{peer:?}");
    match &peer.availability {
        Availability::Missing(hint) => hint,
        other => panic!("{} {} {}: {other:?}", peer.source, peer.api, peer.algorithm),
    }
}

#[test]
fn a_path_that_leads_nowhere_is_a_hint() {
    let not_a_library = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut libraries = PeerLibraries::new();
    libraries.add("openssl=/nonexistent/libcrypto.so").expect("a known name");
    libraries.add(&format!("libsodium={not_a_library}")).expect("a known name");
    // A library, but not this one: it has none of the functions.
    libraries.add("libgcrypt=libc.so.6").expect("a known name");

    // Several threads at once open it once.
    let lists = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| generators_with(&libraries)));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    for peers in lists {
        let of = |source| peers.iter().filter(move |peer| peer.source == source);
        assert_eq!(peers.iter().filter(|peer| LIBRARIES.contains(&peer.source)).count(), 5);
        for peer in of("openssl") {
            assert!(hint(peer).contains("/nonexistent/libcrypto.so"), "{peer:?}");
        }
        for peer in of("libsodium") {
            assert!(hint(peer).contains(not_a_library), "{peer:?}");
        }
        for peer in of("libgcrypt") {
            assert!(hint(peer).contains("gcry_check_version"), "{peer:?}");
        }
        for peer in of("kernel").filter(|peer| peer.api != "vdso") {
            assert!(matches!(peer.availability, Availability::Found(_)), "{peer:?}");
        }
    }

    libraries.add("openssl-newest=/nonexistent/newest.so").expect("a known name");
    libraries.add("nettle=/nonexistent/libnettle.so").expect("a known name");
    libraries.add("ipsec-mb=libc.so.6").expect("a known name");
    let peers = ciphers_with(&libraries);
    let part = |source, api| match (source, api) {
        ("openssl", "evp" | "evp-oneshot") => "/nonexistent/libcrypto.so",
        ("openssl", _) => "/nonexistent/newest.so",
        ("nettle", _) => "/nonexistent/libnettle.so",
        ("ipsec-mb", _) => "imb_get_version",
        _ => "gcry_check_version",
    };
    for peer in peers.iter().filter(|peer| LIBRARIES.contains(&peer.source)) {
        assert!(cipher_hint(peer).contains(part(peer.source, peer.api)), "{peer:?}");
    }
    let authenticated = aeads_with(&libraries);
    for peer in authenticated.iter().filter(|peer| LIBRARIES.contains(&peer.source)) {
        assert!(aead_hint(peer).contains(part(peer.source, peer.api)), "{peer:?}");
    }
    for peer in authenticated.iter().filter(|peer| peer.source == "rustcrypto") {
        assert!(matches!(peer.availability, Availability::Found(_)), "{peer:?}");
    }
    for peer in peers.iter().filter(|peer| peer.source == "rustcrypto") {
        assert!(matches!(peer.availability, Availability::Found(_)), "{peer:?}");
    }

    // The process cannot have a second library of the same name.
    for peer in generators().iter().filter(|peer| LIBRARIES.contains(&peer.source)) {
        assert!(hint(peer).contains("another path"), "{peer:?}");
    }
    for peer in ciphers().iter().filter(|peer| LIBRARIES.contains(&peer.source)) {
        assert!(cipher_hint(peer).contains("another path"), "{peer:?}");
    }
    for peer in aeads().iter().filter(|peer| LIBRARIES.contains(&peer.source)) {
        assert!(aead_hint(peer).contains("another path"), "{peer:?}");
    }
}
