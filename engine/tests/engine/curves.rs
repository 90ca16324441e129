//! Sessions of Ed25519 and P-256: alone, in slices, batches and queues, among ciphers and RSA.

use lanecrypt_engine::queue::{LocalQueue, Message, MessageError, WorkerQueue};
use lanecrypt_engine::{Algorithm, AsymmetricKey, Engine, Error, Request, Session};
use lanecrypt_pk::{ed25519, p256};

/// A private key, and its public half.
fn keys() -> [[AsymmetricKey; 2]; 2] {
    let edwards = ed25519::SigningKey::from_bytes(&[7; 32]);
    let weierstrass = p256::SigningKey::from_bytes(&[8; 32]).expect("it is in range");
    let publics = [
        AsymmetricKey::from(edwards.verifying_key().clone()),
        AsymmetricKey::from(weierstrass.public_key().clone()),
    ];
    let [first, second] = publics;
    [[edwards.into(), first], [weierstrass.into(), second]]
}

/// Whether a signature is right, by the crate of curves.
fn check(key: &AsymmetricKey, message: &[u8], signature: &[u8; 64]) -> bool {
    match key {
        AsymmetricKey::Ed25519Public(key) => key.verify(message, signature).is_ok(),
        AsymmetricKey::P256Public(key) => key.verify(message, signature).is_ok(),
        other => panic!("{other:?} is not public"),
    }
}

#[test]
fn a_session_signs_and_verifies() {
    let engine = Engine::new();
    for [private, public] in keys() {
        assert!(private.is_private() && !public.is_private());
        assert!(private.has_scheme_of(&public));
        assert_eq!(private.to_spki_der(), public.to_spki_der());
        let [both, verifying] =
            [&private, &public].map(|key| engine.asymmetric_session(key.clone()));
        assert_eq!((both.signature_length(), both.algorithm()), (64, None));
        let mut signature = [0; 64];
        both.sign(b"message", &mut signature).expect("it is private");
        assert!(check(&public, b"message", &signature));
        for session in [&both, &verifying] {
            session.verify(b"message", &signature).expect("it is right");
            assert_eq!(session.verify(b"messagE", &signature), Err(Error::Authentication));
            for length in [0, 63] {
                let short = session.verify(b"message", &signature[..length]);
                assert_eq!(short, Err(Error::Authentication));
            }
        }
        let mut untouched = [5; 65];
        assert_eq!(verifying.sign(b"message", &mut untouched[..64]), Err(Error::Unsupported));
        for length in [0, 63, 65] {
            let wrong = both.sign(b"message", &mut untouched[..length]);
            assert_eq!(wrong, Err(Error::OutputLength));
        }
        assert_eq!(untouched, [5; 65]);
        for driver in ["null", "absent"] {
            let opened = engine.asymmetric_session_on(driver, private.clone());
            assert_eq!(opened.err(), Some(Error::Unsupported));
        }
        assert!(!format!("{both:?}").contains("7, 7"), "it hides the key");
    }
    let [[edwards, _], [weierstrass, _]] = keys();
    assert!(!edwards.has_scheme_of(&weierstrass));
}

#[test]
fn signatures_of_a_slice_are_served_together_and_each_by_its_own_key() {
    let engine = Engine::new();
    let cipher = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("a good key");
    let keys = keys();
    let sessions: Vec<Session> =
        keys.iter().flatten().map(|key| engine.asymmetric_session(key.clone())).collect();
    // More than are served at once.
    let messages: Vec<Vec<u8>> = (0..75).map(|length| vec![length; length.into()]).collect();
    let mut signatures = vec![[0; 64]; messages.len()];
    let mut packets = vec![[0; 48]; messages.len()];
    let mut requests = Vec::new();
    let each = messages.iter().zip(&mut signatures).zip(&mut packets);
    for (at, ((message, signature), packet)) in each.enumerate() {
        requests.push(Request::sign(&sessions[2 * (at % 2)], message, signature));
        requests.push(Request::seal(&cipher, &[2; 12], &[], packet));
    }
    engine.process(&mut requests).expect("all are right");
    drop(requests);
    for (at, (message, signature)) in messages.iter().zip(&signatures).enumerate() {
        assert!(check(&keys[at % 2][1], message, signature), "{at}");
    }
    // Every third one is wrong, and each has its own outcome.
    for signature in signatures.iter_mut().step_by(3) {
        signature[40] ^= 1;
    }
    let each = messages.iter().zip(&signatures).enumerate();
    let mut requests: Vec<_> = each
        .map(|(at, (message, signature))| {
            Request::verify(&sessions[2 * (at % 2) + at / 2 % 2], message, signature)
        })
        .collect();
    assert_eq!(engine.process(&mut requests).expect_err("some are wrong").failed, 25);
    for (at, request) in requests.iter().enumerate() {
        let expected = if at % 3 == 0 { Err(Error::Authentication) } else { Ok(()) };
        assert_eq!(request.outcome(), Some(expected), "{at}");
    }
}

#[test]
fn a_batch_refuses_what_a_key_cannot_do_and_serves_the_others() {
    let engine = Engine::new();
    let [[private, public], _] = keys();
    let [private, public] = [private, public].map(|key| engine.asymmetric_session(key));
    let cipher = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("a good key");
    let mut signatures = [[0; 64]; 4];
    let mut buffer = engine.batch_buffer(8);
    let mut batch = buffer.batch();
    let [one, two, three, four] = &mut signatures;
    let _ = batch.sign(&private, b"one", one);
    let _ = batch.sign(&public, b"two", two);
    let _ = batch.sign(&private, b"three", &mut three[..63]);
    let _ = batch.sign(&cipher, b"four", four);
    assert_eq!(batch.finish().expect_err("three are refused").failed, 3);
    let outcomes = [0, 1, 2, 3].map(|at| buffer.outcome(at));
    let unsupported = Some(Err(Error::Unsupported));
    assert_eq!(outcomes, [Some(Ok(())), unsupported, Some(Err(Error::OutputLength)), unsupported]);
    private.verify(b"one", &signatures[0]).expect("it is right");
    assert_eq!(signatures[1..], [[0; 64]; 3]);
}

#[test]
fn queues_serve_them() {
    let engine = Engine::new();
    let text = b"message";
    for [private, public] in keys() {
        let mut local = LocalQueue::new(&engine, 20);
        let attach = |key: &AsymmetricKey| engine.asymmetric_session(key.clone());
        let [signs, verifies] =
            [&private, &public].map(|key| local.attach(attach(key)).expect("there is room"));
        let room = [&text[..], &[0; 64]].concat();
        for _ in 0..20 {
            let message = Message::<[u8; 0], _>::sign(signs, room.clone());
            local.submit(message.with_header(text.len())).expect("there is room");
        }
        let mut signed = Vec::new();
        while signed.len() < 20 {
            let Some(done) = local.poll() else { continue };
            assert_eq!(done.outcome, Ok(()));
            signed.push(done.buffer);
        }
        for (at, mut buffer) in signed.into_iter().enumerate() {
            buffer[at] ^= u8::from(at % 2 == 1);
            let message = Message::<[u8; 0], _>::verify(verifies, buffer);
            local.submit(message.with_header(text.len()).with_user(at as u64)).expect("room");
        }
        for _ in 0..20 {
            let done = loop {
                if let Some(done) = local.poll() {
                    break done;
                }
            };
            let wrong = Err(MessageError::Refused(Error::Authentication));
            assert_eq!(done.outcome, if done.user % 2 == 1 { wrong } else { Ok(()) });
        }

        let mut worker = WorkerQueue::new(&engine, 4).expect("there are threads");
        let session = worker.attach(attach(&private)).expect("there is room");
        let message = Message::<[u8; 0], _>::sign(session, room).with_header(text.len());
        worker.submit(message).expect("there is room");
        let done = worker.wait().expect("it is served");
        assert_eq!(done.outcome, Ok(()));
        let signature = done.buffer[text.len()..].try_into().expect("64 bytes");
        assert!(check(&public, text, signature));
    }
}
