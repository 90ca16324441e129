//! Named RSA keys: users, operations and paddings.

use lanecrypt_device::{Client, Error, Key, KeyError, RejectReason, Server, Session};
use lanecrypt_engine::{Algorithm, Engine, Error as Cipher, Operation};
use lanecrypt_rsa::{Hash, Padding, PublicKey};

use crate::daemon::Running;
use crate::rsa::{PADDING, key, refused, signature};

#[test]
fn named_keys_are_for_their_users_and_operations() {
    let named = |name: &str| Key::asymmetric(name, (key(), PADDING));
    let public = || PublicKey::new(&key().public_key().n(), &[1, 0, 1]).expect("it is a key");
    let keys = vec![
        named("whole"),
        named("signing").for_operations([Operation::Sign]),
        named("verifying").for_operations([Operation::Verify]),
        Key::asymmetric("public", (public(), PADDING)),
        named("another's").for_users([u32::MAX - 1]),
    ];
    let daemon = Running::new(Server::new().keys(keys));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let expected = signature(b"message");
    let mut open = |name: &str| client.named_session(name);
    let sessions: Vec<Session> = ["whole", "signing", "verifying", "public"]
        .map(|name| open(name).expect("it is for this user"))
        .to_vec();
    for name in ["another's", "nobody's"] {
        assert_eq!(open(name), Err(Error::Denied(RejectReason::Name)));
    }
    let may_not = Err(Error::NotAllowed);
    let signs = [Ok(()), Ok(()), may_not, refused(Cipher::Unsupported)];
    let verifies = [Ok(()), may_not, Ok(()), Ok(())];
    for (at, session) in sessions.into_iter().enumerate() {
        let mut found = [0; 256];
        assert_eq!(client.sign(session, b"message", &mut found), signs[at]);
        assert_eq!(found[..] == expected, signs[at].is_ok());
        assert_eq!(client.verify(session, b"message", &expected), verifies[at]);
        let der = client.public_key(session).expect("it has one");
        assert_eq!(der, key().public_key().to_spki_der());
    }
    for (key, operation) in [
        (named("one"), Operation::Seal),
        (Key::asymmetric("one", (public(), PADDING)), Operation::Sign),
    ] {
        let refused = Server::new().keys(vec![key.for_operations([operation])]).prepare();
        let expected = KeyError::Operation(String::from("one"), operation);
        assert_eq!(refused.map(drop), Err(expected));
    }
}

#[test]
fn a_named_key_with_several_paddings() {
    let hashes = [Hash::SHA256, Hash::SHA384, Hash::SHA512];
    let all: Vec<_> =
        hashes.map(Padding::pkcs1v15).into_iter().chain(hashes.map(Padding::pss)).collect();
    let [first, others @ ..] = &all[..] else { panic!("there are six") };
    let keys = vec![
        Key::asymmetric("all", (key(), *first)).with_paddings(others.iter().copied()),
        Key::asymmetric("one", (key(), *first)).with_paddings([*first]),
        Key::asymmetric("verifying", (key(), *first))
            .with_paddings(others.iter().copied())
            .for_operations([Operation::Verify]),
        Key::asymmetric("another's", (key(), *first)).for_users([u32::MAX - 1]),
        Key::new("cipher", Algorithm::AES_128_GCM, vec![1; 16].into()).with_paddings(all.clone()),
    ];
    let daemon = Running::new(Server::new().keys(keys));
    let mut client: Client = Client::connect(daemon.path()).expect("it listens");
    let engine = Engine::new();
    for &padding in &all {
        let session = client.named_rsa_session("all", padding).expect("it has the padding");
        let verifying = client.named_rsa_session("verifying", padding).expect("it has it");
        let local = engine.asymmetric_session((key(), padding));
        let mut found = [0; 256];
        client.sign(session, b"message", &mut found).expect("it is made");
        local.verify(b"message", &found).expect("it is right");
        // The digest instead of the message.
        let digest = padding.hash().digest(&[b"message"]);
        found.fill(0);
        client.sign_digest(session, digest.bytes(), &mut found).expect("it is made");
        local.verify(b"message", &found).expect("it is right");
        let denied = client.sign_digest(verifying, digest.bytes(), &mut found);
        assert_eq!(denied, Err(Error::NotAllowed));
        let der = client.public_key(verifying).expect("it has one");
        assert_eq!(der, key().public_key().to_spki_der());
        let has_none = Err(Error::Denied(RejectReason::Padding));
        let one = client.named_rsa_session("one", padding);
        assert_eq!(one.is_ok(), padding == *first);
        assert!(one.is_ok() || one == has_none);
        for name in ["another's", "nobody's", ""] {
            let refused = client.named_rsa_session(name, padding);
            assert_eq!(refused, Err(Error::Denied(RejectReason::Name)));
        }
        assert_eq!(client.named_rsa_session("cipher", padding), has_none);
    }
    let odd = Padding::pss_with_salt_length(Hash::SHA256, 7);
    assert_eq!(client.named_rsa_session("all", odd), Err(Error::Denied(RejectReason::Padding)));
}
