//! The table `packets`: what messages with authentication cost one at a time, as protocols send
//! them: each has a session's key, a nonce of its own, a header of 8 bytes that is authenticated
//! too, and a buffer of its own. Then the same with a new key for each message, and sectors of
//! storage devices, which have no tag.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::{Aead, Direction};

use crate::ciphers::{CHECKED, Contender, Task};
use crate::depth::Depth;
use crate::results::Point;
use crate::row::Row;

pub(crate) mod headline;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use text::text;

/// The table's name.
pub(crate) const NAME: &str = "packets";

/// What is measured; the last only where there is time for everything.
const SUBJECTS: [Algorithm; 4] = [
    Algorithm::AES_128_GCM,
    Algorithm::AES_256_GCM,
    Algorithm::CHACHA20_POLY1305,
    Algorithm::XCHACHA20_POLY1305,
];
/// Sizes of messages under keys that are kept, in bytes.
const MESSAGES: [usize; 7] = [16, 64, 256, 576, 1024, 1500, 8192];
const FEW_MESSAGES: [usize; 2] = [64, 1500];
/// Sizes of messages that bring a key of their own, unless there is time for all.
const FRESH: [usize; 3] = [16, 64, 1500];

/// For sectors.
const SECTOR_SUBJECTS: [Algorithm; 2] = [Algorithm::AES_256_XTS, Algorithm::AES_128_XTS];
/// Sizes of sectors.
const SECTORS: [usize; 2] = [512, 4096];

/// Whether every message makes a context of its own in this API, with its key.
fn brings_its_key(point: &Point) -> bool {
    point.api.contains("oneshot")
}

/// The rows at a depth; `aeads` and `ciphers` are the peers that are there.
pub(crate) fn rows(aeads: &[Contender<dyn Aead>], ciphers: &[Contender], depth: Depth) -> Vec<Row> {
    let mut rows: Vec<Row> = messages(aeads, depth, false);
    rows.extend(messages(aeads, depth, true));
    rows.extend(sectors(ciphers, depth));
    // What matters least comes last: where the time is short, that is missing.
    let (lower, mut rows): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_lower);
    rows.extend(lower);
    rows
}

fn is_lower(row: &Row) -> bool {
    row.point.id.contains('@')
}

/// The rows of messages, under keys that are kept or that are fresh.
fn messages(aeads: &[Contender<dyn Aead>], depth: Depth, is_fresh: bool) -> Vec<Row> {
    let sizes: &[usize] = match (depth, is_fresh) {
        (Depth::Quick, _) => &FEW_MESSAGES,
        (Depth::Normal, true) => &FRESH,
        (Depth::Normal, false) | (Depth::Full, _) => &MESSAGES,
    };
    let mut rows = Vec::new();
    for algorithm in SUBJECTS {
        if algorithm == Algorithm::XCHACHA20_POLY1305 && depth != Depth::Full {
            continue;
        }
        let mut contenders = Contender::all_our_aeads(algorithm);
        // Of a fresh key the processor's own level tells enough.
        let told = depth == Depth::Full || depth == Depth::Normal && !is_fresh;
        contenders.retain(|contender| told || !contender.is_lower());
        contenders.extend(aeads.iter().filter(|c| c.algorithm() == algorithm).cloned());
        contenders.retain(|c| is_fresh || !brings_its_key(c.point()));
        for direction in Direction::ALL {
            for contender in &contenders {
                rows.extend(sizes.iter().map(|&s| contender.row(NAME, direction, s, is_fresh)));
            }
        }
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
                let tasks = SECTORS.map(Task::Message).into_iter();
                rows.extend(tasks.filter(|&task| contender.has(task)).map(|task| {
                    let mut row = contender.row(NAME, direction, task, 1);
                    row.point.batch = Some(1);
                    // Nothing in this table is chained.
                    let id = row.point.id.trim_end_matches("/independent");
                    row.point.id = id.to_owned();
                    row
                }));
            }
        }
    }
    rows
}
