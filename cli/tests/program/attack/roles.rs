//! What child processes do: an honest client, and hostile ones. Each goes on until it is stopped or
//! the daemon has ended.

mod bulk;
mod control;

use core::ops::Range;
use core::time::Duration;
use std::io::ErrorKind;
use std::thread;
use std::time::Instant;

use lanecrypt_device::{Client, Error};
use lanecrypt_engine::{Algorithm, Engine};
use lanecrypt_testing::device::Raw;

use super::children::{Cell, Post};

/// Operations in a request.
const ENCRYPT: u64 = 1;
const SEAL: u64 = 3;
const FILL: u64 = 5;
const SIGN: u64 = 64;
/// The statuses of requests beyond those that may be served at a time, and of long ones while the
/// daemon shuts down: such a refusal costs nothing.
const FREE: [u64; 2] = [68, 70];

/// 16 MiB, the longest arena.
const LONGEST: u32 = 1 << 24;

/// A pause that leaves the processor to the daemon.
const PAUSE: Duration = Duration::from_micros(100);

/// Plays a role.
pub(crate) fn play(role: &str, post: &Post) {
    match role {
        "honest" => honest(post),
        "fills" => bulk::fills(post),
        "doomed" => bulk::doomed(post),
        "long" => bulk::long(post),
        "holes" => bulk::holes(post),
        "victim" => bulk::victim(post),
        "mutated" => bulk::mutated(post),
        "signatures" => bulk::signatures(post),
        "linger" => control::linger(post),
        "sessions" => control::sessions(post),
        "arenas" => control::arenas(post),
        "connections" => control::connections(post),
        "silent" => control::silent(post),
        "greeted" => control::greeted(post),
        "packets" => control::packets(post),
        role => panic!("nobody plays {role}"),
    }
}

/// A client that keeps to the rules: 64-byte messages of AES-128-GCM, one at a time. It checks one
/// answer in 64, and measures all.
fn honest(post: &Post) {
    let mut client: Client = Client::connect(&post.socket).expect("it listens");
    let key = [9; 16];
    let session = client.session(Algorithm::AES_128_GCM, &key).expect("it is a key");
    let expected = Engine::new().session(Algorithm::AES_128_GCM, &key).expect("it is a key");
    for number in 0_u64.. {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&number.to_le_bytes());
        let mut packet = [5; 64 + 16];
        let begun = Instant::now();
        match client.seal(session, &nonce, b"", &mut packet) {
            Ok(()) => post.board.count(begun.elapsed()),
            // The daemon has ended.
            Err(Error::Disconnected) => return,
            Err(error) => panic!("{error}"),
        }
        if number.is_multiple_of(64) {
            let mut right = [5; 64 + 16];
            expected.seal(&nonce, b"", &mut right).expect("it is served");
            assert_eq!(packet, right, "the answer to message {number}");
            post.is_ready();
            if post.stops() {
                return;
            }
        }
    }
}

/// A connection with shared memory; `None` if the client is stopped or the daemon has ended. It
/// tries until it gets one.
fn enter(post: &Post, depth: u32, arena: u32) -> Option<Raw> {
    while !post.stops() {
        match Raw::with(&post.socket, depth, arena) {
            Ok(raw) => return Some(raw),
            Err(error) if is_gone(&error) => return None,
            Err(_) => post.board.add(Cell::Refused, 1),
        }
        thread::sleep(PAUSE);
    }
    None
}

/// Whether an error means that no daemon listens.
fn is_gone(error: &std::io::Error) -> bool {
    let system = error.raw_os_error().is_some();
    error.kind() == ErrorKind::NotFound || (system && error.kind() == ErrorKind::ConnectionRefused)
}

/// Keeps the ring of a client full, who connects again when the daemon has ended the connection.
/// Counts the answers that cost something.
fn drive(
    post: &Post,
    (depth, arena): (u32, u32),
    mut prepare: impl FnMut(&Raw),
    mut request: impl FnMut(u32) -> [u64; 8],
) {
    while let Some(mut raw) = enter(post, depth, arena) {
        prepare(&raw);
        let mut seen = 0;
        let mut is_out = false;
        while !is_out && !post.stops() {
            raw.fill_up(&mut request);
            post.is_ready();
            thread::sleep(PAUSE);
            is_out = raw.is_out();
            // What was answered before the end of the connection counts.
            let answered = raw.submitted - raw.behind();
            post.board.add(Cell::Done, costly(&raw, seen..answered));
            seen = answered;
        }
    }
}

/// The number of answers that cost something.
fn costly(raw: &Raw, numbers: Range<u32>) -> u64 {
    let is_costly = |number: &u32| !FREE.contains(&raw.completion(*number).1);
    numbers.filter(is_costly).count() as u64
}

/// A session with this cipher and the key of zeros. The packet is `Open`.
fn open(raw: &Raw, algorithm: &str, key: usize) {
    raw.ask((2_u32, algorithm, &[1_u8; 32][..key]));
    raw.hear();
}

/// The words of a request.
fn request(
    (number, session, operation): (u32, u64, u64),
    nonce: u64,
    (offset, header, length): (u64, u64, u64),
) -> [u64; 8] {
    let head = session | operation << 32 | nonce << 48;
    // The number, so that no nonce is used twice.
    [number.into(), head, number.into(), 0, 0, offset | header << 32, length, 0]
}
