//! The table `rsa`: signatures and verifications per second by the size of the key, with and
//! without the primes of the key (CRT), one at a time and many in flight.
//!
//! These are Figures 2 and 3 of the study of the OpenBSD cryptographic framework (USENIX 2003), on
//! processors instead of cards. What the study says of them stands beside what was measured.

use crate::depth::Depth;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::table::Table;

mod document;
mod headline;
mod keys;
mod observations;
mod ours;
mod rows;
#[cfg(test)]
mod tests;
mod text;
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
pub(crate) struct Rsa;

impl Table for Rsa {
    fn name(&self) -> &'static str {
        NAME
    }

    fn seconds(&self, depth: Depth) -> u64 {
        match depth {
            Depth::Quick => 20,
            Depth::Normal => 60,
            Depth::Full => 240,
        }
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        rows::rows(rivals.signers(), depth)
    }

    fn given(&self) -> Vec<Point> {
        document::points()
    }

    fn text(&self, points: &[Point]) -> String {
        text::text(points)
    }

    fn headline_rows(&self, rivals: &Rivals<'_>, _depth: Depth) -> Vec<Row> {
        headline::rows(rivals.signers())
    }

    fn headline(&self, points: &[Point]) -> String {
        headline::text(points)
    }
}
