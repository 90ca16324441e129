//! A buffer allocates nothing, over a hundred thousand batches, once it has seen batches of that
//! size. A slice of requests never allocates.

use arrayvec::ArrayVec;
use lanecrypt_engine::{
    Algorithm, Batch, BatchBuffer, Driver, Engine, Error, Jobs, Request, Session, SessionId,
};
use lanecrypt_testing::batches::numbers::{Numbers as _, Random};
use lanecrypt_testing::counting::calls;

/// Inverts the data of the null cipher; refuses a message with a nonce.
#[derive(Debug)]
struct Inverting;

impl Driver for Inverting {
    fn name(&self) -> &'static str {
        "inverting"
    }

    fn open(&self, _: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        Ok(SessionId(0))
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            let outcome = if job.nonce().is_empty() { Ok(()) } else { Err(Error::NonceLength) };
            if let (Ok(()), Ok(data)) = (outcome, job.data()) {
                data.into_out_with_copied_in().iter_mut().for_each(|byte| *byte = !*byte);
            }
            job.settle(outcome);
        }
    }
}

const TURNS: usize = 100_000;
const MOST: usize = 100;
/// A room for fewer messages than some batches have.
const ROOM: usize = 48;

fn sessions(engine: &Engine) -> Vec<Session> {
    let open = |algorithm: Algorithm| {
        let key = [algorithm.nonce_length().to_le_bytes()[0]; 32];
        let longest = algorithm.key_lengths().longest().min(32);
        engine.session_on("software", algorithm, &key[..longest]).expect("a good key")
    };
    let of_drivers = ["null", "inverting", "inverting"]
        .map(|driver| engine.session_on(driver, Algorithm::NULL, &[]).expect("it serves it"));
    let software = [
        Algorithm::AES_128_GCM,
        Algorithm::CHACHA20_POLY1305,
        Algorithm::CHACHA20_POLY1305,
        Algorithm::XCHACHA20_POLY1305,
        Algorithm::AES_128_CBC,
        Algorithm::AES_256_CBC,
        Algorithm::CHACHA20_IETF,
        #[cfg(feature = "legacy")]
        Algorithm::SALSA20_20,
        Algorithm::AES_128_CTR,
        Algorithm::NULL,
    ];
    software.map(open).into_iter().chain(of_drivers).collect()
}

/// A message, by its numbers.
#[derive(Clone, Copy)]
struct Message {
    session: usize,
    /// Opened or decrypted. No opened message is authentic.
    backward: bool,
    detached: bool,
    /// Nonces of wrong lengths are refused.
    nonce: usize,
    len: usize,
}

impl Message {
    fn random(sessions: &[Session], numbers: &mut Random) -> Self {
        let session = numbers.below(sessions.len());
        let right = sessions[session].algorithm().expect("a cipher").nonce_length();
        Self {
            session,
            backward: numbers.one_in(3),
            detached: numbers.one_in(3),
            nonce: if numbers.one_in(20) { numbers.below(33) } else { right },
            len: 16 * (1 + numbers.below(6)),
        }
    }
}

const NONCE: [u8; 32] = [3; 32];

fn give<'a>(
    Message { session, backward, detached, nonce, len }: Message,
    sessions: &'a [Session],
    [data, tag]: &'a mut [[u8; 96]; 2],
    batch: &mut Batch<'_, 'a>,
) -> bool {
    let (session, nonce, data, tag) =
        (&sessions[session], &NONCE[..nonce], &mut data[..len], &mut tag[..16]);
    let answer = match (session.algorithm().expect("a cipher").is_aead(), backward, detached) {
        (true, false, false) => batch.seal(session, nonce, b"aad", data),
        (true, true, false) => batch.open(session, nonce, b"aad", data),
        (true, false, true) => batch.seal_detached(session, nonce, b"aad", data, tag),
        (true, true, true) => batch.open_detached(session, nonce, b"aad", data, tag),
        (false, false, _) => batch.encrypt(session, nonce, data),
        (false, true, _) => batch.decrypt(session, nonce, data),
    };
    answer.is_none()
}

fn request<'a>(
    Message { session, backward, detached, nonce, len }: Message,
    sessions: &'a [Session],
    [data, tag]: &'a mut [[u8; 96]; 2],
) -> Request<'a> {
    let (session, nonce, data, tag) =
        (&sessions[session], &NONCE[..nonce], &mut data[..len], &mut tag[..16]);
    match (session.algorithm().expect("a cipher").is_aead(), backward, detached) {
        (true, false, false) => Request::seal(session, nonce, b"aad", data),
        (true, true, false) => Request::open(session, nonce, b"aad", data),
        (true, false, true) => Request::seal_detached(session, nonce, b"aad", data, tag),
        (true, true, true) => Request::open_detached(session, nonce, b"aad", data, tag),
        (false, false, _) => Request::encrypt(session, nonce, data),
        (false, true, _) => Request::decrypt(session, nonce, data),
    }
}

/// Totals over all turns: a test in which no message waits or fails would test nothing.
#[derive(Debug, Default)]
struct Seen {
    waited: usize,
    failed: usize,
}

fn turn(
    buffer: &mut BatchBuffer,
    sessions: &[Session],
    places: &mut [[[u8; 96]; 2]],
    numbers: &mut Random,
    seen: &mut Seen,
) {
    let mut batch = buffer.batch();
    for place in places {
        seen.waited +=
            usize::from(give(Message::random(sessions, numbers), sessions, place, &mut batch));
    }
    seen.failed += batch.finish().map_or_else(|error| error.failed, |()| 0);
    let failed = buffer.outcomes().filter(|outcome| *outcome != Some(Ok(()))).count();
    assert!(failed == 0 || seen.failed > 0);
}

fn count(numbers: &mut Random) -> usize {
    if numbers.one_in(64) { numbers.below(MOST + 1) } else { numbers.below(10) }
}

pub(crate) fn a_room_allocates_nothing_from_batch_to_batch() {
    let engine = Engine::new().with_driver(Inverting).expect("a free name");
    let sessions = sessions(&engine);
    let (mut numbers, mut seen) = (Random(81), Seen::default());
    let mut places = vec![[[0; 96]; 2]; MOST];
    let mut buffer = engine.batch_buffer(ROOM);
    // The largest batch, in which every message fails.
    let mut batch = buffer.batch();
    for place in &mut places {
        let refused = Message { session: 11, backward: false, detached: false, nonce: 1, len: 16 };
        give(refused, &sessions, place, &mut batch);
    }
    assert_eq!(batch.finish().map_err(|error| error.failed), Err(MOST));
    let calls = calls(|| {
        for _ in 0..TURNS {
            let count = count(&mut numbers);
            turn(&mut buffer, &sessions, &mut places[..count], &mut numbers, &mut seen);
        }
    });
    assert!(seen.waited > TURNS / 2 && seen.failed > TURNS / 2, "{seen:?}");
    assert_eq!(calls, 0, "{seen:?}");
}

pub(crate) fn a_slice_of_requests_allocates_nothing() {
    let engine = Engine::new().with_driver(Inverting).expect("a free name");
    let sessions = sessions(&engine);
    let (mut numbers, mut failed) = (Random(82), 0);
    let mut places = vec![[[0; 96]; 2]; MOST];
    let calls = calls(|| {
        for _ in 0..TURNS {
            let count = count(&mut numbers);
            let message =
                |place| request(Message::random(&sessions, &mut numbers), &sessions, place);
            let mut batch: ArrayVec<Request<'_>, MOST> =
                places[..count].iter_mut().map(message).collect();
            failed += engine.process(&mut batch).map_or_else(|error| error.failed, |()| 0);
        }
    });
    assert!(failed > TURNS / 2, "{failed}");
    assert_eq!(calls, 0);
}

/// A new room for each batch allocates, and the counter sees that.
pub(crate) fn what_allocates_is_counted() {
    let engine = Engine::new();
    let calls = calls(|| (0..10).for_each(|_| drop(engine.batch_buffer(ROOM))));
    assert!(calls >= 20, "{calls}");
}
