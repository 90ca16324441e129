//! Queues allocate nothing from message to message: neither the thread that submits nor the worker.

use core::future::Future;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use lanecrypt_engine::queue::{
    AsyncQueue, Completion, LocalQueue, Message, SessionHandle, Settings, WorkerQueue,
};
use lanecrypt_engine::{Algorithm, Engine, Session};
use lanecrypt_testing::batches::adding::Adding;
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::counting::calls_of_all_threads;

const DEPTH: usize = 50;
const TURNS: usize = 2000;
const LENGTH: usize = 528;

/// Sessions whose messages are served alone, in lanes, and refused.
fn sessions(engine: &Engine) -> Vec<(Session, usize)> {
    let software = [
        Algorithm::AES_128_GCM,
        Algorithm::CHACHA20_POLY1305,
        Algorithm::AES_128_CBC,
        Algorithm::AES_256_CBC,
        Algorithm::NULL,
    ];
    software
        .into_iter()
        .flat_map(|algorithm| {
            let key = vec![1; algorithm.key_lengths().longest()];
            let open = || engine.session_on("software", algorithm, &key).expect("a good key");
            [(open(), algorithm.nonce_length()), (open(), 25)]
        })
        .collect()
}

/// A message that takes a buffer.
fn message<B>(
    sessions: &[(SessionHandle, bool, usize)],
    numbers: &mut Random,
    buffer: B,
) -> Message<&'static [u8], B> {
    let &(session, is_aead, nonce) = numbers.choice(sessions);
    let nonce = &[9; 32][..nonce];
    match is_aead {
        true => Message::seal(session, nonce, buffer),
        false => Message::encrypt(session, nonce, buffer),
    }
}

fn attach(
    engine: &Engine,
    mut attach: impl FnMut(Session) -> SessionHandle,
) -> Vec<(SessionHandle, bool, usize)> {
    let sessions = sessions(engine).into_iter();
    sessions
        .map(|(session, nonce)| {
            let is_aead = session.algorithm().expect("a cipher").is_aead();
            (attach(session), is_aead, nonce)
        })
        .collect()
}

fn buffers() -> Vec<Box<[u8]>> {
    (0..DEPTH).map(|at| vec![7; LENGTH - 16 * (at % 30)].into_boxed_slice()).collect()
}

/// One test, because all threads are counted.
pub(crate) fn queues_allocate_nothing_from_message_to_message() {
    let engine = Engine::new();
    for turns in [1, TURNS] {
        let counts = [local(&engine, turns), worker(&engine, turns), futures(&engine, turns)];
        assert_eq!(counts, [0; 3], "{turns}");
    }
    // The counter sees what does allocate, on a worker as well.
    let adding = Engine::new().with_driver(Adding::default()).expect("a free name");
    let mut queue = WorkerQueue::new(&adding, 8).expect("threads can be made");
    let session = adding.session_on(Adding::NAME, Algorithm::NULL, &[]).expect("it serves it");
    let session = queue.attach(session).expect("room");
    let buffer = vec![0; 9];
    let calls = calls_of_all_threads(|| {
        queue.submit(Message::encrypt(session, [1; 8], buffer)).expect("room");
        let done = queue.wait();
        assert!(done.is_some());
        core::mem::forget(done);
    });
    assert!(calls > 0);
}

fn local(engine: &Engine, turns: usize) -> usize {
    let mut queue = LocalQueue::new(engine, DEPTH);
    let sessions = attach(engine, |session| queue.attach(session).expect("room"));
    let (mut pool, mut numbers, mut served) = (buffers(), Random(121), 0);
    let calls = calls_of_all_threads(|| {
        for _ in 0..turns {
            for _ in 0..1 + numbers.below(DEPTH) {
                let buffer = pool.pop().expect("as many as the queue takes");
                queue.submit(message(&sessions, &mut numbers, buffer)).expect("room");
            }
            while let Some(done) = queue.poll() {
                served += usize::from(done.outcome.is_ok());
                pool.push(done.buffer);
            }
        }
    });
    assert!(turns == 1 || served > turns);
    calls
}

fn worker(engine: &Engine, turns: usize) -> usize {
    let settings = Settings::new(DEPTH).spin(Duration::from_micros(1));
    let mut queue = WorkerQueue::with(engine, settings).expect("threads can be made");
    let sessions = attach(engine, |session| queue.attach(session).expect("room"));
    let (mut pool, mut numbers) = (buffers(), Random(122));
    let mut turn = |many: bool| {
        let count = if many { 1 + numbers.below(DEPTH) } else { DEPTH };
        for _ in 0..count {
            let buffer = pool.pop().expect("as many as the queue takes");
            queue.submit(message(&sessions, &mut numbers, buffer)).expect("room");
        }
        while let Some(done) = queue.wait() {
            pool.push(done.buffer);
        }
    };
    // The worker has attached its sessions, and the threads have been parked.
    (0..20).for_each(|_| turn(false));
    calls_of_all_threads(|| (0..turns).for_each(|_| turn(true)))
}

fn futures(engine: &Engine, turns: usize) -> usize {
    let queue = AsyncQueue::new(engine, DEPTH).expect("threads can be made");
    let sessions = attach(engine, |session| queue.attach(session).expect("room"));
    let (mut pool, mut numbers) = (buffers(), Random(123));
    let mut flight = Vec::with_capacity(DEPTH);
    let mut context = Context::from_waker(Waker::noop());
    let mut turn = || {
        for at in 0..1 + numbers.below(DEPTH) {
            let buffer = pool.pop().expect("as many as the queue takes");
            let submitted = queue.submit(message(&sessions, &mut numbers, buffer));
            flight.push(submitted.expect("room"));
            if at % 7 == 0 {
                flight[at].cancel();
            }
        }
        for mut served in flight.drain(..) {
            let done: Completion<_> = loop {
                match core::pin::Pin::new(&mut served).poll(&mut context) {
                    Poll::Ready(done) => break done.expect("no fork"),
                    Poll::Pending => std::thread::yield_now(),
                }
            };
            pool.push(done.buffer);
        }
    };
    (0..20).for_each(|_| turn());
    calls_of_all_threads(|| (0..turns).for_each(|_| turn()))
}
