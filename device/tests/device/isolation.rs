//! Keys that the daemon has or makes are nowhere in the memory of a client, shared or its own.
//!
//! Daemon and client are processes of their own, whose whole memory this one reads. It learns the
//! key that the daemon has made as whoever reads the daemon's memory would: it tries all that could
//! be one.

use core::time::Duration;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;

use lanecrypt_device::{Client, Key, NonceSource, Server};
use lanecrypt_engine::{Algorithm, Engine, Isa};
use zeroize::Zeroizing;

use crate::daemon::children::{self, kill, spawn, until_it_listens};
use crate::daemon::{Folder, statistics, until};

const NONCE: [u8; 12] = [4; 12];
/// What a round key of AES has.
const ROUND: usize = 16;

/// A file of the test, beside the socket.
fn beside(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(name)
}

/// The test that child processes run.
const CHILD: &str = "isolation::child";

/// Not a test by itself: what the child processes run.
#[test]
fn child() {
    let Some((role, path)) = children::role() else { return };
    match &role[..] {
        "daemon" => {
            let server = |key: &str| {
                let bytes = Zeroizing::new(fs::read(beside(&path, key)).expect("it is there"));
                let key = Key::new("named", Algorithm::AES_256_GCM, bytes);
                let keys = vec![key.with_nonces(NonceSource::Client)];
                Server::new().keys(keys).prepare().expect("it is a key")
            };
            let mut daemon = server("key").bind(&path).expect("nobody is there");
            let handle = daemon.handle();
            std::thread::scope(|scope| {
                scope.spawn(move || daemon.run().expect("it can wait"));
                until(|| beside(&path, "rotate").exists());
                handle.reload(server("next key"));
                // Commands are obeyed in their order.
                handle.statistics(Duration::from_secs(60)).expect("it runs");
                fs::write(beside(&path, "has rotated"), "").expect("it can be written");
            });
        }
        "client" => client(&path),
        other => panic!("{other}"),
    }
}

/// Uses all kinds of sessions, and performs one step after the other on command.
fn client(path: &Path) {
    let mut client: Client = Client::connect(path).expect("it listens");
    let named = client.named_session("named").expect("it is for this user");
    let generated = client.generated_session(Algorithm::CHACHA20_POLY1305).expect("entropy");
    let mut packet = [0; 100 + 16];
    for session in [named, generated] {
        packet.fill(9);
        client.seal(session, &NONCE, b"", &mut packet).expect("it is served");
    }
    let mark = fs::read(beside(path, "mark")).expect("it is there");
    client.seal(named, &[5; 12], &mark, &mut [0; 100]).expect("it is served");
    fs::write(beside(path, "sealed"), packet).expect("it can be written");
    until(|| beside(path, "send").exists());
    let sent = fs::read(beside(path, "sent key")).expect("it is there");
    client.session(Algorithm::AES_256_GCM, &sent).expect("it is a key");
    fs::write(beside(path, "has sent"), "").expect("it can be written");
    until(|| beside(path, "plant").exists());
    let planted = fs::read(beside(path, "key")).expect("it is there");
    fs::write(beside(path, "has planted"), "").expect("it can be written");
    until(|| beside(path, "never").exists());
    drop((client, planted, sent));
}

/// A part of the memory of a process.
struct Part {
    bytes: Vec<u8>,
    /// It belongs to the client and the daemon.
    is_shared: bool,
    is_writable: bool,
}

/// All memory of a process that can be read.
fn memory(of: &Child) -> Vec<Part> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", of.id())).expect("it runs");
    let memory = fs::File::open(format!("/proc/{}/mem", of.id())).expect("it is our child");
    let mut parts = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next().expect("a range"), words.next().expect("rights"));
        let (from, to) = range.split_once('-').expect("it is a range");
        let number = |text| u64::from_str_radix(text, 16).expect("it is a number");
        // What the kernel shows of itself cannot be read.
        if !rights.starts_with('r') || line.ends_with("[vvar]") || line.contains("[vvar_") {
            continue;
        }
        let mut bytes = vec![0; usize::try_from(number(to) - number(from)).expect("it fits")];
        match memory.read_exact_at(&mut bytes, number(from)) {
            Ok(()) => {}
            Err(_) if line.ends_with("[vsyscall]") => continue,
            // The memory of a client that is gone is unmapped meanwhile.
            Err(_) if line.contains("lanecrypt-device") => continue,
            Err(error) => panic!("{line}: {error}"),
        }
        let is_shared = line.contains("lanecrypt-device") && rights.contains('s');
        parts.push(Part { bytes, is_shared, is_writable: rights.contains('w') });
    }
    parts
}

/// How often any of these stands in the memory.
fn count<'p>(parts: impl IntoIterator<Item = &'p Part>, wanted: &[Vec<u8>]) -> usize {
    let mut begins = vec![false; 1 << 16];
    let begin = |bytes: &[u8]| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    wanted.iter().for_each(|wanted| begins[begin(wanted)] = true);
    let mut found = 0;
    for Part { bytes, .. } in parts {
        for at in 0..bytes.len().saturating_sub(1) {
            if begins[begin(&bytes[at..])] {
                found += wanted.iter().filter(|wanted| bytes[at..].starts_with(wanted)).count();
            }
        }
    }
    found
}

/// Bytes that could be a key, at any place where one could be.
fn candidates(parts: &[Part], length: usize) -> impl Iterator<Item = &[u8]> {
    let of_part = move |part: &'_ Part| part.bytes.len().saturating_sub(length) / 4;
    let writable = parts.iter().filter(|part| part.is_writable);
    let all = writable.flat_map(move |part| {
        (0..=of_part(part)).filter_map(move |at| part.bytes.get(4 * at..4 * at + length))
    });
    // Few bytes of a random key are the same.
    all.filter(|bytes| {
        let mut seen = [false; 256];
        bytes.iter().for_each(|&byte| seen[usize::from(byte)] = true);
        seen.iter().filter(|&&seen| seen).count() >= 20
    })
}

/// The round keys of AES-256 that a process has of this key, from its schedule.
fn schedule(parts: &[Part], key: &[u8]) -> Option<Vec<Vec<u8>>> {
    let word =
        |bytes: &[u8], at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[4 * at + i]));
    for Part { bytes, .. } in parts {
        for whole in bytes.windows(15 * ROUND).filter(|whole| whole.starts_with(key)) {
            // Three of four words are sums of one before and one of the round key before the last.
            if (9..12).all(|at| word(whole, at) == word(whole, at - 1) ^ word(whole, at - 8)) {
                return Some(whole.chunks(ROUND).map(<[u8]>::to_vec).collect());
            }
        }
    }
    None
}

#[test]
fn no_client_has_keys_of_the_daemon() {
    let folder = Folder::new();
    let path = folder.socket();
    let [named, sent, mark] = [(); 3].map(|()| lanecrypt_random::bytes::<32>().to_vec());
    for (name, bytes) in [("key", &named), ("sent key", &sent), ("mark", &mark)] {
        fs::write(beside(&path, name), bytes).expect("it can be written");
    }
    let mut daemon = spawn(CHILD, "daemon", &path);
    until_it_listens(&path);
    let mut client = spawn(CHILD, "client", &path);
    let packet = loop {
        match fs::read(beside(&path, "sealed")) {
            Ok(packet) if packet.len() == 116 => break packet,
            _ => std::thread::yield_now(),
        }
    };

    let inside = memory(&daemon);
    let engine = Engine::new();
    let opens = |key: &&[u8]| {
        let session = engine.session(Algorithm::CHACHA20_POLY1305, key).expect("it is as long");
        session.open(&NONCE, b"", &mut packet.clone()).is_ok()
    };
    let generated = candidates(&inside, 32).find(opens).expect("the daemon has it").to_vec();
    // The key, its halves, and all that is made of it: where AES has instructions, the schedule has
    // these bytes. Other kernels have other forms of it.
    let mut keys = vec![named.clone(), generated.clone()];
    keys.extend([&named, &generated].iter().flat_map(|key| key.chunks(16).map(<[u8]>::to_vec)));
    if let Some(rounds) = schedule(&inside, &named) {
        keys.extend(rounds);
    } else {
        assert!(!Isa::detect().has_aes(), "no schedule");
    }
    assert!(count(&inside, &keys) >= 4, "the search finds what is there");

    let outside = memory(&client);
    let shared = || outside.iter().filter(|part| part.is_shared);
    assert!(count(shared(), &[mark]) > 0, "the search finds what is in shared memory");
    assert_eq!(count(&outside, &keys), 0, "a key of the daemon is in a client");

    // A key that a client sends is in its own memory, and not in that which both share.
    fs::write(beside(&path, "send"), "").expect("it can be written");
    until(|| beside(&path, "has sent").exists());
    let outside = memory(&client);
    assert!(count(&outside, core::slice::from_ref(&sent)) > 0, "the client has read it");
    let shared = outside.iter().filter(|part| part.is_shared);
    assert_eq!(count(shared, &[sent.clone(), sent[16..].to_vec()]), 0);

    // A key that gets into a client is found.
    fs::write(beside(&path, "plant"), "").expect("it can be written");
    until(|| beside(&path, "has planted").exists());
    assert!(count(&memory(&client), &keys) > 0, "the search finds a planted key");
    kill(&mut client);

    // Nothing is left of the keys of a client that is gone, nor of a key that was replaced.
    until(|| statistics(&path).clients == 0);
    until(|| count(&memory(&daemon), &[generated.clone(), sent.clone()]) == 0);
    let is_there = count(&memory(&daemon), core::slice::from_ref(&named)) > 0;
    assert!(is_there || !Isa::detect().has_aes(), "it is in use");
    fs::write(beside(&path, "next key"), [0x5a; 32]).expect("it can be written");
    fs::write(beside(&path, "rotate"), "").expect("it can be written");
    until(|| beside(&path, "has rotated").exists());
    // Nor of what was made of them.
    until(|| count(&memory(&daemon), &keys) == 0);
    kill(&mut daemon);
}
