//! Sessions of key exchange: alone, in slices and batches, among ciphers and signatures, on drivers
//! that take or refuse them.

use std::sync::Mutex;

use lanecrypt_engine::{
    Algorithm, AsymmetricKey, Driver, Engine, Error, Job, Jobs, Operation, Request, Session,
    SessionId,
};
use lanecrypt_pk::{ed25519, mlkem768, x25519};

use crate::agreements::{Case, invalid, of_the_rfc, of_wycheproof, valid};

/// More requests than run side by side, and no multiple.
const NEIGHBOURS: usize = 17;

/// Serves cases one by one, as a slice, and as a batch, and checks each outcome and output.
fn check(engine: &Engine, cases: &[&Case]) {
    let sessions: Vec<_> = cases.iter().map(|case| case.session(engine)).collect();
    check_sessions(engine, cases, &sessions);
}

fn check_sessions(engine: &Engine, cases: &[&Case], sessions: &[Session]) {
    let rooms = || cases.iter().map(|case| case.room()).collect::<Vec<_>>();
    let failed = cases.iter().filter(|case| case.expected.is_err()).count();
    let mut outs = rooms();
    for ((case, session), out) in cases.iter().zip(sessions).zip(&mut outs) {
        case.assert(session.agree(&case.received, out), out, "alone");
    }

    let mut outs = rooms();
    let each = cases.iter().zip(sessions).zip(&mut outs);
    let mut requests: Vec<_> =
        each.map(|((case, session), out)| Request::agree(session, &case.received, out)).collect();
    let processed = engine.process(&mut requests);
    assert_eq!(processed.map_or_else(|error| error.failed, |()| 0), failed);
    let outcomes: Vec<_> = requests.iter().map(|request| request.outcome()).collect();
    drop(requests);
    for ((case, outcome), out) in cases.iter().zip(outcomes).zip(&outs) {
        case.assert(outcome.expect("it was processed"), out, "in a slice");
    }

    let mut outs = rooms();
    let mut buffer = engine.batch_buffer(cases.len());
    let mut batch = buffer.batch();
    for ((case, session), out) in cases.iter().zip(sessions).zip(&mut outs) {
        assert_eq!(batch.agree(session, &case.received, out), None, "it waits");
    }
    assert_eq!(batch.finish().map_or_else(|error| error.failed, |()| 0), failed);
    for ((case, outcome), out) in cases.iter().zip(buffer.outcomes()).zip(&outs) {
        case.assert(outcome.expect("it was served"), out, "in a batch");
    }
}

#[test]
fn a_session_agrees_and_does_nothing_else() {
    let engine = Engine::new();
    for case in valid() {
        let session = case.session(&engine);
        assert_eq!((session.agreement_length(), session.signature_length()), (32, 0));
        assert_eq!((session.algorithm(), session.driver()), (None, "software"));
        assert_eq!(case.key.operations(), [Operation::Agree]);
        assert!(case.key.is_private() && case.key.has_scheme_of(&case.key));
        let mut room = [5; 64];
        for length in [0, 31, 33] {
            let wrong = session.agree(&case.received, &mut room[..length]);
            assert_eq!(wrong, Err(Error::OutputLength));
        }
        assert_eq!(session.sign(b"message", &mut room), Err(Error::Unsupported));
        assert_eq!(session.verify(b"message", &room), Err(Error::Unsupported));
        assert_eq!(session.seal(&[0; 12], b"", &mut room), Err(Error::Unsupported));
        assert_eq!(session.encrypt(&[0; 16], &mut room), Err(Error::Unsupported));
        assert_eq!(room, [5; 64]);
        for driver in ["null", "absent"] {
            let opened = engine.asymmetric_session_on(driver, case.key.clone());
            assert_eq!(opened.err(), Some(Error::Unsupported));
        }
        engine.asymmetric_session_on("software", case.key.clone()).expect("it has all");
        let shown = format!("{session:?}");
        assert!(
            !["1, 1, 1", "3, 3, 3", "5, 5, 5"].iter().any(|bytes| shown.contains(bytes)),
            "{shown}"
        );
    }
    let signs = engine.asymmetric_session(ed25519::SigningKey::from_bytes(&[7; 32]));
    let seals = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("a good key");
    for session in [signs, seals] {
        let mut room = [5; 32];
        assert_eq!(session.agreement_length(), 0);
        assert_eq!(session.agree(&[9; 32], &mut room), Err(Error::Unsupported));
        let mut buffer = engine.batch_buffer(1);
        let mut batch = buffer.batch();
        let refused = batch.agree(&session, &[9; 32], &mut room);
        assert_eq!(refused, Some(Err(Error::Unsupported)));
        assert_eq!(batch.finish().expect_err("it was refused").failed, 1);
        assert_eq!(room, [5; 32]);
    }
}

#[test]
fn an_encapsulation_key_gives_a_ciphertext_and_its_secret() {
    let engine = Engine::new();
    let key = mlkem768::DecapsulationKey::from_seed(&[9; 64]);
    let public = AsymmetricKey::from(key.encapsulation_key().clone());
    let private = AsymmetricKey::from(key);
    assert!(!public.is_private() && private.has_scheme_of(&public));
    assert_eq!(private.to_spki_der(), public.to_spki_der());
    let [encapsulates, decapsulates] = [public, private].map(|key| engine.asymmetric_session(key));
    assert_eq!(encapsulates.agreement_length(), 1088 + 32);
    let mut outs = vec![[5; 1088 + 32]; NEIGHBOURS];
    assert_eq!(encapsulates.agree(&[0], &mut outs[0]), Err(Error::DataLength));
    for length in [0, 32, 1088, 1119] {
        let short = encapsulates.agree(&[], &mut outs[0][..length]);
        assert_eq!(short, Err(Error::OutputLength));
    }
    assert_eq!(encapsulates.agree(&[], &mut [5; 1121]), Err(Error::OutputLength));
    assert_eq!(outs[0], [5; 1088 + 32]);
    let mut requests: Vec<_> =
        outs.iter_mut().map(|out| Request::agree(&encapsulates, &[], out)).collect();
    engine.process(&mut requests).expect("all are right");
    drop(requests);
    for (at, out) in outs.iter().enumerate() {
        let (ciphertext, secret) = out.split_at(1088);
        let mut found = [0; 32];
        decapsulates.agree(ciphertext, &mut found).expect("the length is right");
        assert_eq!(found, secret);
        assert!(!outs[..at].contains(out), "each is new");
        // A wrong ciphertext gives another secret, always the same.
        let mut wrong = ciphertext.to_vec();
        wrong[at] ^= 1;
        let mut others = [[0; 32]; 2];
        for other in &mut others {
            decapsulates.agree(&wrong, other).expect("the length is right");
        }
        assert!(others[0] == others[1] && others[0] != secret && others[0] != [0; 32]);
    }
}

#[test]
fn vectors_give_their_secrets() {
    let engine = Engine::new();
    let cases: Vec<_> = of_the_rfc().into_iter().chain(of_wycheproof()).collect();
    check(&engine, &cases.iter().collect::<Vec<_>>());
}

#[test]
fn points_may_be_compressed() {
    let [_, case, _] = valid();
    let last = case.received[64];
    let compressed = [&[2 + (last & 1)], &case.received[1..33]].concat();
    let case = Case { received: compressed, ..case };
    check(&Engine::new(), &[&case; 5]);
}

/// Each lane, with neighbours of the same key and of others.
#[test]
fn an_invalid_request_changes_nothing_for_its_neighbours() {
    let engine = Engine::new();
    let valid = valid();
    for (good, bad) in valid.iter().zip(&invalid(&valid)) {
        for at in 0..NEIGHBOURS {
            let mut cases = [good; NEIGHBOURS];
            cases[at] = &bad[at % bad.len()];
            cases[(at + 7) % NEIGHBOURS] = &bad[(at + 1) % bad.len()];
            check(&engine, &cases);
        }
        for bad in bad {
            check(&engine, &[good, bad, good, good]);
        }
    }
    let all: Vec<_> = invalid(&valid).concat();
    let mixed: Vec<_> = valid.iter().cycle().zip(&all).flat_map(<[_; 2]>::from).collect();
    check(&engine, &mixed);
}

#[test]
fn key_exchanges_run_among_ciphers_and_signatures() {
    let engine = Engine::new();
    let cipher = engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32]).expect("a good key");
    let signs = engine.asymmetric_session(ed25519::SigningKey::from_bytes(&[7; 32]));
    let valid = valid();
    let bad = invalid(&valid).concat();
    // More than are served at once.
    let cases: Vec<_> =
        (0..75).map(|at| if at % 5 == 4 { &bad[at % bad.len()] } else { &valid[at % 3] }).collect();
    let sessions: Vec<_> = cases.iter().map(|case| case.session(&engine)).collect();
    let mut outs: Vec<_> = cases.iter().map(|case| case.room()).collect();
    let mut signatures = vec![[0; 64]; cases.len()];
    let mut packets = vec![[0; 48]; cases.len()];
    let mut requests = Vec::new();
    let each = cases.iter().zip(&sessions).zip(&mut outs).zip(&mut signatures).zip(&mut packets);
    for ((((case, session), out), signature), packet) in each {
        requests.push(Request::seal(&cipher, &[2; 12], &[], packet));
        requests.push(Request::agree(session, &case.received, out));
        requests.push(Request::sign(&signs, b"message", signature));
    }
    assert_eq!(requests[1].operation(), Operation::Agree);
    assert_eq!(engine.process(&mut requests).expect_err("some are refused").failed, 15);
    let outcomes: Vec<_> =
        requests.iter().map(|request| request.outcome().expect("it was processed")).collect();
    drop(requests);
    for (at, case) in cases.iter().enumerate() {
        assert_eq!(outcomes[3 * at], Ok(()));
        case.assert(outcomes[3 * at + 1], &outs[at], "among others");
        assert_eq!(outcomes[3 * at + 2], Ok(()));
        signs.verify(b"message", &signatures[at]).expect("it is right");
        cipher.open(&[2; 12], &[], &mut packets[at]).expect("it is authentic");
    }
}

#[test]
fn a_public_key_is_that_of_the_secret() {
    for case in valid() {
        let der = case.key.to_spki_der().expect("no fault");
        let of = |key: &AsymmetricKey| match key {
            AsymmetricKey::X25519(key) => key.public_key().to_spki_der(),
            AsymmetricKey::EcdhP256(key) => key.public_key().expect("no fault").to_spki_der(),
            AsymmetricKey::MlKem768(key) => key.encapsulation_key().to_spki_der(),
            other => panic!("{other:?} is no key of key exchange"),
        };
        assert_eq!(der, of(&case.key));
    }
}

/// Serves X25519 by the crate of curves, and counts; refuses other keys.
#[derive(Debug, Default)]
struct Own {
    keys: Mutex<Vec<Option<AsymmetricKey>>>,
}

impl Own {
    fn serve(&self, job: &mut Job<'_, '_>) -> Result<(), Error> {
        let at = usize::try_from(job.session_id().0).expect("an index");
        let key = self.keys.lock().expect("nobody panics")[at].clone();
        let Some(AsymmetricKey::X25519(key)) = key else { panic!("it was refused") };
        assert_eq!((job.operation(), job.output_length()), (Operation::Agree, 32));
        assert_eq!((job.signature(), job.tag_length()), (None, 0));
        assert_eq!(job.data().err(), Some(Error::Unsupported));
        let public: [u8; 32] = job.aad().try_into().map_err(|_| Error::DataLength)?;
        let secret = key.diffie_hellman(&x25519::PublicKey::from_bytes(&public));
        let secret = secret.map_err(|_| Error::PublicKey)?;
        assert_eq!(job.put_output(&secret.as_bytes()[1..]), Err(Error::OutputLength));
        job.put_output(secret.as_bytes())
    }
}

impl Driver for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Err(Error::Unsupported)
    }

    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Error> {
        if !matches!(key, AsymmetricKey::X25519(_)) {
            return Err(Error::Unsupported);
        }
        let mut keys = self.keys.lock().expect("nobody panics");
        keys.push(Some(key.clone()));
        Ok(SessionId(keys.len() as u64 - 1))
    }

    fn close(&self, session: SessionId) {
        let at = usize::try_from(session.0).expect("an index");
        let key = self.keys.lock().expect("nobody panics")[at].take();
        assert!(key.is_some(), "once");
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            let outcome = self.serve(&mut job);
            job.settle(outcome);
        }
    }
}

#[test]
fn a_driver_takes_the_keys_that_it_serves() {
    let engine = Engine::new().with_driver(Own::default()).expect("a free name");
    let valid = valid();
    for case in &valid[1..] {
        let opened = engine.asymmetric_session_on("own", case.key.clone());
        assert_eq!(opened.err(), Some(Error::Unsupported));
    }
    let [bad, ..] = invalid(&valid);
    let cases: Vec<_> =
        (0..40).map(|at| if at % 3 == 0 { &bad[at % bad.len()] } else { &valid[0] }).collect();
    let open = |case: &&Case| engine.asymmetric_session_on("own", case.key.clone());
    let sessions: Vec<_> = cases.iter().map(|case| open(case).expect("it serves it")).collect();
    assert_eq!((sessions[0].driver(), sessions[0].agreement_length()), ("own", 32));
    check_sessions(&engine, &cases, &sessions);
}
