//! A dropped session leaves no key and no part of its schedule in memory. Its `Debug` text has only
//! its name.

use core::mem::MaybeUninit;
use core::ptr;

use lanecrypt_ciphers::hazmat::burn_stack;
use lanecrypt_engine::{Algorithm, Engine, Request, Session};
use lanecrypt_testing::levels;

/// Two keys for every length. They differ in every byte.
const KEYS: [[u8; 80]; 2] = [
    *b"eighty bytes of a secret key, of which nearly all of the ciphers need only a few",
    *b"ANOTHER*KEY*OF*THE*SAME*LENGTH*THAT*NOBODY*IS*TO*KNOW*AND*READ*BY*NONE*IT*ENDS*.",
];

/// The bytes of a session in place, before and after it is dropped there.
fn bytes_around_drop(session: Session) -> [Vec<u8>; 2] {
    let mut place = Box::new(MaybeUninit::<Session>::zeroed());
    let pointer = place.as_mut_ptr();
    // SAFETY: the place is aligned, large enough and uninitialised.
    unsafe { pointer.write(session) };
    let bytes = || {
        let first = pointer.cast::<u8>().cast_const();
        // Volatile, because the compiler may assume that dropped values are not read.
        // SAFETY: the address is within the box; padding between the fields was copied with them.
        let byte = |i| unsafe { ptr::read_volatile(first.wrapping_add(i)) };
        (0..size_of::<Session>()).map(byte).collect::<Vec<u8>>()
    };
    let before = bytes();
    // SAFETY: the place holds a session, which is not used again.
    unsafe { ptr::drop_in_place(pointer) };
    [before, bytes()]
}

/// Whether `bytes` has a run of the secret that is too long to be an accident.
fn holds(bytes: &[u8], secret: &[u8]) -> bool {
    secret.windows(8).any(|part| bytes.windows(8).any(|window| window == part))
}

/// The number of positions at which the bytes differ.
fn differences(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one != other).count()
}

fn key(algorithm: Algorithm, which: usize) -> &'static [u8] {
    &KEYS[which][..algorithm.key_lengths().longest()]
}

/// Every algorithm that has keys and sessions.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    let all = Algorithm::ALL.iter().copied();
    all.filter(|algorithm| !["null", "arc4"].contains(&&*algorithm.to_string()))
}

fn open(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> Session {
    engine.session_on("software", algorithm, key).expect("a good key")
}

/// Not inlined, so that its caller has burned the stack that it uses: moving a value also copies
/// the stack's old content between its fields.
#[inline(never)]
fn around_a_session(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> [Vec<u8>; 2] {
    bytes_around_drop(open(engine, algorithm, key))
}

/// The same for a session that has served a slice of requests, and a batch that was filled.
#[inline(never)]
fn around_a_used_session(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> [Vec<u8>; 2] {
    let session = open(engine, algorithm, key);
    let nonce = &[7; 32][..algorithm.nonce_length()];
    let mut messages = vec![vec![5; 64 + algorithm.tag_length()]; 20];
    let each = messages.iter_mut();
    let mut requests: Vec<Request<'_>> = each
        .map(|message| match algorithm.is_aead() {
            true => Request::seal(&session, nonce, b"", message),
            false => Request::encrypt(&session, nonce, &mut message[..]),
        })
        .collect();
    engine.process(&mut requests).expect("good lengths");
    drop(requests);
    let mut buffer = engine.batch_buffer(20);
    let mut batch = buffer.batch();
    for message in &mut messages {
        match algorithm.is_aead() {
            true => batch.seal(&session, nonce, b"", message),
            false => batch.encrypt(&session, nonce, &mut message[..]),
        };
    }
    batch.finish().expect("good lengths");
    bytes_around_drop(session)
}

/// The bytes that remain do not depend on the key: the limits, the algorithm, the instruction set,
/// and old stack content where the session has no field. That content may be a word of the key's
/// expansion, but never as much as a round key; the shortest, of DES, has eight bytes.
pub(crate) fn nothing_that_a_dropped_session_leaves_depends_on_its_key() {
    let mut seen = 0;
    for (isa, algorithm) in levels().flat_map(|isa| algorithms().map(move |row| (isa, row))) {
        // A measurement would leave other bytes on the stack.
        let engine = Engine::with_isa(isa).with_built_in_lanes();
        for around in [around_a_session, around_a_used_session] {
            // Both keys are read from the same place: the address of a key is not secret, and may
            // remain.
            let mut place = key(algorithm, 0).to_vec();
            let [one, other] = [0, 1].map(|which| {
                place.copy_from_slice(key(algorithm, which));
                burn_stack();
                around(&engine, algorithm, &place)
            });
            let ([before, after], [other_before, other_after]) = (one, other);
            // A schedule outside of the session would not be seen here.
            let differ = differences(&before, &other_before);
            assert!(differ >= key(algorithm, 0).len() / 2, "{algorithm}: nothing to wipe");
            seen += usize::from(holds(&before, key(algorithm, 0)));
            assert!(!holds(&after, key(algorithm, 0)), "{algorithm}: the key is left");
            let left = differences(&after, &other_after);
            assert!(left < 8, "{algorithm}: {left} bytes of {differ} are left");
        }
    }
    // Many schedules begin with the key itself, so that the search can succeed.
    assert!(seen >= 18, "the keys are looked for in vain");
}

pub(crate) fn nothing_secret_is_printed() {
    let engine = Engine::new();
    for algorithm in algorithms() {
        let session = open(&engine, algorithm, key(algorithm, 0));
        let mut message = *b"a message that is secret........................";
        let nonce = &[0x77; 32][..algorithm.nonce_length()];
        let request = match algorithm.is_aead() {
            true => Request::seal(&session, nonce, b"", &mut message),
            false => Request::encrypt(&session, nonce, &mut message[..]),
        };
        let request_shown = format!("{request:#?}");
        let mut buffer = engine.batch_buffer(1);
        let mut batch = buffer.batch();
        let mut other = *b"a message that is secret........................";
        match algorithm.is_aead() {
            true => batch.seal(&session, nonce, b"", &mut other),
            false => batch.encrypt(&session, nonce, &mut other[..]),
        };
        let shown =
            [format!("{session:?}"), request_shown, format!("{engine:?}"), format!("{batch:#?}")];
        drop(batch);
        for printed in shown.into_iter().chain([format!("{buffer:?}")]) {
            // As text, as decimal numbers and as hex digits.
            let decimal = |bytes: &[u8]| format!("{:?}", &bytes[..2]).replace(['[', ']'], "");
            let hex = |bytes: &[u8]| format!("{:02x}{:02x}", bytes[0], bytes[1]);
            for secret in [key(algorithm, 0), &b"a message"[..]] {
                let text = core::str::from_utf8(&secret[..5]).expect("it is text");
                assert!(!printed.contains(text), "{printed}");
                assert!(!printed.contains(&decimal(secret)), "{printed}");
                assert!(!printed.to_lowercase().contains(&hex(secret)), "{printed}");
            }
        }
        assert!(format!("{session:?}").contains(&algorithm.to_string()));
        assert!(format!("{request:?}").contains(&algorithm.to_string()));
    }
}
