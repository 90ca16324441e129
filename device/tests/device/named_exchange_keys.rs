//! Named keys of key exchange: files, users, operations, reload; only secrets that were asked for
//! leave the daemon.

use lanecrypt_device::{AsyncClient, Client, Error, Key, KeyError, Message, RejectReason, Server};
use lanecrypt_engine::{Algorithm, AsymmetricKey, Engine, Error as Cipher, Operation};
use lanecrypt_pk::{ed25519, mlkem768, p256, x25519};

use crate::daemon::Running;

fn montgomery(byte: u8) -> x25519::SecretKey {
    x25519::SecretKey::from_bytes(&[byte; 32])
}

fn weierstrass(byte: u8) -> p256::SecretKey {
    p256::SecretKey::from_bytes(&[byte; 32]).expect("it is in range")
}

fn lattice(byte: u8) -> mlkem768::DecapsulationKey {
    mlkem768::DecapsulationKey::from_seed(&[byte; 64])
}

/// The names of keys that have a secret, with what other sides send them, and the secrets.
fn exchanges() -> [(&'static str, Vec<u8>, [u8; 32]); 3] {
    let public = montgomery(9).public_key();
    let one = montgomery(1).diffie_hellman(&public).expect("a good point");
    let point = weierstrass(9).public_key().expect("no fault");
    let other = weierstrass(1).diffie_hellman(&point).expect("no fault");
    let (ciphertext, third) = lattice(1).encapsulation_key().encapsulate().expect("entropy");
    [
        ("x25519", public.as_bytes().to_vec(), *one.as_bytes()),
        ("ecdh", point.as_sec1_bytes().to_vec(), *other.as_bytes()),
        ("ml-kem", ciphertext.to_vec(), *third.as_bytes()),
    ]
}

fn keys() -> Vec<Key> {
    vec![
        Key::asymmetric("x25519", montgomery(1)),
        Key::asymmetric("ecdh", weierstrass(1)).for_operations([Operation::Agree]),
        Key::asymmetric("ml-kem", lattice(1)),
        Key::asymmetric("encapsulates", lattice(1).encapsulation_key().clone()),
        Key::asymmetric("another's", montgomery(1)).for_users([u32::MAX - 1]),
        Key::asymmetric("nothing", montgomery(1)).for_operations([]),
        Key::asymmetric("signs", ed25519::SigningKey::from_bytes(&[1; 32])),
    ]
}

fn refused(error: Cipher) -> Result<(), Error> {
    Err(Error::Refused(error))
}

#[test]
fn clients_agree_with_other_sides() {
    let daemon = Running::new(Server::new().keys(keys()));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    assert_eq!(client.named_session("another's"), Err(Error::Denied(RejectReason::Name)));
    for (name, received, secret) in exchanges() {
        let session = client.named_session(name).expect("it is for this user");
        assert_eq!((session.agreement_length(), session.signature_length()), (32, 0));
        assert_eq!((session.algorithm(), session.makes_nonces()), (None, false));
        let mut found = [0; 32];
        client.agree(session, &received, &mut found).expect("it is valid");
        assert_eq!(found, secret);
        // Many in flight, each of which has its own buffer and outcome.
        for user in 0..40_u64 {
            let mut received = received.clone();
            received.truncate(received.len() - usize::from(user % 4 == 3));
            let message = Message::agree(session, [received, vec![0; 32]].concat());
            assert_eq!(message.operation(), Some(Operation::Agree));
            client.submit(message.with_user(user)).expect("there is room");
        }
        let mut count = 0;
        while let Some(done) = client.wait().expect("it lives") {
            if done.user % 4 == 3 {
                assert_eq!(done.outcome, refused(Cipher::DataLength));
                assert!(done.buffer.ends_with(&[0; 32]));
            } else {
                assert_eq!(done.outcome, Ok(()));
                assert!(done.buffer.starts_with(&received) && done.buffer.ends_with(&secret));
            }
            count += 1;
        }
        assert_eq!(count, 40);
        client.close(session).expect("it is open");
        assert_eq!(client.agree(session, &received, &mut found), Err(Error::UnknownSession));
    }
    let encapsulates = client.named_session("encapsulates").expect("it is for this user");
    assert_eq!(encapsulates.agreement_length(), 1088 + 32);
    let mut both = [0; 1088 + 32];
    client.agree(encapsulates, &[], &mut both).expect("there is entropy");
    let (ciphertext, secret) = both.split_at(1088);
    let found = lattice(1).decapsulate(ciphertext.try_into().expect("1088 bytes"));
    assert_eq!(found.expect("no fault").as_bytes(), secret);
}

#[test]
fn futures_are_secrets() {
    let daemon = Running::new(Server::new().keys(keys()));
    let client: AsyncClient = AsyncClient::connect(daemon.path()).expect("it listens");
    for (name, received, secret) in exchanges() {
        let session = client.named_session(name).expect("it is for this user");
        let message = Message::agree(session, [&received[..], &[0; 32]].concat());
        let done = crate::futures::block_on(client.serve(message)).expect("it lives");
        assert_eq!(done.outcome, Ok(()));
        assert!(done.buffer.ends_with(&secret));
    }
}

/// Nothing but the public key, and secrets.
#[test]
fn clients_learn_what_they_may() {
    let daemon = Running::new(Server::new().keys(keys()));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let publics = [
        ("x25519", AsymmetricKey::from(montgomery(1))),
        ("ecdh", weierstrass(1).into()),
        ("ml-kem", lattice(1).into()),
        ("encapsulates", lattice(1).into()),
    ];
    for (name, key) in publics {
        let session = client.named_session(name).expect("it is for this user");
        let der = client.public_key(session).expect("it has one");
        assert_eq!(Ok(der), key.to_spki_der());
        // An operation of other keys, whatever the lengths are.
        for length in [0, 32, 64, 65, 1120] {
            let mut room = vec![7; length];
            let unsupported = refused(Cipher::Unsupported);
            let denied = if name == "ecdh" { Err(Error::NotAllowed) } else { unsupported };
            assert_eq!(client.sign(session, b"message", &mut room), denied);
            assert_eq!(client.sign_digest(session, &[1; 32], &mut room), denied);
            assert_eq!(client.verify(session, b"message", &room), denied);
            assert_eq!(client.seal(session, &[0; 12], b"", &mut room), denied);
            assert_eq!(client.open(session, &[0; 12], b"", &mut room).map(drop), denied);
            assert_eq!(client.encrypt(session, &[0; 16], &mut room), denied);
            assert_eq!(client.decrypt(session, &[0; 16], &mut room), denied);
            assert_eq!(room, vec![7; length]);
        }
    }
    for (name, received, _) in exchanges() {
        let session = client.named_session(name).expect("it is for this user");
        let mut room = [7; 64];
        for length in [0, 31, 33, 64] {
            let wrong = client.agree(session, &received, &mut room[..length]);
            assert_eq!(wrong, refused(Cipher::OutputLength));
        }
        for length in [0, 1, received.len() - 1] {
            let wrong = client.agree(session, &received[..length], &mut room[..32]);
            assert_eq!(wrong, refused(Cipher::DataLength));
        }
        let message = Message::agree(session, vec![7; 31]);
        client.submit(message).expect("there is room");
        let done = client.wait().expect("it lives").expect("it is in flight");
        assert_eq!((done.outcome, done.buffer), (refused(Cipher::OutputLength), vec![7; 31]));
        assert_eq!(room, [7; 64]);
    }
    let mut room = [7; 32];
    for (name, bytes) in [("x25519", &[0; 32][..]), ("ecdh", &[4; 65])] {
        let session = client.named_session(name).expect("it is for this user");
        assert_eq!(client.agree(session, bytes, &mut room), refused(Cipher::PublicKey));
    }
    let session = client.named_session("nothing").expect("it is for this user");
    assert_eq!(client.agree(session, &[9; 32], &mut room), Err(Error::NotAllowed));
    let signs = client.named_session("signs").expect("it is for this user");
    let seals = client.generated_session(Algorithm::AES_128_GCM).expect("there is entropy");
    for session in [signs, seals] {
        assert_eq!(session.agreement_length(), 0);
        assert_eq!(client.agree(session, &[9; 32], &mut room), refused(Cipher::Unsupported));
    }
    assert_eq!(room, [7; 32]);
}

#[test]
fn every_form_of_a_key_is_read() {
    let public = |key: Result<Key, lanecrypt_pk::KeyError>| {
        let daemon = Running::new(Server::new().keys(vec![key.expect("it is a form")]));
        let mut client: Client = Client::connect(daemon.path()).expect("it listens");
        let session = client.named_session("k").expect("it is for this user");
        client.public_key(session).expect("it has one")
    };
    let key = montgomery(2);
    let expected = key.public_key().to_spki_der();
    let pem = key.to_pem();
    for form in [&key.as_bytes()[..], pem.as_bytes(), &key.to_pkcs8_der()] {
        assert_eq!(public(Key::x25519_from_bytes("k", form)), expected);
        let is_number = form.len() == 32;
        assert_eq!(Key::ecdh_p256_from_bytes("k", form).is_ok(), is_number);
        assert!(Key::mlkem768_from_bytes("k", form).is_err());
    }
    let key = weierstrass(2);
    let expected = key.public_key().expect("no fault").to_spki_der();
    let (pem, der) = (key.to_pem().expect("no fault"), key.to_pkcs8_der().expect("no fault"));
    for form in [&key.as_bytes()[..], pem.as_bytes(), &der] {
        assert_eq!(public(Key::ecdh_p256_from_bytes("k", form)), expected);
        assert_eq!(Key::x25519_from_bytes("k", form).is_ok(), form.len() == 32);
    }
    assert!(Key::ecdh_p256_from_bytes("k", &[0; 32]).is_err(), "not in range");
    assert!(Key::ecdh_p256_from_bytes("k", &[0xff; 32]).is_err(), "not in range");
    let key = lattice(2);
    let encapsulates = key.encapsulation_key();
    let expected = encapsulates.to_spki_der();
    let pems = [key.to_pem().to_string(), encapsulates.to_pem()];
    let ders = [key.to_pkcs8_der().to_vec(), expected.clone()];
    for form in [
        &key.as_seed()[..],
        pems[0].as_bytes(),
        &ders[0],
        encapsulates.as_bytes(),
        pems[1].as_bytes(),
        &ders[1],
    ] {
        assert_eq!(public(Key::mlkem768_from_bytes("k", form)), expected);
        assert!(Key::x25519_from_bytes("k", form).is_err());
    }
    assert!(Key::mlkem768_from_bytes("k", &[0xff; 1184]).is_err(), "not less than the modulus");
    for form in [&b""[..], b"-----", b"\xff", b"-----\xff", &[7; 31], &[7; 33], &[7; 63]] {
        assert!(Key::x25519_from_bytes("k", form).is_err());
        assert!(Key::ecdh_p256_from_bytes("k", form).is_err());
        assert!(Key::mlkem768_from_bytes("k", form).is_err());
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refusal = |key| Server::new().keys(vec![key]).prepare().map(drop);
    let name = || String::from("k");
    let key = || Key::asymmetric("k", montgomery(3));
    let versions = key().with_older(Key::asymmetric("k", montgomery(4)));
    assert_eq!(refusal(versions), Err(KeyError::SeveralVersions(name())));
    let others = [
        Key::asymmetric("k", weierstrass(3)),
        Key::asymmetric("k", lattice(3)),
        Key::asymmetric("k", ed25519::SigningKey::from_bytes(&[1; 32])),
    ];
    for other in others {
        assert_eq!(refusal(key().with_older(other)), Err(KeyError::Versions(name())));
    }
    for operation in [Operation::Sign, Operation::Verify, Operation::Seal, Operation::Decrypt] {
        let refused = refusal(key().for_operations([operation]));
        assert_eq!(refused, Err(KeyError::Operation(name(), operation)));
    }
    let signs = Key::asymmetric("k", ed25519::SigningKey::from_bytes(&[1; 32]));
    let refused = refusal(signs.for_operations([Operation::Agree]));
    assert_eq!(refused, Err(KeyError::Operation(name(), Operation::Agree)));
}

/// A session goes on with a key of its scheme, and ends if the key becomes another one.
#[test]
fn a_reload_replaces_keys() {
    let daemon = Running::new(Server::new().keys(vec![
        Key::asymmetric("one", montgomery(1)),
        Key::asymmetric("other", montgomery(1)),
        Key::asymmetric("third", lattice(1)),
    ]));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let [one, other, third] =
        ["one", "other", "third"].map(|name| client.named_session(name).expect("its user"));
    let next = Server::new().keys(vec![
        Key::asymmetric("one", montgomery(2)),
        Key::asymmetric("other", weierstrass(2)),
        Key::asymmetric("third", lattice(1).encapsulation_key().clone()),
    ]);
    daemon.handle().reload(next.prepare().expect("its keys are right"));
    let public = montgomery(9).public_key();
    let mut found = [0; 32];
    for session in [other, third] {
        crate::daemon::until(|| {
            client.agree(session, public.as_bytes(), &mut found) == Err(Error::KeyRemoved)
        });
    }
    client.agree(one, public.as_bytes(), &mut found).expect("it is valid");
    let expected = montgomery(2).diffie_hellman(&public).expect("a good point");
    assert_eq!(found, *expected.as_bytes());
}

/// The driver sends keys of ciphers and of RSA only.
#[test]
fn the_driver_refuses_them() {
    let daemon = Running::new(Server::new());
    let remote = lanecrypt_device::Remote::connect(daemon.path()).expect("it listens");
    let engine = Engine::new().with_driver(remote).expect("a free name");
    for key in [AsymmetricKey::from(montgomery(1)), weierstrass(1).into(), lattice(1).into()] {
        let opened = engine.asymmetric_session_on("device", key);
        assert_eq!(opened.err(), Some(Cipher::Unsupported));
    }
}
