//! The table `packets`: the cost of small messages as protocols send them, one at a time and in
//! batches. Each message has a session's key, its own nonce and its own buffer; with
//! authentication, also a header of 8 bytes. Messages have one length, or mixed lengths. Further
//! rows have a new key for each message, or sectors of storage devices.
//!
//! A loop over an API that takes one message at a time costs the same for every batch, so it is
//! measured once and shown beside all batches.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use self::shapes::shapes;
use crate::ciphers::{Api, CHECKED, CipherUnderTest, Shape, Sizes, Task};
use crate::depth::Depth;
use crate::drawing::{Drawing, Measure, Side, is_kept, is_of_one_thread};
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::Row;
use crate::table::Table;

mod shapes;
#[cfg(test)]
#[path = "../../tests/unit/packets.rs"]
mod tests;
mod view;

/// The table.
pub(crate) const TABLE: Table = Table {
    seconds: [20, 60, 900],
    rows,
    is_long: true,
    blocks: view::blocks,
    legend: view::LEGEND,
    screen: &view::SCREEN,
    drawings: &[
        Drawing::new("Messages, one at a time", Side::Size, Measure::Cycles)
            .of(|p| p.batch == Some(1) && is_of_one_thread(p) && is_kept(p))
            .by_operation(),
        Drawing::new("64-byte messages by batch", Side::Batch, Measure::Cycles)
            .of(|p| p.size == Some(64) && is_of_one_thread(p) && is_kept(p))
            .by_operation(),
    ],
    ..Table::new(NAME)
};

fn rows(peers: &PeerSet<'_>, depth: Depth) -> Vec<Row> {
    let (aeads, ciphers) = (peers.aeads(), peers.ciphers());
    let mut rows = Vec::new();
    for is_fresh in [false, true] {
        for subject in AEADS.iter().filter(|subject| subject.is_of(depth)) {
            rows.extend(messages(subject, aeads, depth, is_fresh));
        }
        for subject in RAW.iter().filter(|subject| subject.is_of(depth)) {
            rows.extend(messages(subject, ciphers, depth, is_fresh));
        }
    }
    rows.extend(null(depth));
    rows.extend(sectors(ciphers, depth));
    // The least important rows are last: if the time is short, they are missing.
    let (lower, mut rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(Row::is_lower);
    rows.extend(lower);
    rows
}

/// The table's name.
const NAME: &str = "packets";

/// A measured algorithm.
struct Subject {
    algorithm: Algorithm,
    /// The least depth at which it is measured.
    from: Depth,
    /// Whether batches of it are measured.
    batches: bool,
    /// Whether mixed lengths are measured even if there is no time for all.
    is_mixed: bool,
    /// Further batches that show something about it.
    more: &'static [usize],
}

const fn subject(algorithm: Algorithm, more: &'static [usize]) -> Subject {
    Subject { algorithm, from: Depth::Quick, batches: true, is_mixed: true, more }
}

/// Algorithms with authentication.
const AEADS: [Subject; 11] = [
    subject(Algorithm::AES_128_GCM, &[]),
    Subject { batches: false, ..subject(Algorithm::AES_256_GCM, &[]) },
    Subject { is_mixed: false, ..subject(Algorithm::AES_256_GCM_SIV, &[]) },
    subject(Algorithm::CHACHA20_POLY1305, &[16]),
    Subject { is_mixed: false, ..subject(Algorithm::AEGIS_128L, &[16]) },
    subject(Algorithm::AES_128_CBC_HMAC_SHA256, &[]),
    Subject { from: Depth::Full, ..subject(Algorithm::AEGIS_256, &[16]) },
    Subject { from: Depth::Full, batches: false, ..subject(Algorithm::AES_128_GCM_SIV, &[]) },
    Subject { from: Depth::Full, batches: false, ..subject(Algorithm::XCHACHA20_POLY1305, &[]) },
    Subject { from: Depth::Full, batches: false, ..subject(Algorithm::AES_SIV_256, &[]) },
    Subject { from: Depth::Full, batches: false, ..subject(Algorithm::AES_SIV_512, &[]) },
];
/// Algorithms without authentication.
const RAW: [Subject; 6] = [
    subject(Algorithm::AES_128_CBC, &[2, 4]),
    subject(Algorithm::AES_128_CTR, &[]),
    subject(Algorithm::CHACHA20_IETF, &[16]),
    Subject { is_mixed: false, ..subject(Algorithm::SERPENT_128_CBC, &[32]) },
    Subject { is_mixed: false, ..subject(Algorithm::DES_CBC, &[512]) },
    Subject { is_mixed: false, ..subject(Algorithm::TRIPLE_DES_CBC, &[512]) },
];

/// Sizes of messages in bytes; CBC takes the next whole block.
const MESSAGES: [usize; 7] = [16, 64, 256, 576, 1024, 1500, 8192];
const FEW_MESSAGES: [usize; 2] = [64, 1500];
/// Mixed sizes: short messages, and those of all the lengths that a network has.
const MIXES: [Sizes; 2] = [Sizes::mixed(60, 200), Sizes::mixed(60, 1400)];
/// The numbers of messages that are handed over together.
const BATCHES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 512];
/// The batch that all sizes are measured with.
const USUAL: usize = 64;

/// Bytes and batches of requests to the null cipher.
const NULL_SIZE: usize = 64;
const NULL_BATCHES: [usize; 4] = [1, 8, 32, 512];

/// The algorithms for sectors.
const SECTOR_SUBJECTS: [Algorithm; 2] = [Algorithm::AES_256_XTS, Algorithm::AES_128_XTS];
/// Sizes of sectors.
const SECTORS: [usize; 2] = [512, 4096];

/// Whether every message makes its own context in this API, with its key.
fn brings_its_key(point: &Point) -> bool {
    point.api.contains("oneshot")
}

impl Subject {
    fn is_of(&self, depth: Depth) -> bool {
        depth == Depth::Full || self.from != Depth::Full
    }
}

/// The rows of a subject, with kept or fresh keys.
fn messages<T: Api + ?Sized>(
    subject: &Subject,
    peers: &[CipherUnderTest<T>],
    depth: Depth,
    is_fresh: bool,
) -> Vec<Row> {
    let algorithm = subject.algorithm;
    let mut candidates = CipherUnderTest::<T>::all_ours(algorithm);
    candidates.retain(|c| c.point().api == CHECKED);
    if subject.batches {
        candidates.push(CipherUnderTest::session(algorithm));
        candidates.extend(CipherUnderTest::all_our_batches(algorithm));
    }
    candidates.extend(peers.iter().filter(|c| c.algorithm() == algorithm).cloned());
    candidates.retain(|c| is_fresh || !brings_its_key(c.point()));
    // The table `calls` shows the speed of a processor without the instructions.
    let all = depth == Depth::Full || algorithm.is_aead();
    candidates.retain(|c| all || c.point().api != "gcry-nohw");
    let mut rows = Vec::new();
    for direction in Direction::ALL {
        for candidate in &candidates {
            let shapes = shapes(subject, candidate, direction, depth, is_fresh).into_iter();
            rows.extend(shapes.map(|shape| candidate.messages(NAME, direction, shape)));
        }
    }
    rows
}

/// Requests to the null cipher: they show the cost of the request itself.
fn null(depth: Depth) -> Vec<Row> {
    if depth == Depth::Quick {
        return Vec::new();
    }
    let row = |candidate: &CipherUnderTest, batch| {
        let shape = Shape { batch, ..Shape::single(NULL_SIZE) };
        candidate.messages(NAME, Direction::Encrypt, shape)
    };
    let mut rows = vec![row(&CipherUnderTest::session(Algorithm::NULL), 1)];
    for candidate in CipherUnderTest::all_our_batches(Algorithm::NULL) {
        rows.extend(NULL_BATCHES.map(|batch| row(&candidate, batch)));
    }
    rows
}

/// The rows of sectors.
fn sectors(ciphers: &[CipherUnderTest], depth: Depth) -> Vec<Row> {
    let mut rows = Vec::new();
    for algorithm in SECTOR_SUBJECTS {
        let mut candidates = CipherUnderTest::all_ours(algorithm);
        candidates.retain(|c| c.point().api == CHECKED);
        candidates.retain(|c| depth != Depth::Quick || !c.is_lower());
        candidates.extend(ciphers.iter().filter(|c| c.algorithm() == algorithm).cloned());
        for direction in Direction::ALL {
            for candidate in &candidates {
                let tasks = SECTORS.map(|size| Task::Batch(Shape::single(size))).into_iter();
                let tasks = tasks.filter(|&task| candidate.has(task));
                rows.extend(tasks.map(|task| candidate.row(NAME, direction, task, 1)));
            }
        }
    }
    rows
}
