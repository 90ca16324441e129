//! What a call from C costs: `lc_seal` of the shared library beside `Cipher::seal` and
//! `Session::seal`, in turns, in cycles of the time-stamp counter for each message; elsewhere in
//! nanoseconds.
//!
//! ```sh
//! make install PREFIX=/tmp/lane
//! cargo run --release -p lanecrypt-c --example call_cost -- /tmp/lane/lib/liblanecrypt.so
//! ```
//!
//! Each message has its own key, nonce and buffer. The medians of many rounds are printed.

use core::ffi::{c_int, c_void};
use core::hint::black_box;

use lanecrypt_ciphers::{Algorithm, Cipher};
use lanecrypt_engine::{Engine, Session};
use lanecrypt_testing::clock::{UNIT, now};

/// Messages of a round.
const MESSAGES: usize = 64;
const ROUNDS: usize = 60_000;
/// Bytes of a message.
const LENGTH: usize = 64;

type Seal = unsafe extern "C" fn(
    *const c_void,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut u8,
    usize,
) -> c_int;
type New = unsafe extern "C" fn(*mut *mut c_void, c_int, *const u8, usize) -> c_int;

fn main() {
    let path = std::env::args().nth(1).expect("the path of liblanecrypt.so");
    // SAFETY: the user names a file that could be run as well.
    let library = unsafe { libloading::Library::new(path) }.expect("a library");
    // SAFETY: the header declares it so.
    let open = unsafe { library.get::<New>(b"lc_session_new\0") }.expect("the function");
    // SAFETY: the header declares it so.
    let seal = unsafe { library.get::<Seal>(b"lc_seal\0") }.expect("the function");
    for (number, algorithm) in [
        (1, Algorithm::AES_128_GCM),
        (3, Algorithm::AES_256_GCM),
        (4, Algorithm::CHACHA20_POLY1305),
    ] {
        let length = algorithm.key_lengths().longest();
        let keys: Vec<Vec<u8>> =
            (0..MESSAGES).map(|i| vec![u8::try_from(i).expect("few"); length]).collect();
        let ciphers: Vec<Box<Cipher>> =
            keys.iter().map(|key| Cipher::boxed(algorithm, key).expect("a key")).collect();
        let engine = Engine::new();
        let sessions: Vec<Box<Session>> =
            keys.iter().map(|key| engine.boxed_session(algorithm, key).expect("a key")).collect();
        let mut foreign = [core::ptr::null_mut(); MESSAGES];
        for (place, key) in foreign.iter_mut().zip(&keys) {
            // SAFETY: the place and the key are live values.
            assert_eq!(unsafe { open(place, number, key.as_ptr(), key.len()) }, 0);
        }
        let nonces: [[u8; 12]; MESSAGES] = core::array::from_fn(|_| lanecrypt_random::bytes());
        let aad = [7; 13];
        let mut packets = [[[1; LENGTH + 16]; MESSAGES]; 3];
        let mut times = [const { Vec::new() }; 3];
        for round in 0..3 * ROUNDS {
            // None is always the one behind the same other.
            let turn = (round + round / 3) % 3;
            let place = &mut packets[turn];
            times[turn].push(match turn {
                0 => cycles(|| {
                    for ((cipher, nonce), packet) in ciphers.iter().zip(&nonces).zip(place) {
                        let (nonce, aad) = (black_box(nonce), black_box(&aad));
                        black_box(cipher.seal(nonce, aad, packet)).expect("sealed");
                    }
                }),
                1 => cycles(|| {
                    for ((session, nonce), packet) in sessions.iter().zip(&nonces).zip(place) {
                        let (nonce, aad) = (black_box(nonce), black_box(&aad));
                        black_box(session.seal(nonce, aad, packet)).expect("sealed");
                    }
                }),
                _ => cycles(|| {
                    for ((session, nonce), packet) in foreign.iter().zip(&nonces).zip(place) {
                        let (nonce, aad) = (black_box(nonce), black_box(&aad));
                        let (nonce, aad, to) = (nonce.as_ptr(), aad.as_ptr(), packet.as_mut_ptr());
                        // SAFETY: all are live values, with their lengths.
                        let error = unsafe { seal(*session, nonce, 12, aad, 13, to, LENGTH + 16) };
                        assert_eq!(black_box(error), 0);
                    }
                }),
            });
        }
        let [by_cipher, by_session, by_c] = packets;
        assert!(by_cipher == by_c && by_session == by_c, "other bytes");
        let [cipher, session, c] = times.map(median);
        println!(
            "{algorithm}, {LENGTH} bytes: Cipher::seal {cipher:.1}, \
             Session::seal {session:.1}, lc_seal {c:.1}: {:+.1} {UNIT}",
            c - cipher
        );
    }
}

fn cycles(run: impl FnOnce()) -> u64 {
    let begin = now();
    run();
    now().wrapping_sub(begin)
}

/// The median of the rounds, for each message.
#[expect(clippy::cast_precision_loss, reason = "cycles of a round are few")]
fn median(mut rounds: Vec<u64>) -> f64 {
    rounds.sort_unstable();
    rounds[rounds.len() / 2] as f64 / MESSAGES as f64
}
