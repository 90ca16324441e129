//! The table `device`: the study's Figure 1 with the engine in a process of its own.
//!
//! The study of the OpenBSD cryptographic framework (USENIX 2003) measured `/dev/crypto`: one blocked
//! process, and said what several do. Here a daemon serves clients by shared memory. Beside it are
//! the engine in the process, OpenSSL in the process, and what a system call on a pipe and an echo by
//! a Unix socket cost. The table starts its daemons and clients itself.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use crate::ciphers::seal_or_open;
use crate::depth::Depth;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::sampler::Sampled;
use crate::table::{Extra, Table};

mod child;
mod daemons;
mod document;
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
mod tests;
mod text;
mod token;

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

/// The operation's name.
fn op(algorithm: Algorithm, direction: Direction) -> &'static str {
    match algorithm {
        Algorithm::NULL => "process",
        _ if algorithm.is_aead() => seal_or_open(direction),
        _ => direction.name(),
    }
}

/// The table.
pub(crate) struct Device;

impl Table for Device {
    fn name(&self) -> &'static str {
        NAME
    }

    fn seconds(&self, depth: Depth) -> u64 {
        match depth {
            Depth::Quick => 30,
            // The whole test of random bytes has no limit.
            Depth::Normal | Depth::Full => 90,
        }
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        rows::rows(rivals, depth)
    }

    fn given(&self) -> Vec<Point> {
        document::points()
    }

    fn has_test(&self) -> bool {
        true
    }

    fn extra_ids(&self) -> Vec<String> {
        latency::ids()
    }

    fn extra(&self, how: &Extra<'_>, sampled: &mut Sampled) {
        latency::measure(how.device, how.fits, &how.limits, sampled);
    }

    fn finish(&self, points: &mut [Point]) {
        finish(points);
    }

    fn text(&self, points: &[Point]) -> String {
        text::text(points)
    }
}

/// Enters the seconds of whole streams of random bytes.
fn finish(points: &mut [Point]) {
    for point in points.iter_mut().filter(|p| p.table == NAME && p.whole.is_some()) {
        point.seconds = point.ns.map(|ns| ns * crate::clock::as_f64(rows::REQUESTS) / 1e9);
    }
}
