//! Batches that do not end normally: dropped, leaked, or abandoned in a panic of the caller or of a
//! driver. No message is served twice, every served message has its outcome, and the buffer residue
//! usable.

use core::mem;
use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};

use lanecrypt_engine::{Algorithm, Batch, BatchBuffer, Engine, Error, Request, Session};
use lanecrypt_testing::batches::adding::{Adding, add};

const COUNT: usize = 40;
/// Rooms for all messages of a batch, for fewer, and for one.
const ROOMS: [usize; 4] = [64, 7, 40, 1];

/// Messages of three sorts: served at once, waiting for others, and waiting for a driver.
struct Scene {
    engine: Engine,
    adding: Adding,
    sessions: [Session; 5],
}

impl Scene {
    fn new() -> Self {
        let adding = Adding::default();
        let engine = Engine::new().with_driver(adding.clone()).expect("a free name");
        let sealed =
            |algorithm, bytes| engine.session(algorithm, &[3; 32][..bytes]).expect("a key");
        let raw = |algorithm| engine.raw_session(algorithm, &[3; 16]).expect("a key");
        let sessions = [
            sealed(Algorithm::AES_128_GCM, 16),
            engine.session_on(Adding::NAME, Algorithm::NULL, &[]).expect("it serves it"),
            raw(Algorithm::AES_128_CBC),
            sealed(Algorithm::CHACHA20_POLY1305, 32),
            raw(Algorithm::AES_128_CTR),
        ];
        Self { engine, adding, sessions }
    }

    fn session(&self, at: usize) -> &Session {
        &self.sessions[at % self.sessions.len()]
    }

    fn is_elsewhere(&self, at: usize) -> bool {
        self.session(at).driver() == Adding::NAME
    }

    /// A different nonce for each message.
    fn nonce(&self, at: usize) -> Vec<u8> {
        // Three bytes where any length is allowed.
        let bytes = if self.is_elsewhere(at) {
            3
        } else {
            self.session(at).algorithm().expect("a cipher").nonce_length()
        };
        let mut nonce = vec![9; bytes];
        nonce[0] = at.to_le_bytes()[0];
        nonce
    }

    fn before(at: usize) -> [u8; 48] {
        [at.to_le_bytes()[0]; 48]
    }

    /// Every fourth message with a tag is opened, and is not authentic.
    fn opens(at: usize) -> bool {
        at % 4 == 3
    }

    fn give<'a>(
        &'a self,
        at: usize,
        data: &'a mut [u8; 48],
        batch: &mut Batch<'_, 'a>,
    ) -> Option<Result<(), Error>> {
        let (session, nonce) = (self.session(at), self.nonce(at));
        match session.algorithm().expect("a cipher").is_aead() {
            true if Self::opens(at) => batch.open(session, &nonce, b"aad", data),
            true => batch.seal(session, &nonce, b"aad", data),
            false => batch.encrypt(session, &nonce, data),
        }
    }

    /// The result of a message alone.
    fn alone(&self, at: usize) -> (Result<(), Error>, [u8; 48]) {
        let (session, nonce, mut data) = (self.session(at), self.nonce(at), Self::before(at));
        let outcome = match session.algorithm().expect("a cipher").is_aead() {
            _ if self.is_elsewhere(at) => {
                add(&nonce, &mut data);
                Ok(())
            }
            true if Self::opens(at) => session.open(&nonce, b"aad", &mut data).map(drop),
            true => session.seal(&nonce, b"aad", &mut data),
            false => session.encrypt(&nonce, &mut data),
        };
        (outcome, data)
    }

    /// Each message is either unchanged and has no outcome, or has been served once and has its
    /// own. Returns the number of both. A message over which a driver panicked may have been
    /// served, and has no outcome.
    #[track_caller]
    fn check(&self, buffer: &BatchBuffer, data: &[[u8; 48]]) -> [usize; 2] {
        let mut counts = [0; 2];
        for (at, data) in data.iter().enumerate().take(buffer.outcomes().len()) {
            let (outcome, served) = self.alone(at);
            match buffer.outcome(at) {
                Some(reported) => {
                    assert!((reported, *data) == (outcome, served), "{at}: {reported:?}");
                }
                None if self.is_elsewhere(at) => {
                    assert!([served, Self::before(at)].contains(data), "{at}");
                }
                None => assert!(*data == Self::before(at), "{at}"),
            }
            counts[usize::from(buffer.outcome(at).is_none())] += 1;
        }
        let mut begun = self.adding.begun();
        begun.sort_unstable();
        assert!(begun.windows(2).all(|pair| pair[0] != pair[1]), "{begun:?}");
        counts
    }

    /// The buffer serves the next batch as if nothing had happened.
    #[track_caller]
    fn goes_on(&self, buffer: &mut BatchBuffer) {
        let again = Self::new();
        let mut data: Vec<_> = (0..COUNT).map(Self::before).collect();
        let mut batch = buffer.batch();
        for (at, data) in data.iter_mut().enumerate() {
            again.give(at, data, &mut batch);
        }
        let failed = batch.finish().map_or_else(|error| error.failed, |()| 0);
        assert_eq!(again.check(buffer, &data), [COUNT, 0]);
        let expected = (0..COUNT).filter(|&at| again.alone(at).0.is_err()).count();
        assert_eq!((failed, expected > 0), (expected, true));
    }
}

fn all() -> Vec<[u8; 48]> {
    (0..COUNT).map(Scene::before).collect()
}

#[test]
fn a_dropped_batch_serves_each_message_once() {
    for size in ROOMS {
        let scene = Scene::new();
        let (mut buffer, mut data) = (scene.engine.batch_buffer(size), all());
        let mut batch = buffer.batch();
        for (at, data) in data.iter_mut().enumerate() {
            scene.give(at, data, &mut batch);
        }
        drop(batch);
        assert_eq!(scene.check(&buffer, &data), [COUNT, 0]);
        assert_eq!(scene.adding.begun().len(), COUNT / 5);
        scene.goes_on(&mut buffer);
    }
}

#[test]
fn a_panic_of_whoever_fills_a_batch_begins_nothing_more() {
    for size in ROOMS {
        for stop in [0, 1, 2, 13, COUNT] {
            let scene = Scene::new();
            let (mut buffer, mut data) = (scene.engine.batch_buffer(size), all());
            // The buffer expects that messages wait.
            scene.goes_on(&mut buffer);
            let mut at_once = Vec::new();
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let mut batch = buffer.batch();
                for (at, data) in data.iter_mut().enumerate().take(stop) {
                    at_once.push(scene.give(at, data, &mut batch));
                }
                resume_unwind(Box::new("the user's"));
            }));
            assert!(panicked.is_err());
            assert_eq!(buffer.outcomes().len(), stop);
            let [served, left] = scene.check(&buffer, &data);
            assert_eq!(served + left, stop);
            for (at, said) in at_once.iter().enumerate().filter(|(_, said)| said.is_some()) {
                assert_eq!(buffer.outcome(at), *said, "{at}");
            }
            // Waiting messages were not begun, except those that had filled the buffer.
            let waited = at_once.iter().filter(|said| said.is_none()).count();
            assert_eq!(left, waited % size, "{size} {stop}");
            scene.goes_on(&mut buffer);
        }
    }
}

#[test]
fn of_a_leaked_batch_nothing_is_told() {
    for size in [64, 40, 9] {
        let scene = Scene::new();
        let (mut buffer, mut data) = (scene.engine.batch_buffer(size), all());
        let mut batch = buffer.batch();
        let mut waiting = 0;
        for (at, data) in data.iter_mut().enumerate().take(COUNT / 2) {
            waiting += usize::from(scene.give(at, data, &mut batch).is_none());
        }
        assert!(waiting % size > 0, "some wait for the driver");
        mem::forget(batch);
        assert!(buffer.outcomes().eq([None; COUNT / 2]));
        assert_eq!(buffer.outcome(0), None);
        // Each message is unchanged or has been served once, although the buffer does not know
        // which.
        for (at, data) in data.iter().enumerate() {
            assert!([Scene::before(at), scene.alone(at).1].contains(data), "{at}");
        }
        scene.goes_on(&mut buffer);
        scene.goes_on(&mut buffer);
    }
    // Where no message waits, leaking loses nothing.
    let scene = Scene::new();
    let (mut buffer, mut data) = (scene.engine.batch_buffer(8), Scene::before(0));
    let mut batch = buffer.batch();
    assert_eq!(scene.give(0, &mut data, &mut batch), Some(Ok(())));
    mem::forget(batch);
    assert_eq!(scene.check(&buffer, &[data]), [1, 0]);
}

/// Where a driver panics, and where the panic is caught.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Caught {
    /// It panics when the batch is finished.
    Finish,
    /// It panics when the batch is dropped.
    Drop,
    /// It panics when the buffer is full or the batch is dropped, and the batch is lost with it.
    Outside,
    /// It panics when the buffer is full, and the batch continues.
    Inside,
}

#[test]
fn a_driver_that_panics_serves_nothing_twice() {
    let caught = [Caught::Finish, Caught::Drop, Caught::Outside, Caught::Inside];
    for (caught, size) in caught.into_iter().flat_map(|caught| ROOMS.map(|size| (caught, size))) {
        for served in [0, 1, 3, COUNT / 5 - 1] {
            panics(caught, size, served);
        }
    }
}

fn panics(caught: Caught, size: usize, served: usize) {
    let scene = Scene::new();
    let late = matches!(caught, Caught::Finish | Caught::Drop);
    // Full only at the end, or earlier.
    let size = if late { 64 } else { size };
    let (mut buffer, mut data) = (scene.engine.batch_buffer(size), all());
    scene.adding.panic_after(served);
    let mut panics = 0;
    let mut note = |call: &mut dyn FnMut()| {
        let panicked = catch_unwind(AssertUnwindSafe(call)).is_err();
        if panicked {
            panics += 1;
            scene.adding.panic_after(usize::MAX / 2);
        }
    };
    if caught == Caught::Outside {
        note(&mut || {
            let mut batch = buffer.batch();
            for (at, data) in data.iter_mut().enumerate() {
                scene.give(at, data, &mut batch);
            }
        });
    } else {
        let mut batch = buffer.batch();
        for (at, data) in data.iter_mut().enumerate() {
            let mut data = Some(data);
            note(&mut || {
                let data = data.take().expect("it is called once");
                scene.give(at, data, &mut batch);
            });
        }
        let mut batch = Some(batch);
        note(&mut || match batch.take().expect("it is called once") {
            batch if caught == Caught::Finish => drop(batch.finish().is_ok()),
            batch => drop(batch),
        });
    }
    assert_eq!(panics, 1, "{caught:?} {size} {served}");
    let [reported, left] = scene.check(&buffer, &data);
    assert!(left > 0 && reported + left <= COUNT);
    assert!(caught == Caught::Outside || reported + left == COUNT);
    // Every message that the driver has begun has an outcome, except the one over which it
    // panicked.
    let is_told = |at: &usize| scene.is_elsewhere(*at) && buffer.outcome(*at).is_some();
    assert_eq!((0..COUNT).filter(is_told).count() + 1, scene.adding.begun().len());
    scene.goes_on(&mut buffer);
}

/// A message whose nonce is too long for the buffer is served at once.
#[test]
fn a_driver_that_panics_over_one_message_leaves_the_others() {
    let scene = Scene::new();
    let session = &scene.sessions[1];
    let (mut buffer, mut data) = (scene.engine.batch_buffer(8), [[5; 20]; 3]);
    scene.adding.panic_after(0);
    let mut batch = buffer.batch();
    let [first, second, third] = &mut data;
    assert_eq!(batch.encrypt(session, &[1; 24], first), None);
    let call = || batch.encrypt(session, &[2; 25], second);
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    scene.adding.panic_after(usize::MAX / 2);
    assert_eq!(batch.encrypt(session, &[3; 24], third), None);
    assert_eq!(batch.len(), 3);
    assert_eq!(batch.finish().map_err(|error| error.failed), Err(1));
    assert!(buffer.outcomes().eq([Some(Ok(())), None, Some(Ok(()))]));
    for (nonce, data) in [[1; 24], [3; 24]].iter().zip([data[0], data[2]]) {
        let mut expected = [5; 20];
        add(nonce, &mut expected);
        assert_eq!(data, expected);
    }
}

/// A slice of requests gives the same outcomes.
#[test]
fn a_driver_that_panics_over_a_slice_has_settled_what_it_has() {
    let scene = Scene::new();
    let nonces: Vec<_> = (0..COUNT).map(|at| scene.nonce(at)).collect();
    let mut data = all();
    let each = data.iter_mut().enumerate();
    let mut batch: Vec<Request<'_>> = each
        .map(|(at, data)| match scene.session(at).algorithm().expect("a cipher").is_aead() {
            true if Scene::opens(at) => Request::open(scene.session(at), &nonces[at], b"aad", data),
            true => Request::seal(scene.session(at), &nonces[at], b"aad", data),
            false => Request::encrypt(scene.session(at), &nonces[at], data),
        })
        .collect();
    scene.adding.panic_after(3);
    assert!(catch_unwind(AssertUnwindSafe(|| scene.engine.process(&mut batch))).is_err());
    for (at, request) in batch.iter().enumerate() {
        // Single messages of the driver are between others.
        let reported = (!scene.is_elsewhere(at) || at < 3 * 5).then(|| scene.alone(at).0);
        assert_eq!(request.outcome(), reported, "{at}");
    }
    assert_eq!(scene.adding.begun().len(), 4);
}
