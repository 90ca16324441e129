//! Futures of a client: every message completes once, nobody sleeps for ever, and nothing is left.

use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::fs;
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};

use lanecrypt_device::{AsyncClient, Error, Message, Server, Settings};
use lanecrypt_engine::{Algorithm, Engine, Error as Cipher};
use lanecrypt_testing::numbers::{Numbers, cases};
use rustix::process::{Pid, Signal, kill_process};

use crate::daemon::children::{self, kill, spawn, until_it_listens};
use crate::daemon::{Folder, Running, until};

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Notes that it was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a future. It is polled again only when it was woken, so that a lost wake-up hangs.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Waits for all of these futures.
async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    core::future::poll_fn(|context| {
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(done) = future.as_mut().poll(context)
            {
                *output = Some(done);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Polls a future once, with a waker that nobody hears.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// The test that child processes run.
const CHILD: &str = "futures::child";

/// Not a test by itself: what the child processes of the tests below run.
#[test]
fn child() {
    let Some((role, path)) = children::role() else { return };
    assert_eq!(role, "daemon");
    children::serve(&path);
}

#[test]
fn tasks_of_many_threads_get_their_own_answers() {
    let daemon = Running::new(Server::new());
    for depth in [4, 256] {
        let settings = Settings::default().depth(depth).arena(1 << 13);
        let client = AsyncClient::connect_with(daemon.path(), &settings).expect("it listens");
        assert_eq!((client.depth(), client.longest()), (depth as usize, 1 << 13));
        let (row, key) = (Algorithm::AES_128_GCM, [4; 16]);
        let session = client.session(row, &key).expect("it is a key");
        let local = Engine::new().session(row, &key).expect("it is a key");
        let task = async |seed: u64| {
            let mut numbers = Numbers(seed);
            for count in 0..cases(60_u64).min(10_000) {
                let mut nonce = [0; 12];
                nonce[..8].copy_from_slice(&(count << 16 | seed).to_le_bytes());
                let (header, length) = (numbers.below(20), numbers.below(1500));
                let plain = numbers.bytes(header + length + 16);
                let message = Message::seal(session, nonce, plain.clone());
                let message = message.with_header(header).with_user(seed);
                let done = client.serve(message).await.expect("it lives");
                let mut expected = plain.clone();
                let (aad, data) = expected.split_at_mut(header);
                local.seal(&nonce, aad, data).expect("it is served");
                assert_eq!((done.outcome, done.user), (Ok(()), seed));
                assert_eq!(done.buffer, expected);
            }
        };
        thread::scope(|scope| {
            for number in 0..3 {
                let task = &task;
                scope.spawn(move || block_on(all((0..8).map(|at| task(8 * number + at)))));
            }
        });
        assert_eq!(client.in_flight(), 0);
        client.close(session).expect("it is open");
        let message = Message::seal(session, [0; 12], vec![0; 32]);
        let done = block_on(client.serve(message)).expect("it lives");
        assert_eq!((done.outcome, done.buffer), (Err(Error::UnknownSession), vec![0; 32]));
    }
}

#[test]
fn what_is_not_taken_comes_back() {
    let daemon = Running::new(Server::new());
    let settings = Settings::default().depth(2).arena(1 << 12);
    let client = AsyncClient::connect_with(daemon.path(), &settings).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    let message = |length| Message::encrypt(session, [0; 16], vec![9; length]);
    let not_taken = client.submit(message(4097)).expect_err("it is too long");
    assert_eq!((not_taken.reason, not_taken.value.into_buffer()), (Error::TooLong, vec![9; 4097]));
    assert_eq!(block_on(client.serve(message(4097))).expect_err("too long"), Error::TooLong);
    let header = block_on(client.serve(message(3).with_header(4)));
    assert_eq!(header.expect_err("it is too short"), Error::Refused(Cipher::AadLength));
    // Who keeps answers keeps room.
    let kept = [(); 2].map(|()| client.submit(message(5)).expect("there is room"));
    assert_eq!(client.submit(message(5)).expect_err("no room").reason, Error::Full);
    assert_eq!(client.in_flight(), 2);
    assert!(poll_once(pin!(client.ready())).is_pending());
    let mut waits = pin!(client.serve(message(6)));
    assert!(poll_once(waits.as_mut()).is_pending());
    let done = block_on(all(kept));
    assert!(done.iter().all(|done| done.as_ref().is_ok_and(|done| done.buffer.len() == 5)));
    block_on(client.ready()).expect("it lives");
    let done = block_on(waits).expect("it lives");
    assert_eq!((done.outcome, done.buffer.len()), (Ok(()), 6));
    assert_eq!(client.in_flight(), 0);
}

/// A buffer that counts how many there are.
struct Counted(Vec<u8>, Arc<AtomicUsize>);

impl Counted {
    fn new(there: &Arc<AtomicUsize>) -> Self {
        there.fetch_add(1, Ordering::Relaxed);
        Self(vec![0; 100], there.clone())
    }
}

impl AsMut<[u8]> for Counted {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn dropped_futures_lose_and_leak_nothing() {
    let daemon = Running::new(Server::new());
    let there = Arc::new(AtomicUsize::new(0));
    let settings = Settings::default().depth(16);
    let client: AsyncClient<Counted> =
        AsyncClient::connect_with(daemon.path(), &settings).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CBC).expect("there is entropy");
    let mut numbers = Numbers(5);
    let mut answered = 0;
    let rounds = cases(300_usize).min(100_000);
    for _ in 0..rounds {
        let mut futures = Vec::new();
        for _ in 0..8 {
            let message = Message::encrypt(session, [0; 16], Counted::new(&there));
            futures.push(Box::pin(async { client.serve(message).await }));
        }
        // Some are never polled, some once, some to the end.
        futures.retain_mut(|future| match numbers.below(4) {
            0 => false,
            1 => {
                let _ = poll_once(future.as_mut());
                false
            }
            _ => true,
        });
        let count = futures.len();
        let done = block_on(all(futures));
        // 100 bytes are no whole blocks.
        let refused = Err(Error::Refused(Cipher::DataLength));
        assert!(done.iter().all(|done| done.as_ref().is_ok_and(|done| done.outcome == refused)));
        answered += count;
        drop(done);
        assert_eq!(there.load(Ordering::Relaxed), 0, "buffers are left");
    }
    assert!(answered > rounds && answered < 8 * rounds);
    // What was abandoned has given its room back once it was answered.
    until(|| {
        let _ = block_on(client.serve(Message::encrypt(session, [0; 16], Counted::new(&there))));
        client.in_flight() == 0
    });
    let statistics = crate::daemon::statistics(&daemon.path());
    assert!(statistics.requests >= answered as u64);
}

#[test]
fn a_message_is_served_though_nobody_polls() {
    let daemon = Running::new(Server::new());
    let client: AsyncClient = AsyncClient::connect(daemon.path()).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    let served = client.submit(Message::encrypt(session, [0; 16], vec![0; 16])).expect("room");
    let requests = || crate::daemon::statistics(&daemon.path()).requests;
    until(|| requests() == 1);
    drop(served);
    let random = block_on(client.serve(Message::fill(vec![0; 32]))).expect("it lives");
    assert!(random.outcome.is_ok() && random.buffer != [0; 32]);
}

#[test]
fn a_killed_daemon_resolves_all() {
    let folder = Folder::new();
    let path = folder.socket();
    for _ in 0..cases(4).min(100) {
        let mut daemon = spawn(CHILD, "daemon", &path);
        until_it_listens(&path);
        let client: AsyncClient = AsyncClient::connect(&path).expect("it listens");
        let session = client.generated_session(Algorithm::AES_128_GCM).expect("entropy");
        // It does not answer any more, but lives.
        kill_process(Pid::from_child(&daemon), Signal::STOP).expect("it runs");
        until(|| is_stopped(&daemon));
        let message = |user| Message::seal(session, [0; 12], vec![3; 64]).with_user(user);
        let served = (0..client.depth() as u64).map(|user| {
            let message = message(user);
            client.submit(message).expect("there is room")
        });
        let mut served: Vec<_> = served.collect();
        // One that waits for room, and one that is dropped.
        let waits = client.serve(message(0));
        drop(served.pop());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| block_on(waits));
            let served = scope.spawn(|| block_on(all(served)));
            kill(&mut daemon);
            for (user, done) in served.join().expect("it does not panic").into_iter().enumerate() {
                let done = done.expect("the process is the same");
                assert_eq!((done.user, done.outcome), (user as u64, Err(Error::Disconnected)));
                assert_eq!(done.buffer, vec![3; 64]);
            }
            let waited = waiting.join().expect("it does not panic");
            let waited = waited.and_then(|done| done.outcome);
            assert_eq!(waited, Err(Error::Disconnected));
        });
        assert_eq!(client.in_flight(), 0);
        let refused = client.submit(message(0)).expect_err("it is gone");
        assert_eq!(refused.reason, Error::Disconnected);
        assert_eq!(block_on(client.ready()), Err(Error::Disconnected));
        let refused = client.generated_session(Algorithm::AES_128_GCM);
        assert_eq!(refused, Err(Error::Disconnected));
    }
}

#[test]
fn who_waits_gets_the_room_of_dropped_futures() {
    let folder = Folder::new();
    let path = folder.socket();
    let mut daemon = spawn(CHILD, "daemon", &path);
    until_it_listens(&path);
    let settings = Settings::default().depth(2);
    let client: AsyncClient = AsyncClient::connect_with(&path, &settings).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    let message = || Message::encrypt(session, [0; 16], vec![0; 16]);
    kill_process(Pid::from_child(&daemon), Signal::STOP).expect("it runs");
    until(|| is_stopped(&daemon));
    for _ in 0..2 {
        drop(client.submit(message()).expect("there is room"));
    }
    assert_eq!((client.in_flight(), client.submit(message()).is_err()), (2, true));
    let mut waits = Box::pin(client.serve(message()));
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(woken.clone());
    assert!(waits.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    kill_process(Pid::from_child(&daemon), Signal::CONT).expect("it runs");
    // Nobody polls until then.
    until(|| woken.0.load(Ordering::Relaxed));
    assert_eq!(block_on(waits).expect("it lives").outcome, Ok(()));
    kill(&mut daemon);
}

fn is_stopped(child: &std::process::Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    status.lines().any(|line| line.starts_with("State:\tT"))
}

#[test]
fn after_a_long_rest_somebody_still_waits() {
    let daemon = Running::new(Server::new());
    // The thread rests after some 25 of these.
    let settings = Settings::default().max_sleep(Duration::from_millis(2));
    let client: AsyncClient =
        AsyncClient::connect_with(daemon.path(), &settings).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    for rest in [0, 10, 50, 100, 200, 400] {
        thread::sleep(Duration::from_millis(rest));
        let message = Message::encrypt(session, [0; 16], vec![0; 16]);
        let done = block_on(client.serve(message)).expect("it lives");
        assert_eq!(done.outcome, Ok(()));
    }
    // The end finds the thread while it naps, and while it rests.
    for (before, max_sleep) in [(100, Duration::from_secs(3600)), (300, Duration::from_millis(2))] {
        let settings = Settings::default().max_sleep(max_sleep);
        let client: AsyncClient =
            AsyncClient::connect_with(daemon.path(), &settings).expect("it listens");
        thread::sleep(Duration::from_millis(before));
        drop(client);
    }
}

#[test]
fn a_waker_that_panics_harms_nobody() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker of the test");
        }
    }
    let daemon = Running::new(Server::new());
    let client: AsyncClient = AsyncClient::connect(daemon.path()).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    let message = || Message::encrypt(session, [0; 16], vec![0; 16]);
    for _ in 0..50 {
        let served = client.submit(message()).expect("there is room");
        let mut served = pin!(served);
        let waker = Waker::from(Arc::new(Panics));
        let polled = served.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            assert_eq!(block_on(served).expect("it lives").outcome, Ok(()));
        }
        let done = block_on(client.serve(message())).expect("it lives");
        assert_eq!(done.outcome, Ok(()));
    }
}

#[test]
fn a_child_of_a_fork_has_no_connection() {
    let daemon = Running::new(Server::new());
    let client: AsyncClient = AsyncClient::connect(daemon.path()).expect("it listens");
    let session = client.generated_session(Algorithm::AES_128_CTR).expect("there is entropy");
    let message = || Message::encrypt(session, [0; 16], vec![0; 16]);
    let served = client.submit(message()).expect("there is room");
    let in_child = || {
        let refused = client.submit(message()).expect_err("it is the parent's");
        let polled = poll_once(pin!(client.serve(message())));
        refused.reason == Error::Forked
            && matches!(polled, Poll::Ready(Err(Error::Forked)))
            && client.in_flight() == 0
    };
    // SAFETY: the child only does what is looked at here, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let right = in_child();
        drop(served);
        drop(client);
        // SAFETY: it ends this process.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = 0;
    // SAFETY: the child was made above, and the status is a local number.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child found something else");
    let done = block_on(served).expect("it lives");
    assert_eq!(done.outcome, Ok(()));
}

#[cfg(feature = "rsa")]
#[test]
fn signatures_and_ciphers_of_many_tasks() {
    use lanecrypt_rsa::{Hash, Padding, PrivateKey};

    let daemon = Running::new(Server::new());
    let client: AsyncClient = AsyncClient::connect(daemon.path()).expect("it listens");
    let key = include_str!("../../../rsa/tests/key.pem");
    let key = PrivateKey::from_pem(key).expect("it is a key");
    let padding = Padding::pkcs1v15(Hash::SHA256);
    let signing = client.rsa_session(key, padding).expect("it is a key");
    let cipher = client.generated_session(Algorithm::AES_128_GCM).expect("there is entropy");
    let local = PrivateKey::from_pem(include_str!("../../../rsa/tests/key.pem")).expect("a key");
    let local = Engine::new().asymmetric_session((local, padding));
    let sign = async |number: u64| {
        let message = number.to_le_bytes();
        let buffer = [&message[..], &[0; 256]].concat();
        let done = client.serve(Message::sign(signing, buffer)).await.expect("it lives");
        assert_eq!(done.outcome, Ok(()));
        local.verify(&message, &done.buffer[8..]).expect("it is right");
        let done = client.serve(Message::verify(signing, done.buffer)).await.expect("it lives");
        assert_eq!(done.outcome, Ok(()));
    };
    let seal = async |_| {
        for _ in 0..100 {
            let message = Message::seal(cipher, [0; 12], vec![0; 64]);
            assert_eq!(client.serve(message).await.expect("it lives").outcome, Ok(()));
        }
    };
    // More signatures than may be in flight.
    thread::scope(|scope| {
        scope.spawn(|| block_on(all((0..150).map(sign))));
        scope.spawn(|| block_on(all((0..20).map(seal))));
        // A key is made meanwhile.
        client.generated_rsa_session(2048, padding).expect("there is entropy");
    });
    assert_eq!(client.in_flight(), 0);
}
