//! The table `tls`: records of TLS 1.3 and packets of QUIC through rustls, with ours and with the
//! providers that rustls comes with.
//!
//! A record goes from one connection in memory to another: rustls seals it, writes it, reads it and
//! opens it. A packet is sealed and opened, and its header hidden and shown again.

use lanecrypt_ciphers::Algorithm;

use self::providers::Provider;
use crate::ciphers::Sizes;
use crate::depth::Depth;
use crate::figure::number;
use crate::rivals::Rivals;
use crate::row::{Batches, Row};
use crate::table::Table;
use crate::view::{Grid, best_peer_by_ours};

mod connections;
mod packets;
mod providers;
mod records;
#[cfg(test)]
mod tests;

/// The name of the table.
const NAME: &str = "tls";

/// The ciphers, the most important first.
const SUBJECTS: [Algorithm; 3] =
    [Algorithm::AES_128_GCM, Algorithm::CHACHA20_POLY1305, Algorithm::AES_256_GCM];
/// Bytes of a record's plaintext.
const RECORDS: [Sizes; 4] =
    [Sizes::one(100), Sizes::one(1024), Sizes::one(1 << 14), Sizes::mixed(60, 1400)];
/// Bytes of a packet's payload.
const PACKETS: [Sizes; 2] = [Sizes::one(100), Sizes::one(1200)];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// A record of TLS 1.3.
    Record,
    /// A packet of QUIC, with its header.
    Packet,
}

impl Operation {
    const ALL: [Self; 2] = [Self::Record, Self::Packet];

    const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Packet => "packet",
        }
    }

    const fn sizes(self) -> &'static [Sizes] {
        match self {
            Self::Record => &RECORDS,
            Self::Packet => &PACKETS,
        }
    }
}

/// The table.
pub(crate) const TABLE: Table =
    Table { rows, blocks: |scope| BLOCKS.blocks(scope), legend: LEGEND, ..Table::new(NAME) };

fn rows(rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
    let subjects = if depth == Depth::Quick { &SUBJECTS[..2] } else { &SUBJECTS };
    let providers = Provider::all(rivals);
    let mut rows = Vec::new();
    for operation in Operation::ALL {
        for &algorithm in subjects {
            for &sizes in operation.sizes() {
                let row = |provider| row(provider, operation, algorithm, sizes);
                rows.extend(providers.iter().map(row));
            }
        }
    }
    rows
}

fn row(provider: &Provider, operation: Operation, algorithm: Algorithm, sizes: Sizes) -> Row {
    let mut point = provider.point();
    point.table = NAME.into();
    point.subject = algorithm.to_string();
    point.op = operation.name().into();
    point.size = sizes.single().map(|size| size as u64);
    point.sizes = sizes.range();
    point.key = Some("kept".into());
    point.chained = Some(false);
    point.threads = Some(1);
    let crate::results::Point { source, api, subject, op, .. } = &point;
    point.id = format!("{NAME}/{source}/{api}/{subject}/{op}/{sizes}");
    let provider = provider.clone();
    Row {
        point,
        make: Box::new(move || match operation {
            Operation::Record => {
                Some(Box::new(records::Records::new(&provider, algorithm, sizes)?))
            }
            Operation::Packet => {
                Some(Box::new(packets::Packets::new(&provider, algorithm, sizes)?))
            }
        }),
        whole: None,
        batches: Batches::default(),
        helpers: 0,
        faulty: false,
    }
}

const LEGEND: &str = "\
To read: medians, cycles of the time-stamp counter. *: certainly the fastest of its column. ~: cannot
be told apart. ?: not verified. All through rustls 0.23, whose own work is in every figure. record: a
record of TLS 1.3 from one connection in memory to another, sealed, written, read, opened and taken.
packet: sealed, its header hidden, shown, and opened, in place. best peer : lanecrypt is the time of
the better of the others divided by ours.
";

/// A block for each operation and cipher: a line for each provider.
const BLOCKS: Grid = Grid {
    title: |point, unit| {
        let what = if point.op == Operation::Record.name() { "TLS 1.3" } else { "QUIC" };
        format!("{what}, {}: {unit} of a {}, by bytes of its content", point.subject, point.op)
    },
    names: (&[""], |_, point| vec![point.source.clone()]),
    units: &[("cycles", |_, point| number(point.cycles))],
    is_ranked: true,
    compare: &[("best peer : lanecrypt", best_peer_by_ours)],
    ..Grid::USUAL
};
