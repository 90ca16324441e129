//! Signatures through queues: in batches by draining, never before short operations, each once.

use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex};
use std::task::Wake;
use std::thread::{self, Thread};

use lanecrypt_engine::queue::{
    AsyncQueue, Completion, LocalQueue, Message, MessageError, SessionHandle, Settings, WorkerQueue,
};
use lanecrypt_engine::{
    Algorithm, AsymmetricKey, Driver, Engine, Error, Jobs, Operation, Session, SessionId,
};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};

use crate::queues::gate::{Gate, Keeper};
use crate::signatures::Case;
use crate::signers::{Signer, signers};

const PACKET: usize = 80;

fn chacha(engine: &Engine) -> Session {
    engine.session(Algorithm::CHACHA20_POLY1305, &[1; 32]).expect("a good key")
}

fn packet(session: SessionHandle) -> Message<[u8; 12], Vec<u8>> {
    Message::seal(session, [2; 12], vec![3; PACKET])
}

/// What the packet becomes.
fn sealed(engine: &Engine) -> Vec<u8> {
    let mut packet = vec![3; PACKET];
    chacha(engine).seal(&[2; 12], &[], &mut packet).expect("it is right");
    packet
}

/// The message of a case. The first bytes may be a header, which changes nothing.
fn message(
    case: &Case,
    signers: &[Signer],
    attached: &[SessionHandle],
) -> Message<[u8; 0], Vec<u8>> {
    let buffer = [&case.message[..], &case.place(signers)].concat();
    let session = attached[case.signer];
    let message = match case.signature {
        None => Message::sign(session, buffer),
        Some(_) => Message::verify(session, buffer),
    };
    message.with_header(case.message.len() / 2)
}

fn assert_done(case: &Case, signers: &[Signer], done: &Completion<Vec<u8>>) {
    let (message, signature) = done.buffer.split_at(case.message.len());
    assert!(message == case.message, "it is left as it is");
    let outcome = done.outcome.map_err(|error| match error {
        MessageError::Refused(error) => error,
        other => panic!("{other}"),
    });
    case.assert(signers, outcome, signature);
}

fn sessions(engine: &Engine, signers: &[Signer]) -> Vec<Session> {
    signers.iter().map(|it| engine.asymmetric_session((it.key.clone(), it.padding))).collect()
}

fn random(signers: &[Signer], seed: u64, count: usize) -> Vec<Case> {
    let mut numbers = Random(seed);
    (0..count).map(|_| Case::random(signers, &mut numbers)).collect()
}

/// The user's number of messages of ciphers.
const CIPHER: u64 = 1 << 32;

#[test]
fn a_local_queue_serves_signatures_among_others() {
    let engine = Engine::new();
    let (signers, sealed) = (signers(), sealed(&engine));
    for (depth, count) in [(1, 5), (3, 20), (40, 40), (300, 250)] {
        let mut queue = LocalQueue::new(&engine, depth);
        let each = sessions(&engine, &signers).into_iter();
        let attached: Vec<_> = each.map(|session| queue.attach(session).expect("room")).collect();
        let cipher = queue.attach(chacha(&engine)).expect("room");
        let cases = random(&signers, depth as u64, count);
        let (mut next, mut done, mut numbers) = (0, 0, Random(depth as u64));
        while done < count {
            while next < count && queue.in_flight() < depth && !numbers.one_in(30) {
                if numbers.one_in(3) {
                    queue.submit(packet(cipher).with_user(CIPHER)).expect("room");
                } else {
                    let message = message(&cases[next], &signers, &attached);
                    queue.submit(message.with_user(next as u64)).expect("room");
                    next += 1;
                }
            }
            let Some(given) = queue.poll() else { continue };
            if given.user == CIPHER {
                assert_eq!((given.outcome, &given.buffer), (Ok(()), &sealed));
            } else {
                assert_eq!(given.user, done as u64, "in order");
                assert_done(&cases[done], &signers, &given);
                done += 1;
            }
        }
    }
}

/// A signature is served when `poll` comes to it, and not on the way to a short message.
#[test]
fn a_local_queue_does_not_sign_for_short_messages() {
    let engine = Engine::new();
    let signers = signers();
    let mut queue = LocalQueue::new(&engine, 200);
    let session = sessions(&engine, &signers[2..3]).pop().expect("a session");
    let (signer, length) = (queue.attach(session).expect("room"), signers[2].length());
    let cipher = queue.attach(chacha(&engine)).expect("room");
    let sign = || Message::sign(signer, vec![0; length]).with_user(1);
    queue.submit(packet(cipher)).expect("room");
    let mut tickets = Vec::new();
    for _ in 0..70 {
        tickets.push(queue.submit(sign()).expect("room"));
        queue.submit(packet(cipher)).expect("room");
    }
    // The first message has been served with all of its kind, and no signature was made: each could
    // still be cancelled.
    assert_eq!(queue.poll().map(|done| (done.user, done.outcome)), Some((0, Ok(()))));
    assert!(queue.cancel(tickets[1]));
    // The first signature is made with 31 others, and the rest still waits.
    assert_eq!(queue.poll().map(|done| (done.user, done.outcome)), Some((1, Ok(()))));
    assert!(!queue.cancel(tickets[32]));
    assert!(queue.cancel(tickets[33]) && !queue.cancel(tickets[33]));
    queue.serve();
    assert!(!tickets.iter().any(|&ticket| queue.cancel(ticket)));
    let outcomes: Vec<_> = core::iter::from_fn(|| queue.poll()).map(|done| done.outcome).collect();
    let cancelled = Err(MessageError::Cancelled);
    assert_eq!(outcomes.len(), 139);
    assert_eq!((outcomes[1], outcomes[65]), (cancelled, cancelled));
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 137);
    // Detaching serves what waits.
    queue.submit(sign()).expect("room");
    assert!(queue.detach(signer).is_some());
    assert_eq!(queue.poll().map(|done| done.outcome), Some(Ok(())));
}

#[test]
fn each_error_of_a_message_is_the_exact_one() {
    let engine = Engine::new();
    let signer = &signers()[2];
    let length = signer.length();
    let mut queue = LocalQueue::new(&engine, 8);
    let both = engine.asymmetric_session((signer.key.clone(), signer.padding));
    let both = queue.attach(both).expect("room");
    let public =
        queue.attach(engine.asymmetric_session((signer.public(), signer.padding))).expect("room");
    let (sign, verify) = (Operation::Sign, Operation::Verify);
    let bytes = |length: usize| vec![5; length];
    let empty: &[u8] = &[];
    for (session, operation, nonce, header, buffer, error) in [
        (both, sign, empty, 0, length - 1, Error::OutputLength),
        (both, sign, empty, 0, 0, Error::OutputLength),
        (both, sign, empty, 1, length, Error::OutputLength),
        (both, sign, empty, length + 1, length, Error::AadLength),
        (both, sign, empty, usize::MAX, length, Error::AadLength),
        (both, sign, &[1], 0, length, Error::NonceLength),
        (both, sign, &[1; 25], 0, length, Error::NonceLength),
        (both, verify, empty, 0, length - 1, Error::Authentication),
        (both, verify, empty, 0, length, Error::Authentication),
        (both, verify, empty, 1, length, Error::Authentication),
        (both, verify, empty, length + 1, length, Error::AadLength),
        (both, verify, &[0; 12], 0, length, Error::NonceLength),
        (public, verify, empty, 0, 0, Error::Authentication),
        (public, sign, empty, 0, length, Error::Unsupported),
        (both, Operation::Seal, empty, 0, length, Error::Unsupported),
        (both, Operation::Open, &[0; 12], 0, length, Error::Unsupported),
        (both, Operation::Encrypt, empty, 0, length, Error::Unsupported),
        (public, Operation::Decrypt, &[0; 16], 0, length, Error::Unsupported),
    ] {
        // Alone, and batched.
        for good in 0..3 {
            let bad = Message::new(session, operation, nonce, bytes(buffer)).with_header(header);
            queue.submit(bad).expect("room");
            for _ in 0..good {
                queue.submit(Message::sign(both, bytes(length)).with_user(1)).expect("room");
            }
            let done = queue.poll().expect("a message");
            assert_eq!(done.outcome, Err(error.into()), "{operation:?} {nonce:?} {header}");
            assert_eq!(done.buffer, bytes(buffer));
            for _ in 0..good {
                let done = queue.poll().expect("a message");
                signer.assert_signed(&[], &done.buffer);
            }
        }
    }
    // The empty message, and one that is all header.
    queue.submit(Message::sign(both, bytes(length))).expect("room");
    queue.submit(Message::sign(both, bytes(length + 9)).with_header(9)).expect("room");
    signer.assert_signed(&[], &queue.poll().expect("a message").buffer);
    let whole = queue.poll().expect("a message").buffer;
    signer.assert_signed(&[5; 9], &whole[9..]);
}

/// A driver of ciphers that stands still keeps no signature waiting, and the other way round: each
/// class has a worker.
#[test]
fn a_worker_queue_has_a_worker_for_signatures() {
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let (signers, sealed) = (signers(), sealed(&engine));
    let mut queue = WorkerQueue::new(&engine, 64).expect("threads can be made");
    // Dropped before the queue, so that the worker ends if an assertion fails.
    let keeper = keeper;
    let cipher = queue.attach(chacha(&engine)).expect("room");
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach_slow(gate).expect("room");
    // Among sessions of ciphers and of slow drivers: it is put with the long operations by itself.
    let each = sessions(&engine, &signers).into_iter();
    let attached: Vec<_> = each.map(|session| queue.attach(session).expect("room")).collect();
    queue.submit(Message::encrypt(gate, [], vec![0; 8]).with_user(CIPHER + 1)).expect("room");
    keeper.begun();
    let cases = random(&signers, 3, 50);
    for (case, user) in cases.iter().zip(0..) {
        let message = message(case, &signers, &attached).with_user(user);
        queue.submit(message).expect("room");
        // The worker of signatures stands before the gate. Short messages pass.
        queue.submit(packet(cipher).with_user(CIPHER)).expect("room");
        let done = queue.wait().expect("a message");
        assert_eq!((done.user, done.outcome, &done.buffer), (CIPHER, Ok(()), &sealed));
    }
    assert!(queue.wait_for(Duration::from_millis(5)).is_none());
    keeper.open();
    let mut seen = vec![false; cases.len()];
    while let Some(done) = queue.wait() {
        if done.user > CIPHER {
            continue;
        }
        let at = usize::try_from(done.user).expect("an index");
        assert!(!core::mem::replace(&mut seen[at], true), "once");
        assert_done(&cases[at], &signers, &done);
    }
    assert!(seen.iter().all(|&seen| seen));
    // Many at once, of the class of long operations.
    let each = cases
        .iter()
        .zip(0..)
        .map(|(case, user)| message(case, &signers, &attached).with_user(user));
    assert_eq!(queue.submit_many_slow(&mut each.into_iter()), Ok(50));
    while let Some(done) = queue.wait() {
        assert_done(&cases[usize::try_from(done.user).expect("an index")], &signers, &done);
    }
    assert_eq!(queue.detach(attached[0]), Ok(true));
    assert_eq!(queue.detach(attached[0]), Ok(false));
}

/// A queue whose worker of long operations stands before a gate, with a session of signatures.
fn gated(signer: &Signer) -> (WorkerQueue<Vec<u8>>, Keeper, SessionHandle) {
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let settings = Settings::new(64).in_order();
    let mut queue = WorkerQueue::with(&engine, settings).expect("threads can be made");
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach_slow(gate).expect("room");
    let session = engine.asymmetric_session((signer.key.clone(), signer.padding));
    let session = queue.attach(session).expect("room");
    queue.submit(Message::encrypt(gate, [], vec![0; 8])).expect("room");
    keeper.begun();
    (queue, keeper, session)
}

#[test]
fn signatures_in_flight_are_cancelled_and_closed() {
    let signer = &signers()[2];
    let sign = |session| Message::sign(session, vec![0; signer.length()]);
    let (mut queue, keeper, session) = gated(signer);
    let tickets: Vec<_> = (0..40).map(|_| queue.submit(sign(session)).expect("room")).collect();
    tickets.iter().step_by(2).for_each(|&ticket| queue.cancel(ticket));
    keeper.open();
    assert_eq!(queue.wait().map(|done| done.outcome), Some(Ok(())));
    for at in 0..40 {
        let done = queue.wait().expect("a message");
        match at % 2 {
            0 => assert_eq!(done.outcome, Err(MessageError::Cancelled)),
            _ => signer.assert_signed(&[], &done.buffer),
        }
    }
    drop(queue);
    // What has been submitted before is answered once, whether it was begun or not.
    let (mut queue, keeper, session) = gated(signer);
    for _ in 0..40 {
        queue.submit(sign(session)).expect("room");
    }
    queue.close();
    keeper.open();
    assert_eq!(queue.wait().map(|done| done.outcome), Some(Ok(())));
    let closed = Err(MessageError::Closed);
    let answers: Vec<_> = core::iter::from_fn(|| queue.wait()).collect();
    assert_eq!(answers.len(), 40);
    assert!(
        answers
            .iter()
            .all(|done| done.outcome == closed && done.buffer == [0; 128][..signer.length()])
    );
    drop(queue);
    // Dropped in the middle.
    let (mut queue, keeper, session) = gated(signer);
    for _ in 0..40 {
        queue.submit(sign(session)).expect("room");
    }
    keeper.open();
    drop(queue);
    assert_eq!(Arc::strong_count(&signer.key), 1, "the worker's session is gone");
}

/// Notes how many jobs it is given at once, and serves none.
#[derive(Debug, Default)]
struct Noting(Arc<Mutex<Vec<usize>>>);

impl Driver for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Err(Error::Unsupported)
    }

    fn open_asymmetric(&self, _: &AsymmetricKey) -> Result<SessionId, Error> {
        Ok(SessionId(0))
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        self.0.lock().expect("nobody panics").push(jobs.len());
        jobs.into_iter().for_each(|job| job.settle(Err(Error::Fault)));
    }
}

/// A worker of signatures takes no more than share lanes, so that others can still be cancelled.
#[test]
fn a_worker_takes_32_signatures_at_once() {
    let (signer, noting, (gate, keeper)) = (&signers()[0], Noting::default(), Gate::new());
    let noted = noting.0.clone();
    let engine = Engine::new().with_driver(noting).expect("a free name");
    let engine = engine.with_driver(gate).expect("a free name");
    let mut queue = WorkerQueue::new(&engine, 200).expect("threads can be made");
    let keeper = keeper;
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach_slow(gate).expect("room");
    let session = engine.asymmetric_session_on("noting", (signer.key.clone(), signer.padding));
    let session = queue.attach(session.expect("it has it")).expect("room");
    queue.submit(Message::encrypt(gate, [], vec![0; 8])).expect("room");
    keeper.begun();
    for _ in 0..100 {
        queue.submit(Message::sign(session, vec![0; 64])).expect("room");
    }
    keeper.open();
    let fault = Err(MessageError::Refused(Error::Fault));
    let outcomes = core::iter::from_fn(|| queue.wait()).map(|done| done.outcome);
    assert_eq!(outcomes.filter(|&outcome| outcome == fault).count(), 100);
    assert_eq!(*noted.lock().expect("nobody panics"), [32, 32, 32, 4]);
}

struct Waking(Thread);

impl Wake for Waking {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Waking(thread::current())));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

fn is_pending<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn futures_have_a_worker_for_signatures() {
    let (gate, keeper) = Gate::new();
    let engine = Engine::new().with_driver(gate).expect("a free name");
    let (signers, sealed) = (signers(), sealed(&engine));
    let queue = AsyncQueue::new(&engine, 4).expect("threads can be made");
    let keeper = keeper;
    let gate = engine.session_on(Gate::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let gate = queue.attach_slow(gate).expect("room");
    let cipher = queue.attach(chacha(&engine)).expect("room");
    let each = sessions(&engine, &signers).into_iter();
    let attached: Vec<_> = each.map(|session| queue.attach(session).expect("room")).collect();
    let cases = random(&signers, 4, 30);
    let submit = |case: &Case| queue.submit(message(case, &signers, &attached).with_user(7));

    let blocked = queue.submit(Message::encrypt(gate, [], vec![0; 8])).expect("room");
    keeper.begun();
    let waiting: Vec<_> = cases[..3].iter().map(|case| submit(case).expect("room")).collect();
    assert_eq!(queue.in_flight(), 4);
    assert!(submit(&cases[3]).is_err(), "the class is full");
    assert!(is_pending(pin!(queue.ready())));
    let mut late = pin!(queue.serve(message(&cases[3], &signers, &attached)));
    assert!(is_pending(late.as_mut()));
    // Short operations have room and a worker of their own.
    for _ in 0..10 {
        let done = block_on(queue.serve(packet(cipher).with_user(9))).expect("it is open");
        assert_eq!((done.user, done.outcome, &done.buffer), (9, Ok(()), &sealed));
    }
    waiting[1].cancel();
    keeper.open();
    assert_eq!(block_on(blocked).map(|done| done.outcome), Ok(Ok(())));
    for (at, (served, case)) in waiting.into_iter().zip(&cases).enumerate() {
        let done = block_on(served).expect("it is open");
        assert_eq!(done.user, 7);
        match at {
            1 => assert_eq!(done.outcome, Err(MessageError::Cancelled)),
            _ => assert_done(case, &signers, &done),
        }
    }
    assert_done(&cases[3], &signers, &block_on(late).expect("it is open"));
    assert_eq!(queue.in_flight(), 0);
    block_on(queue.ready()).expect("it is open");

    // Many tasks, some of which go away.
    let (queue, submit, signers, attached) = (&queue, &submit, &signers, &attached);
    thread::scope(|scope| {
        for part in cases.chunks(8) {
            scope.spawn(move || {
                for case in part {
                    drop(submit(case));
                    let done = block_on(queue.serve(message(case, signers, attached)));
                    assert_done(case, signers, &done.expect("it is open"));
                }
            });
        }
    });
    assert_eq!(queue.detach(attached[0]), Ok(true));
    assert_eq!(queue.detach(attached[0]), Ok(false));
    queue.close();
    let session = engine.asymmetric_session((signers[0].key.clone(), signers[0].padding));
    assert!(queue.attach(session).is_err());
}
