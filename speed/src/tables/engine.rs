//! The table `engine`: what each layer of the engine adds to a request, and what requests in flight
//! do to throughput and latency.
//!
//! It is the study of the OpenBSD cryptographic framework (USENIX 2003), with its null algorithm,
//! on the layers of today: a call of a session, a slice of requests, a queue on the caller's
//! thread, a queue with a worker. The study's figures stand beside ours.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use crate::drawing::{Drawing, Measure, Side, is_of_one_thread};
use crate::results::Point;
use crate::table::{Extra, Table};
use crate::tables::study;

mod latency;
mod rows;
#[cfg(test)]
#[path = "../../tests/unit/engine.rs"]
mod tests;
mod view;

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
pub(crate) const TABLE: Table = Table {
    rows: |_, depth| rows::rows(depth),
    given: || study::points(NAME).into_iter().map(|p| Point { threads: Some(1), ..p }).collect(),
    extra: Some(Extra {
        ids: latency::ids,
        measure: |how, sampled| latency::measure(how.fits, &how.limits, sampled),
    }),
    blocks: view::blocks,
    legend: view::LEGEND,
    drawings: &[
        Drawing::new("Requests in flight: cost", Side::Depth, Measure::Cycles)
            .of(|point| point.size == Some(64) && is_of_one_thread(point))
            .by_operation(),
        Drawing::new("Requests in flight: latency of 99 in 100", Side::Depth, Measure::Latency99)
            .by_operation(),
    ],
    ..Table::new(NAME)
};

/// The first elements of a point's id, up to the size.
fn id(point: &Point) -> String {
    let Point { source, api, subject, op, size, .. } = point;
    let size = size.map_or_else(String::new, |size| format!("/{size}"));
    format!("{NAME}/{source}/{api}/{subject}/{op}{size}")
}
