//! Arbitrary bytes as what a client sends to a daemon: the daemon must survive them, and serve
//! others. Fuzz targets and random tests share these.

use std::path::Path;
use std::thread;

use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{COMPLETED, MAGIC, PROTOCOL, Raw, SUBMITTED, dial, send_packet};

/// The place of the statistics among the requests of the protocol.
const STATISTICS: u32 = 1;
/// The most packets of one connection.
const PACKETS: usize = 16;

/// Sends the bytes as packets on the socket: each begins with its length, and most of them with
/// what a packet of this protocol begins with.
///
/// # Panics
///
/// The daemon does not answer others afterwards.
pub fn packets(daemon: &Path, bytes: &[u8]) {
    let socket = dial(daemon);
    let mut rest = bytes;
    for _ in 0..PACKETS {
        let Some((&[kind, length], after)) = rest.split_first_chunk() else { break };
        let length = usize::from(length).min(after.len());
        let (body, after) = after.split_at(length);
        rest = after;
        let head: &[u8] = if kind % 8 == 0 { &[] } else { &MAGIC };
        let version = if kind % 8 == 0 { None } else { u8::try_from(PROTOCOL).ok() };
        let versions = version.into_iter().chain(version);
        let packet: Vec<u8> = head.iter().copied().chain(versions).chain(body.to_vec()).collect();
        // The daemon may have ended the connection.
        if packet.is_empty() || send(&socket, &packet, SendFlags::NOSIGNAL).is_err() {
            break;
        }
        if kind % 2 == 0 {
            let _ = recv(&socket, &mut [0; 1 << 14][..], RecvFlags::empty());
        }
    }
    drop(socket);
    check(daemon);
}

/// Writes the bytes to the rings and to the arena, and waits until the daemon has answered or has
/// ended the connection.
///
/// # Panics
///
/// The daemon does not answer others afterwards.
pub fn requests(daemon: &Path, bytes: &[u8]) {
    let mut raw = Raw::new(daemon);
    // Sessions of three kinds, with keys that the daemon generates.
    for name in ["aes-128-gcm", "aes-128-cbc", "chacha20-poly1305"] {
        raw.ask((3_u32, name, 0_u32));
        raw.hear();
    }
    let (requests, rest) = bytes.as_chunks::<64>();
    for request in requests {
        let (words, _) = request.as_chunks::<8>();
        let mut submitted = [0; 8];
        for (word, bytes) in submitted.iter_mut().zip(words) {
            *word = u64::from_le_bytes(*bytes);
        }
        // Most of them pass the first checks, so that what is behind is reached.
        if submitted[7] % 4 != 0 {
            let head = submitted[1];
            submitted[1] = head & 3 | (head >> 32 & 7) << 32 | (head >> 48 & 31) << 48;
            submitted[5] &= 0x0000_003f_0000_1fff;
            submitted[6] &= 0x7ff;
            submitted[7] = 0;
        }
        raw.submit(submitted);
        while raw.word(COMPLETED) != raw.submitted && !raw.is_out() {
            thread::yield_now();
        }
        if raw.is_out() {
            break;
        }
    }
    raw.write(raw.arena_at(), rest);
    if let Some(last) = rest.first_chunk::<4>() {
        raw.write(SUBMITTED, last);
        raw.ring();
    }
    drop(raw);
    check(daemon);
}

/// Asks for statistics.
fn check(daemon: &Path) {
    let socket = dial(daemon);
    send_packet(&socket, STATISTICS);
    let answer = recv(&socket, &mut [0; 1 << 12][..], RecvFlags::empty());
    assert!(answer.is_ok_and(|(_, length)| length > 13), "the daemon answers others");
}
