//! The table `device`: the study's Figure 1 with the engine in a process of its own.
//!
//! The study of the OpenBSD cryptographic framework (USENIX 2003) measured `/dev/crypto`: one
//! blocked process, and said what several do. Here a daemon serves clients by shared memory. Beside
//! it are the engine in the process, OpenSSL in the process, and what a system call on a pipe and
//! an echo by a Unix socket cost. The table starts its daemons and clients itself.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use crate::drawing::{Drawing, Measure, Side};
use crate::results::Point;
use crate::table::{Extra, Table};
use crate::tables::study;

mod child;
mod daemons;
mod echo;
mod fills;
mod latency;
mod link;
mod many;
mod messages;
mod process;
mod rows;
mod setting;
#[cfg(test)]
#[path = "../../tests/unit/device.rs"]
mod tests;
mod token;
mod view;

pub use child::child;

/// The name of the table.
const NAME: &str = "device";
/// The entry point of ours.
const API: &str = "device";

/// The algorithms, as in the study's figure and as they are used today.
const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::NULL,
    Algorithm::DES_CBC,
    Algorithm::TRIPLE_DES_CBC,
    Algorithm::AES_128_CBC,
    Algorithm::AES_128_CTR,
    Algorithm::AES_128_GCM,
];

/// Both directions of an algorithm; the null algorithm has one only.
fn directions(algorithm: Algorithm) -> &'static [Direction] {
    match algorithm {
        Algorithm::NULL => &[Direction::Encrypt],
        _ => &[Direction::Encrypt, Direction::Decrypt],
    }
}

/// The table. The whole test of random bytes has no limit.
pub(crate) const TABLE: Table = Table {
    seconds: [30, 90, 90],
    rows: rows::rows,
    given: || study::points(NAME).into_iter().map(|p| Point { processes: Some(1), ..p }).collect(),
    extra: Some(Extra {
        ids: latency::ids,
        measure: |how, sampled| latency::measure(how.device, how.fits, &how.limits, sampled),
    }),
    finish,
    has_test: true,
    blocks: view::blocks,
    legend: view::LEGEND,
    drawings: &[
        Drawing::new("A daemon's clients: throughput", Side::Size, Measure::Megabits)
            .of(|point| point.depth == Some(1) && point.processes.unwrap_or(1) == 1)
            .by_operation(),
        Drawing::new("A daemon's clients: cost of a request", Side::Size, Measure::Cycles)
            .of(|point| point.depth == Some(1))
            .split(placed),
        Drawing::new("A daemon's clients: requests in flight", Side::Depth, Measure::PerSecond)
            .of(|point| point.size == Some(64))
            .split(placed),
    ],
    ..Table::new(NAME)
};

/// How processes are placed and wait.
fn placed(point: &Point) -> String {
    let place = point.placement.as_deref().unwrap_or("one process");
    let wait = point.wait.as_deref().unwrap_or("no wait");
    format!("{}, {}, {place}, {wait}", point.subject, point.op)
}

/// Enters the seconds of whole streams of random bytes.
fn finish(points: &mut [Point]) {
    for point in points.iter_mut().filter(|p| p.table == NAME && p.whole.is_some()) {
        point.seconds = point.ns.map(|ns| ns * crate::clock::as_f64(rows::REQUESTS) / 1e9);
    }
}
