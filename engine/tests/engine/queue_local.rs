//! The queue without threads: against one by one, full, cancelled, with drivers that fail.

use lanecrypt_engine::queue::{LocalQueue, Message, MessageError, QueueError};
use lanecrypt_engine::{Algorithm, Engine, Error, Session};
use lanecrypt_testing::batches::numbers::Random;

use crate::queues::faulty::{Faulty, PANICS};
use crate::queues::traffic::{Seen, Traffic, cases};
use crate::queues::{self, Buffer, Case, sessions};

fn cbc(engine: &Engine) -> Session {
    engine.raw_session(Algorithm::AES_128_CBC, &[1; 16]).expect("a good key")
}

/// Long enough to gain from company.
const LENGTH: usize = 512;

fn waiting(session: lanecrypt_engine::queue::SessionHandle) -> Message<[u8; 16], Vec<u8>> {
    Message::encrypt(session, [2; 16], vec![3; LENGTH])
}

#[test]
fn each_message_completes_once_with_the_right_bytes() {
    let mut traffic = Traffic::new(91);
    let mut seen = Seen::default();
    let depths = [1, 2, 3, 32, 64, 100, 300, 1000];
    for depth in depths {
        let mut queue = LocalQueue::new(traffic.engine(), depth);
        assert_eq!(queue.depth(), depth);
        traffic.run(&mut queue, cases() / depths.len(), &mut seen);
        traffic.finish(&mut queue, &mut seen);
    }
    let (served, rare) = (seen.served, seen.rare());
    assert!(served > cases() / 2 && rare.iter().all(|&count| count > 10), "{served} {rare:?}");
}

/// All algorithms, each message alone and batched.
#[test]
fn every_algorithm_is_served() {
    let engine = Engine::new();
    let mut numbers = Random(92);
    let (keys, sessions) = sessions(&engine, &mut numbers);
    let mut queue = LocalQueue::<Buffer>::new(&engine, 64);
    let attached: Vec<_> =
        sessions.into_iter().map(|session| queue.attach(session).expect("room")).collect();
    for (key, &session) in attached.iter().enumerate() {
        for count in [1, 2, 9, 64] {
            let cases: Vec<_> =
                (0..count).map(|_| Case::random(&keys, key, 600, &mut numbers)).collect();
            for (case, user) in cases.iter().zip(0..) {
                queue.submit(case.message(session, user)).expect("it is not full");
            }
            for (case, user) in cases.iter().zip(0..) {
                let done = queue.poll().expect("one for each");
                assert_eq!(done.user, user, "the order of submission");
                case.check(&done).expect("the right bytes");
            }
            assert!(queue.poll().is_none());
        }
    }
}

#[test]
fn a_full_queue_gives_messages_back() {
    let engine = Engine::new();
    for depth in [1, 2, 5, 64] {
        let mut queue = LocalQueue::new(&engine, depth);
        let session = queue.attach(cbc(&engine)).expect("room");
        let mut messages = (0..100).map(|user| waiting(session).with_user(user));
        assert_eq!(queue.submit_many(&mut messages), depth);
        assert_eq!(messages.next().map(|next| next.user()), Some(depth as u64));
        let refused = queue.submit(waiting(session).with_user(77)).expect_err("it is full");
        assert_eq!((refused.reason, refused.value.user()), (QueueError::Full, 77));
        assert_eq!(refused.value.into_buffer(), [3; LENGTH]);
        assert_eq!(queue.in_flight(), depth);
        assert_eq!(queue.poll().map(|done| done.user), Some(0));
        assert!(queue.submit(waiting(session)).is_ok());
    }
}

#[test]
fn sessions_that_are_not_attached_are_unknown() {
    let engine = Engine::new();
    let mut queue = LocalQueue::new(&engine, 8);
    let first = queue.attach(cbc(&engine)).expect("room");
    queue.submit(waiting(first)).expect("room");
    // What came before is served.
    assert!(queue.detach(first).is_some());
    assert!(queue.detach(first).is_none());
    let second = queue.attach(cbc(&engine)).expect("room");
    queue.submit(waiting(first)).expect("room");
    queue.submit(waiting(second)).expect("room");
    let mut other = LocalQueue::<Vec<u8>>::new(&engine, 8);
    other.attach(cbc(&engine)).expect("room");
    let foreign = other.attach(cbc(&engine)).expect("room");
    queue.submit(waiting(foreign)).expect("room");
    let outcomes: Vec<_> =
        core::iter::from_fn(|| queue.poll()).map(|done| (done.outcome, done.buffer)).collect();
    let served = outcomes[0].1.clone();
    let unknown = (Err(MessageError::UnknownSession), vec![3; LENGTH]);
    assert_ne!(served, unknown.1);
    let expected = [(Ok(()), served.clone()), unknown.clone(), (Ok(()), served), unknown];
    assert_eq!(outcomes, expected);
}

#[test]
fn what_waits_can_be_cancelled_and_what_is_served_cannot() {
    let engine = Engine::new();
    if !queues::cbc_waits(&engine) {
        return;
    }
    let mut queue = LocalQueue::new(&engine, 8);
    let session = queue.attach(cbc(&engine)).expect("room");
    let null = queue.attach(engine.raw_session(Algorithm::NULL, &[]).expect("no key"));
    let null = null.expect("room");
    let tickets: Vec<_> = (0..4).map(|_| queue.submit(waiting(session)).expect("room")).collect();
    let at_once = queue.submit(Message::encrypt(null, [0; 16], vec![1; 9])).expect("room");
    assert!(!queue.cancel(at_once));
    assert!(queue.cancel(tickets[0]) && !queue.cancel(tickets[0]) && queue.cancel(tickets[2]));
    let mut outcomes: Vec<_> =
        core::iter::from_fn(|| queue.poll()).map(|done| done.outcome).collect();
    let cancelled = Err(MessageError::Cancelled);
    let nonce = Err(MessageError::Refused(Error::NonceLength));
    assert_eq!(outcomes, [cancelled, Ok(()), cancelled, Ok(()), nonce]);
    // Old tickets concern nobody, even when their slots are taken again.
    for _ in 0..8 {
        queue.submit(waiting(session)).expect("room");
    }
    assert!(tickets.iter().all(|&ticket| !queue.cancel(ticket)));
    outcomes = core::iter::from_fn(|| queue.poll()).map(|done| done.outcome).collect();
    assert_eq!(outcomes, [Ok(()); 8]);
}

#[test]
fn a_driver_that_panics_fails_its_batch_only() {
    let engine = Engine::new().with_driver(Faulty::new()).expect("a free name");
    for company in [0, 1, 5] {
        let mut queue = LocalQueue::new(&engine, 16);
        let faulty = engine.session_on(Faulty::NAME, Algorithm::NULL, &[]).expect("it serves it");
        let faulty = queue.attach(faulty).expect("room");
        let session = queue.attach(cbc(&engine)).expect("room");
        for _ in 0..company {
            queue.submit(waiting(session)).expect("room");
        }
        for first in [0, PANICS, 0] {
            queue.submit(Message::encrypt(faulty, [first; 16], vec![1; 9])).expect("room");
        }
        let outcomes: Vec<_> =
            core::iter::from_fn(|| queue.poll()).skip(company).map(|done| done.outcome).collect();
        let panicked = Err(MessageError::Panicked);
        assert_eq!(outcomes, [Ok(()), panicked, panicked], "{company}");
        // The queue keeps working.
        queue.submit(Message::encrypt(faulty, [0; 16], vec![1; 9])).expect("room");
        queue.submit(waiting(session)).expect("room");
        let outcomes: Vec<_> =
            core::iter::from_fn(|| queue.poll()).map(|done| done.outcome).collect();
        assert_eq!(outcomes, [Ok(()); 2]);
    }
}

/// A buffer whose own code panics if its length is odd.
#[derive(Debug)]
struct Trap(Vec<u8>);

impl AsMut<[u8]> for Trap {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.0.len() % 2 == 1 {
            std::panic::panic_any("planned");
        }
        &mut self.0
    }
}

#[test]
fn a_buffer_that_panics_leaves_no_message_out() {
    let engine = Engine::new().with_driver(Faulty::new()).expect("a free name");
    let mut queue = LocalQueue::new(&engine, 16);
    let session = engine.session_on(Faulty::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let session = queue.attach(session).expect("room");
    for length in [32, 33, 34] {
        let buffer = Trap(vec![1; length]);
        let submitted = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            queue.submit(Message::encrypt(session, [0; 1], buffer)).is_ok()
        }));
        assert_eq!(submitted.ok(), (length != 33).then_some(true));
    }
    assert_eq!(queue.in_flight(), 2);
    let outcomes: Vec<_> = core::iter::from_fn(|| queue.poll()).map(|done| done.outcome).collect();
    assert_eq!(outcomes, [Ok(()); 2]);
}

#[test]
fn headers_and_nonces_are_checked() {
    let engine = Engine::new();
    let mut queue = LocalQueue::new(&engine, 8);
    let gcm = engine.session(Algorithm::AES_128_GCM, &[1; 16]).expect("a good key");
    let gcm = queue.attach(gcm).expect("room");
    let cbc = queue.attach(cbc(&engine)).expect("room");
    let short = |session| Message::seal(session, vec![0; 12], vec![1; 20]).with_header(21);
    queue.submit(short(gcm)).expect("room");
    queue.submit(Message::seal(gcm, vec![0; 25], vec![1; 20])).expect("room");
    queue.submit(Message::encrypt(cbc, vec![0; 25], vec![1; LENGTH])).expect("room");
    let long_header = Message::encrypt(cbc, vec![0; 16], vec![1; LENGTH]).with_header(LENGTH + 1);
    queue.submit(long_header).expect("room");
    queue.submit(Message::seal(cbc, vec![0; 16], vec![1; LENGTH])).expect("room");
    let outcomes: Vec<_> = core::iter::from_fn(|| queue.poll()).map(|done| done.outcome).collect();
    let refused = |error| Err(MessageError::Refused(error));
    let expected = [
        refused(Error::AadLength),
        refused(Error::NonceLength),
        refused(Error::NonceLength),
        refused(Error::AadLength),
        refused(Error::Unsupported),
    ];
    assert_eq!(outcomes, expected);
}
