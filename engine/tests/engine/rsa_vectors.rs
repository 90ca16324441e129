//! Signatures of RSA that are known, made and checked through the engine: in batches and through a
//! queue, in an order in which neighbours have other keys.

#[path = "../../../rsa/tests/common/wycheproof.rs"]
mod cases;

use std::collections::BTreeMap;

use cases::Case;
use lanecrypt_engine::queue::{Message, MessageError, WorkerQueue};
use lanecrypt_engine::{AsymmetricKey, Engine, Error, Request, RsaKey, Session};
use lanecrypt_rsa::{Padding, PublicKey};
use lanecrypt_testing::numbers::Numbers;

use crate::rsa_common::{Operation, vectors};

/// A message that has a known signature.
struct Known {
    key: String,
    padding: Padding,
    message: Vec<u8>,
    signature: Vec<u8>,
    /// Whether signing must give just this signature.
    is_only: bool,
}

fn known() -> Vec<Known> {
    let lines = vectors().1.into_iter().filter_map(|line| {
        let Operation::Sign(padding) = line.operation else { return None };
        let (signature, is_only) = (line.output?, padding.salt_length().is_none());
        Some(Known { key: line.key, padding, message: line.input, signature, is_only })
    });
    let mut known: Vec<_> = lines.collect();
    let mut numbers = Numbers(2);
    for at in (1..known.len()).rev() {
        known.swap(at, numbers.below(at + 1));
    }
    assert!(known.len() > 200, "{}", known.len());
    known
}

/// A session for each of them, with primes for three in four, or without.
fn sessions(engine: &Engine, known: &[Known]) -> Vec<Session> {
    let keys: BTreeMap<String, [RsaKey; 2]> = vectors()
        .0
        .into_iter()
        .map(|(name, numbers)| {
            let keys = [numbers.key(), numbers.key_without_primes()];
            (name, keys.map(|key| key.expect("a good key").into()))
        })
        .collect();
    let open = |(at, it): (usize, &Known)| {
        let [with, without] = &keys[&it.key];
        let is_short = it.signature.len() <= 256;
        let key = if at % 4 == 3 && is_short { without } else { with };
        engine.asymmetric_session((key.clone(), it.padding))
    };
    known.iter().enumerate().map(open).collect()
}

/// Changes one bit.
fn forged(at: usize, signature: &[u8]) -> Vec<u8> {
    let mut forged = signature.to_vec();
    forged[at % signature.len()] ^= 1 << (at % 8);
    forged
}

#[test]
fn vectors_in_batches() {
    let (engine, known) = (Engine::new(), known());
    let sessions = sessions(&engine, &known);
    let mut made: Vec<_> = known.iter().map(|it| vec![0; it.signature.len()]).collect();
    let requests = known.iter().zip(&sessions).zip(&mut made);
    let mut batch: Vec<_> =
        requests.map(|((it, session), out)| Request::sign(session, &it.message, out)).collect();
    assert_eq!(engine.process(&mut batch), Ok(()));
    drop(batch);
    for (it, made) in known.iter().zip(&made) {
        assert!(!it.is_only || *made == it.signature, "{}", it.key);
    }

    let wrong: Vec<_> =
        known.iter().enumerate().map(|(at, it)| forged(at, &it.signature)).collect();
    let mut batch = Vec::new();
    for (((it, session), made), wrong) in known.iter().zip(&sessions).zip(&made).zip(&wrong) {
        batch.push(Request::verify(session, &it.message, &it.signature));
        batch.push(Request::verify(session, &it.message, made));
        batch.push(Request::verify(session, &it.message, wrong));
    }
    assert_eq!(engine.process(&mut batch).map_err(|error| error.failed), Err(known.len()));
    for (outcomes, it) in batch.chunks(3).zip(&known) {
        let outcomes: Vec<_> = outcomes.iter().map(Request::outcome).collect();
        let wrong = Some(Err(Error::Authentication));
        assert_eq!(outcomes, [Some(Ok(())), Some(Ok(())), wrong], "{}", it.key);
    }
}

#[test]
fn vectors_through_a_queue() {
    let (engine, known) = (Engine::new(), known());
    let mut queue = WorkerQueue::new(&engine, known.len()).expect("a thread");
    for (at, (it, session)) in known.iter().zip(sessions(&engine, &known)).enumerate() {
        let session = loop {
            match queue.attach(session_of(&session, it)) {
                Ok(session) => break session,
                Err(_) => std::thread::yield_now(),
            }
        };
        let room = vec![0; it.signature.len()];
        let message = match at % 3 {
            0 => Message::sign(session, [&it.message[..], &room].concat()),
            1 => Message::verify(session, [&it.message[..], &it.signature].concat()),
            _ => Message::verify(session, [&it.message[..], &forged(at, &it.signature)].concat()),
        };
        assert!(queue.submit(message.with_user(at as u64)).is_ok());
    }
    let mut count = 0;
    while let Some(done) = queue.wait() {
        let at = usize::try_from(done.user).expect("an index");
        let it = &known[at];
        if at % 3 == 2 {
            let refused = Err(MessageError::Refused(Error::Authentication));
            assert_eq!(done.outcome, refused, "{}", it.key);
        } else {
            assert_eq!(done.outcome, Ok(()), "{}", it.key);
            assert!(done.buffer.starts_with(&it.message));
            assert!(!it.is_only || done.buffer.ends_with(&it.signature), "{}", it.key);
        }
        count += 1;
    }
    assert_eq!(count, known.len());
}

/// Another session with the key of one.
fn session_of(session: &Session, it: &Known) -> Session {
    let (key, padding) = session.asymmetric_key().and_then(AsymmetricKey::rsa).expect("it has one");
    assert_eq!(padding, it.padding);
    Engine::new().asymmetric_session((key.clone(), padding))
}

fn check((keys, cases): (Vec<PublicKey>, Vec<Case>)) {
    let engine = Engine::new();
    let keys: Vec<RsaKey> = keys.into_iter().map(RsaKey::from).collect();
    let open = |case: &Case| engine.asymmetric_session((keys[case.key].clone(), case.padding));
    let sessions: Vec<Session> = cases.iter().map(open).collect();
    let pairs = sessions.iter().zip(&cases);
    let mut batch: Vec<_> = pairs
        .map(|(session, case)| Request::verify(session, &case.message, &case.signature))
        .collect();
    let _failed = engine.process(&mut batch);
    for (case, request) in cases.iter().zip(&batch) {
        let (outcome, place) = (request.outcome().expect("it was served"), &case.place);
        if let Some(answer) = case.answer {
            assert_eq!(outcome.is_ok(), answer, "{place}: {outcome:?}");
        }
        assert!(matches!(outcome, Ok(()) | Err(Error::Authentication)), "{place}: {outcome:?}");
    }
}

#[test]
fn wycheproof() {
    check(cases::pkcs1v15());
    check(cases::probabilistic());
}
