//! Hostile clients that act by their rings and their shared memory.

use core::sync::atomic::{AtomicU64, Ordering};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;

use lanecrypt_rsa::PrivateKey;
use lanecrypt_testing::device::{Advice, MAGIC, Memory, PROTOCOL, Raw, SUBMISSIONS, try_dial};
use lanecrypt_testing::numbers::Numbers;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{ENCRYPT, FILL, LONGEST, PAUSE, SEAL, SIGN, costly, drive, enter, open, request};
use crate::attack::children::{Cell, Post};

/// A ring of requests for 16 MiB of random bytes each.
pub(super) fn fills(post: &Post) {
    let whole = (0, 0, u64::from(LONGEST));
    drive(post, (256, LONGEST), |_| {}, |number| request((number, 0, FILL), 0, whole));
}

/// A ring of requests that cannot succeed, most of them after their data has been copied.
pub(super) fn doomed(post: &Post) {
    let prepare = |raw: &Raw| open(raw, "aes-128-gcm", 16);
    let whole = u64::from(LONGEST);
    drive(post, (256, LONGEST), prepare, |number| match number % 8 {
        // A session that is not there.
        0 => request((number, 77, SEAL), 12, (0, 0, whole)),
        // No room for the tag.
        1 => request((number, 0, SEAL), 12, (0, whole - 15, 15)),
        // Not within the arena.
        2 => request((number, 0, SEAL), 12, (1, 0, whole)),
        // An operation that the session does not have.
        3 => request((number, 0, ENCRYPT), 12, (0, 0, whole)),
        // A nonce of 60,000 bytes, in the arena.
        4 => request((number, 0, SEAL), 60_000, (0, 0, whole - 60_000)),
        // A nonce that is too short.
        _ => request((number, 0, SEAL), 3, (0, 0, whole)),
    });
}

/// A ring of long messages: AES-GCM, and triple DES, which is the slowest.
pub(super) fn long(post: &Post) {
    let prepare = |raw: &Raw| {
        open(raw, "aes-128-gcm", 16);
        raw.ask((3_u32, "3des-cbc", 0_u32));
        raw.hear();
    };
    let whole = (0, 0, u64::from(LONGEST));
    drive(post, (256, LONGEST), prepare, |number| match number % 2 {
        0 => request((number, 0, SEAL), 12, whole),
        _ => request((number, 1, ENCRYPT), 8, whole),
    });
}

/// A ring of requests over memory whose pages vanish all the time.
pub(super) fn holes(post: &Post) {
    let meanwhile = Meanwhile::default();
    let prepare = |raw: &Raw| {
        open(raw, "aes-128-gcm", 16);
        let memory = raw.memory.try_clone().expect("there are descriptors");
        let (shared, at) = (raw.shared(), raw.arena_at());
        post.board.add(Cell::Refused, punch(&memory, &shared, at));
        meanwhile.repeat(move || {
            punch(&memory, &shared, at);
        });
    };
    drive(post, (256, LONGEST), prepare, |number| {
        let (offset, length) = (u64::from(number % 16) << 20, 1 << 20);
        let operation = if number % 2 == 0 { SEAL } else { FILL };
        let nonce = if operation == SEAL { 12 } else { 0 };
        request((number, 0, operation), nonce, (offset, 0, length))
    });
}

/// Drops the pages of an arena, by every way there is. Returns how many the kernel has refused.
fn punch(memory: &OwnedFd, shared: &Memory, at: u64) -> u64 {
    let begin = usize::try_from(at).expect("an address");
    let length = shared.len() - begin;
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let mut refused = u64::from(fallocate(memory, flags, at, length as u64).is_err());
    for advice in [Advice::LinuxRemove, Advice::LinuxDontNeed, Advice::LinuxPageOut] {
        refused += u64::from(shared.advise(begin, length, advice).is_err());
    }
    refused
}

/// Threads of which the last one acts until the process ends.
#[derive(Default)]
struct Meanwhile(Arc<AtomicU64>);

impl Meanwhile {
    /// Does this again and again, instead of what was done before.
    fn repeat(&self, mut act: impl FnMut() + Send + 'static) {
        let current = self.0.clone();
        let own = current.fetch_add(1, Ordering::Relaxed) + 1;
        thread::spawn(move || {
            while current.load(Ordering::Relaxed) == own {
                act();
            }
        });
    }
}

/// A ring of anything that is valid, for a client that is killed.
pub(super) fn victim(post: &Post) {
    let mut numbers = Numbers(post.number);
    let prepare = |raw: &Raw| {
        open(raw, "aes-128-gcm", 16);
        open(raw, "aes-128-gcm", 16);
    };
    drive(post, (256, 1 << 20), prepare, |number| {
        let length = 16 + numbers.below(1 << 14) as u64;
        let place = (numbers.below(1 << 19) as u64, 0, length);
        match numbers.below(3) {
            0 => request((number, 0, FILL), 0, place),
            session => request((number, session as u64 - 1, SEAL), 12, place),
        }
    });
}

/// Requests, words, data and packets at random, while another thread changes them. As many as the
/// number says.
pub(super) fn mutated(post: &Post) {
    const DEPTH: u32 = 64;
    const ARENA: u32 = 1 << 14;
    let mut numbers = Numbers(17);
    let meanwhile = Meanwhile::default();
    while post.board.get(Cell::Done) < post.number {
        let Some(mut raw) = enter(post, DEPTH, ARENA) else { return };
        for name in ["aes-128-gcm", "aes-128-cbc", "chacha20-poly1305"] {
            raw.ask((3_u32, name, 0_u32));
            raw.hear();
        }
        let (shared, mut others) = (raw.shared(), Numbers(numbers.number()));
        let arena = usize::try_from(raw.arena_at()).expect("an address");
        meanwhile.repeat(move || {
            let data: [u8; 64] = others.array();
            shared.write(arena + others.below(ARENA as usize - 64), &data);
            let at = 8 * others.below(8 * DEPTH as usize);
            shared.write(usize::try_from(SUBMISSIONS).expect("small") + at, &data[..8]);
        });
        post.is_ready();
        while !post.stops() && post.board.get(Cell::Done) < post.number {
            raw.submit_each(&[(); 32].map(|()| any_request(&mut numbers)));
            post.board.add(Cell::Done, 32);
            match numbers.below(64) {
                0 => packet(post, &mut numbers),
                1 => {
                    // Its own words, those of the daemon, and the number of its requests.
                    let at = 64 * numbers.below(16) as u64;
                    raw.write(at, &numbers.array::<4>());
                    raw.ring();
                }
                _ => {}
            }
            // The daemon may end the connection, or the number of completions was changed.
            let mut looks = 0;
            while raw.behind() > DEPTH / 2 && looks < 1000 {
                thread::yield_now();
                looks += 1;
            }
            if looks == 1000 || raw.is_out() {
                break;
            }
        }
    }
}

/// A request that is valid, almost valid, or not at all.
fn any_request(numbers: &mut Numbers) -> [u64; 8] {
    if numbers.below(4) == 0 {
        return [(); 8].map(|()| numbers.number());
    }
    let mut small = |bound: usize| numbers.below(bound) as u64;
    let place = (small(18_000), small(40), small(2000));
    let mut words = request((0, small(4), small(7)), small(40), place);
    // One bit is another one.
    let bit = small(8 * 64 * 4);
    if let Some(word) = words.get_mut(usize::try_from(bit / 64).expect("small")) {
        *word ^= 1 << (bit % 64);
    }
    words
}

/// Sends a packet of a random kind on a connection of its own.
fn packet(post: &Post, numbers: &mut Numbers) {
    let length = 1 + numbers.below(100);
    let mut packet = numbers.bytes(length);
    if numbers.below(2) == 0 {
        let kind = numbers.array::<1>()[0] % 10;
        let [version, ..] = PROTOCOL.to_le_bytes();
        packet.splice(..0, MAGIC.into_iter().chain([version, version, kind]));
    }
    let Ok(socket) = try_dial(&post.socket) else { return };
    let _ = send(&socket, &packet, SendFlags::NOSIGNAL);
    // An answer, the end, or both.
    let _ = recv(&socket, &mut [0; 1000][..], RecvFlags::empty());
}

/// 64 signatures each of twelve clients: all at once, and again and again if the number says so.
pub(super) fn signatures(post: &Post) {
    let key = PrivateKey::from_pem(include_str!("../../../../../rsa/tests/key.pem"));
    let der = key.and_then(|key| key.to_pkcs8_der()).expect("it is a key");
    let scheme = ("sha256", None::<u32>);
    let mut clients = Vec::new();
    for _ in 0..12 {
        let Some(raw) = enter(post, 64, 1 << 16) else { return };
        raw.ask((6_u32, scheme, (0_u32, &der[..])));
        raw.hear();
        clients.push((raw, 0));
    }
    let sign = |number: u32| request((number, 0, SIGN), 0, (u64::from(number % 64) * 512, 64, 256));
    clients.iter_mut().for_each(|(raw, _)| raw.fill_up(sign));
    post.is_ready();
    let mut is_out = false;
    while !is_out && !post.stops() {
        thread::sleep(PAUSE);
        is_out = clients.iter().any(|(raw, _)| raw.is_out());
        for (raw, seen) in &mut clients {
            let answered = raw.submitted - raw.behind();
            post.board.add(Cell::Done, costly(raw, *seen..answered));
            *seen = answered;
            if post.number != 0 {
                raw.fill_up(sign);
            }
        }
    }
}
