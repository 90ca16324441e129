//! Signatures allocate nothing once a thread has made as many together, and need no more stack than
//! other batches.

#![cfg(feature = "rsa")]

#[allow(dead_code, reason = "each test uses its part of it")]
mod signatures;

use lanecrypt_engine::queue::{LocalQueue, Message};
use lanecrypt_engine::{Engine, Request, Session};
use lanecrypt_testing::counting::{Counting, calls};
use signatures::{Signer, signers};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const COUNT: usize = 40;

fn sessions(engine: &Engine, signers: &[Signer]) -> Vec<Session> {
    signers.iter().map(|it| engine.rsa_session(it.key.clone(), it.padding)).collect()
}

/// Room for a signature of each session in turn.
fn places(sessions: &[Session]) -> Vec<Vec<u8>> {
    sessions.iter().cycle().take(COUNT).map(|it| vec![0; it.signature_length()]).collect()
}

#[test]
fn a_thread_that_has_signed_allocates_nothing() {
    let (engine, signers) = (Engine::new(), signers());
    let sessions = sessions(&engine, &signers);
    let mut room = engine.room(COUNT);
    let mut queue = LocalQueue::new(&engine, COUNT);
    let each = sessions.iter().zip(&signers);
    let attached: Vec<_> = each
        .map(|(_, it)| engine.rsa_session(it.key.clone(), it.padding))
        .map(|session| queue.attach(session).expect("room"))
        .collect();
    for turn in 0..2 {
        let (mut alone, mut batched) = (places(&sessions), places(&sessions));
        let (mut sliced, mut queued) = (places(&sessions), places(&sessions));
        let mut requests = Vec::with_capacity(COUNT);
        let used = calls(|| {
            for (session, place) in sessions.iter().cycle().zip(&mut alone) {
                session.sign(b"message", place).expect("it signs");
                session.verify(b"message", place).expect("it is right");
            }
            let mut batch = room.batch();
            for (session, place) in sessions.iter().cycle().zip(&mut batched) {
                batch.sign(session, b"message", place);
            }
            assert_eq!(batch.finish(), Ok(()));
            let each = sessions.iter().cycle().zip(&mut sliced);
            requests.extend(each.map(|(it, place)| Request::sign(it, b"message", place)));
            assert_eq!(engine.process(&mut requests), Ok(()));
            for (&session, place) in attached.iter().cycle().zip(queued.drain(..)) {
                queue.submit(Message::sign(session, place)).expect("room");
            }
            while let Some(done) = queue.poll() {
                assert_eq!(done.outcome, Ok(()));
                core::mem::forget(done.buffer);
            }
        });
        assert!(turn == 0 || used == 0, "{used}");
        // The counter sees what does allocate.
        assert!(turn > 0 || used > 0);
    }
}

/// The documented stack use of `Engine::process` in bytes holds for signatures.
#[cfg(target_arch = "x86_64")]
#[test]
fn signatures_need_no_more_stack_than_ciphers() {
    use lanecrypt_testing::depth::depth;

    let (engine, signers) = (Engine::new(), signers());
    let sessions = sessions(&engine, &signers);
    let mut places = places(&sessions);
    let mut requests: Vec<_> = sessions
        .iter()
        .cycle()
        .zip(&mut places)
        .map(|(it, place)| Request::sign(it, b"message", place))
        .collect();
    let deepest = depth(&mut || assert_eq!(engine.process(&mut requests), Ok(())));
    println!("{deepest} bytes");
    assert!((1000..40 << 10).contains(&deepest), "{deepest}");
}
