//! The table `rsa`: signatures and verifications per second by the size of the key, with and
//! without the primes of the key (CRT), one at a time and many in flight.
//!
//! These are Figures 2 and 3 of the study of the OpenBSD cryptographic framework (USENIX 2003), on
//! processors instead of cards. What the study says of them stands beside what was measured.

use crate::drawing::{Drawing, Measure, Side};
use crate::results::Point;
use crate::table::Table;

mod document;
mod keys;
mod ours;
mod rows;
#[cfg(test)]
#[path = "../../tests/unit/rsa.rs"]
mod tests;
mod view;
mod work;

/// The name of the table.
const NAME: &str = "rsa";

/// A size of keys, by its name in the results.
fn subject(bits: usize) -> String {
    format!("rsa-{bits}")
}

/// The bits of a point's key.
fn bits(point: &Point) -> Option<usize> {
    point.subject.strip_prefix("rsa-")?.parse().ok()
}

/// The table.
pub(crate) const TABLE: Table = Table {
    seconds: [20, 60, 240],
    rows: |peers, depth| rows::rows(peers.signers(), depth),
    given: document::points,
    blocks: view::blocks,
    legend: view::LEGEND,
    screen: &[view::SCREEN],
    drawings: &[
        Drawing::new(
            "Signatures in a second, by how many at once",
            Side::Batch,
            Measure::PerSecond,
        )
        .split(|point| {
            let primes = if point.crt == Some(false) { ", without CRT" } else { "" };
            format!("{}, {}{primes}", point.subject, point.op)
        }),
        Drawing::new("Signatures in a second, by size of the key", Side::Bits, Measure::PerSecond)
            .split(|point| match point.crt {
                Some(true) => format!("{}, with CRT", point.op),
                Some(false) => format!("{}, without CRT", point.op),
                None => point.op.clone(),
            }),
    ],
    ..Table::new(NAME)
};
