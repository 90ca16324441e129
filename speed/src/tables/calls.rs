//! The table `calls`: the cost of a cipher library's calls beside the cipher, as a message on
//! libgcrypt's list measured it in 2018.
//!
//! The message encrypts a large buffer as a whole and in chunks of 16 to 2048 bytes, and takes the
//! difference for the cost of a call. The table has the message's rows and columns, with its
//! figures beside those of today. Then it adds measurements that the message omits: separate
//! messages, each with its own IV, and the set-up before the first byte (contexts, keys and IVs).

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use crate::ciphers::{CipherUnderTest, Task, WHOLE};
use crate::depth::Depth;
use crate::drawing::{Drawing, Measure, Side, is_kept, is_of_one_thread};
use crate::figure::is_same_line;
use crate::fit::Fit;
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::Row;
use crate::table::Table;

mod document;
#[cfg(test)]
#[path = "../../tests/unit/calls.rs"]
mod tests;
mod view;
mod wiping;

use document::document;

/// The table's name.
const NAME: &str = "calls";

/// The table.
pub(crate) const TABLE: Table = Table {
    rows,
    given: document,
    finish,
    blocks: view::blocks,
    legend: view::LEGEND,
    screen: &[view::SCREEN],
    drawings: &[Drawing::new("Overhead of a call, by chunk", Side::Size, Measure::Overhead)
        .of(|p| p.chained == Some(true) && is_of_one_thread(p) && is_kept(p))
        .by_operation()],
    ..Table::new(NAME)
};

fn rows(peers: &PeerSet<'_>, depth: Depth) -> Vec<Row> {
    let peers = peers.ciphers();
    let (mut rows, mut lower) = (Vec::new(), Vec::new());
    let chunks: &[usize] = if depth == Depth::Quick { &FEW_CHUNKS } else { &CHUNKS };
    for subject in &SUBJECTS {
        let Some(algorithm) = algorithm(subject.algorithm) else { continue };
        for candidate in candidates(algorithm, peers, depth) {
            // The whole buffer is last: without it there is no overhead to show.
            for &size in chunks.iter().chain([&WHOLE]) {
                let task = Task::Continue(size);
                if candidate.has(task) {
                    let rows = if candidate.is_lower() { &mut lower } else { &mut rows };
                    rows.push(candidate.row(NAME, subject.direction, task, 1));
                }
            }
        }
    }
    rows.extend(messages(peers, depth));
    rows.extend(set_up(peers, depth));
    rows.extend(shared());
    rows.extend(wiping::rows(peers, depth));
    // The least important rows are last: if the time is short, they are missing.
    rows.append(&mut lower);
    rows
}

/// The chunks of the message, in bytes.
const CHUNKS: [usize; 8] = [16, 32, 64, 128, 256, 512, 1024, 2048];
/// The chunks that are measured if there is little time.
const FEW_CHUNKS: [usize; 6] = [16, 64, 128, 256, 1024, 2048];

/// A cipher in a direction: one block of the table.
struct Subject {
    algorithm: &'static str,
    direction: Direction,
    /// Whether all sizes of independent messages are measured, or a few.
    whole: bool,
}

const SUBJECTS: [Subject; 11] = [
    subject("aes-128-cbc", Direction::Encrypt, true),
    subject("aes-128-cbc", Direction::Decrypt, true),
    subject("aes-128-ctr", Direction::Encrypt, true),
    subject("serpent-128-cbc", Direction::Encrypt, false),
    subject("serpent-128-cbc", Direction::Decrypt, false),
    subject("serpent-128-ctr", Direction::Encrypt, false),
    subject("des-cbc", Direction::Encrypt, false),
    subject("des-cbc", Direction::Decrypt, false),
    subject("3des-cbc", Direction::Encrypt, false),
    subject("3des-cbc", Direction::Decrypt, false),
    subject("chacha20-ietf", Direction::Encrypt, true),
];

const fn subject(algorithm: &'static str, direction: Direction, whole: bool) -> Subject {
    Subject { algorithm, direction, whole }
}

/// Sizes of independent messages, in bytes; CBC takes the next whole block.
const MESSAGES: [usize; 7] = [16, 64, 256, 576, 1024, 1500, 8192];
const FEW_MESSAGES: [usize; 2] = [64, 1500];
/// Sizes of messages under a key that threads share.
const SHARED: [usize; 2] = [64, 1500];

/// A message's size, rounded up as the mode needs it.
fn whole_blocks(algorithm: Algorithm, size: usize) -> usize {
    size.next_multiple_of(algorithm.granularity())
}

/// Whether there are rows of this algorithm.
fn algorithm(name: &str) -> Option<Algorithm> {
    name.parse().ok()
}

/// Ours and the peers' of one algorithm.
fn candidates(
    algorithm: Algorithm,
    peers: &[CipherUnderTest],
    depth: Depth,
) -> Vec<CipherUnderTest> {
    let mut all = CipherUnderTest::all_ours(algorithm);
    if depth == Depth::Quick {
        all.retain(|candidate| !candidate.is_lower());
    }
    all.extend(peers.iter().filter(|peer| peer.algorithm() == algorithm).cloned());
    all
}

/// Separate messages.
fn messages(peers: &[CipherUnderTest], depth: Depth) -> Vec<Row> {
    let mut rows = Vec::new();
    for subject in &SUBJECTS {
        let Some(algorithm) = algorithm(subject.algorithm) else { continue };
        let sizes: &[usize] = match depth {
            Depth::Quick if !subject.whole => continue,
            Depth::Normal if !subject.whole => &FEW_MESSAGES,
            Depth::Quick => &FEW_MESSAGES,
            Depth::Normal | Depth::Full => &MESSAGES,
        };
        for candidate in candidates(algorithm, peers, depth) {
            if candidate.is_lower() && depth != Depth::Full {
                continue;
            }
            for &bytes in sizes {
                let size = whole_blocks(algorithm, bytes);
                rows.push(candidate.row(NAME, subject.direction, Task::Message(size), 1));
                let fresh = subject.whole && subject.direction == Direction::Encrypt;
                if fresh && depth != Depth::Quick && FEW_MESSAGES.contains(&bytes) {
                    rows.push(candidate.row(NAME, subject.direction, Task::FreshKey(size), 1));
                }
            }
        }
    }
    rows
}

/// The set-up before the first byte.
fn set_up(peers: &[CipherUnderTest], depth: Depth) -> Vec<Row> {
    let mut rows = Vec::new();
    for subject in SUBJECTS.iter().filter(|s| s.direction == Direction::Encrypt) {
        let Some(algorithm) = algorithm(subject.algorithm) else { continue };
        // Serpent has one schedule, whatever the mode.
        let known = subject.algorithm == "serpent-128-ctr";
        if known || depth == Depth::Quick && !subject.whole {
            continue;
        }
        for candidate in candidates(algorithm, peers, depth) {
            if candidate.is_lower() && depth != Depth::Full {
                continue;
            }
            for task in [Task::SetKey, Task::SetIv, Task::Open, Task::Fetch] {
                if candidate.has(task) {
                    rows.push(candidate.row(NAME, Direction::Encrypt, task, 1));
                }
            }
        }
    }
    rows
}

/// One of our keys, used by one thread and by two.
fn shared() -> Vec<Row> {
    let mut rows = Vec::new();
    for subject in SUBJECTS.iter().filter(|s| s.algorithm.starts_with("aes")) {
        let Some(algorithm) = algorithm(subject.algorithm) else { continue };
        for size in SHARED {
            let task = Task::Message(whole_blocks(algorithm, size));
            let candidate = CipherUnderTest::shared(algorithm);
            for threads in [1, 2] {
                rows.push(candidate.row(NAME, subject.direction, task, threads));
            }
        }
    }
    rows
}

/// The point of the whole buffer in the same line, if its answers are right.
fn whole_of<'a>(points: impl IntoIterator<Item = &'a Point>, point: &Point) -> Option<&'a Point> {
    let size = Some(WHOLE as u64);
    let counts = |p: &Point| p.verified || p.source == "document";
    let is_whole = |p: &&Point| p.size == size && p.chained == Some(true) && counts(p);
    points.into_iter().filter(is_whole).find(|p| is_same_line(p, point))
}

/// Enters figures that follow from the measured ones: the cost of each call, and the fitted lines.
fn finish(points: &mut [Point]) {
    let mut found = Vec::new();
    for (at, point) in points.iter().enumerate() {
        if point.table != NAME || point.chained != Some(true) {
            continue;
        }
        let Some(whole) = whole_of(&*points, point) else { continue };
        if point.size == whole.size {
            found.push((at, None, fitted(points, whole)));
        } else {
            found.push((at, overhead(point, whole), None));
        }
    }
    for (at, overhead, fit) in found {
        points[at].overhead = overhead;
        points[at].fit = fit;
    }
    wiping::finish(points);
}

/// As the message computes it: (cycles per byte of the chunk - those of the whole) x chunk.
fn overhead(chunk: &Point, whole: &Point) -> Option<f64> {
    let size = crate::clock::as_f64(chunk.size?);
    Some((chunk.cycles_per_byte()? - whole.cycles_per_byte()?) * size)
}

/// The fit of all chunks in the same line of the table as `whole`.
fn fitted(points: &[Point], whole: &Point) -> Option<Fit> {
    let mut calls: Vec<(u64, f64)> = points
        .iter()
        .filter(|p| p.chained == Some(true) && p.size < whole.size && is_same_line(p, whole))
        .filter_map(|p| Some((p.size?, p.cycles?)))
        .collect();
    calls.sort_by_key(|&(size, _)| size);
    Fit::of(&calls)
}
