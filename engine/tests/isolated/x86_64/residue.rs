//! Opening and closing boxed sessions leaves nothing secret in memory and registers for a reader of
//! the whole process: no words of the key or of its expansion, and no byte that depends on it.

use core::hint::black_box;

use lanecrypt_ciphers::{Cipher, hazmat};
use lanecrypt_engine::{Algorithm, Engine, Isa, Session};
use lanecrypt_testing::levels;
use lanecrypt_testing::residue::{Residue, Secrets, bytes_of, leaks};

/// Two keys for every length. They differ in every byte.
const KEYS: [[u8; 80]; 2] = [
    *b"eighty bytes of a secret key, of which nearly all of the ciphers need only a few",
    *b"ANOTHER*KEY*OF*THE*SAME*LENGTH*THAT*NOBODY*IS*TO*KNOW*AND*READ*BY*NONE*IT*ENDS*.",
];

pub(crate) fn a_session_in_a_box_leaves_nothing() {
    nothing_is_left(|open| drop(black_box(open())));
}

pub(crate) fn sessions_in_a_vector_that_grows_leave_nothing() {
    nothing_is_left(|open| {
        let mut sessions = Vec::new();
        for _ in 0..64 {
            sessions.push(open());
        }
        drop(black_box(sessions));
    });
}

/// Passes `call` a function that opens sessions, for every algorithm at every level.
fn nothing_is_left(call: impl Fn(&dyn Fn() -> Box<Session>)) {
    for isa in levels() {
        let level = isa.level();
        // A measurement would leave times, which differ.
        let engine = Engine::with_isa(isa).with_built_in_lanes();
        for algorithm in algorithms() {
            let keys = KEYS.each_ref().map(|key| &key[..algorithm.key_lengths().longest()]);
            let secrets = secrets(isa, algorithm, keys);
            assert!(secrets.count() >= keys[0].len() / 8, "{algorithm}: nothing is looked for");
            let leaks = leaks(&secrets, keys, |key| {
                Residue::of(|| call(&|| open(&engine, algorithm, key)))
            });
            assert_eq!(leaks, [], "{algorithm} at {level}");
        }
    }
}

fn open(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> Box<Session> {
    match algorithm.is_aead() {
        true => engine.boxed_session(algorithm, key).expect("a good key"),
        false => engine.boxed_raw_session(algorithm, key).expect("a good key"),
    }
}

/// Every algorithm that has keys and sessions.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    let all = Algorithm::ALL.iter().copied();
    all.filter(|algorithm| !["null", "arc4"].contains(&&*algorithm.to_string()))
}

/// The key and its expansion.
fn secrets(isa: Isa, algorithm: Algorithm, keys: [&[u8]; 2]) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add(keys, <[u8]>::to_vec);
    secrets.add(keys, |key| match algorithm.is_aead() {
        true => bytes_of(&*Cipher::boxed_with_isa(isa, algorithm, key).expect("a good key")),
        false => {
            bytes_of(&*hazmat::RawCipher::boxed_with_isa(isa, algorithm, key).expect("a good key"))
        }
    });
    secrets
}
