//! The table `packets`: what small messages cost as protocols send them, one at a time and handed
//! over in batches. Each has a session's key, a nonce of its own, and a buffer of its own; where it
//! is authenticated, a header of 8 bytes too. All have one length, or lengths are mixed. Then the
//! same with a new key for each message, and sectors of storage devices.
//!
//! A loop over an API that takes one message at a time is what it is at every batch, so it is
//! measured once and stands beside all batches.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use self::shapes::shapes;
use crate::ciphers::{Api, CHECKED, Contender, Shape, Sizes, Task};
use crate::depth::Depth;
use crate::options::Options;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::tables::Table;

mod headline;
mod shapes;
#[cfg(test)]
mod tests;
mod text;

use text::text;

/// The table.
pub(crate) struct Packets;

impl Table for Packets {
    fn name(&self) -> &'static str {
        NAME
    }

    fn seconds(&self, depth: Depth) -> u64 {
        match depth {
            Depth::Quick => 20,
            Depth::Normal => 60,
            Depth::Full => 900,
        }
    }

    fn depth(&self, options: &Options) -> Depth {
        // Who names points finds each of the whole grid.
        let named = options.only.is_some() && options.depth == Depth::Normal;
        if named { Depth::Full } else { options.depth }
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        let (aeads, ciphers) = (rivals.aeads(), rivals.ciphers());
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
        // What matters least comes last: where the time is short, that is missing.
        let (lower, mut rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_lower);
        rows.extend(lower);
        rows
    }

    fn text(&self, points: &[Point]) -> String {
        text(points)
    }

    fn headline_rows(&self, rivals: &Rivals<'_>, _depth: Depth) -> Vec<Row> {
        headline::rows(rivals.aeads(), rivals.ciphers())
    }

    fn headline(&self, points: &[Point]) -> String {
        headline::text(points)
    }
}

/// The table's name.
const NAME: &str = "packets";

/// What is measured.
struct Subject {
    algorithm: Algorithm,
    /// The least depth at which it is.
    from: Depth,
    /// Whether batches of it are measured.
    batches: bool,
    /// Whether mixed lengths of it are measured even if there is no time for all.
    is_mixed: bool,
    /// Batches that tell something about it besides the usual ones.
    more: &'static [usize],
}

const fn subject(algorithm: Algorithm, more: &'static [usize]) -> Subject {
    Subject { algorithm, from: Depth::Quick, batches: true, is_mixed: true, more }
}

/// Those with authentication.
const AEADS: [Subject; 4] = [
    subject(Algorithm::AES_128_GCM, &[]),
    Subject { batches: false, ..subject(Algorithm::AES_256_GCM, &[]) },
    subject(Algorithm::CHACHA20_POLY1305, &[16]),
    Subject { from: Depth::Full, batches: false, ..subject(Algorithm::XCHACHA20_POLY1305, &[]) },
];
/// Those without.
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
/// Messages that are handed over at the same time.
const BATCHES: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 512];
/// The batch that all sizes are measured with.
const USUAL: usize = 64;

/// Bytes and batches of requests that ask for nothing.
const NULL_SIZE: usize = 64;
const NULL_BATCHES: [usize; 4] = [1, 8, 32, 512];

/// For sectors.
const SECTOR_SUBJECTS: [Algorithm; 2] = [Algorithm::AES_256_XTS, Algorithm::AES_128_XTS];
/// Sizes of sectors.
const SECTORS: [usize; 2] = [512, 4096];

/// Whether every message makes a context of its own in this API, with its key.
fn brings_its_key(point: &Point) -> bool {
    point.api.contains("oneshot")
}

fn is_lower(row: &Row) -> bool {
    row.point.id.contains('@')
}

impl Subject {
    fn is_of(&self, depth: Depth) -> bool {
        depth == Depth::Full || self.from != Depth::Full
    }
}

/// The rows of a subject, under keys that are kept or that are fresh.
fn messages<T: Api + ?Sized>(
    subject: &Subject,
    peers: &[Contender<T>],
    depth: Depth,
    is_fresh: bool,
) -> Vec<Row> {
    let algorithm = subject.algorithm;
    let mut contenders = Contender::<T>::all_ours(algorithm);
    contenders.retain(|c| c.point().api == CHECKED);
    if subject.batches {
        contenders.push(Contender::session(algorithm));
        contenders.extend(Contender::all_our_batches(algorithm));
    }
    contenders.extend(peers.iter().filter(|c| c.algorithm() == algorithm).cloned());
    contenders.retain(|c| is_fresh || !brings_its_key(c.point()));
    // How slow a processor without the instructions would be is told in the table `calls`.
    let all = depth == Depth::Full || algorithm.is_aead();
    contenders.retain(|c| all || c.point().api != "gcry-nohw");
    let mut rows = Vec::new();
    for direction in Direction::ALL {
        for contender in &contenders {
            let shapes = shapes(subject, contender, direction, depth, is_fresh).into_iter();
            rows.extend(shapes.map(|shape| contender.messages(NAME, direction, shape)));
        }
    }
    rows
}

/// Requests that ask for nothing: what is left is what a request costs.
fn null(depth: Depth) -> Vec<Row> {
    if depth == Depth::Quick {
        return Vec::new();
    }
    let row = |contender: &Contender, batch| {
        let shape = Shape { batch, ..Shape::single(NULL_SIZE) };
        contender.messages(NAME, Direction::Encrypt, shape)
    };
    let mut rows = vec![row(&Contender::session(Algorithm::NULL), 1)];
    for contender in Contender::all_our_batches(Algorithm::NULL) {
        rows.extend(NULL_BATCHES.map(|batch| row(&contender, batch)));
    }
    rows
}

/// The rows of sectors.
fn sectors(ciphers: &[Contender], depth: Depth) -> Vec<Row> {
    let mut rows = Vec::new();
    for algorithm in SECTOR_SUBJECTS {
        let mut contenders = Contender::all_ours(algorithm);
        contenders.retain(|c| c.point().api == CHECKED);
        contenders.retain(|c| depth != Depth::Quick || !c.is_lower());
        contenders.extend(ciphers.iter().filter(|c| c.algorithm() == algorithm).cloned());
        for direction in Direction::ALL {
            for contender in &contenders {
                let tasks = SECTORS.map(|size| Task::Batch(Shape::single(size))).into_iter();
                let tasks = tasks.filter(|&task| contender.has(task));
                rows.extend(tasks.map(|task| contender.row(NAME, direction, task, 1)));
            }
        }
    }
    rows
}
