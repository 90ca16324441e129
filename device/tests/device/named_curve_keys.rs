//! Named keys of Ed25519 and P-256: files, users, operations, versions; nothing leaves the daemon.

use lanecrypt_device::{Client, Error, Key, KeyError, Message, RejectReason, Server};
use lanecrypt_engine::{Algorithm, Error as Cipher, Operation};
use lanecrypt_pk::{ed25519, p256};

use crate::daemon::Running;

fn edwards(byte: u8) -> ed25519::SigningKey {
    ed25519::SigningKey::from_bytes(&[byte; 32])
}

fn weierstrass(byte: u8) -> p256::SigningKey {
    p256::SigningKey::from_bytes(&[byte; 32]).expect("it is in range")
}

fn refused(error: Cipher) -> Result<(), Error> {
    Err(Error::Refused(error))
}

#[test]
fn keys_sign_and_verify_for_clients() {
    let keys = vec![
        Key::asymmetric("edwards", edwards(1)),
        Key::asymmetric("weierstrass", weierstrass(1)).for_operations([Operation::Sign]),
        Key::asymmetric("public", edwards(1).verifying_key().clone()),
        Key::asymmetric("another's", edwards(1)).for_users([u32::MAX - 1]),
    ];
    let daemon = Running::new(Server::new().keys(keys));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let mut open = |name: &str| client.named_session(name);
    assert_eq!(open("another's"), Err(Error::Denied(RejectReason::Name)));
    let [signs, only_signs, verifies] =
        ["edwards", "weierstrass", "public"].map(|name| open(name).expect("it is for this user"));
    assert_eq!((signs.signature_length(), signs.algorithm()), (64, None));

    let mut signature = [0; 64];
    client.sign(signs, b"message", &mut signature).expect("it may");
    edwards(1).verifying_key().verify(b"message", &signature).expect("it is right");
    for session in [signs, verifies] {
        client.verify(session, b"message", &signature).expect("it is right");
        let wrong = client.verify(session, b"messagE", &signature);
        assert_eq!(wrong, refused(Cipher::Authentication));
        let der = client.public_key(session).expect("it has one");
        assert_eq!(der, edwards(1).verifying_key().to_spki_der());
    }
    assert_eq!(client.sign(verifies, b"message", &mut signature), refused(Cipher::Unsupported));

    client.sign(only_signs, b"message", &mut signature).expect("it may");
    weierstrass(1).public_key().verify(b"message", &signature).expect("it is right");
    assert_eq!(client.verify(only_signs, b"message", &signature), Err(Error::NotAllowed));
    let der = client.public_key(only_signs).expect("it has one");
    assert_eq!(der, weierstrass(1).public_key().to_spki_der());
    let short = client.sign(only_signs, b"message", &mut signature[..63]);
    assert_eq!(short, refused(Cipher::OutputLength));
}

#[test]
fn every_form_of_a_key_is_read() {
    let (one, other) = (edwards(2), weierstrass(2));
    let sessions = |key: Result<Key, lanecrypt_pk::KeyError>| {
        let daemon = Running::new(Server::new().keys(vec![key.expect("it is a form")]));
        let mut client: Client = Client::connect(daemon.path()).expect("it listens");
        let session = client.named_session("k").expect("it is for this user");
        client.public_key(session).expect("it has one")
    };
    let public = one.verifying_key();
    let forms: [&[u8]; 4] = [
        one.to_pem().as_bytes(),
        &one.to_pkcs8_der(),
        public.to_pem().as_bytes(),
        &public.to_spki_der(),
    ]
    .map(|form: &[u8]| &*form.to_vec().leak());
    for form in forms {
        assert_eq!(sessions(Key::ed25519_from_pem_or_der("k", form)), public.to_spki_der());
        assert!(Key::p256_from_pem_or_der("k", form).is_err());
    }
    let public = other.public_key();
    let forms: [&[u8]; 4] = [
        other.to_pem().as_bytes(),
        &other.to_pkcs8_der(),
        public.to_pem().as_bytes(),
        &public.to_spki_der(),
    ]
    .map(|form: &[u8]| &*form.to_vec().leak());
    for form in forms {
        assert_eq!(sessions(Key::p256_from_pem_or_der("k", form)), public.to_spki_der());
        assert!(Key::ed25519_from_pem_or_der("k", form).is_err());
    }
    for form in [&b""[..], b"-----", b"\xff", b"-----\xff"] {
        assert!(Key::ed25519_from_pem_or_der("k", form).is_err());
        assert!(Key::p256_from_pem_or_der("k", form).is_err());
    }
}

#[test]
fn versions_have_one_scheme() {
    let current = || Key::asymmetric("k", edwards(3));
    let mut signature = edwards(4).sign(b"message").expect("no fault");
    let key = current().with_older(Key::asymmetric("k", edwards(4)));
    let daemon = Running::new(Server::new().keys(vec![key]));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let session = client.named_session("k").expect("it is for this user");
    client.verify(session, b"message", &signature).expect("an earlier version made it");
    client.sign(session, b"message", &mut signature).expect("it may");
    edwards(3).verifying_key().verify(b"message", &signature).expect("the current one made it");

    let others = [
        Key::asymmetric("k", weierstrass(3)),
        Key::new("k", Algorithm::AES_128_GCM, vec![1; 16].into()),
    ];
    for other in others {
        let refused = Server::new().keys(vec![current().with_older(other)]).prepare();
        assert_eq!(refused.map(drop), Err(KeyError::Versions(String::from("k"))));
    }
}

/// A client may sign the digest of a message instead of the message by ECDSA, and not by Ed25519.
#[test]
fn digests_are_signed_by_ecdsa() {
    let keys = vec![
        Key::asymmetric("weierstrass", weierstrass(5)),
        Key::asymmetric("public", weierstrass(5).public_key().clone()),
        Key::asymmetric("edwards", edwards(5)),
        Key::asymmetric("verifies", weierstrass(5)).for_operations([Operation::Verify]),
    ];
    let daemon = Running::new(Server::new().keys(keys));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let mut open = |name: &str| client.named_session(name).expect("it is for this user");
    let [signs, public, edwards, verifies] =
        ["weierstrass", "public", "edwards", "verifies"].map(&mut open);
    // SHA-256 of "message".
    let digest = [
        0xab, 0x53, 0x0a, 0x13, 0xe4, 0x59, 0x14, 0x98, 0x2b, 0x79, 0xf9, 0xb7, 0xe3, 0xfb, 0xa9,
        0x94, 0xcf, 0xd1, 0xf3, 0xfb, 0x22, 0xf7, 0x1c, 0xea, 0x1a, 0xfb, 0xf0, 0x2b, 0x46, 0x0c,
        0x6d, 0x1d,
    ];
    let mut signature = [0; 64];
    client.sign_digest(signs, &digest, &mut signature).expect("it may");
    let key = weierstrass(5);
    key.public_key().verify(b"message", &signature).expect("it is right");
    key.public_key().verify_digest(&digest, &signature).expect("it is right");
    client.verify(public, b"message", &signature).expect("it is right");

    // Among messages, and each with its own outcome.
    for user in 0..60_u64 {
        let room = |input: &[u8]| [input, &[0; 64]].concat();
        let message = match user % 4 {
            0 => Message::sign(signs, room(b"message")),
            1 => Message::sign_digest(signs, room(&digest)),
            2 => Message::sign_digest(signs, room(&digest[..31])),
            _ => Message::sign_digest(edwards, room(&digest)),
        };
        client.submit(message.with_user(user)).expect("there is room");
    }
    while let Some(done) = client.wait().expect("it lives") {
        let made = done.buffer.last_chunk().expect("64 bytes");
        match done.user % 4 {
            0 | 1 => {
                assert_eq!(done.outcome, Ok(()));
                key.public_key().verify(b"message", made).expect("it is right");
            }
            2 => assert_eq!((done.outcome, made), (refused(Cipher::DataLength), &[0; 64])),
            _ => assert_eq!((done.outcome, made), (refused(Cipher::Unsupported), &[0; 64])),
        }
    }

    let mut room = [7; 65];
    for (session, input, output, error) in [
        (signs, 0, 64, Cipher::DataLength),
        (signs, 33, 64, Cipher::DataLength),
        (signs, 5000, 64, Cipher::DataLength),
        (signs, 32, 0, Cipher::OutputLength),
        (signs, 32, 63, Cipher::OutputLength),
        (signs, 32, 65, Cipher::OutputLength),
        (public, 32, 64, Cipher::Unsupported),
        (edwards, 32, 64, Cipher::Unsupported),
    ] {
        let wrong = client.sign_digest(session, &vec![1; input], &mut room[..output]);
        assert_eq!(wrong, refused(error), "{input} {output}");
    }
    let denied = client.sign_digest(verifies, &digest, &mut room[..64]);
    assert_eq!((denied, room), (Err(Error::NotAllowed), [7; 65]));
}
