//! The table `engine`: what each layer of the engine adds to a request, and what requests in flight
//! do to throughput and latency.
//!
//! It is the study of the OpenBSD cryptographic framework (USENIX 2003), with its null algorithm,
//! on the layers of today: a call of a session, a slice of requests, a queue on the caller's
//! thread, a queue with a worker. The study's figures stand beside ours.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use crate::ciphers::seal_or_open;
use crate::depth::Depth;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::sampler::Sampled;
use crate::table::{Extra, Table};

pub(super) mod document;
pub(super) mod latency;
mod rows;
#[cfg(test)]
mod tests;
pub(super) mod text;

/// The name of the table.
const NAME: &str = "engine";

/// The algorithms, after the null algorithm. A new one is one line here.
const SUBJECTS: [(Algorithm, Direction); 7] = [
    (Algorithm::DES_CBC, Direction::Encrypt),
    (Algorithm::DES_CBC, Direction::Decrypt),
    (Algorithm::TRIPLE_DES_CBC, Direction::Encrypt),
    (Algorithm::TRIPLE_DES_CBC, Direction::Decrypt),
    (Algorithm::AES_128_CBC, Direction::Encrypt),
    (Algorithm::AES_128_CBC, Direction::Decrypt),
    // With a code behind it: the study's chained operations.
    (Algorithm::AES_128_CBC_HMAC_SHA256, Direction::Encrypt),
];

/// The table.
pub(crate) struct Engine;

impl Table for Engine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rows(&self, _rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        rows::rows(depth)
    }

    fn given(&self) -> Vec<Point> {
        document::points()
    }

    fn extra_ids(&self) -> Vec<String> {
        latency::ids()
    }

    fn extra(&self, how: &Extra<'_>, sampled: &mut Sampled) {
        latency::measure(how.fits, &how.limits, sampled);
    }

    fn text(&self, points: &[Point]) -> String {
        text::text(points)
    }
}

/// The operation's name: the null algorithm has one only.
fn op(algorithm: Algorithm, direction: Direction) -> &'static str {
    match algorithm {
        Algorithm::NULL => "process",
        _ if algorithm.is_aead() => seal_or_open(direction),
        _ => direction.name(),
    }
}

/// The first elements of a point's id, up to the size.
fn id(point: &Point) -> String {
    let Point { source, api, subject, op, size, .. } = point;
    let size = size.map_or_else(String::new, |size| format!("/{size}"));
    format!("{NAME}/{source}/{api}/{subject}/{op}{size}")
}
