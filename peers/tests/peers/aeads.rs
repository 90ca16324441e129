//! Every cipher with authentication that is found seals as the crates do, opens what they sealed,
//! and refuses changed packets.

use std::thread;

use crate::{bytes, fitting, name};
use lanecrypt_peers::{
    Aead, Availability, Direction, Packet, Peer, PeerLibraries, Run, aeads, lengths,
};

const ALGORITHMS: [&str; 11] = [
    "aegis-128l",
    "aegis-256",
    "aes-128-cbc+hmac-sha256",
    "aes-128-gcm",
    "aes-256-gcm",
    "aes-siv-256",
    "aes-siv-512",
    "aes-128-gcm-siv",
    "aes-256-gcm-siv",
    "chacha20-poly1305",
    "xchacha20-poly1305",
];

const LENGTHS: [usize; 16] =
    [0, 1, 15, 16, 17, 63, 64, 65, 127, 256, 257, 576, 1024, 1500, 4099, 16_384];

fn found() -> Vec<Peer<dyn Aead>> {
    crate::found(aeads)
}

fn key(peer: &Peer<dyn Aead>, seed: u64) -> Vec<u8> {
    crate::key(peer.subject, seed)
}

fn nonce(peer: &Peer<dyn Aead>, seed: u64) -> Vec<u8> {
    crate::iv(peer.subject, seed)
}

fn reference(peer: &Peer<dyn Aead>) -> Peer<dyn Aead> {
    crate::reference(aeads, peer.subject)
}

fn sealed(aead: &mut dyn Aead, nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let (mut data, mut tag) = (plain.to_vec(), [0; 16]);
    let packet = Packet { session: 0, nonce, aad, data: &mut data, sealed: &[], tag: &mut tag };
    aead.messages(&mut [packet], Run::of(1)).expect("a message");
    (data, tag)
}

fn opened(
    aead: &mut dyn Aead,
    nonce: &[u8],
    aad: &[u8],
    sealed: &[u8],
    mut tag: [u8; 16],
) -> Option<Vec<u8>> {
    let mut data = vec![0x5A; sealed.len()];
    let packet = Packet { session: 0, nonce, aad, data: &mut data, sealed, tag: &mut tag };
    aead.messages(&mut [packet], Run::of(1)).ok()?;
    Some(data)
}

#[test]
fn the_list_is_whole_and_says_how_to_get_what_is_missing() {
    let peers = aeads(&PeerLibraries::new());
    crate::is_whole(&peers);
    assert!(peers.len() >= 12 + 4 + 3 + 3 + 3 + 8 + 4 + 3, "some are lost");
    for peer in &peers {
        let found = matches!(peer.availability, Availability::Found(_));
        assert!(ALGORITHMS.contains(&peer.subject), "{}", name(peer));
        for direction in Direction::ALL {
            assert_eq!(peer.open(direction, &[&key(peer, 1)]).is_some(), found, "{}", name(peer));
            assert!(peer.open(direction, &[]).is_none(), "{}", name(peer));
        }
    }
    let built = |source, built| {
        let mut of = peers.iter().filter(|peer| peer.source == source);
        of.all(|peer| matches!(peer.availability, Availability::Found(_)) == built)
    };
    assert!(built("rustcrypto", true));
    assert!(built("ring", cfg!(feature = "ring")));
    assert!(built("aws-lc", cfg!(feature = "aws-lc")));
    for algorithm in ALGORITHMS {
        assert!(peers.iter().any(|peer| peer.subject == algorithm), "{algorithm}");
        assert!(lengths(algorithm).is_some());
    }
    assert_eq!(lengths("aes-128-ecb"), None);
}

#[test]
fn messages_are_those_of_the_crates() {
    for peer in found() {
        let (key, reference) = (key(&peer, 5), reference(&peer));
        let mut crates = reference.open(Direction::Encrypt, &[&key]).expect("always there");
        let mut sealing = peer.open(Direction::Encrypt, &[&key]).expect("it was found");
        let mut opening = peer.open(Direction::Decrypt, &[&key]).expect("it was found");
        for (seed, len) in (0..).zip(LENGTHS) {
            let len = fitting(peer.subject, len);
            for aad_len in [0, 8, 13, 16, 40] {
                let (nonce, aad) = (nonce(&peer, seed), bytes(seed + 7, aad_len));
                let plain = bytes(seed + 2000, len);
                let expected = sealed(&mut *crates, &nonce, &aad, &plain);
                let made = sealed(&mut *sealing, &nonce, &aad, &plain);
                assert!(made == expected, "{} {len} {aad_len}", name(&peer));
                let (data, tag) = expected;
                let back = opened(&mut *opening, &nonce, &aad, &data, tag);
                assert!(back.as_ref() == Some(&plain), "{} {len} {aad_len}", name(&peer));
            }
        }
    }
}

#[test]
fn whatever_is_changed_is_refused_and_the_next_message_opens() {
    for peer in found() {
        let key = key(&peer, 6);
        let mut sealing = peer.open(Direction::Encrypt, &[&key]).expect("it was found");
        let mut opening = peer.open(Direction::Decrypt, &[&key]).expect("it was found");
        for len in [0, 1, 16, 100, 300] {
            let len = fitting(peer.subject, len);
            let (nonce, aad, plain) = (nonce(&peer, 6), bytes(8, 20), bytes(9, len));
            let (data, tag) = sealed(&mut *sealing, &nonce, &aad, &plain);
            let changed = |bytes: &[u8], at: usize| {
                let mut bytes = bytes.to_vec();
                bytes[at] ^= 0x01;
                bytes
            };
            let mut refused = |nonce: &[u8], aad: &[u8], data: &[u8], tag: [u8; 16]| {
                let back = opened(&mut *opening, nonce, aad, data, tag);
                assert!(back.is_none(), "{} {len}", name(&peer));
            };
            for at in 0..16 {
                refused(&nonce, &aad, &data, changed(&tag, at).try_into().expect("16 bytes"));
            }
            for at in [0, 11] {
                refused(&changed(&nonce, at), &aad, &data, tag);
                refused(&nonce, &changed(&aad, at), &data, tag);
            }
            refused(&nonce, &aad[1..], &data, tag);
            if len > 0 {
                refused(&nonce, &aad, &changed(&data, 0), tag);
                refused(&nonce, &aad, &changed(&data, len - 1), tag);
                refused(&nonce, &aad, &data[1..], tag);
            }
            let back = opened(&mut *opening, &nonce, &aad, &data, tag);
            assert_eq!(back, Some(plain), "{} {len}", name(&peer));
        }
    }
}

#[test]
fn nothing_is_written_beside_the_message() {
    for peer in found() {
        let key = key(&peer, 3);
        for len in [0, 1, 17, 83, 300, 1500] {
            let len = fitting(peer.subject, len);
            let (nonce, mut buffer) = (nonce(&peer, 3), vec![0xA5; len + 64]);
            let mut tags = [[0xA5; 16]; 3];
            let mut aead = peer.open(Direction::Encrypt, &[&key]).expect("it was found");
            let (aad, data, tag) = (&[], &mut buffer[32..len + 32], &mut tags[1]);
            let packet = Packet { session: 0, nonce: &nonce, aad, data, sealed: &[], tag };
            aead.messages(&mut [packet], Run::of(1)).expect("a message");
            assert_eq!([&buffer[..32], &buffer[len + 32..]], [[0xA5; 32]; 2], "{}", name(&peer));
            assert_eq!([tags[0], tags[2]], [[0xA5; 16]; 2], "{}", name(&peer));
            let (sealed, mut tag) = (buffer[32..len + 32].to_vec(), tags[1]);
            buffer.fill(0xA5);
            let mut aead = peer.open(Direction::Decrypt, &[&key]).expect("it was found");
            let (data, sealed, tag) = (&mut buffer[32..len + 32], &sealed, &mut tag);
            let packet = Packet { session: 0, nonce: &nonce, aad, data, sealed, tag };
            aead.messages(&mut [packet], Run::of(1)).expect("a message");
            assert_eq!(buffer, vec![0xA5; len + 64], "{}", name(&peer));
        }
    }
}

#[test]
fn sessions_have_keys_of_their_own_and_take_others() {
    for peer in found() {
        let keys: Vec<Vec<u8>> = (0..4).map(|n| key(&peer, n)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let reference = reference(&peer);
        let (nonce, aad, plain) = (nonce(&peer, 1), bytes(1, 8), bytes(2, 64));
        let expected: Vec<(Vec<u8>, [u8; 16])> = keys
            .iter()
            .map(|key| {
                let mut crates = reference.open(Direction::Encrypt, &[key]).expect("always there");
                sealed(&mut *crates, &nonce, &aad, &plain)
            })
            .collect();
        let mut sealing = peer.open(Direction::Encrypt, &keys).expect("it was found");
        let mut opening = peer.open(Direction::Decrypt, &keys).expect("it was found");
        let run = |aead: &mut dyn Aead, sessions: [usize; 3], fresh: Option<&[&[u8]]>| {
            let (mut data, mut tags) = ([(); 3].map(|()| plain.clone()), [[0; 16]; 3]);
            let mut batch: Vec<Packet<'_>> = Vec::new();
            for ((session, data), tag) in sessions.into_iter().zip(&mut data).zip(&mut tags) {
                batch.push(Packet { session, nonce: &nonce, aad: &aad, data, sealed: &[], tag });
            }
            aead.messages(&mut batch, Run::of(3).with_keys(fresh)).expect("messages");
            data.into_iter().zip(tags).collect::<Vec<_>>()
        };
        let of = |numbers: [usize; 3]| numbers.map(|n| expected[n].clone());
        assert_eq!(run(&mut *sealing, [2, 0, 3], None), of([2, 0, 3]), "{}", name(&peer));
        let fresh = run(&mut *sealing, [0, 1, 1], Some(&[keys[3], keys[2]]));
        assert_eq!(fresh, of([3, 2, 3]), "{}", name(&peer));
        let kept = run(&mut *sealing, [0, 1, 2], None);
        // In a batch, two packets of a session have different keys at once.
        let last = if peer.batches { [0, 1, 2] } else { [3, 3, 2] };
        assert_eq!(kept, of(last), "{}: the last keys of sessions stay", name(&peer));

        let mut out = [vec![0; 64], vec![0; 64]];
        let [a, b] = &mut out;
        let mut tags = [expected[1].1, expected[3].1];
        let [s, t] = &mut tags;
        let mut batch = [(1, a, s), (3, b, t)].map(|(session, data, tag)| Packet {
            session,
            nonce: &nonce,
            aad: &aad,
            data,
            sealed: &expected[session].0,
            tag,
        });
        opening.messages(&mut batch, Run::of(6)).expect("messages, three times");
        assert!(
            opening.messages(&mut batch, Run::of(1).with_keys(Some(&[keys[0]]))).is_err(),
            "{}",
            name(&peer)
        );
        opening
            .messages(&mut batch, Run::of(4).with_keys(Some(&[keys[1], keys[3]])))
            .expect("messages");
        assert_eq!([&*batch[0].data, &*batch[1].data], [&plain; 2], "{}", name(&peer));
        batch.swap(0, 1);
        assert!(
            opening.messages(&mut batch, Run::of(2).with_keys(Some(&[keys[1], keys[3]]))).is_err()
        );
        assert!(opening.messages(&mut batch, Run::of(1).with_keys(Some(&[]))).is_err(), "no key");
        batch[0].session = 4;
        assert!(opening.messages(&mut batch, Run::of(1)).is_err(), "no such session");
    }
}

#[test]
fn wrong_lengths_are_errors() {
    for peer in found() {
        let key = key(&peer, 1);
        let nonce = nonce(&peer, 1);
        for len in [0, key.len() - 1, key.len() + 1] {
            assert!(peer.open(Direction::Encrypt, &[&vec![1; len]]).is_none(), "{}", name(&peer));
        }
        let mut sealing = peer.open(Direction::Encrypt, &[&key]).expect("it was found");
        let mut opening = peer.open(Direction::Decrypt, &[&key]).expect("it was found");
        let (data, tag) = sealed(&mut *sealing, &nonce, b"", &[3; 48]);
        for len in [0, nonce.len() - 1, nonce.len() + 1] {
            let (nonce, mut data, mut tag) = (vec![1; len], [0; 48], [0; 16]);
            let (data, tag) = (&mut data, &mut tag);
            let mut batch =
                [Packet { session: 0, nonce: &nonce, aad: b"", data, sealed: &[], tag }];
            assert!(sealing.messages(&mut batch, Run::of(1)).is_err(), "{} {len}", name(&peer));
            batch[0].sealed = &[1; 48];
            assert!(opening.messages(&mut batch, Run::of(1)).is_err(), "{} {len}", name(&peer));
        }
        for len in [47, 49] {
            let (mut out, mut tag) = (vec![0; len], tag);
            let (nonce, out, tag) = (&nonce, &mut out, &mut tag);
            let packet = Packet { session: 0, nonce, aad: b"", data: out, sealed: &data, tag };
            assert!(opening.messages(&mut [packet], Run::of(1)).is_err(), "{} {len}", name(&peer));
        }
        let (mut text, mut tag) = ([0; 4], [0; 16]);
        let (text, tag) = (&mut text, &mut tag);
        let packet = Packet { session: 0, nonce: &nonce, aad: b"", data: text, sealed: &[], tag };
        let short = &key[1..];
        assert!(
            sealing.messages(&mut [packet], Run::of(1).with_keys(Some(&[short]))).is_err(),
            "{}",
            name(&peer)
        );
    }
}

#[test]
fn two_builds_of_openssl_work_in_turns() {
    let mut peers = found();
    peers.retain(|peer| peer.source == "openssl" && peer.subject == "chacha20-poly1305");
    let version = |api| {
        let peer = peers.iter().find(|peer| peer.api == api);
        peer.map(|peer| format!("{:?}", peer.availability))
    };
    match (version("evp"), version("evp-newest")) {
        (Some(one), Some(other)) => assert_ne!(one, other, "one library under two names"),
        (one, other) => println!("SKIPPED openssl-newest: {one:?} {other:?}"),
    }
    let Some(first) = peers.first() else { return };
    let (key, nonce) = (key(first, 2), nonce(first, 2));
    let open =
        |peer: &Peer<dyn Aead>| peer.open(Direction::Encrypt, &[&key]).expect("it was found");
    let mut sessions: Vec<Box<dyn Aead>> = peers.iter().map(open).collect();
    for seed in 0..20 {
        let plain = bytes(seed, 90);
        let mut made = sessions.iter_mut().map(|aead| sealed(&mut **aead, &nonce, b"a", &plain));
        let one = made.next().expect("one session at least");
        assert!(made.all(|other| other == one));
    }
}

#[test]
fn several_threads_have_sessions_of_their_own() {
    for peer in found() {
        let (key, nonce, plain) = (key(&peer, 8), nonce(&peer, 8), bytes(62, 304));
        let mut first = peer.open(Direction::Encrypt, &[&key]).expect("it was found");
        let expected = sealed(&mut *first, &nonce, b"", &plain);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let mut aead =
                            peer.open(Direction::Encrypt, &[&key]).expect("it was found");
                        assert!(
                            sealed(&mut *aead, &nonce, b"", &plain) == expected,
                            "{}",
                            name(&peer)
                        );
                    }
                });
            }
        });
    }
}
