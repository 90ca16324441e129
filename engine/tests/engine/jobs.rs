//! Requests that cross threads: sent to another thread and back, or divided by a driver among its
//! own threads. Also the view of requests that a driver gets.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::sync::{Arc, mpsc};
use std::thread;

use lanecrypt_ciphers::Cipher;
use lanecrypt_engine::{Algorithm, Driver, Engine, Error, Job, Jobs, Request, Session, SessionId};

const COUNT: usize = 130;

fn packets() -> Vec<[u8; 100]> {
    (0..COUNT).map(|at| [at.to_le_bytes()[0]; 100]).collect()
}

fn nonces() -> Vec<[u8; 12]> {
    (0..COUNT).map(|at| [at.to_le_bytes()[0]; 12]).collect()
}

/// The results of the same messages from a session of the software.
fn sealed(key: &[u8; 32]) -> Vec<[u8; 100]> {
    let session = Engine::new().session(Algorithm::CHACHA20_POLY1305, key).expect("a good key");
    let mut packets = packets();
    for (packet, nonce) in packets.iter_mut().zip(nonces()) {
        session.seal(&nonce, b"aad", packet).expect("good lengths");
    }
    packets
}

/// Each request is owned by the channel while it is in transit.
#[test]
fn a_request_goes_to_a_thread_and_back() {
    let engine = Engine::new();
    let session = engine.session(Algorithm::CHACHA20_POLY1305, &[4; 32]).expect("a good key");
    let (nonces, mut packets) = (nonces(), packets());
    thread::scope(|scope| {
        let (there, inbox) = mpsc::channel::<(usize, Request<'_>)>();
        let (back, outbox) = mpsc::channel();
        let engine = &engine;
        scope.spawn(move || {
            // All requests that have arrived form one batch.
            while let Ok(first) = inbox.recv() {
                let (numbers, mut batch): (Vec<usize>, Vec<Request<'_>>) =
                    [first].into_iter().chain(inbox.try_iter()).unzip();
                engine.process(&mut batch).expect("good lengths");
                for answer in numbers.into_iter().zip(batch) {
                    back.send(answer).expect("somebody waits for it");
                }
            }
        });
        for (at, packet) in packets.iter_mut().enumerate() {
            let request = Request::seal(&session, &nonces[at], b"aad", packet);
            there.send((at, request)).expect("the thread takes it");
        }
        drop(there);
        let mut seen = [false; COUNT];
        for (at, request) in outbox {
            assert_eq!(request.outcome(), Some(Ok(())));
            assert!(core::ptr::eq(request.session(), &raw const session));
            assert!(!core::mem::replace(&mut seen[at], true), "{at} came twice");
        }
        assert_eq!(seen, [true; COUNT]);
    });
    assert!(packets == sealed(&[4; 32]));
}

/// A batch with waiting messages is sent to another thread, and finished there.
#[test]
fn a_batch_goes_to_a_thread() {
    let engine = Engine::new();
    let session = engine.session(Algorithm::CHACHA20_POLY1305, &[5; 32]).expect("a good key");
    let (nonces, mut packets) = (nonces(), packets());
    let mut buffer = engine.batch_buffer(COUNT);
    let mut batch = buffer.batch();
    for (nonce, packet) in nonces.iter().zip(&mut packets) {
        batch.seal(&session, nonce, b"aad", packet);
    }
    let answer = thread::scope(|scope| {
        scope.spawn(move || batch.finish()).join().expect("it does not panic")
    });
    assert_eq!(answer, Ok(()));
    assert!(buffer.outcomes().eq([Some(Ok(())); COUNT]));
    assert!(packets == sealed(&[5; 32]));
}

/// Serves ChaCha20-Poly1305 under one key, on its own threads.
#[derive(Clone, Debug)]
struct Threads(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    cipher: Cipher,
    batches: AtomicUsize,
    /// The thread that served each part of a batch, and the number of jobs in that part.
    parts: Mutex<Vec<(thread::ThreadId, usize)>>,
}

impl Threads {
    fn serve(&self, jobs: Jobs<'_, '_>) {
        let part = (thread::current().id(), jobs.len());
        self.0.parts.lock().expect("no thread panics").push(part);
        for mut job in jobs {
            let outcome = self.seal(&mut job);
            job.settle(outcome);
        }
    }

    fn seal(&self, job: &mut Job<'_, '_>) -> Result<(), Error> {
        let (nonce, aad, mut tag) = (job.nonce(), job.aad(), [0; 16]);
        self.0.cipher.seal_detached(nonce, aad, job.data()?, &mut tag)?;
        job.put_tag(&tag)
    }
}

impl Driver for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Ok(SessionId(3))
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        // Relaxed: it is only a counter.
        self.0.batches.fetch_add(1, Ordering::Relaxed);
        thread::scope(|scope| {
            let (mut rest, threads) = (jobs, 3);
            let each = rest.len().div_ceil(threads);
            while !rest.is_empty() {
                let part;
                (part, rest) = rest.split_at(each);
                scope.spawn(|| self.serve(part));
            }
            // Splitting beyond the end leaves nothing.
            let (all, none) = rest.split_at(5);
            assert!(all.is_empty() && none.is_empty());
        });
    }
}

/// Batches of the driver only, and with messages of the software between.
#[test]
fn a_driver_divides_its_jobs_among_threads() {
    let cipher = Cipher::new(Algorithm::CHACHA20_POLY1305, &[6; 32]).expect("a good key");
    let (batches, parts) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = Threads(Arc::new(Inside { cipher, batches, parts }));
    let engine = Engine::new().with_driver(threads.clone()).expect("a free name");
    let there =
        engine.session_on("threads", Algorithm::CHACHA20_POLY1305, &[6; 32]).expect("it takes all");
    let here = engine.session(Algorithm::CHACHA20_POLY1305, &[6; 32]).expect("a good key");
    let sealed = sealed(&[6; 32]);
    let sessions: [&dyn Fn(usize) -> bool; 2] = [&|_| true, &|at| at % 10 > 1];
    for is_there in sessions {
        let session = |at| -> &Session { if is_there(at) { &there } else { &here } };
        let (nonces, mut packets) = (nonces(), packets());
        let each = nonces.iter().zip(&mut packets).enumerate();
        let mut batch: Vec<_> = each
            .map(|(at, (nonce, packet))| Request::seal(session(at), nonce, b"aad", packet))
            .collect();
        assert_eq!(engine.process(&mut batch), Ok(()));
        drop(batch);
        assert!(packets == sealed);

        let mut packets = self::packets();
        let mut buffer = engine.batch_buffer(COUNT);
        let mut batch = buffer.batch();
        for (at, (nonce, packet)) in nonces.iter().zip(&mut packets).enumerate() {
            let at_once = batch.seal(session(at), nonce, b"aad", packet);
            assert!(!is_there(at) || at_once.is_none());
        }
        assert_eq!(batch.finish(), Ok(()));
        assert!(packets == sealed);
    }
    let parts = threads.0.parts.lock().expect("no thread panics");
    assert!(parts.iter().all(|(id, _)| *id != thread::current().id()));
    let its = (0..COUNT).filter(|at| at % 10 > 1).count();
    let jobs: usize = parts.iter().map(|(_, jobs)| jobs).sum();
    assert_eq!(jobs, 2 * COUNT + 2 * its);
    assert!(parts.len() > threads.0.batches.load(Ordering::Relaxed));
}

/// Records the requests that it gets.
#[derive(Clone, Debug, Default)]
struct Looking(Arc<Mutex<Vec<String>>>);

impl Driver for Looking {
    fn name(&self) -> &'static str {
        "looking"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Ok(SessionId(9))
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        assert_eq!(format!("{jobs:?}"), format!("Jobs {{ len: {}, .. }}", jobs.len()));
        for mut job in jobs {
            assert_eq!((job.session_id(), job.session().driver()), (SessionId(9), "looking"));
            let (operation, nonce, aad) =
                (job.operation(), job.nonce().to_vec(), job.aad().to_vec());
            let (buffer, tag) = (job.tag_length(), job.tag().map(<[u8]>::to_vec));
            let data = job.data().map(|data| (data.get_in().to_vec(), data.len()));
            let put = [15, 16, 17].map(|bytes| job.put_tag(&[8; 17][..bytes]));
            let seen = format!("{operation:?} {nonce:?} {aad:?} {buffer} {tag:?} {data:?} {put:?}");
            self.0.lock().expect("nothing panics").push(seen);
            job.settle(Ok(()));
        }
    }
}

/// The view is the same for a slice and for a batch that is filled.
#[test]
fn jobs_show_what_requests_were_made_of() {
    let looking = Looking::default();
    let engine = Engine::new().with_driver(looking.clone()).expect("a free name");
    let session =
        engine.session_on("looking", Algorithm::AES_128_GCM, &[1; 16]).expect("it takes all");
    let raw = engine.session_on("looking", Algorithm::AES_128_CTR, &[1; 16]).expect("it takes all");
    let from = [5; 3];
    let before = || ([1; 3], [2; 19], [3; 19], [4; 16], [6; 2], [7; 2], [8; 15], [9; 15]);
    let (mut a, mut b, mut c, mut tag, mut d, mut e, mut f, mut g) = before();
    let came = [9; 12];
    let mut batch = [
        Request::seal_detached(&session, &[1; 12], b"x", (&from[..], &mut a[..]), &mut tag),
        Request::seal(&session, &[2; 12], b"y", &mut b),
        Request::open(&session, &[3; 13], b"", &mut c),
        Request::open_detached(&session, &[4; 12], b"", &mut d, &came),
        Request::encrypt(&raw, &[5; 16], (&from[..], &mut e[..])),
        Request::seal(&session, &[6; 12], b"", &mut f),
        Request::open(&session, &[7; 12], b"", &mut g),
    ];
    assert_eq!(engine.process(&mut batch), Ok(()));
    assert!(batch.iter().all(|request| request.outcome() == Some(Ok(()))));
    assert_eq!((a, tag, &b[3..]), ([1; 3], [8; 16], &[8; 16][..]));

    let mut buffer = engine.batch_buffer(7);
    let (mut a, mut b, mut c, mut tag, mut d, mut e, mut f, mut g) = before();
    let mut batch = buffer.batch();
    batch.seal_detached(&session, &[1; 12], b"x", (&from[..], &mut a[..]), &mut tag);
    batch.seal(&session, &[2; 12], b"y", &mut b);
    batch.open(&session, &[3; 13], b"", &mut c);
    batch.open_detached(&session, &[4; 12], b"", &mut d, &came);
    batch.encrypt(&raw, &[5; 16], (&from[..], &mut e[..]));
    batch.seal(&session, &[6; 12], b"", &mut f);
    batch.open(&session, &[7; 12], b"", &mut g);
    assert_eq!(batch.finish(), Ok(()));
    assert_eq!((a, tag, &b[3..]), ([1; 3], [8; 16], &[8; 16][..]));

    let seen = looking.0.lock().expect("nothing panics");
    let (slice, filled) = seen.split_at(7);
    assert_eq!(slice, filled);
    let wrong = "Err(TagLength)";
    let none = "[Err(Unsupported), Err(Unsupported), Err(Unsupported)]";
    let put = format!("[{wrong}, Ok(()), {wrong}]");
    let no_room = format!("[{wrong}, {wrong}, {wrong}]");
    let ones = |digit: u8, count| format!("{:?}", vec![digit; count]);
    let expected = [
        format!("Seal {} [120] 16 None Ok(([5, 5, 5], 3)) {put}", ones(1, 12)),
        format!("Seal {} [121] 16 None Ok(([2, 2, 2], 3)) {put}", ones(2, 12)),
        format!("Open {} [] 16 Some({}) Ok(([3, 3, 3], 3)) {none}", ones(3, 13), ones(3, 16)),
        format!("Open {} [] 12 Some({}) Ok(([6, 6], 2)) {none}", ones(4, 12), ones(9, 12)),
        format!("Encrypt {} [] 0 None Err(OutputLength) {none}", ones(5, 16)),
        format!("Seal {} [] 15 None Err(OutputLength) {no_room}", ones(6, 12)),
        format!("Open {} [] 15 None Err(Authentication) {none}", ones(7, 12)),
    ];
    for (seen, expected) in slice.iter().zip(&expected) {
        assert_eq!(seen, expected);
    }
}
