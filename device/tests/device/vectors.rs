//! Every test vector through a daemon, by the engine's driver and by a client: all algorithms,
//! packets that are forged or have short tags, and keys that are refused.

use lanecrypt_device::{Client, Error, Message, RejectReason, Remote, Server};
use lanecrypt_engine::{Algorithm, Engine, Error as Cipher};
use lanecrypt_testing::vectors::{self, Answer, tagged};

use crate::daemon::Running;

fn engine(daemon: &Running) -> Engine {
    let remote = Remote::connect(daemon.path()).expect("it listens");
    Engine::new().with_driver(remote).expect("the name is free")
}

/// All that have sessions.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied().filter(|row| row.to_string() != "arc4")
}

#[test]
fn vectors_without_tags() {
    let daemon = Running::new(Server::new().allow_null());
    let (engine, mut client) = (engine(&daemon), connect(&daemon));
    let mut seen: Vec<Algorithm> = Vec::new();
    for line in vectors::own() {
        let Answer::Text { plain, cipher } = &line.answer else { continue };
        let is_whole = (line.skip, line.counter) == (0, 0);
        if !is_whole || line.algorithm.to_string() == "arc4" {
            continue;
        }
        let session = engine.session_on("device", line.algorithm, &line.key).expect("a key");
        let mut data = plain.clone();
        assert_eq!(session.encrypt(&line.nonce, &mut data[..]), Ok(()), "{}", line.place);
        assert_eq!(data, *cipher, "{}", line.place);
        let mut opened = vec![0; plain.len()];
        assert_eq!(session.decrypt(&line.nonce, (&cipher[..], &mut opened[..])), Ok(()));
        assert_eq!(opened, *plain, "{}", line.place);

        // Both directions in flight at once.
        let session = client.session(line.algorithm, &line.key).expect("a key");
        let messages = [
            Message::encrypt(session, &line.nonce, plain.clone()),
            Message::decrypt(session, &line.nonce, cipher.clone()).with_user(1),
        ];
        for message in messages {
            client.submit(message).expect("there is room");
        }
        while let Some(done) = client.wait().expect("it lives") {
            assert_eq!(done.outcome, Ok(()), "{}", line.place);
            assert_eq!(done.buffer, *[cipher, plain][usize::from(done.user == 1)]);
        }
        client.close(session).expect("it is open");
        seen.push(line.algorithm);
    }
    assert!(seen.len() > 1500, "only {} messages", seen.len());
    for row in algorithms().filter(|row| !row.is_aead()) {
        assert!(seen.contains(&row), "{row}: no vector");
    }
}

#[test]
fn vectors_with_tags() {
    let daemon = Running::new(Server::new());
    let (engine, mut client) = (engine(&daemon), connect(&daemon));
    let (mut good, mut forged, mut short) = (Vec::new(), 0, 0);
    for line in tagged::own() {
        let place = &line.place;
        let there = client.session(line.algorithm, &line.key).expect("a key");
        let session = engine.session_on("device", line.algorithm, &line.key).expect("a key");
        let (nonce, aad, tag) = (&line.nonce, &line.aad, &line.tag);
        let mut data = line.ciphertext.clone();
        let opened = session.open_detached(nonce, aad, &mut data[..], tag);
        if tag.len() != line.algorithm.tag_length() {
            assert_eq!((opened, &data), (Err(Cipher::TagLength), &line.ciphertext), "{place}");
            client.close(there).expect("it is open");
            short += 1;
            continue;
        }
        let mut packet = [&line.ciphertext[..], tag].concat();
        let found = client.open(there, nonce, aad, &mut packet).map(|message| message.to_vec());
        match &line.plain {
            None => {
                assert_eq!(opened, Err(Cipher::Authentication), "{place}");
                assert!(data.iter().all(|&byte| byte == 0), "{place}: not wiped");
                assert_eq!(found, Err(Error::Refused(Cipher::Authentication)), "{place}");
                assert!(packet[..data.len()].iter().all(|&byte| byte == 0), "{place}: not wiped");
                forged += 1;
            }
            Some(plain) => {
                assert_eq!((opened, &data), (Ok(()), plain), "{place}");
                assert_eq!(found.as_ref(), Ok(plain), "{place}");
                let mut made = vec![0; tag.len()];
                let sealed = session.seal_detached(nonce, aad, &mut data[..], &mut made);
                assert_eq!((sealed, &data, &made), (Ok(()), &line.ciphertext, tag), "{place}");
                packet[data.len()..].fill(0);
                client.seal(there, nonce, aad, &mut packet).expect("it is served");
                assert_eq!(packet, [&line.ciphertext[..], tag].concat(), "{place}");
                good.push(line.algorithm);
            }
        }
        client.close(there).expect("it is open");
    }
    assert!(good.len() > 700 && forged > 200 && short > 0, "{} {forged} {short}", good.len());
    for row in algorithms().filter(|row| row.is_aead()) {
        assert!(good.contains(&row), "{row}: no vector");
    }
}

fn connect(daemon: &Running) -> Client {
    Client::connect(daemon.path()).expect("it listens")
}

#[test]
fn keys_that_are_none_are_refused() {
    let daemon = Running::new(Server::new().allow_null());
    let (engine, mut client) = (engine(&daemon), connect(&daemon));
    for row in algorithms() {
        for length in (0..80).chain([256, 257, 1000, 20_000]) {
            let key: Vec<u8> = (1..=251).cycle().take(length).collect();
            let refused = if row.key_lengths().contains(length) { None } else { Some(()) };
            let there = client.session(row, &key);
            let expected = refused.map(|()| Error::Denied(RejectReason::KeyLength));
            assert_eq!(there.err(), expected, "{row}: {length}");
            let here = engine.session_on("device", row, &key).map(drop);
            assert_eq!(here.err(), refused.map(|()| Cipher::KeyLength), "{row}: {length}");
            if let Ok(session) = there {
                client.close(session).expect("it is open");
            }
        }
    }
    let arc4 = Algorithm::ALL.iter().find(|row| row.to_string() == "arc4");
    if let Some(&arc4) = arc4 {
        let refused = client.session(arc4, &[1; 16]);
        assert_eq!(refused, Err(Error::Denied(RejectReason::Algorithm)));
    }
}
