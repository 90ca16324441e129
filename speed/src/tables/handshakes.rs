//! The table `handshakes`: the public-key operations of TLS 1.3, one at a time and many in flight,
//! and the server's part of a handshake, which is made of them.

use crate::drawing::{Drawing, Measure, Side};
use crate::table::Table;

mod ours;
mod row;
mod rows;
#[cfg(all(target_os = "linux", any(feature = "aws-lc", feature = "ring")))]
mod sockets;
#[cfg(test)]
#[path = "../../tests/unit/handshakes.rs"]
mod tests;
// Both features have what rustls needs besides.
#[cfg(any(feature = "aws-lc", feature = "ring"))]
mod through_rustls;
mod view;
mod work;

/// The name of the table.
const NAME: &str = "handshakes";

/// The table.
pub(crate) const TABLE: Table = Table {
    seconds: [20, 60, 120],
    rows: rows::rows,
    #[cfg(all(target_os = "linux", any(feature = "aws-lc", feature = "ring")))]
    extra: Some(sockets::EXTRA),
    blocks: view::blocks,
    legend: view::LEGEND,
    screen: &[view::SCREEN],
    drawings: &[Drawing::new("Handshakes, by how many at once", Side::Batch, Measure::Cycles)
        .split(|point| format!("{}, {}", point.subject, point.op))],
    ..Table::new(NAME)
};
