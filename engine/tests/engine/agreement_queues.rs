//! Key exchanges in queues: their class of long operations, lanes, refusals, futures.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::thread;

use lanecrypt_engine::queue::{AsyncQueue, LocalQueue, Message, MessageError, WorkerQueue};
use lanecrypt_engine::{Algorithm, Engine, Error, Operation};

use crate::agreements::{Case, invalid, valid};

/// Valid and invalid ones, in turn.
fn cases() -> Vec<Case> {
    let valid = valid();
    let invalid = invalid(&valid).concat();
    valid.iter().cycle().zip(invalid).flat_map(|(good, bad)| [good.clone(), bad]).collect()
}

#[test]
fn a_local_queue_serves_them_among_others() {
    let engine = Engine::new();
    let cases = cases();
    let mut queue = LocalQueue::new(&engine, 2 * cases.len() + 4);
    let cipher = engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32]).expect("a good key");
    let cipher = queue.attach(cipher).expect("there is room");
    for (case, user) in cases.iter().zip(0..) {
        let session = queue.attach(case.session(&engine)).expect("there is room");
        queue.submit(case.message(session).with_user(user)).expect("there is room");
        let packet = Message::seal(cipher, [2; 12], vec![0; 48]).with_user(u64::MAX);
        queue.submit(packet).expect("there is room");
    }
    let cancelled = queue.attach(cases[0].session(&engine)).expect("there is room");
    let ticket = queue.submit(cases[0].message(cancelled)).expect("there is room");
    assert!(queue.cancel(ticket) && !queue.cancel(ticket));
    for (case, user) in cases.iter().zip(0..) {
        let done = queue.poll().expect("it is in flight");
        assert_eq!(done.user, user);
        case.assert_done(&done, "in a local queue");
        let done = queue.poll().expect("it is in flight");
        assert_eq!((done.user, done.outcome), (u64::MAX, Ok(())));
    }
    let done = queue.poll().expect("it is in flight");
    assert_eq!(done.outcome, Err(MessageError::Cancelled));
    assert_eq!(done.buffer, [cases[0].received.clone(), cases[0].room()].concat());
    assert!(queue.poll().is_none());
}

#[test]
fn buffers_without_room_and_other_operations_are_refused() {
    let engine = Engine::new();
    let mut queue = LocalQueue::new(&engine, 8);
    for case in valid() {
        let session = queue.attach(case.session(&engine)).expect("there is room");
        let refused = |error| Err(MessageError::Refused(error));
        for (operation, nonce, header, length, error) in [
            (Operation::Agree, 0, 0, 31, Error::OutputLength),
            (Operation::Agree, 0, 0, 0, Error::OutputLength),
            (Operation::Agree, 0, 40, 39, Error::AadLength),
            (Operation::Agree, 1, 0, 64, Error::NonceLength),
            (Operation::Sign, 0, 0, 64, Error::Unsupported),
            (Operation::Verify, 0, 0, 64, Error::Unsupported),
            (Operation::Seal, 12, 0, 64, Error::Unsupported),
        ] {
            let message = Message::new(session, operation, vec![0; nonce], vec![9; length]);
            queue.submit(message.with_header(header)).expect("there is room");
            let done = queue.poll().expect("it is in flight");
            assert_eq!(done.outcome, refused(error), "{operation:?}");
            assert_eq!(done.buffer, vec![9; length]);
        }
        // A header is a part of what was received.
        queue.submit(case.message(session).with_header(5)).expect("there is room");
        case.assert_done(&queue.poll().expect("it is in flight"), "with a header");
    }
}

#[test]
fn a_worker_queue_serves_them_as_long_operations() {
    let engine = Engine::new();
    let cases = cases();
    let mut queue = WorkerQueue::new(&engine, cases.len()).expect("threads can be made");
    let attach = |case: &Case| queue.attach(case.session(&engine)).expect("there is room");
    let sessions: Vec<_> = cases.iter().map(attach).collect();
    let each = cases.iter().zip(&sessions).zip(0..);
    let mut messages = each.map(|((case, session), user)| case.message(*session).with_user(user));
    // Submitted as messages of the other class, none would be found.
    assert_eq!(queue.submit_many_slow(&mut messages), Ok(cases.len()));
    let mut count = 0;
    while let Some(done) = queue.wait() {
        let case = &cases[usize::try_from(done.user).expect("an index")];
        case.assert_done(&done, "in a worker queue");
        count += 1;
    }
    assert_eq!(count, cases.len());
}

#[test]
fn a_future_is_a_secret() {
    let engine = Engine::new();
    let queue = AsyncQueue::new(&engine, 8).expect("threads can be made");
    let cases = cases();
    let (engine, queue) = (&engine, &queue);
    thread::scope(|scope| {
        for part in cases.chunks(9) {
            scope.spawn(move || {
                for case in part {
                    let session = queue.attach(case.session(engine)).expect("there is room");
                    let done = block_on(queue.serve(case.message(session))).expect("it is open");
                    case.assert_done(&done, "as a future");
                    assert_eq!(queue.detach(session), Ok(true));
                }
            });
        }
    });
    assert_eq!(queue.in_flight(), 0);
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::yield_now();
    }
}
