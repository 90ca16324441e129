//! The table `tls`: records of TLS 1.3 and packets of QUIC through rustls, with ours and with the
//! providers that rustls comes with.
//!
//! A record goes from one connection in memory to another: rustls seals it, writes it, reads it and
//! opens it. A packet is sealed and opened, and its header hidden and shown again.

use crate::drawing::{Drawing, Measure, Side};
use crate::figure::number;
use crate::table::Table;
use crate::view::{Grid, best_peer_by_ours};

// Both features have what handshakes need. Without them, files of results can still be shown.
#[cfg(any(feature = "aws-lc", feature = "ring"))]
mod rows;

/// The name of the table.
const NAME: &str = "tls";

/// The table.
pub(crate) const TABLE: Table = Table {
    #[cfg(any(feature = "aws-lc", feature = "ring"))]
    rows: rows::rows,
    blocks: |scope| BLOCKS.blocks(scope),
    legend: LEGEND,
    drawings: &[
        Drawing::new("Records and packets of rustls", Side::Size, Measure::Cycles).by_operation()
    ],
    ..Table::new(NAME)
};

const LEGEND: &str = "\
To read: medians, cycles. *: certainly the fastest of its column. ~: no
certain difference. ?: not verified. All through rustls 0.23, whose work is in every figure. record: a
record of TLS 1.3 from one connection in memory to another, sealed, written, read, opened and taken.
packet: sealed, its header hidden, shown, and opened, in place. best peer : lanecrypt is the time of
the better of the others divided by ours.
";

/// A block for each operation and cipher: a line for each provider.
const BLOCKS: Grid = Grid {
    title: |point, unit| {
        let what = if point.op == "record" { "TLS 1.3" } else { "QUIC" };
        format!("{what}, {}: {unit} of a {}, by bytes of its content", point.subject, point.op)
    },
    names: (&[""], |scope, point| {
        vec![format!("{}{}", point.source, scope.machine.mark(&point.source))]
    }),
    units: &[("cycles", |_, point| number(point.cycles))],
    is_ranked: true,
    compare: &[("best peer : lanecrypt", best_peer_by_ours)],
    ..Grid::USUAL
};
