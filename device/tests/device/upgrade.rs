//! Clients and daemons of other releases: recorded sessions, and versions of the protocol.
//!
//! A session is a file with a line for each step, in hexadecimal digits: `layout` has the places in
//! the shared memory, `send` and `reply` are packets, `begins` what a reply begins with, and
//! `submit` has the status of a request, its words, its place in the arena, what is written there,
//! and what is there afterwards, or `-` if that is random.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;

use lanecrypt_device::{Client, ConnectError, Key, RejectReason, Server};
use lanecrypt_engine::Algorithm;
use lanecrypt_pk::ed25519;
use lanecrypt_testing::device::{MAGIC, Memory, PROTOCOL, receive, try_dial};
use lanecrypt_testing::fixtures;
use lanecrypt_testing::numbers::hex;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept, bind, listen, send,
    socket_with,
};
use serde::Serialize;

use crate::daemon::{Folder, Running};

/// The places of the shared memory in this version: of the numbers of requests and completions,
/// of both rings, and of the arena. The rings have 16 places.
const LAYOUT: [usize; 5] = [0, 128, 4096, 4096 + 16 * 64, 8192];
const HELLO: (u32, u32, u32, u32) = (0, 16, 1 << 13, 0);

/// The daemon of every session.
fn daemon() -> Running {
    let cipher = Key::new("cipher", Algorithm::AES_256_GCM, vec![1; 32].into());
    let signs = Key::asymmetric("signs", ed25519::SigningKey::from_bytes(&[1; 32]));
    Running::new(Server::new().keys(vec![cipher, signs]))
}

fn packet(value: impl Serialize) -> Vec<u8> {
    postcard::to_slice(&value, &mut [0; 200]).expect("there is room").to_vec()
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A client that sends what it is given.
struct Other {
    socket: OwnedFd,
    layout: [usize; 5],
    memory: Option<Memory>,
    doorbell: Option<OwnedFd>,
    submitted: u32,
}

impl Other {
    fn new(path: &Path, layout: [usize; 5]) -> Self {
        let socket = try_dial(path).expect("it listens");
        Self { socket, layout, memory: None, doorbell: None, submitted: 0 }
    }

    fn send(&self, packet: &[u8]) {
        send(&self.socket, packet, SendFlags::NOSIGNAL).expect("it listens");
    }

    fn reply(&mut self) -> Vec<u8> {
        let (bytes, descriptors) = receive(&self.socket).expect("it answers");
        if let Ok([memory, doorbell]) = <[OwnedFd; 2]>::try_from(descriptors) {
            self.memory = Some(Memory::map(memory).expect("it can be mapped"));
            self.doorbell = Some(doorbell);
        }
        bytes
    }

    /// The status of a request, and what is in the arena afterwards.
    fn submit(&mut self, words: &[u8], at: usize, data: &[u8]) -> (u64, Vec<u8>) {
        let memory = self.memory.as_ref().expect("it is mapped");
        let [submitted, completed, submissions, completions, arena] = self.layout;
        let number = self.submitted as usize % 16;
        memory.write(submissions + number * 64, words);
        memory.write(arena + at, data);
        self.submitted += 1;
        memory.write(submitted, &self.submitted.to_le_bytes());
        let doorbell = self.doorbell.as_ref().expect("it came with the memory");
        rustix::io::write(doorbell, &1_u64.to_ne_bytes()).expect("it is open");
        let mut done = [0; 4];
        while u32::from_le_bytes(done) != self.submitted {
            thread::yield_now();
            memory.read(completed, &mut done);
        }
        let mut completion = [0; 16];
        memory.read(completions + number * 16, &mut completion);
        let [number, status] = [0, 8].map(|at| completion[at..].first_chunk().expect("16 bytes"));
        assert_eq!(number[..], words[..8], "its number");
        let mut result = vec![0; data.len()];
        memory.read(arena + at, &mut result);
        (u64::from_le_bytes(*status), result)
    }
}

/// Replays a recorded session.
fn replay(text: &str) {
    let daemon = daemon();
    let mut client: Option<Other> = None;
    let mut steps = [0; 3];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').expect("a step");
        if kind == "layout" {
            let numbers: Vec<_> = rest.split(' ').map(|it| it.parse().expect("a place")).collect();
            client = Some(Other::new(&daemon.path(), numbers.try_into().expect("five places")));
            continue;
        }
        let client = client.as_mut().expect("the layout comes first");
        match (kind, &rest.split(' ').collect::<Vec<_>>()[..]) {
            ("send", [packet]) => client.send(&hex(packet)),
            ("reply", [packet]) => assert_eq!(digits(&client.reply()), *packet, "{line}"),
            ("begins", [begin]) => assert!(digits(&client.reply()).starts_with(begin), "{line}"),
            ("submit", [status, words, at, data, after]) => {
                let at = at.parse().expect("a place");
                let (found, result) = client.submit(&hex(words), at, &hex(data));
                assert_eq!(found.to_string(), *status, "{line}");
                assert!(*after == "-" || digits(&result) == *after, "{line}");
            }
            _ => panic!("{line}"),
        }
        steps[["send", "submit"].iter().position(|it| *it == kind).unwrap_or(2)] += 1;
    }
    assert!(steps >= [8, 6, 8], "{steps:?}");
}

/// A session that is being recorded.
struct Recorder {
    client: Other,
    text: String,
    /// The number of the next request.
    next: u64,
}

impl Recorder {
    fn packet(&mut self, value: impl Serialize) {
        let packet = packet((MAGIC, [PROTOCOL; 2], value));
        self.client.send(&packet);
        self.text += &format!("send {}\n", digits(&packet));
    }

    /// Records a reply, whole or as far as its kind, and returns the number of the session in it.
    fn reply(&mut self, is_whole: bool) -> u32 {
        let reply = self.client.reply();
        self.text += &match is_whole {
            true => format!("reply {}\n", digits(&reply)),
            false => format!("begins {}\n", digits(&reply[..11])),
        };
        postcard::take_from_bytes(&reply[11..]).map_or(0, |(session, _)| session)
    }

    fn asked(&mut self, value: impl Serialize) -> u32 {
        self.packet(value);
        self.reply(true)
    }

    /// Submits a request of a session: its nonce, unless the daemon makes it, and the lengths of
    /// header and message at the beginning of the arena. Returns what is there afterwards.
    fn submit(
        &mut self,
        (session, operation): (u32, u8),
        nonce: &[u8],
        [header, length]: [usize; 2],
        data: &[u8],
        is_random: bool,
    ) -> Vec<u8> {
        let nonce_length = if operation == 6 { data.len() - header - length } else { nonce.len() };
        let head = u64::from(session) | u64::from(operation) << 32 | (nonce_length as u64) << 48;
        let mut words = [self.next.to_le_bytes(), head.to_le_bytes()].concat();
        words.extend(nonce);
        words.resize(40, 0);
        words.extend(((header as u64) << 32).to_le_bytes());
        words.extend((length as u64).to_le_bytes());
        words.resize(64, 0);
        self.next += 1;
        let (status, result) = self.client.submit(&words, 0, data);
        let after = if is_random { "-".to_owned() } else { digits(&result) };
        let (words, data) = (digits(&words), digits(data));
        self.text += &format!("submit {status} {words} 0 {data} {after}\n");
        result
    }
}

fn write(folder: &Path) {
    let daemon = daemon();
    let client = Other::new(&daemon.path(), LAYOUT);
    let layout = LAYOUT.map(|place| place.to_string()).join(" ");
    let mut it = Recorder { client, text: format!("layout {layout}\n"), next: 100 };
    it.asked(HELLO);
    it.packet(10_u32); // `Mapped`
    let (nonce, data) = ([3; 12], fixtures::text(5 + 20 + 16));
    let session = it.asked((2_u32, "aes-128-gcm", &[7_u8; 16][..]));
    let mut sealed = it.submit((session, 3), &nonce, [5, 36], &data, false);
    it.submit((session, 4), &nonce, [5, 36], &sealed, false);
    sealed[7] ^= 1;
    it.submit((session, 4), &nonce, [5, 36], &sealed, false);
    it.submit((0, 5), &[], [0, 32], &[0; 32], true);
    let generated = it.asked((3_u32, "chacha20-poly1305", 0_u32));
    it.submit((generated, 3), &nonce, [5, 36], &data, true);
    let named = it.asked((4_u32, "cipher"));
    it.submit((named, 6), &[], [5, 36], &[&[0; 12][..], &data].concat(), true);
    it.submit((named, 3), &nonce, [5, 36], &data, false);
    let signs = it.asked((4_u32, "signs"));
    it.submit((signs, 64), &[], [41, 64], &[&data[..], &[0; 64]].concat(), false);
    it.asked((8_u32, signs)); // `PublicKey`
    it.asked((5_u32, session)); // `Close`
    it.submit((session, 3), &nonce, [5, 36], &data, false);
    it.asked((4_u32, "none"));
    it.packet(1_u32); // `Statistics`
    it.reply(false);
    fs::write(folder.join("session.txt"), it.text).expect("a new file");
}

#[test]
fn clients_of_earlier_releases_are_served() {
    fixtures::write("daemon", write);
    for folder in fixtures::of_every_version("daemon") {
        replay(&fs::read_to_string(folder.join("session.txt")).expect("it is there"));
    }
}

/// Sends the first packet of a client with these versions, and returns the reply.
fn greeted(versions: [u32; 2]) -> Vec<u8> {
    let daemon = daemon();
    let mut client = Other::new(&daemon.path(), LAYOUT);
    client.send(&packet((MAGIC, versions, HELLO)));
    client.reply()
}

#[test]
fn the_highest_common_version_is_used() {
    let versions = |reply: &[u8]| reply[..10] == [&MAGIC[..], &[4, 4]].concat()[..];
    for newest in [PROTOCOL, PROTOCOL + 1, u32::MAX] {
        let reply = greeted([newest, PROTOCOL]);
        assert!(versions(&reply) && reply[10] == 0, "welcome: {reply:?}");
    }
    for [newest, oldest] in [[9, 5], [3, 0], [PROTOCOL, PROTOCOL + 1]] {
        let reply = greeted([newest, oldest]);
        assert!(versions(&reply), "{reply:?}");
        assert_eq!(reply[10..], [4, 0, 4, 4], "refused, because of the version");
    }
}

/// What a client says to a daemon that replies with these bytes.
fn refused_by(reply: &[u8]) -> ConnectError {
    let folder = Folder::new();
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, None).expect("a socket");
    bind(&socket, &SocketAddrUnix::new(folder.socket()).expect("short")).expect("a new path");
    listen(&socket, 1).expect("it is bound");
    thread::scope(|scope| {
        scope.spawn(|| {
            let client = accept(&socket).expect("one comes");
            let (hello, _) = receive(&client).expect("it says hello");
            assert_eq!(hello[..11], [&MAGIC[..], &[4, 4, 0]].concat(), "its versions, and hello");
            send(&client, reply, SendFlags::NOSIGNAL).expect("it waits");
        });
        Client::<Vec<u8>>::connect(folder.socket()).map(drop).expect_err("another version")
    })
}

#[test]
fn daemons_of_other_versions_are_named() {
    let of = |versions: [u32; 2]| refused_by(&packet((MAGIC, versions, [9_u8; 30])));
    for (versions, text) in [
        ([9, 5], "the daemon speaks versions 5 to 9 of the protocol, this program version 4"),
        ([7, 7], "the daemon speaks version 7 of the protocol, this program version 4"),
        ([3, 1], "the daemon speaks versions 1 to 3 of the protocol, this program version 4"),
    ] {
        let [newest, oldest] = versions;
        let error = of(versions);
        assert!(error.to_string().contains(text), "{error}");
        let ConnectError::Refused(reason) = error else { panic!("{error}") };
        assert_eq!(reason, RejectReason::Version { oldest, newest });
    }
    // Of a version that both speak, but nonsense; and of something else.
    assert!(matches!(of([9, 4]), ConnectError::NotADaemon(_)));
    assert!(matches!(refused_by(b"220 mail ready, welcome"), ConnectError::NotADaemon(_)));
}
