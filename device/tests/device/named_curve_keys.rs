//! Named keys of Ed25519 and P-256: files, users, operations, versions; nothing leaves the daemon.

use lanecrypt_device::{Client, Error, Key, KeyError, RejectReason, Server};
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
