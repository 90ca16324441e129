//! Signatures through a daemon are those of the engine, and nobody waits for those of others.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

use lanecrypt_device::{
    Client, Completion, Error, Limits, Message, RejectReason, Remote, Server, Settings,
};
use lanecrypt_engine::{Algorithm, Engine, Error as Cipher, Operation, RsaKey};
use lanecrypt_rsa::{Hash, Padding, PrivateKey, PublicKey};
use lanecrypt_testing::numbers::{Numbers, cases};

use crate::daemon::children::{self, kill, spawn, until_it_listens};
use crate::daemon::{Folder, Running, until};

pub(crate) const PADDING: Padding = Padding::pkcs1v15(Hash::SHA256);

/// A key of 2048 bits.
pub(crate) fn key() -> PrivateKey {
    PrivateKey::from_pem(include_str!("../../../rsa/tests/key.pem")).expect("it is a key")
}

/// The signature of a message that the engine makes; always the same, by PKCS#1 v1.5.
pub(crate) fn signature(message: &[u8]) -> Vec<u8> {
    let mut signature = vec![0; 256];
    let session = Engine::new().asymmetric_session((key(), PADDING));
    session.sign(message, &mut signature).expect("it is made");
    signature
}

/// A message with room for its signature.
fn with_room(message: &[u8]) -> Vec<u8> {
    [message, &[0; 256]].concat()
}

pub(crate) fn refused<T>(error: Cipher) -> Result<T, Error> {
    Err(Error::Refused(error))
}

/// The test that child processes run.
const CHILD: &str = "rsa::child";

/// Not a test by itself: what the child processes of the tests below run.
#[test]
fn child() {
    let Some((role, path)) = children::role() else { return };
    match &role[..] {
        "daemon" => children::serve(&path),
        "victim" => {
            let mut client: Client = Client::connect(&path).expect("it listens");
            let session = client.rsa_session(key(), PADDING).expect("it is a key");
            // It always has signatures in flight.
            loop {
                while client.submit(Message::sign(session, with_room(b"message"))).is_ok() {}
                client.wait().expect("it lives");
            }
        }
        "generating victim" => {
            let mut client: Client = Client::connect(&path).expect("it listens");
            let _never = client.generated_rsa_session(8192, PADDING);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn calls_give_what_the_engine_gives() {
    let daemon = Running::new(Server::new());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let engine = Engine::new();
    let mut numbers = Numbers(23);
    let hashes = [Hash::SHA256, Hash::SHA384, Hash::SHA512];
    let paddings = hashes.map(Padding::pkcs1v15).into_iter().chain(hashes.map(Padding::pss));
    for padding in paddings.chain([Padding::pss_with_salt_length(Hash::SHA256, 7)]) {
        let local = engine.asymmetric_session((key(), padding));
        let keys = [key().into(), key().without_primes().into(), RsaKey::from(key())];
        let mut sessions = keys.map(|key| client.rsa_session(key, padding).expect("it is a key"));
        let pkcs1 = key().to_pkcs1_der().expect("it has primes");
        sessions[2] = client.rsa_session_from_der(&pkcs1, padding).expect("it is a key");
        let public = PublicKey::new(&key().public_key().n(), &[1, 0, 1]).expect("it is a key");
        let public = client.rsa_session(public, padding).expect("it is a key");
        // Also one that has no room in the part of the arena that signatures have for themselves.
        for length in [0, 1, 100, 65_536 - 256, 65_536 - 255, 300_000] {
            let message = numbers.bytes(length);
            for session in sessions {
                assert_eq!((session.algorithm(), session.tag_length()), (None, 0));
                assert_eq!(session.signature_length(), 256);
                let (mut found, mut expected) = ([0; 256], [0; 256]);
                client.sign(session, &message, &mut found).expect("it is made");
                local.sign(&message, &mut expected).expect("it is made");
                local.verify(&message, &found).expect("it is right");
                // By PSS each has another salt.
                assert_eq!(found == expected, padding.salt_length().is_none());
                client.verify(session, &message, &expected).expect("it is right");
                client.verify(public, &message, &found).expect("it is right");
                found[200] ^= 1;
                for session in [session, public] {
                    let wrong = client.verify(session, &message, &found);
                    assert_eq!(wrong, refused(Cipher::Authentication));
                }
            }
        }
        for length in [0, 255, 257, 4000] {
            let short = client.verify(public, b"", &vec![0; length]);
            assert_eq!(short, refused(Cipher::Authentication));
            let mut buffer = vec![7; length];
            let wrong = client.sign(sessions[0], b"", &mut buffer);
            assert_eq!((wrong, buffer), (refused(Cipher::OutputLength), vec![7; length]));
        }
        assert_eq!(client.sign(public, b"", &mut [0; 256]), refused(Cipher::Unsupported));
        let der = client.public_key(sessions[1]).expect("it has one");
        assert_eq!(der, key().public_key().to_spki_der());
        assert_eq!(client.public_key(public).expect("it has one"), der);
        for session in sessions {
            client.close(session).expect("it is open");
            let closed = client.sign(session, b"", &mut [0; 256]);
            assert_eq!(closed, Err(Error::UnknownSession));
            assert_eq!(client.public_key(session), Err(Error::Denied(RejectReason::Session)));
        }
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let daemon = Running::new(Server::new());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let der = key().to_pkcs8_der().expect("it has primes");
    let mut damaged = der.to_vec();
    // A byte of the last number.
    *damaged.last_mut().expect("it is long") ^= 1;
    for (bytes, refusal) in [
        (&b""[..], RejectReason::Key),
        (&der[..der.len() - 1], RejectReason::Key),
        (&damaged, RejectReason::Key),
        (&[7; 10_000], RejectReason::Key),
        (&[7; 20_000], RejectReason::KeyLength),
    ] {
        let refused = client.rsa_session_from_der(bytes, PADDING);
        assert_eq!(refused, Err(Error::Denied(refusal)), "{} bytes", bytes.len());
    }
    for bits in [0, 1024, 2047, 2049, 8194, u32::MAX] {
        let refused = client.generated_rsa_session(bits, PADDING);
        assert_eq!(refused, Err(Error::Denied(RejectReason::KeyLength)), "{bits} bits");
    }
    // Operations that a session does not have.
    let signing = client.rsa_session(key(), PADDING).expect("it is a key");
    let sealing = client.generated_session(Algorithm::AES_128_GCM).expect("there is entropy");
    assert_eq!(sealing.signature_length(), 0);
    assert_eq!(client.public_key(sealing), Err(Error::Denied(RejectReason::Algorithm)));
    assert_eq!(client.sign(sealing, b"", &mut [0; 256]), refused(Cipher::Unsupported));
    assert_eq!(client.verify(sealing, b"", &[]), refused(Cipher::Unsupported));
    assert_eq!(client.seal(signing, &[0; 12], b"", &mut [0; 32]), refused(Cipher::Unsupported));
    assert_eq!(client.encrypt(signing, &[], &mut [0; 32]), refused(Cipher::Unsupported));
    let message = Message::new(signing, Operation::Sign, [1], with_room(b""));
    client.submit(message).expect("there is room");
    let done = client.wait().expect("it lives").expect("one is in flight");
    assert_eq!(done.outcome, refused(Cipher::NonceLength));
}

/// Submits messages of all kinds, and checks each answer.
fn work(client: &mut Client, rounds: u64, seed: u64) {
    let mut numbers = Numbers(seed);
    let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
    let (row, secret) = (Algorithm::AES_128_CBC, [3; 16]);
    let cipher = client.session(row, &secret).expect("it is a key");
    let local = Engine::new().raw_session(row, &secret).expect("it is a key");
    let made = signature(b"a message");
    let (mut in_flight, mut answered) = (0, [0; 4]);
    let mut check = |done: Completion<Vec<u8>>| {
        let Completion { buffer, user, outcome, .. } = done;
        let kind = usize::try_from(user).expect("it is small");
        answered[kind] += 1;
        match kind {
            0 => assert_eq!((outcome, &buffer[9..]), (Ok(()), &made[..])),
            1 => assert_eq!(outcome, Ok(())),
            2 => assert_eq!(outcome, refused(Cipher::Authentication)),
            _ => {
                let mut expected = vec![5; buffer.len()];
                local.encrypt(&[1; 16], &mut expected[..]).expect("it is served");
                assert_eq!((outcome, buffer), (Ok(()), expected));
            }
        }
    };
    for round in 0..rounds {
        let kind = if round < 3 { round } else { numbers.below(12) as u64 }.min(3);
        let mut message = match kind {
            0 => Message::sign(rsa, with_room(b"a message")).with_header(4),
            1 => Message::verify(rsa, [b"a message", &made[..]].concat()),
            2 => Message::verify(rsa, [b"b message", &made[..]].concat()),
            _ => {
                let length = 16 * (1 + numbers.below(20));
                Message::new(cipher, Operation::Encrypt, [], vec![5; length])
            }
        };
        if kind == 3 {
            let buffer = message.into_buffer();
            let given = Message::encrypt(cipher, [1; 16], buffer).with_user(3);
            if let Err(not_taken) = client.submit(given) {
                assert_eq!(not_taken.reason, Error::Full);
                check(client.wait().expect("it lives").expect("it is full"));
                continue;
            }
            in_flight += 1;
            continue;
        }
        message = message.with_user(kind);
        while let Err(not_taken) = client.submit(message) {
            assert_eq!(not_taken.reason, Error::Full);
            message = not_taken.value;
            check(client.wait().expect("it lives").expect("it is full"));
        }
        in_flight += 1;
    }
    assert!(in_flight > 0);
    while let Some(done) = client.wait().expect("it lives") {
        check(done);
    }
    assert_eq!(client.in_flight(), 0);
    assert_eq!(answered.iter().sum::<u64>(), in_flight);
    assert!(answered.iter().all(|&count| count > 0), "{answered:?}");
    client.close(rsa).expect("it is open");
}

#[test]
fn messages_in_flight_beside_ciphers() {
    let daemon = Running::new(Server::new());
    for (depth, arena) in [(256, 1 << 20), (8, 1 << 12)] {
        let settings = Settings::default().depth(depth).arena(arena);
        let mut client = Client::connect_with(daemon.path(), &settings).expect("it listens");
        work(&mut client, cases(600), 29);
    }
}

#[test]
fn many_clients_sign_and_encrypt() {
    let daemon = Running::new(Server::new());
    thread::scope(|scope| {
        for seed in 0..4 {
            let path = daemon.path();
            scope.spawn(move || {
                work(&mut Client::connect(path).expect("it listens"), cases(300), 31 + seed);
            });
        }
    });
    let statistics = crate::daemon::statistics(&daemon.path());
    assert!(statistics.signatures >= statistics.signature_batches);
    assert!(statistics.signature_batches > 0);
}

#[test]
fn what_is_short_is_answered_before_what_takes_long() {
    let daemon = Running::new(Server::new());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
    let cipher = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    // The daemon finds both at once.
    client.submit(Message::sign(rsa, with_room(b"")).with_user(1)).expect("there is room");
    let short = Message::encrypt(cipher, [0; 16], vec![0; 16]).with_user(2);
    client.submit(short).expect("there is room");
    let order = [(); 2].map(|()| client.wait().expect("it lives").expect("two in flight").user);
    assert_eq!(order, [2, 1]);
    assert!(client.wait().expect("it lives").is_none());
    // Places and bytes of ciphers come back while signatures are in flight: more are answered
    // before the first signature than the ring has places. A machine that is busy with other things
    // may need several attempts.
    let settings = Settings::default().depth(16).arena(1 << 13);
    let mut client: Client = Client::connect_with(daemon.path(), &settings).expect("it listens");
    let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
    let cipher = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    let mut most = 0;
    for _ in 0..1000 {
        for _ in 0..8 {
            let message = Message::sign(rsa, with_room(b"")).with_user(1);
            client.submit(message).expect("there is room");
        }
        let mut short = 0;
        loop {
            let message = Message::encrypt(cipher, [0; 16], vec![0; 1000]).with_user(2);
            client.submit(message).expect("there is room");
            let done = client.wait().expect("it lives").expect("some are in flight");
            assert_eq!(done.outcome, Ok(()));
            if done.user == 1 {
                break;
            }
            short += 1;
        }
        while client.wait().expect("it lives").is_some() {}
        most = most.max(short);
        if most > 16 {
            return;
        }
    }
    panic!("only {most} were answered before a signature");
}

#[test]
fn no_more_in_flight_than_allowed() {
    let limits = Limits { signatures: 3, ..Limits::default() };
    let daemon = Running::new(Server::new().limits(limits));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
    let cipher = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    for length in [3, 100_000] {
        for _ in 0..3 {
            let message = Message::sign(rsa, vec![0; length + 256]);
            client.submit(message).expect("there is room");
        }
        let full = client.submit(Message::sign(rsa, with_room(b""))).expect_err("three are there");
        assert_eq!(full.reason, Error::Full);
        client.encrypt(cipher, &[0; 16], &mut [0; 16]).expect("others have room");
        while let Some(done) = client.wait().expect("it lives") {
            assert_eq!(done.outcome, Ok(()));
        }
    }
    let daemon = Running::new(Server::new().limits(Limits { signatures: 0, ..limits }));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
    assert_eq!(client.sign(rsa, b"", &mut [0; 256]), Err(Error::NotAllowed));
}

/// What is being signed is signed, and the others are refused: 40 signatures would take too long.
#[test]
fn the_end_of_a_daemon_refuses_signatures_that_wait() {
    for _ in 0..cases(3).min(50) {
        let mut daemon = Running::new(Server::new());
        let mut client: Client = Client::connect(daemon.path()).expect("it listens");
        let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
        for _ in 0..40 {
            client.submit(Message::sign(rsa, with_room(b"message"))).expect("there is room");
        }
        client.flush();
        daemon.stop();
        let expected = signature(b"message");
        let mut answered = 0;
        // On a busy machine the eight that were being signed may not be finished in time.
        while let Ok(Some(done)) = client.wait() {
            answered += 1;
            match done.outcome {
                Ok(()) => assert_eq!(done.buffer[7..], expected),
                refused => {
                    assert_eq!(refused, Err(Error::ShuttingDown));
                    assert_eq!(done.buffer[7..], [0; 256], "nothing is written");
                }
            }
        }
        assert!((32..=40).contains(&answered), "{answered}");
        assert_eq!(client.sign(rsa, b"", &mut [0; 256]), Err(Error::Disconnected));
    }
}

#[test]
fn a_session_that_is_closed_while_it_signs() {
    let daemon = Running::new(Server::new());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let expected = signature(b"message");
    for _ in 0..cases(10) {
        let rsa = client.rsa_session(key(), PADDING).expect("it is a key");
        for _ in 0..20 {
            client.submit(Message::sign(rsa, with_room(b"message"))).expect("there is room");
        }
        client.flush();
        client.close(rsa).expect("it is open");
        let mut answered = 0;
        while let Some(done) = client.wait().expect("it lives") {
            answered += 1;
            match done.outcome {
                Ok(()) => assert_eq!(done.buffer[7..], expected),
                error => assert_eq!(error, Err(Error::UnknownSession)),
            }
        }
        assert_eq!(answered, 20);
    }
}

#[test]
fn killed_clients_leave_nothing() {
    let folder = Folder::new();
    let path = folder.socket();
    let mut daemon = spawn(CHILD, "daemon", &path);
    until_it_listens(&path);
    let statistics = || crate::daemon::statistics(&path);
    let mut other: Client = Client::connect(&path).expect("it listens");
    let session = other.rsa_session(key(), PADDING).expect("it is a key");
    let expected = signature(b"message");
    for _ in 0..cases(5).min(100) {
        let mut victim = spawn(CHILD, "victim", &path);
        let before = statistics().signatures;
        until(|| statistics().signatures > before + 8);
        kill(&mut victim);
        let mut found = [0; 256];
        other.sign(session, b"message", &mut found).expect("others are served");
        assert_eq!(found[..], expected);
        until(|| statistics().clients == 1);
        assert_eq!(statistics().sessions, 1);
    }
    // One that waits for a key that takes long: it is forgotten at once.
    let mut victim = spawn(CHILD, "generating victim", &path);
    until(|| statistics().clients == 2);
    kill(&mut victim);
    until(|| statistics().clients == 1);
    // Who only sends a key does not wait for it.
    let again = other.rsa_session(key(), PADDING).expect("it is a key");
    other.sign(again, b"message", &mut [0; 256]).expect("it is served");
    kill(&mut daemon);
}

#[test]
fn others_are_served_while_a_key_is_made() {
    let daemon = Running::new(Server::new());
    let mut other: Client = Client::connect(daemon.path()).expect("it listens");
    let cipher = other.generated_session(Algorithm::AES_128_GCM).expect("there is entropy");
    let signing = other.rsa_session(key(), PADDING).expect("it is a key");
    let goes_on = (0..20).any(|_| {
        let (path, is_made) = (daemon.path(), Arc::new(AtomicBool::new(false)));
        let tells = is_made.clone();
        let maker = thread::spawn(move || {
            let mut client: Client = Client::connect(path).expect("it listens");
            let made = client.generated_rsa_session(3072, Padding::pss(Hash::SHA384));
            tells.store(true, Ordering::Relaxed);
            let made = made.expect("there is entropy");
            let mut signature = vec![0; made.signature_length()];
            client.sign(made, b"message", &mut signature).expect("it is served");
            let der = client.public_key(made).expect("it has one");
            let public = PublicKey::from_spki_der(&der).expect("it is a key");
            assert_eq!(public.bits(), 3072);
            let local = Engine::new().asymmetric_session((public, Padding::pss(Hash::SHA384)));
            local.verify(b"message", &signature).expect("it is right");
        });
        until(|| statistics(&daemon).clients == 2);
        let mut served = 0;
        while !is_made.load(Ordering::Relaxed) {
            other.seal(cipher, &[0; 12], b"", &mut [0; 32]).expect("it is served");
            other.verify(signing, b"", &[]).expect_err("it is wrong");
            served += 1;
        }
        maker.join().expect("it does not panic");
        until(|| statistics(&daemon).clients == 1);
        served > 20
    });
    assert!(goes_on, "nobody was served meanwhile");
}

fn statistics(daemon: &Running) -> lanecrypt_device::Statistics {
    crate::daemon::statistics(&daemon.path())
}

#[test]
fn digests_among_messages() {
    let daemon = Running::new(Server::new());
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let signing = client.rsa_session(key(), PADDING).expect("it is a key");
    let public = PublicKey::new(&key().public_key().n(), &[1, 0, 1]).expect("it is a key");
    let public = client.rsa_session(public, PADDING).expect("it is a key");
    let cipher = client.generated_session(Algorithm::AES_128_GCM).expect("there is entropy");
    let digest = Hash::SHA256.digest(&[b"message"]);
    let expected = signature(b"message");
    for round in 0..cases(4) {
        for user in 0..20_u64 {
            let message = match (user + round) % 4 {
                0 => Message::sign(signing, with_room(b"message")),
                1 => Message::verify(signing, [b"message", &expected[..]].concat()),
                _ => Message::sign_digest(signing, with_room(digest.bytes())),
            };
            assert_eq!(message.operation().map(Operation::is_signature), Some(true));
            client.submit(message.with_user(user)).expect("there is room");
        }
        while let Some(done) = client.wait().expect("it lives") {
            assert_eq!(done.outcome, Ok(()), "{}", done.user);
            assert!(done.buffer.ends_with(&expected), "{}", done.user);
        }
    }
    for (session, bytes, buffer, error) in [
        (signing, 31, 256, Cipher::DataLength),
        (signing, 0, 256, Cipher::DataLength),
        (signing, 33, 256, Cipher::DataLength),
        (signing, 5000, 256, Cipher::DataLength),
        (signing, 32, 255, Cipher::OutputLength),
        (signing, 32, 0, Cipher::OutputLength),
        (public, 32, 256, Cipher::Unsupported),
        (cipher, 32, 256, Cipher::Unsupported),
    ] {
        let mut place = vec![7; buffer];
        let wrong = client.sign_digest(session, &vec![1; bytes], &mut place);
        assert_eq!((wrong, place), (refused(error), vec![7; buffer]), "{bytes} {buffer}");
    }
    // A digest of another length leaves the others alone.
    client.submit(Message::sign_digest(signing, with_room(&[1; 31]))).expect("there is room");
    client.submit(Message::sign_digest(signing, with_room(digest.bytes()))).expect("there is room");
    let outcomes =
        [(); 2].map(|()| client.wait().expect("it lives").expect("two in flight").outcome);
    assert_eq!(outcomes, [refused(Cipher::DataLength), Ok(())]);
}

#[test]
fn batches_by_the_driver() {
    let daemon = Running::new(Server::new());
    let remote = Remote::connect(daemon.path()).expect("it listens");
    let engine = Engine::new().with_driver(remote).expect("the name is free");
    let on =
        |key: RsaKey| engine.asymmetric_session_on("device", (key, PADDING)).expect("it is a key");
    let (signing, slow) = (on(key().into()), on(key().without_primes().into()));
    let verifying = on(PublicKey::from_spki_der(&key().public_key().to_spki_der())
        .expect("it is a key")
        .into());
    assert_eq!(signing.driver(), "device");
    let sealing = engine.session_on("device", Algorithm::AES_128_GCM, &[1; 16]);
    let sealing = sealing.expect("it is a key");
    let expected = signature(b"message");
    let mut wrong = expected.clone();
    wrong[9] ^= 1;
    let (mut first, mut second, mut short) = ([0; 256], [0; 256], [0; 255]);
    let mut packet = [7; 32];
    let mut buffer = engine.batch_buffer(8);
    let mut batch = buffer.batch();
    batch.sign(&signing, b"message", &mut first);
    batch.verify(&verifying, b"message", &expected);
    batch.seal(&sealing, &[0; 12], b"", &mut packet);
    batch.verify(&verifying, b"message", &wrong);
    batch.sign(&slow, b"message", &mut second);
    batch.sign(&signing, b"message", &mut short);
    batch.verify(&signing, b"message", &expected[1..]);
    assert_eq!(batch.finish().expect_err("three are wrong").failed, 3);
    let outcomes: Vec<_> = (0..7).map(|at| buffer.outcome(at).expect("it was served")).collect();
    let forged = Err(Cipher::Authentication);
    assert_eq!(
        outcomes,
        [Ok(()), Ok(()), Ok(()), forged, Ok(()), Err(Cipher::OutputLength), forged]
    );
    assert_eq!((&first[..], &second[..]), (&expected[..], &expected[..]));
    let mut local = [7; 32];
    let session = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("it is a key");
    session.seal(&[0; 12], b"", &mut local).expect("it is served");
    assert_eq!(packet, local);
    // Alone, without a batch.
    let mut found = [0; 256];
    signing.sign(b"message", &mut found).expect("it is served");
    assert_eq!(found[..], expected);
    drop((signing, slow, verifying, sealing));
    assert_eq!(statistics(&daemon).sessions, 0);
}
