//! A batch uses no more stack than `burn_stack` clears.

use lanecrypt_ciphers::hazmat::BURN_DEPTH;
use lanecrypt_engine::{Algorithm, BatchBuffer, Engine, Request, Session};
use lanecrypt_testing::depth::depth;
use lanecrypt_testing::levels;

/// More messages than are sorted at once.
const MESSAGES: usize = 300;
/// Lengths in bytes: one block of any cipher, a few blocks, and more than any kernel takes in one
/// pass.
const LENGTHS: [usize; 5] = [16, 64, 208, 512, 2048];

/// The documented stack use of `Engine::process` in bytes, and the documented size of a thread's
/// stack that is large enough for it.
const DOCUMENTED: [usize; 2] =
    if cfg!(feature = "legacy") { [64 << 10, 128 << 10] } else { [40 << 10, 64 << 10] };

pub(crate) fn no_batch_reaches_below_the_depth_that_is_burned() {
    let mut deepest = (0, String::new());
    let mut note = |name: String, depth: usize| {
        assert!(depth <= BURN_DEPTH, "{name}: {depth} of {BURN_DEPTH} bytes");
        assert!(depth <= DOCUMENTED[0], "{name}: {depth} of {} bytes", DOCUMENTED[0]);
        deepest = deepest.clone().max((depth, name));
    };
    for isa in levels() {
        let engine = Engine::with_isa(isa);
        let sessions: Vec<_> =
            Algorithm::ALL.iter().filter_map(|&algorithm| open(&engine, algorithm)).collect();
        for session in &sessions {
            for length in LENGTHS {
                for forward in [true, false] {
                    for way in WAYS {
                        let depth = way(&engine, &[session], length, forward);
                        let name = session.algorithm().expect("a cipher");
                        note(format!("{name} of {length} bytes at {isa:?}"), depth);
                    }
                }
            }
        }
        // Sorted into classes, each with a dozen messages or more.
        let (some, others) = sessions.split_at(sessions.len() / 2);
        for sessions in [some, others] {
            let sessions: Vec<_> = sessions.iter().collect();
            for forward in [true, false] {
                for way in WAYS {
                    note(format!("a mixed batch at {isa:?}"), way(&engine, &sessions, 64, forward));
                }
            }
        }
    }
    println!("deepest: {} of {BURN_DEPTH} bytes, {}", deepest.0, deepest.1);
    // The test would also pass if it saw nothing.
    assert!(deepest.0 > 1000, "{deepest:?}");
}

pub(crate) fn a_small_thread_has_room_for_a_batch() {
    for isa in levels() {
        let thread = std::thread::Builder::new().stack_size(DOCUMENTED[1]);
        let served = thread.spawn(move || {
            let engine = Engine::with_isa(isa);
            for &algorithm in Algorithm::ALL {
                let Some(session) = open(&engine, algorithm) else { continue };
                let mut messages = vec![vec![3; 64 + session.tag_length()]; MESSAGES];
                let nonce = &[2; 32][..algorithm.nonce_length()];
                let request = |message| match algorithm.is_aead() {
                    true => Request::seal(&session, nonce, &[], message),
                    false => Request::encrypt(&session, nonce, &mut message[..]),
                };
                let mut batch: Vec<_> =
                    messages.iter_mut().map(|message| request(&mut message[..])).collect();
                engine.process(&mut batch).expect("good lengths");
            }
        });
        served.expect("a thread").join().expect("no panic");
    }
}

fn open(engine: &Engine, algorithm: Algorithm) -> Option<Session> {
    let key = vec![1; algorithm.key_lengths().longest()];
    match algorithm.is_aead() {
        true => engine.session(algorithm, &key).ok(),
        false => engine.raw_session(algorithm, &key).ok(),
    }
}

/// The stack that a batch uses, with the sessions in turn, in each way.
#[expect(clippy::type_complexity, reason = "it is one signature, written once")]
const WAYS: [fn(&Engine, &[&Session], usize, bool) -> usize; 2] = [processed, filled];

fn processed(engine: &Engine, sessions: &[&Session], length: usize, forward: bool) -> usize {
    let mut messages = messages(sessions, length);
    let mut batch: Vec<Request<'_>> = messages
        .iter_mut()
        .zip(sessions.iter().cycle())
        .map(|(message, session)| {
            let (nonce, aad) = (nonce(session), &AAD);
            match (session.algorithm().expect("a cipher").is_aead(), forward) {
                (true, true) => Request::seal(session, nonce, aad, message),
                (true, false) => Request::open(session, nonce, aad, message),
                (false, true) => Request::encrypt(session, nonce, &mut message[..length]),
                (false, false) => Request::decrypt(session, nonce, &mut message[..length]),
            }
        })
        .collect();
    let mut failed = 0;
    let depth = depth(&mut || {
        failed = engine.process(&mut batch).map_or_else(|error| error.failed, |()| 0);
    });
    assert_eq!(failed, refused(sessions, forward), "{sessions:?}");
    depth
}

/// The second batch of a buffer, which has the right expectations.
fn filled(engine: &Engine, sessions: &[&Session], length: usize, forward: bool) -> usize {
    let mut buffer = engine.batch_buffer(256);
    let mut messages = messages(sessions, length);
    fill(&mut buffer, &mut messages.clone()[..70], sessions, length, forward);
    let mut failed = 0;
    let depth = depth(&mut || failed = fill(&mut buffer, &mut messages, sessions, length, forward));
    assert_eq!(failed, refused(sessions, forward), "{sessions:?}");
    depth
}

#[inline(never)]
fn fill(
    buffer: &mut BatchBuffer,
    messages: &mut [Vec<u8>],
    sessions: &[&Session],
    length: usize,
    forward: bool,
) -> usize {
    let mut batch = buffer.batch();
    for (message, session) in messages.iter_mut().zip(sessions.iter().cycle()) {
        let (nonce, aad) = (nonce(session), &AAD);
        match (session.algorithm().expect("a cipher").is_aead(), forward) {
            (true, true) => batch.seal(session, nonce, aad, message),
            (true, false) => batch.open(session, nonce, aad, message),
            (false, true) => batch.encrypt(session, nonce, &mut message[..length]),
            (false, false) => batch.decrypt(session, nonce, &mut message[..length]),
        };
    }
    batch.finish().map_or_else(|error| error.failed, |()| 0)
}

const AAD: [u8; 20] = [4; 20];

/// Messages of a length that each algorithm takes, with room for a tag.
fn messages(sessions: &[&Session], length: usize) -> Vec<Vec<u8>> {
    let each = sessions.iter().cycle().take(MESSAGES);
    each.map(|session| {
        vec![3; length + session.algorithm().expect("a cipher").tag_length().max(16)]
    })
    .collect()
}

fn nonce(session: &Session) -> &'static [u8] {
    &[2; 32][..session.algorithm().expect("a cipher").nonce_length()]
}

/// The number of refused messages. No opened message is authentic.
fn refused(sessions: &[&Session], forward: bool) -> usize {
    let opened = sessions.iter().cycle().take(MESSAGES);
    opened.filter(|session| session.algorithm().expect("a cipher").is_aead() && !forward).count()
}
