//! The queue with a worker: against one by one, in every state that it can be used in.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use lanecrypt_engine::queue::{
    Message, MessageError, QueueError, SessionHandle, Settings, Ticket, WorkerQueue,
};
use lanecrypt_engine::{Algorithm, Engine, Session};
use lanecrypt_testing::batches::numbers::Random;

use crate::queues::faulty::{Faulty, PANICS};
use crate::queues::gate::{Gate, Keeper};
use crate::queues::traffic::{Seen, Traffic, cases};
use crate::queues::{self, Buffer, Case, sessions};

fn cbc(engine: &Engine) -> Session {
    engine.raw_session(Algorithm::AES_128_CBC, &[1; 16]).expect("a good key")
}

fn message(session: SessionHandle) -> Message<[u8; 16], Vec<u8>> {
    Message::encrypt(session, [2; 16], vec![3; queues::LENGTH])
}

/// A queue whose worker stands before a gate, with one message. The session is for others.
fn gated() -> (WorkerQueue<Vec<u8>>, Keeper, SessionHandle) {
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let mut queue = WorkerQueue::new(&engine, 16).expect("threads can be made");
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach(gate).expect("room");
    let session = queue.attach(cbc(&engine)).expect("room");
    queue.submit(message(gate).with_user(1000)).expect("room");
    assert_eq!(keeper.begun(), 1);
    (queue, keeper, session)
}

fn outcomes(queue: &mut WorkerQueue<Vec<u8>>) -> Vec<(u64, Result<(), MessageError>)> {
    core::iter::from_fn(|| queue.wait()).map(|done| (done.user, done.outcome)).collect()
}

#[test]
fn each_message_completes_once_with_the_right_bytes() {
    let mut traffic = Traffic::new(101);
    let mut seen = Seen::default();
    let settings = [
        Settings::new(1).spin(Duration::ZERO),
        Settings::new(7).spin(Duration::from_micros(1)),
        Settings::new(64),
        Settings::new(64).in_order().spin(Duration::ZERO),
        Settings::new(300),
        Settings::new(1000).in_order(),
    ];
    let each = cases() / settings.len();
    for settings in settings {
        let mut queue = WorkerQueue::with(traffic.engine(), settings).expect("threads can be made");
        traffic.run(&mut queue, each, &mut seen);
        traffic.finish(&mut queue, &mut seen);
    }
    let (served, rare) = (seen.served, seen.rare());
    assert!(served > cases() / 2 && rare.iter().all(|&count| count > 0), "{served} {rare:?}");
}

/// Closed in the middle of random traffic, each time.
#[test]
fn a_queue_that_is_closed_answers_all() {
    let mut traffic = Traffic::new(102);
    let mut seen = Seen::default();
    for turn in 0..60_u32 {
        let settings = Settings::new(500).spin(Duration::from_micros(u64::from(turn % 3)));
        let mut queue = WorkerQueue::with(traffic.engine(), settings).expect("threads can be made");
        traffic.run(&mut queue, 600, &mut seen);
        queue.close();
        traffic.finish(&mut queue, &mut seen);
    }
    assert!(seen.closed > 100 && seen.served > 10_000, "{} {}", seen.closed, seen.served);
}

#[test]
fn every_algorithm_is_served_in_order() {
    let engine = Engine::new();
    let mut numbers = Random(103);
    let (keys, sessions) = sessions(&engine, &mut numbers);
    let settings = Settings::new(64).in_order();
    let mut queue = WorkerQueue::<Buffer>::with(&engine, settings).expect("threads can be made");
    let mut attached = Vec::new();
    for session in sessions {
        attached.push(queues::Queue::attach(&mut queue, session));
    }
    for (key, &session) in attached.iter().enumerate() {
        for count in [1, 9, 64] {
            let cases: Vec<_> =
                (0..count).map(|_| Case::random(&keys, key, 600, &mut numbers)).collect();
            let each = cases.iter().zip(0..);
            let mut each = each.map(|(case, user)| case.message(session, user));
            assert_eq!(queue.submit_many(&mut each), Ok(count));
            for (case, user) in cases.iter().zip(0..) {
                let done = queue.wait().expect("one for each");
                assert_eq!(done.user, user, "the order of submission");
                case.check(&done).expect("the right bytes");
            }
            assert!(queue.wait().is_none());
        }
    }
}

/// A message that gains nothing from company completes before one that waits for it.
#[test]
fn what_is_served_first_comes_first() {
    let engine = Engine::new();
    if !queues::cbc_waits(&engine) {
        return;
    }
    let (mut queue, keeper, session) = gated();
    let null = engine.raw_session(Algorithm::NULL, &[]).expect("no key");
    let null = queue.attach(null).expect("room");
    queue.submit(message(session).with_user(1)).expect("room");
    queue.submit(message(session).with_user(2)).expect("room");
    let empty: Message<[u8; 0], _> = Message::encrypt(null, [], vec![]);
    queue.submit(empty.with_user(3)).expect("room");
    keeper.open();
    let users: Vec<u64> = outcomes(&mut queue).into_iter().map(|(user, _)| user).collect();
    assert_eq!(users, [1000, 3, 1, 2]);
}

#[test]
fn a_full_queue_gives_messages_back() {
    let (mut queue, keeper, session) = gated();
    let mut messages = (0..100).map(|user| message(session).with_user(user));
    assert_eq!(queue.submit_many(&mut messages), Ok(15));
    assert_eq!(messages.next().map(|next| next.user()), Some(15));
    assert_eq!(queue.submit_many(&mut messages), Ok(0));
    let refused = queue.submit(message(session).with_user(77)).expect_err("it is full");
    assert_eq!((refused.reason, refused.value.user()), (QueueError::Full, 77));
    assert_eq!(refused.value.into_buffer(), [3; queues::LENGTH]);
    // Sessions have room of their own, but not without end.
    let engine = Engine::new();
    let attached = (0..1000).take_while(|_| queue.attach(cbc(&engine)).is_ok()).count();
    assert!((1..1000).contains(&attached));
    let refused = queue.attach(cbc(&engine)).expect_err("the worker stands before the gate");
    assert_eq!(refused.reason, QueueError::Full);
    assert_eq!(refused.value.algorithm(), Some(Algorithm::AES_128_CBC));
    assert_eq!(queue.detach(session), Err(QueueError::Full));
    keeper.open();
    assert!(outcomes(&mut queue).iter().all(|(_, outcome)| outcome.is_ok()));
    // Until the worker has attached one of those.
    let detached = core::iter::repeat_with(|| queue.detach(session));
    let mut detached = detached.skip_while(|detached| *detached == Err(QueueError::Full));
    assert_eq!((detached.next(), detached.next()), (Some(Ok(true)), Some(Ok(false))));
}

/// Messages that the worker has taken but the client has not seen leave no more room for sessions.
#[test]
fn sessions_never_take_the_room_of_messages() {
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let mut queue = WorkerQueue::new(&engine, 16).expect("threads can be made");
    let null = engine.raw_session(Algorithm::NULL, &[]).expect("no key");
    let null = queue.attach(null).expect("room");
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach(gate).expect("room");
    queue.submit(message(gate)).expect("room");
    assert_eq!(keeper.begun(), 1);
    let empty = |_| Message::<[u8; 0], _>::encrypt(null, [], vec![]);
    assert_eq!(queue.submit_many(&mut (0..14).map(empty)), Ok(14));
    queue.submit(message(gate)).expect("room");
    keeper.open();
    // The worker has taken and published all but the last.
    assert_eq!(keeper.begun(), 1);
    let attached = (0..1000).take_while(|_| queue.attach(cbc(&engine)).is_ok()).count();
    assert!((1..1000).contains(&attached));
    assert_eq!(core::iter::from_fn(|| queue.poll()).count(), 15);
    assert_eq!(queue.submit_many(&mut (0..100).map(empty)), Ok(15));
    keeper.open();
    let outcomes = outcomes(&mut queue);
    assert!(outcomes.len() == 16 && outcomes.iter().all(|(_, outcome)| outcome.is_ok()));
}

#[test]
fn sessions_that_are_not_attached_are_unknown() {
    let (mut queue, keeper, session) = gated();
    queue.submit(message(session).with_user(1)).expect("room");
    assert_eq!(queue.detach(session), Ok(true));
    queue.submit(message(session).with_user(2)).expect("room");
    keeper.open();
    let unknown = Err(MessageError::UnknownSession);
    assert_eq!(outcomes(&mut queue), [(1000, Ok(())), (1, Ok(())), (2, unknown)]);
}

#[test]
fn what_the_worker_has_not_taken_can_be_cancelled() {
    let (mut queue, keeper, session) = gated();
    let tickets: Vec<Ticket> =
        (0..6).map(|user| queue.submit(message(session).with_user(user)).expect("room")).collect();
    for at in [1, 4, 4] {
        queue.cancel(tickets[at]);
    }
    keeper.open();
    let cancelled = Err(MessageError::Cancelled);
    let outcomes = |queue: &mut WorkerQueue<_>| {
        let mut outcomes = outcomes(queue);
        outcomes.sort_unstable_by_key(|(user, _)| *user);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect::<Vec<_>>()
    };
    let expected = [Ok(()), cancelled, Ok(()), Ok(()), cancelled, Ok(()), Ok(())];
    assert_eq!(outcomes(&mut queue), expected);
    // Old tickets concern nobody.
    for _ in 0..10 {
        tickets.iter().for_each(|&ticket| queue.cancel(ticket));
        for _ in 0..16 {
            queue.submit(message(session)).expect("room");
        }
        assert_eq!(outcomes(&mut queue), [Ok(()); 16]);
    }
}

#[test]
fn a_closed_queue_takes_nothing_and_ends_what_it_has_begun() {
    let (mut queue, keeper, session) = gated();
    for user in 0..3 {
        queue.submit(message(session).with_user(user)).expect("room");
    }
    queue.close();
    let refused = queue.submit(message(session)).expect_err("it is closed");
    assert_eq!(refused.reason, QueueError::Closed);
    assert_eq!(queue.submit_many(&mut [message(session)].into_iter()), Err(QueueError::Closed));
    let refused = queue.attach(cbc(&Engine::new())).expect_err("it is closed");
    assert_eq!(refused.reason, QueueError::Closed);
    let refused = queue.attach_slow(cbc(&Engine::new())).expect_err("it is closed");
    assert_eq!(refused.reason, QueueError::Closed);
    assert_eq!(queue.detach(session), Err(QueueError::Closed));
    keeper.open();
    let closed = Err(MessageError::Closed);
    assert_eq!(outcomes(&mut queue), [(1000, Ok(())), (0, closed), (1, closed), (2, closed)]);
    assert_eq!(queue.in_flight(), 0);
}

/// A buffer that counts its drops.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // Relaxed: it is read after the worker has been joined.
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_queue_that_is_dropped_ends_its_worker() {
    for wait in [true, false] {
        let (gate, keeper) = Gate::new();
        let engine = Engine::new().with_driver(gate).expect("a free name");
        let mut queue = WorkerQueue::new(&engine, 16).expect("threads can be made");
        let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
        let gate = queue.attach(gate).expect("room");
        drop(engine);
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut submit = || {
            let buffer = Counted(vec![0; 20], dropped.clone());
            queue.submit(Message::encrypt(gate, [], buffer)).expect("room")
        };
        submit();
        keeper.begun();
        for _ in 0..5 {
            submit();
        }
        if wait {
            keeper.open();
            drop(queue.wait());
            // The others are one batch, in which the worker is now.
            assert_eq!(keeper.begun(), 5);
        } else {
            // The worker may begin with the others before the queue is closed.
            keeper.open();
        }
        keeper.open();
        drop(queue);
        assert_eq!(dropped.load(Ordering::Relaxed), 6);
        // The session, which has the driver, has been dropped as well.
        assert_eq!(Arc::strong_count(&keeper.alive), 1);
    }
}

#[test]
fn a_driver_that_panics_fails_its_batch_only() {
    let engine = Engine::new().with_driver(Faulty::new()).expect("a free name");
    let mut queue = WorkerQueue::new(&engine, 16).expect("threads can be made");
    let faulty = engine.session_on(Faulty::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let faulty = queue.attach(faulty).expect("room");
    let session = queue.attach(cbc(&engine)).expect("room");
    for _ in 0..3 {
        let each = [0, PANICS, 0].into_iter().zip(0..);
        let mut each = each
            .map(|(first, user)| Message::encrypt(faulty, [first; 16], vec![1; 9]).with_user(user));
        queue.submit_many(&mut each).expect("it is open");
        let outcomes = outcomes(&mut queue);
        assert_eq!(outcomes[0], (0, Ok(())));
        assert_eq!(outcomes[1], (1, Err(MessageError::Panicked)));
        assert_eq!((outcomes.len(), outcomes[2].0), (3, 2));
        queue.submit(message(session)).expect("room");
        assert_eq!(queue.wait().map(|done| done.outcome), Some(Ok(())));
    }
}

/// A buffer whose own code panics if its length is odd.
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
fn a_buffer_that_panics_fails_its_message_and_no_hang() {
    let engine = Engine::new().with_driver(Faulty::new()).expect("a free name");
    let mut queue = WorkerQueue::new(&engine, 16).expect("threads can be made");
    let null = queue.attach(engine.raw_session(Algorithm::NULL, &[]).expect("no key"));
    let null = null.expect("room");
    let faulty = engine.session_on(Faulty::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let faulty = queue.attach(faulty).expect("room");
    for session in [null, faulty] {
        let mut each = (0..7).map(|at| Message::encrypt(session, [], Trap(vec![0; at])));
        assert_eq!(queue.submit_many(&mut each), Ok(7));
        let mut done = 0;
        while let Some(Trap(bytes)) = queue.wait().map(|completion| {
            let odd = completion.buffer.0.len() % 2 == 1;
            assert!(!odd || completion.outcome == Err(MessageError::Panicked));
            assert!(odd || session != null || completion.outcome == Ok(()));
            completion.buffer
        }) {
            done += 1;
            drop(bytes);
        }
        assert_eq!(done, 7);
    }
}

/// A long operation does not stand before a short one.
#[test]
fn long_operations_have_a_worker_of_their_own() {
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let mut queue = WorkerQueue::new(&engine, 4).expect("threads can be made");
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach_slow(gate).expect("room");
    let session = queue.attach(cbc(&engine)).expect("room");
    let other = queue.attach_slow(cbc(&engine)).expect("room");
    queue.submit(message(gate).with_user(1)).expect("room");
    keeper.begun();
    let behind = queue.submit(message(other).with_user(2)).expect("room");
    for _ in 0..10 {
        queue.submit(message(session).with_user(3)).expect("room");
        assert_eq!(queue.wait().map(|done| done.user), Some(3));
    }
    assert!(queue.wait_for(Duration::from_millis(5)).is_none());
    assert_eq!(queue.in_flight(), 2);
    queue.cancel(behind);
    assert_eq!(queue.detach(other), Ok(true));
    assert_eq!(queue.detach(other), Ok(false));
    keeper.open();
    assert_eq!(outcomes(&mut queue), [(1, Ok(())), (2, Err(MessageError::Cancelled))]);
    // Such a session is unknown to a queue without the class.
    let mut other = WorkerQueue::new(&engine, 4).expect("threads can be made");
    other.submit(message(gate)).expect("room");
    assert_eq!(outcomes(&mut other), [(0, Err(MessageError::UnknownSession))]);
}

/// The worker and the client both sleep between messages.
#[test]
fn sleepers_are_woken() {
    let engine = Engine::new();
    let settings = Settings::new(8).spin(Duration::ZERO);
    let mut queue = WorkerQueue::with(&engine, settings).expect("threads can be made");
    let session = queue.attach(cbc(&engine)).expect("room");
    for turn in 0..if cfg!(miri) { 3 } else { 3000 } {
        if turn % 100 == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        queue.submit(message(session).with_user(turn)).expect("room");
        assert_eq!(queue.wait().map(|done| done.user), Some(turn));
    }
}

/// Every completion comes to whoever waits at the descriptor, whatever else it does.
#[cfg(target_os = "linux")]
#[test]
fn a_descriptor_says_when_there_are_completions() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let engine = Engine::new();
    let settings = Settings::new(8).spin(Duration::ZERO);
    let mut queue = WorkerQueue::with(&engine, settings).expect("threads can be made");
    let is_readable = |queue: &mut WorkerQueue<Vec<u8>>, seconds| {
        let descriptor = queue.descriptor().expect("descriptors can be made");
        let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
        let longest = Timespec { tv_sec: seconds, tv_nsec: 0 };
        poll(&mut watched, Some(&longest)).expect("it can be polled") == 1
    };
    assert!(!is_readable(&mut queue, 0));
    let session = queue.attach(cbc(&engine)).expect("room");
    let long = queue.attach_slow(cbc(&engine)).expect("room");
    assert!(queue.poll().is_none());
    for turn in 0..2000 {
        let count = 1 + turn % 3;
        for at in 0..count {
            let session = if at == 1 { long } else { session };
            queue.submit(message(session)).expect("room");
        }
        if turn % 50 == 7 {
            assert!(queue.wait().is_some());
            assert_eq!(outcomes(&mut queue).len(), count - 1);
            // What was polled in between is no reason to hang.
            assert!(queue.poll().is_none());
            continue;
        }
        let mut done = 0;
        while done < count {
            assert!(is_readable(&mut queue, 60), "{turn}");
            while queue.poll().is_some() {
                done += 1;
            }
        }
        // A worker that took long to signal may have come after all was taken, but only once.
        if is_readable(&mut queue, 0) {
            assert!(queue.poll().is_none());
            assert!(!is_readable(&mut queue, 0));
        }
    }
}

#[test]
fn a_forked_child_is_told() {
    let (mut queue, keeper, session) = gated();
    // SAFETY: the child only looks at the queue, drops it and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let refused = queue.submit(message(session)).map_err(|refused| refused.reason);
        let many = queue.submit_many(&mut [message(session)].into_iter());
        let attached = queue.attach(cbc(&Engine::new())).map_err(|refused| refused.reason);
        let right = refused == Err(QueueError::Forked)
            && many == Err(QueueError::Forked)
            && attached.err() == Some(QueueError::Forked)
            && queue.detach(session) == Err(QueueError::Forked)
            && queue.in_flight() == 0
            && queue.poll().is_none()
            && queue.wait().is_none();
        queue.close();
        drop(queue);
        // SAFETY: ends the process and has no preconditions.
        unsafe { libc::_exit(i32::from(!right)) }
    }
    let mut status = 0;
    // SAFETY: the pointer is to an integer of the type that the call fills in.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    queue.submit(message(session)).expect("room");
    keeper.open();
    assert_eq!(outcomes(&mut queue), [(1000, Ok(())), (0, Ok(()))]);
}
