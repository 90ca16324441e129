//! Sessions with RSA keys: every door gives the signatures of the crate of RSA, whatever else there
//! is in a batch, and each request has its own outcome.

use std::sync::Arc;

use lanecrypt_engine::{
    Algorithm, AsymmetricKey, BatchError, Engine, Error, Operation, Request, Session,
};
use lanecrypt_rsa::{Hash, Padding};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::rsa_common;
use crate::signatures::Case;
use crate::signers::{Signer, signers};

fn sessions(engine: &Engine, signers: &[Signer]) -> Vec<Session> {
    signers.iter().map(|it| engine.asymmetric_session((it.key.clone(), it.padding))).collect()
}

fn failed(outcome: Result<(), BatchError>) -> usize {
    outcome.map_or_else(|error| error.failed, |()| 0)
}

const KEY: [u8; 32] = [7; 32];
const NONCE: [u8; 12] = [8; 12];

/// What ciphers make of a packet of zeros.
fn sealed(engine: &Engine, algorithm: Algorithm) -> Vec<u8> {
    let session = engine.session(algorithm, &KEY).expect("a good key");
    let mut packet = vec![0; 80];
    session.seal(&NONCE, b"header", &mut packet).expect("it is right");
    packet
}

/// 1 to 40 signatures of different keys, among messages of ciphers.
#[test]
fn every_door_gives_the_same_signatures() {
    let engine = Engine::new();
    let (signers, mut numbers) = (signers(), Random(1701));
    let sessions = sessions(&engine, &signers);
    let ciphers = [Algorithm::CHACHA20_POLY1305, Algorithm::AES_256_GCM];
    let expected = ciphers.map(|algorithm| sealed(&engine, algorithm));
    let others = ciphers.map(|algorithm| engine.session(algorithm, &KEY).expect("a good key"));
    let mut buffer = engine.batch_buffer(16);
    for count in (1..=40).chain([3, 33, 300]) {
        let cases: Vec<_> = (0..count).map(|_| Case::random(&signers, &mut numbers)).collect();
        let cipher: Vec<_> = (0..count).map(|_| numbers.below(3)).collect();
        let wrong = cases.iter().filter(|case| case.outcome.is_err()).count();
        for way in 0..3 {
            // Slices of hundreds are enough once.
            if count > 40 && way > 0 {
                continue;
            }
            let mut places: Vec<_> = cases.iter().map(|case| case.place(&signers)).collect();
            let mut packets = vec![vec![0; 80]; count];
            let outcomes: Vec<_> = match way {
                0 => {
                    let mut requests = Vec::new();
                    let each = cases.iter().zip(&mut places).zip(&mut packets).zip(&cipher);
                    for (((case, place), packet), &cipher) in each {
                        let session = &sessions[case.signer];
                        if let Some(other) = others.get(cipher) {
                            requests.push(Request::seal(other, &NONCE, b"header", packet));
                        }
                        requests.push(match case.signature {
                            None => Request::sign(session, &case.message, place),
                            Some(_) => Request::verify(session, &case.message, place),
                        });
                    }
                    assert_eq!(failed(engine.process(&mut requests)), wrong);
                    // A second time nothing is served, and the count is the same.
                    assert_eq!(failed(engine.process(&mut requests)), wrong);
                    let of_rsa = |request: &&Request<'_>| request.operation().is_signature();
                    requests.iter().filter(of_rsa).map(Request::outcome).collect()
                }
                1 => {
                    let (mut batch, mut kept) = (buffer.batch(), Vec::new());
                    let each = cases.iter().zip(&mut places).zip(&mut packets).zip(&cipher);
                    for (((case, place), packet), &cipher) in each {
                        let session = &sessions[case.signer];
                        if let Some(other) = others.get(cipher) {
                            batch.seal(other, &NONCE, b"header", packet);
                        }
                        kept.push(batch.len());
                        let at_once = match case.signature {
                            None => batch.sign(session, &case.message, place),
                            Some(_) => batch.verify(session, &case.message, place),
                        };
                        assert_eq!(at_once, None, "signatures wait");
                    }
                    assert_eq!(failed(batch.finish()), wrong);
                    kept.into_iter().map(|index| buffer.outcome(index)).collect()
                }
                _ => {
                    let each = cases.iter().zip(&mut places);
                    each.map(|(case, place)| {
                        let session = &sessions[case.signer];
                        Some(match case.signature {
                            None => session.sign(&case.message, place),
                            Some(_) => session.verify(&case.message, place),
                        })
                    })
                    .collect()
                }
            };
            assert_eq!(outcomes.len(), count);
            for ((case, outcome), place) in cases.iter().zip(outcomes).zip(&places) {
                case.assert(&signers, outcome.expect("it was served"), place);
            }
            let used = cipher.iter().zip(&packets).filter(|_| way < 2);
            for (&cipher, packet) in used.filter(|(cipher, _)| **cipher < 2) {
                assert!(*packet == expected[cipher]);
            }
        }
    }
}

/// A request that no session of a key has.
fn request<'a>(session: &'a Session, operation: Operation, data: &'a mut [u8]) -> Request<'a> {
    match operation {
        Operation::Encrypt => Request::encrypt(session, &[], data),
        Operation::Decrypt => Request::decrypt(session, &[], data),
        Operation::Seal => Request::seal(session, &[], b"", data),
        _ => Request::open(session, &[], b"", data),
    }
}

#[test]
fn a_session_has_the_operations_of_its_key_only() {
    let engine = Engine::new();
    let signer = &signers()[2];
    let length = signer.length();
    let both = engine.asymmetric_session((signer.key.clone(), signer.padding));
    let public = engine.asymmetric_session((signer.public(), signer.padding));
    let (key, padding) = public.asymmetric_key().and_then(AsymmetricKey::rsa).expect("it has one");
    assert_eq!((key.public_key(), padding), (signer.key.public_key(), signer.padding));
    assert!(key.private_key().is_none() && key.signature_length() == length);
    let cipher = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("a good key");
    assert!(cipher.asymmetric_key().is_none());
    let mut signature = vec![0; length];
    assert_eq!(public.sign(b"message", &mut signature), Err(Error::Unsupported));
    assert_eq!(signature, vec![0; length]);
    assert_eq!(both.sign(b"message", &mut signature), Ok(()));
    assert_eq!(public.verify(b"message", &signature), Ok(()));
    assert_eq!(both.verify(b"message", &signature), Ok(()));

    let mut buffer = engine.batch_buffer(4);
    for session in [&both, &public] {
        assert_eq!((session.algorithm(), session.tag_length()), (None, 0));
        assert_eq!((session.signature_length(), session.driver()), (length, "software"));
        let refused = Err(Error::Unsupported);
        let (mut data, mut tag) = ([5; 64], [6; 16]);
        assert_eq!(session.encrypt(&[], &mut data), refused);
        assert_eq!(session.decrypt(&[1; 16], &mut data), refused);
        assert_eq!(session.seal(&[], b"", &mut data), refused);
        assert_eq!(session.seal_detached(&[1; 12], b"", &mut data, &mut tag), refused);
        assert_eq!(session.open_detached(&[], b"", &mut data, &tag), refused);
        assert_eq!(session.open(&[1; 12], b"", &mut data).err(), Some(Error::Unsupported));
        for operation in Operation::OF_CIPHERS {
            for count in [1, 2, 5] {
                let mut data = vec![[5; 64]; count];
                let mut batch: Vec<_> =
                    data.iter_mut().map(|data| request(session, operation, data)).collect();
                assert_eq!(batch[0].operation(), operation);
                assert_eq!(failed(engine.process(&mut batch)), count);
                assert!(batch.iter().all(|request| request.outcome() == Some(refused)));
                drop(batch);
                assert_eq!(data, vec![[5; 64]; count]);
            }
            let mut batch = buffer.batch();
            let at_once = match operation {
                Operation::Encrypt => batch.encrypt(session, &[], &mut data),
                Operation::Decrypt => batch.decrypt(session, &[], &mut data),
                Operation::Seal => batch.seal(session, &[], b"", &mut data),
                _ => batch.open(session, &[], b"", &mut data),
            };
            assert_eq!((at_once, failed(batch.finish())), (Some(refused), 1));
        }
        assert_eq!((data, tag), ([5; 64], [6; 16]));
    }
    let mut both = both;
    assert_eq!(both.set_tag_length(12), Err(Error::Unsupported));
}

#[test]
fn each_error_is_the_exact_one() {
    let engine = Engine::new();
    let signers = signers();
    let signer = &signers[4];
    let (session, length) =
        (engine.asymmetric_session((signer.key.clone(), signer.padding)), signer.length());
    for wrong in [0, 1, length - 1, length + 1] {
        let mut signature = vec![3; wrong];
        assert_eq!(session.sign(b"message", &mut signature), Err(Error::OutputLength));
        assert_eq!(session.verify(b"message", &signature), Err(Error::Authentication));
        assert_eq!(signature, vec![3; wrong]);
    }
    // A signature of another key of the same size.
    let other = rsa_common::vectors().0["generated-1024-2"].key().expect("a good key");
    let other = engine.asymmetric_session((other, signer.padding));
    assert_eq!(other.signature_length(), length);
    let own = signer.sign(b"message");
    assert_eq!(session.verify(b"message", &own), Ok(()));
    assert_eq!(other.verify(b"message", &own), Err(Error::Authentication));
    // Another padding under the same key.
    let pss = engine.asymmetric_session((signer.key.clone(), Padding::pss(Hash::SHA256)));
    let fixed = engine.asymmetric_session((signer.key.clone(), Padding::pkcs1v15(Hash::SHA256)));
    let mut signature = vec![0; length];
    assert_eq!(pss.sign(b"", &mut signature), Ok(()));
    assert_eq!(pss.verify(b"", &signature), Ok(()));
    assert_eq!(fixed.verify(b"", &signature), Err(Error::Authentication));
    // No room for the padding.
    let short = engine.asymmetric_session((signers[0].key.clone(), Padding::pss(Hash::SHA512)));
    let mut signature = vec![3; 64];
    assert_eq!(short.sign(b"message", &mut signature), Err(Error::KeyLength));
    assert_eq!(short.verify(b"message", &signature), Err(Error::KeyLength));
    assert_eq!(signature, [3; 64]);
    for driver in ["null", "nobody"] {
        let opened = engine.asymmetric_session_on(driver, (signer.key.clone(), signer.padding));
        assert_eq!(opened.err(), Some(Error::Unsupported));
    }
    let software = engine.asymmetric_session_on("software", (signer.key.clone(), signer.padding));
    assert_eq!(software.expect("it serves it").verify(b"message", &own), Ok(()));
}

/// Sessions share keys, and threads share sessions.
#[test]
fn keys_and_sessions_are_shared() {
    let engine = Engine::new();
    let signer = &signers()[2];
    let sessions = [0, 1].map(|_| engine.asymmetric_session((signer.key.clone(), signer.padding)));
    assert_eq!(Arc::strong_count(&signer.key), 3);
    std::thread::scope(|scope| {
        for session in sessions.iter().cycle().take(4) {
            scope.spawn(|| {
                let mut signature = vec![0; signer.length()];
                for _ in 0..20 {
                    session.sign(b"message", &mut signature).expect("it signs");
                    signer.assert_signed(b"message", &signature);
                }
            });
        }
    });
    drop(sessions);
    assert_eq!(Arc::strong_count(&signer.key), 1);
}
