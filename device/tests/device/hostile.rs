//! Clients that keep to nothing: the daemon keeps running and serves the others as before.
//!
//! They write into the shared memory by their mapping, which they have as every client has.

use core::mem::MaybeUninit;
use std::io::{IoSlice, Result};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::thread;

use lanecrypt_device::{Client, ConnectError, Limits, RejectReason, Server, Session};
use lanecrypt_engine::{Algorithm, Engine};
use lanecrypt_testing::device::{
    ARENA, COMPLETED, DEPTH, MAGIC, Raw, SUBMISSIONS, SUBMITTED, dial, random,
};
use lanecrypt_testing::numbers::{Numbers, cases};
use lanecrypt_testing::on_x86_64;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, send, sendmsg,
};

use crate::daemon::Running;

const DATA: usize = 8192;

/// A client that keeps to the rules, and checks what it gets.
struct Good {
    client: Client,
    session: Session,
    expected: lanecrypt_engine::Session,
    count: u64,
}

impl Good {
    fn new(path: &Path) -> Self {
        let mut client: Client = Client::connect(path).expect("it listens");
        let (row, key) = (Algorithm::AES_128_GCM, [9; 16]);
        let session = client.session(row, &key).expect("it is a key");
        let expected = Engine::new().session(row, &key).expect("it is a key");
        Self { client, session, expected, count: 0 }
    }

    fn check(&mut self) {
        self.count += 1;
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&self.count.to_le_bytes());
        let (mut found, mut expected) = ([5; 300], [5; 300]);
        self.client.seal(self.session, &nonce, b"aad", &mut found).expect("it is served");
        self.expected.seal(&nonce, b"aad", &mut expected).expect("it is served");
        assert_eq!(found, expected);
    }
}

fn head(session: u64, operation: u64, nonce: u64) -> u64 {
    session | operation << 32 | nonce << 48
}

#[test]
fn what_lies_outside_of_the_arena_is_refused() {
    let daemon = Running::new(Server::new().allow_null());
    let mut raw = Raw::new(&daemon.path());
    // A session of the null cipher.
    raw.ask((2_u32, "null", &[0_u8; 0][..]));
    raw.hear();
    let most = u64::from(u32::MAX);
    let arena = u64::from(ARENA);
    let served = |raw: &mut Raw, operation, place: u64, length: u64| {
        raw.submit([7, head(0, operation, 0), 0, 0, 0, place, length, 0]);
        let (number, status) = raw.status();
        assert_eq!(number, 7);
        status
    };
    assert_eq!(served(&mut raw, 1, 0, arena), 0, "all of it");
    assert_eq!(served(&mut raw, 1, arena, 0), 0, "nothing, at its end");
    for operation in [1, 5] {
        for (offset, header, length) in [
            (1, 0, arena),
            (arena, 0, 1),
            (arena - 1, 1, 1),
            (most, 0, 0),
            (most, 1, most),
            (most - arena, most, most),
            (0, most, 2),
            (0, 0, most),
            (0, 0, 1 << 32),
            (0, 1 << 31, 1 << 31),
        ] {
            let status = served(&mut raw, operation, offset | header << 32, length);
            assert_eq!(status, 66, "{operation}: {offset} {header} {length}");
        }
    }
    // A nonce that would stand in the arena, and has no room there.
    raw.submit([8, head(0, 1, 0xffff), 0, 0, 0, 0, 10, 0]);
    assert_eq!(raw.status(), (8, 66));
    // Words that must be zero, operations and sessions that are not there.
    raw.submit([9, head(0, 1, 0), 0, 0, 0, 0, 10, 1]);
    assert_eq!(raw.status(), (9, 66));
    for operation in [0, 6, 63, 64, 252, 253, 255] {
        assert_ne!(served(&mut raw, operation, 0, 16), 0);
    }
    for session in [1, 1 << 16, most] {
        raw.submit([10, head(session, 1, 0), 0, 0, 0, 0, 16, 0]);
        assert_eq!(raw.status(), (10, 64));
    }
    assert!(!raw.is_out());
}

#[test]
fn a_ring_that_claims_too_much_ends_the_connection() {
    let daemon = Running::new(Server::new());
    let mut good = Good::new(&daemon.path());
    for claimed in [DEPTH + 1, 1 << 31, u32::MAX] {
        let raw = Raw::new(&daemon.path());
        raw.write(SUBMITTED, &claimed.to_le_bytes());
        raw.ring();
        raw.until_out();
        good.check();
    }
    // One that goes back.
    let mut raw = Raw::new(&daemon.path());
    raw.submit([0; 8]);
    raw.status();
    raw.write(SUBMITTED, &0_u32.to_le_bytes());
    raw.ring();
    raw.until_out();
    good.check();
}

#[test]
fn random_rings_and_data_that_change_meanwhile() {
    let daemon = Running::new(Server::new().allow_null());
    let mut good = Good::new(&daemon.path());
    let mut numbers = Numbers(17);
    let mut raw = Raw::new(&daemon.path());
    // It has sessions, so that more than refusals happen.
    for name in ["aes-128-gcm", "aes-128-cbc", "chacha20-poly1305"] {
        raw.ask((3_u32, name, 0_u32));
        raw.hear();
    }
    let changed = raw.shared();
    let stop = std::sync::Arc::new(core::sync::atomic::AtomicBool::new(false));
    let stopped = stop.clone();
    // It writes over data and requests all the time, while they are being served.
    let writer = thread::spawn(move || {
        let requests = usize::try_from(SUBMISSIONS).expect("it is small");
        let mut numbers = Numbers(18);
        while !stopped.load(core::sync::atomic::Ordering::Relaxed) {
            let data = numbers.bytes(64);
            changed.write(DATA + numbers.below(ARENA as usize - 64), &data);
            changed.write(requests + 8 * numbers.below(8 * DEPTH as usize), &data[..8]);
        }
    });
    for round in 0..cases(3000) {
        let small = |numbers: &mut Numbers, bound: usize| numbers.below(bound) as u64;
        let words = match numbers.below(4) {
            0 => [(); 8].map(|()| numbers.number()),
            _ => [
                round,
                head(small(&mut numbers, 4), small(&mut numbers, 7), small(&mut numbers, 40)),
                numbers.number(),
                numbers.number(),
                numbers.number(),
                small(&mut numbers, 9000) | small(&mut numbers, 40) << 32,
                small(&mut numbers, 2000),
                0,
            ],
        };
        raw.submit(words);
        let behind = raw.submitted.wrapping_sub(raw.word(COMPLETED));
        if numbers.below(8) == 0 || behind >= DEPTH / 2 {
            raw.status();
        }
        if round % 16 == 0 {
            good.check();
        }
        if round % 64 == 0 {
            // Its own wake-up words, and what is the daemon's.
            raw.write(128 * (1 + small(&mut numbers, 5)), &numbers.bytes(4));
            raw.write(COMPLETED, &raw.submitted.to_le_bytes());
            raw.ring();
        }
    }
    stop.store(true, core::sync::atomic::Ordering::Relaxed);
    writer.join().expect("it only writes");
    good.check();
}

#[test]
fn packets_that_are_nonsense_end_the_connection() {
    let daemon = Running::new(Server::new());
    let mut good = Good::new(&daemon.path());
    let mut numbers = Numbers(19);
    for _ in 0..cases(300).min(100_000) {
        let socket = dial(&daemon.path());
        let length = 1 + numbers.below(100);
        let mut packet = numbers.bytes(length);
        if numbers.below(2) == 0 {
            let begin: Vec<u8> =
                MAGIC.into_iter().chain([4, 4, numbers.bytes(1)[0] % 10]).collect();
            packet.splice(..0, begin);
        }
        send(&socket, &packet, SendFlags::NOSIGNAL).expect("it listens");
        // An answer, the end, or both.
        let mut answer = [0; 1000];
        let _ = recv(&socket, &mut answer[..], RecvFlags::empty());
    }
    // A second greeting; a packet that is too long; descriptors that nobody wants are closed.
    let raw = Raw::new(&daemon.path());
    raw.ask((0_u32, DEPTH, ARENA, 0_u32));
    raw.until_out();
    let socket = dial(&daemon.path());
    send(&socket, &vec![1; 20_000], SendFlags::NOSIGNAL).expect("it listens");
    assert!(ends(&socket).is_ok());
    good.check();
}

/// Closing a descriptor may take long, and whoever gets it closes it.
#[test]
fn descriptors_are_not_taken() {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("it is Linux");
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    let version: [u32; 2] = [(); 2].map(|()| numbers.next().unwrap_or(0));
    let daemon = Running::new(Server::new());
    let mut good = Good::new(&daemon.path());
    let (early, raw) = (dial(&daemon.path()), Raw::new(&daemon.path()));
    for socket in [&early, &raw.socket] {
        let mut space = [MaybeUninit::uninit(); 64];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors = [raw.memory.as_fd()];
        assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let packet = [IoSlice::new(b"take this")];
        let sent = sendmsg(socket, &packet, &mut control, SendFlags::NOSIGNAL);
        // Older kernels cannot refuse them, and the daemon forgets who sent them.
        match version >= on_x86_64!([6, 16], [u32::MAX; 2]) {
            true => assert_eq!(sent, Err(rustix::io::Errno::PERM)),
            false => assert_eq!(sent, Ok(9)),
        }
        good.check();
    }
}

#[test]
fn who_says_nothing_keeps_no_place() {
    let limits = Limits { clients: 2, ..Limits::default() };
    let daemon = Running::new(Server::new().limits(limits));
    // There are places for eight more than clients.
    let silent = [(); 12].map(|()| dial(&daemon.path()));
    let (mut first, mut second) = (Good::new(&daemon.path()), Good::new(&daemon.path()));
    // Each that has lost its place receives the reason.
    for socket in &silent[..4] {
        let mut answer = [0; 100];
        let (_, length) = recv(socket, &mut answer[..], RecvFlags::empty()).expect("it answers");
        let expected: Vec<u8> = MAGIC.into_iter().chain([4, 4, 4, 4]).collect();
        assert_eq!(answer[..length], expected);
        assert!(ends(socket).is_ok());
    }
    // Clients keep theirs.
    let third = Client::<Vec<u8>>::connect(daemon.path());
    assert!(matches!(third, Err(ConnectError::Refused(RejectReason::Clients))), "{third:?}");
    first.check();
    second.check();
}

/// The fuzz targets, with random bytes.
#[test]
fn any_bytes() {
    let daemon = Running::new(Server::new().allow_null());
    let mut good = Good::new(&daemon.path());
    let mut numbers = Numbers(23);
    for _ in 0..cases(200).min(100_000) {
        let length = numbers.below(700);
        random::packets(&daemon.path(), &numbers.bytes(length));
        random::requests(&daemon.path(), &numbers.bytes(length));
        good.check();
    }
}

/// Waits for the end of a connection.
fn ends(socket: &OwnedFd) -> Result<()> {
    while recv(socket, &mut [0; 1000][..], RecvFlags::empty())?.1 > 0 {}
    Ok(())
}

#[test]
fn another_version_is_told() {
    let daemon = Running::new(Server::new());
    let socket = dial(&daemon.path());
    let mut bytes = [0; 100];
    let packet = postcard::to_slice(&(MAGIC, [99_u32, 98], [1_u8; 5]), &mut bytes).expect("room");
    send(&socket, packet, SendFlags::NOSIGNAL).expect("it listens");
    let mut answer = [0; 100];
    let (_, length) = recv(&socket, &mut answer[..], RecvFlags::empty()).expect("it answers");
    // The answer is refused, because of the version, which is 4.
    let expected: Vec<u8> = MAGIC.into_iter().chain([4, 4, 4, 0, 4, 4]).collect();
    assert_eq!(answer[..length], expected);
    assert!(ends(&socket).is_ok());
}
