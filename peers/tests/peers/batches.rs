//! Messages in batches give the same results as one by one, whatever is in flight beside them, and
//! a bad message leaves nothing behind.

use crate::bytes;
use lanecrypt_peers::{
    Aead, Cipher, Direction, Message, Packet, Peer, PeerLibraries, Run, aeads, ciphers, lengths,
    whole_blocks,
};

/// Messages in a batch. More than 128 are more than one burst, more than 256 more than a queue.
const BATCHES: [usize; 8] = [1, 2, 7, 16, 64, 100, 128, 400];

const SESSIONS: usize = 40;
const MESSAGES: usize = 400;
const GUARD: usize = 64;

fn ciphers_found() -> Vec<Peer<dyn Cipher>> {
    let mut peers = crate::found(ciphers);
    // XTS has no crate to compare with, and its calls do not depend on batches.
    peers.retain(|peer| !peer.subject.ends_with("xts"));
    peers
}

fn aeads_found() -> Vec<Peer<dyn Aead>> {
    crate::found(aeads)
}

fn some_bytes(seed: u64, count: usize, len: usize) -> Vec<Vec<u8>> {
    (0..).map(|n| bytes(seed + n, len)).take(count).collect()
}

fn slices(all: &[Vec<u8>]) -> Vec<&[u8]> {
    all.iter().map(Vec::as_slice).collect()
}

/// Whole blocks of all ciphers, short and long in turn, guards around them.
fn buffers(least: usize) -> Vec<Vec<u8>> {
    let len = |n: usize| (n * 7 % 11 + n % 8 / 7 * 20 + least) * 16;
    (0..MESSAGES).zip(0..).map(|(n, seed)| bytes(seed + 5000, len(n) + 2 * GUARD)).collect()
}

fn inside(buffer: &mut [u8]) -> &mut [u8] {
    let len = buffer.len();
    &mut buffer[GUARD..len - GUARD]
}

/// Messages of many sessions, of all lengths, with an IV each.
struct Messages {
    ivs: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
}

impl Messages {
    fn new(algorithm: &str) -> Self {
        let (_, iv_len) = lengths(algorithm).expect("a known algorithm");
        Self { ivs: some_bytes(1000, MESSAGES, iv_len), data: buffers(1) }
    }

    fn all(&mut self) -> Vec<Message<'_>> {
        let messages = self.data.iter_mut().zip(&self.ivs).enumerate();
        messages
            .map(|(n, (data, iv))| Message { session: n * 3 % SESSIONS, iv, data: inside(data) })
            .collect()
    }
}

fn cipher_keys(algorithm: &str, seed: u64) -> Vec<Vec<u8>> {
    some_bytes(seed, SESSIONS, lengths(algorithm).expect("a known algorithm").0)
}

/// The crates' results for `requests` of the messages, including guards.
fn expected(algorithm: &str, direction: Direction, rekeyed: bool, requests: usize) -> Vec<Vec<u8>> {
    let peer = crate::reference(ciphers, algorithm);
    let (keys, others) = (cipher_keys(algorithm, 1), cipher_keys(algorithm, 2));
    let mut cipher = peer.open(direction, &slices(&keys)).expect("right lengths");
    let mut messages = Messages::new(algorithm);
    let fresh = slices(&others[..7]);
    let run = Run::of(requests).with_keys(rekeyed.then_some(&fresh));
    cipher.messages(&mut messages.all(), run).expect("whole blocks");
    messages.data
}

#[test]
fn the_apis_that_take_batches_are_those_of_one_peer() {
    let of = |source: &str| if source == "ipsec-mb" { "ipsec-mb" } else { "another" };
    let mut names = Vec::new();
    for peer in ciphers(&PeerLibraries::new()) {
        assert_eq!(peer.batches, of(peer.source) == "ipsec-mb", "{peer:?}");
        names.extend(peer.batches.then(|| format!("{} {}", peer.subject, peer.api)));
    }
    for peer in aeads(&PeerLibraries::new()) {
        let jobs = of(peer.source) == "ipsec-mb" && peer.api != "direct";
        assert_eq!(peer.batches, jobs, "{peer:?}");
        names.extend(peer.batches.then(|| format!("{} {}", peer.subject, peer.api)));
    }
    names.sort_unstable();
    let jobs_of = |algorithm| [format!("{algorithm} burst"), format!("{algorithm} job")];
    let algorithms = ["3des-cbc", "aes-128-cbc", "aes-128-ctr", "aes-128-gcm", "aes-256-gcm"];
    let mut all: Vec<String> = algorithms.map(jobs_of).concat();
    all.extend(["chacha20-poly1305", "des-cbc"].map(jobs_of).concat());
    all.extend(["aes-128-cbc", "aes-128-ctr"].map(|name| format!("{name} cipher-burst")));
    all.sort_unstable();
    assert_eq!(names, all);
}

#[test]
fn messages_in_batches_are_those_of_the_crates() {
    let peers = ciphers_found();
    let mut algorithms: Vec<&str> = peers.iter().map(|peer| peer.subject).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    for (algorithm, direction) in
        algorithms.iter().flat_map(|&name| Direction::ALL.map(|way| (name, way)))
    {
        // Once through, and some of them again.
        for (rekeyed, requests) in [(false, MESSAGES), (false, MESSAGES + 130), (true, MESSAGES)] {
            let output = expected(algorithm, direction, rekeyed, requests);
            let (keys, others) = (cipher_keys(algorithm, 1), cipher_keys(algorithm, 2));
            for peer in peers.iter().filter(|peer| peer.subject == algorithm) {
                let mut cipher = peer.open(direction, &slices(&keys)).expect("it was found");
                let batches: &[usize] = if peer.batches { &BATCHES } else { &[64] };
                for &batch in batches {
                    let mut messages = Messages::new(algorithm);
                    let all = &mut messages.all();
                    let fresh = slices(&others[..7]);
                    let run = Run::of(requests).in_batches(batch);
                    let run = run.with_keys(rekeyed.then_some(&fresh));
                    cipher.messages(all, run).expect("whole blocks");
                    assert!(messages.data == output, "{peer:?} {direction:?} {batch} {rekeyed}");
                }
            }
        }
    }
}

#[test]
fn a_bad_message_ends_the_batch_and_stays_alone() {
    for peer in ciphers_found().iter().filter(|peer| peer.batches) {
        let (keys, input) = (cipher_keys(peer.subject, 1), Messages::new(peer.subject));
        for direction in Direction::ALL {
            let output = expected(peer.subject, direction, false, MESSAGES);
            let mut cipher = peer.open(direction, &slices(&keys)).expect("it was found");
            for batch in [1, 16, 100, 400] {
                for at in [0, 99, 390] {
                    for fault in 0..4 {
                        let mut messages = Messages::new(peer.subject);
                        let mut all = messages.all();
                        let bad = &mut all[at];
                        match fault {
                            0 => bad.session = SESSIONS,
                            1 => bad.iv = &bad.iv[1..],
                            2 => bad.data = &mut [],
                            _ if peer.subject.ends_with("ctr") => bad.iv = &[0xff; 16],
                            _ => bad.data = &mut core::mem::take(&mut bad.data)[1..],
                        }
                        let done = cipher.messages(&mut all, Run::of(MESSAGES).in_batches(batch));
                        assert!(done.is_err(), "{peer:?} {batch} {at} {fault}");
                        // Batches before it are whole, and none after it was begun.
                        let (before, after) = (at / batch * batch, (at / batch + 1) * batch);
                        let after = after.min(MESSAGES);
                        let (made, input) = (&messages.data, &input.data);
                        let name = format!("{peer:?} {batch} {at} {fault}");
                        assert!(made[..before] == output[..before], "{name}");
                        assert!(made[after..] == input[after..], "{name}");
                    }
                }
                // None of them is left in the library.
                let mut messages = Messages::new(peer.subject);
                let run = Run::of(MESSAGES).in_batches(batch);
                cipher.messages(&mut messages.all(), run).expect("whole blocks");
                assert!(messages.data == output, "{peer:?} {batch}");
            }
            let mut messages = Messages::new(peer.subject);
            let all = &mut messages.all();
            assert!(cipher.messages(all, Run::of(4).in_batches(0)).is_err(), "no batch");
            let four = |requests| Run::of(requests).in_batches(4);
            assert!(cipher.messages(&mut [], four(1)).is_err(), "no message");
            assert!(cipher.messages(&mut [], four(0)).is_ok(), "nothing to do");
            assert!(cipher.messages(all, four(4).with_keys(Some(&[]))).is_err(), "no keys");
            let short = cipher.messages(all, four(4).with_keys(Some(&[&keys[0][1..]])));
            assert!(short.is_err(), "a key too short");
        }
    }
}

/// Packets of many sessions, of all lengths.
struct Packets {
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
    tags: Vec<[u8; 16]>,
}

impl Packets {
    fn new(algorithm: &str) -> Self {
        let (_, nonce_len) = lengths(algorithm).expect("a known algorithm");
        // libcrypto's AES-SIV refuses messages without a byte.
        let mut data = buffers(usize::from(algorithm.starts_with("aes-siv")));
        for (n, data) in data.iter_mut().enumerate().filter(|_| !whole_blocks(algorithm)) {
            data.truncate(data.len() - n % 3 * usize::from(data.len() > 2 * GUARD + 16));
        }
        let lengths = [0, 8, 13, 16, 40].into_iter().cycle();
        let aads = (9000..).zip(lengths).map(|(seed, len)| bytes(seed, len));
        Self {
            nonces: some_bytes(1000, MESSAGES, nonce_len),
            aads: aads.take(MESSAGES).collect(),
            data,
            tags: vec![[0; 16]; MESSAGES],
        }
    }

    /// All packets, to be sealed, or with `sealed` to be opened.
    fn all<'a>(&'a mut self, sealed: Option<&'a [Vec<u8>]>) -> Vec<Packet<'a>> {
        let (mut data, mut tags) = (self.data.iter_mut(), self.tags.iter_mut());
        let packets = self.nonces.iter().zip(&self.aads).enumerate();
        packets
            .map(|(n, (nonce, aad))| {
                let data = inside(data.next().expect("as many"));
                let sealed = sealed.map_or(&[][..], |sealed| {
                    let buffer = &sealed[n];
                    &buffer[GUARD..buffer.len() - GUARD]
                });
                let tag = tags.next().expect("as many");
                Packet { session: n * 3 % SESSIONS, nonce, aad, data, sealed, tag }
            })
            .collect()
    }
}

fn aead_keys(algorithm: &str, seed: u64) -> Vec<Vec<u8>> {
    some_bytes(seed, SESSIONS, lengths(algorithm).expect("a known algorithm").0)
}

/// The packets as the crates seal them.
fn sealed(algorithm: &str, rekeyed: bool) -> Packets {
    let peer = crate::reference(aeads, algorithm);
    let (keys, others) = (aead_keys(algorithm, 1), aead_keys(algorithm, 2));
    let mut aead = peer.open(Direction::Encrypt, &slices(&keys)).expect("right lengths");
    let mut packets = Packets::new(algorithm);
    let fresh = slices(&others[..7]);
    let run = Run::of(MESSAGES).with_keys(rekeyed.then_some(&fresh));
    aead.messages(&mut packets.all(None), run).expect("messages");
    packets
}

#[test]
fn packets_in_batches_are_those_of_the_crates() {
    for peer in &aeads_found() {
        let algorithm = peer.subject;
        let (keys, others) = (aead_keys(algorithm, 1), aead_keys(algorithm, 2));
        let fresh = slices(&others[..7]);
        let mut sealing = peer.open(Direction::Encrypt, &slices(&keys)).expect("it was found");
        let batches: &[usize] = if peer.batches { &BATCHES } else { &[64] };
        for rekeyed in [false, true] {
            let right = sealed(algorithm, rekeyed);
            let mut opening = peer.open(Direction::Decrypt, &slices(&keys)).expect("it was found");
            for &batch in batches {
                let mut packets = Packets::new(algorithm);
                let run = Run::of(MESSAGES).in_batches(batch);
                let run = run.with_keys(rekeyed.then_some(&fresh));
                sealing.messages(&mut packets.all(None), run).expect("messages");
                assert!(packets.data == right.data, "{peer:?} {batch} {rekeyed}");
                assert!(packets.tags == right.tags, "{peer:?} {batch} {rekeyed}");

                let mut packets = Packets::new(algorithm);
                for data in &mut packets.data {
                    inside(data).fill(0);
                }
                packets.tags.clone_from(&right.tags);
                // Some of them twice.
                let again = if rekeyed { 0 } else { 30 };
                let run = Run::of(MESSAGES + again).in_batches(batch);
                let run = run.with_keys(rekeyed.then_some(&fresh));
                opening.messages(&mut packets.all(Some(&right.data)), run).expect("right tags");
                assert!(packets.data == Packets::new(algorithm).data, "{peer:?} {batch} {rekeyed}");
            }
        }
    }
}

#[test]
fn a_forged_packet_is_found_wherever_it_is() {
    for peer in &aeads_found() {
        let keys = aead_keys(peer.subject, 1);
        let mut right = sealed(peer.subject, false);
        let sealed = right.data.clone();
        let mut aead = peer.open(Direction::Decrypt, &slices(&keys)).expect("it was found");
        for (at, byte) in [(0, 0), (5, 15), (63, 7), (64, 8), (399, 1)] {
            for batch in [1, 64, 400] {
                let mut open = |forge: u8, session: usize| {
                    let mut packets = right.all(Some(&sealed));
                    packets[at].tag[byte] ^= forge;
                    packets[at].session += session;
                    let opened = aead.messages(&mut packets, Run::of(MESSAGES).in_batches(batch));
                    packets[at].tag[byte] ^= forge;
                    opened
                };
                assert!(open(0x80, 0).is_err(), "{peer:?} {at} {batch}");
                assert!(open(0, 1).is_err(), "{peer:?} {at} {batch}: another key");
                assert!(open(0, SESSIONS).is_err(), "{peer:?} {at} {batch}: no such session");
                assert!(open(0, 0).is_ok(), "{peer:?} {at} {batch}");
            }
        }
        let mut packets = right.all(Some(&sealed));
        if peer.batches {
            assert!(
                aead.messages(&mut packets, Run::of(MESSAGES).in_batches(0)).is_err(),
                "no batch"
            );
        }
        packets[70].nonce = &packets[70].nonce[1..];
        assert!(
            aead.messages(&mut packets, Run::of(MESSAGES).in_batches(128)).is_err(),
            "{peer:?}: nonce"
        );
        let none = aead.messages(&mut packets, Run::of(8).in_batches(8).with_keys(Some(&[])));
        assert!(none.is_err(), "{peer:?}: no key");
    }
}
