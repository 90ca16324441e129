//! The table `columns`: a column of a table of data, encrypted value by value. Each value gets a
//! tag and, except with AES-SIV, a random nonce.
//!
//! Ours is one call for a column. Peers are a loop over their values, in which everything but the
//! cipher is ours: the output is one buffer, and the nonces of many values are drawn together.

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_columns::Layout;
use lanecrypt_peers::{Aead, Direction};

use crate::block::Block;
use crate::ciphers::CipherUnderTest;
use crate::depth::Depth;
use crate::drawing::{Drawing, Measure, Side};
use crate::figure::{self, marked, millions, number, scaling, subject_and_operation};
use crate::peer_set::PeerSet;
use crate::processors;
use crate::results::Point;
use crate::row::{Batches, Row};
use crate::scope::Scope;
use crate::table::Table;
use crate::view::{Grid, List, best_peer_by_ours};

mod peer_loop;
#[cfg(test)]
#[path = "../../tests/unit/columns.rs"]
mod tests;
mod work;

use work::{Maker, Values};

/// The name of the table.
const NAME: &str = "columns";
/// The entry point of ours.
const API: &str = "columns";
/// The end of the ids of rows with as many threads as there are processors.
const ALL: &str = "/all";

/// The values of a column: as many as systems hand over together.
const ROWS: usize = 4096;
/// Bytes of a value.
const SIZES: [usize; 6] = [32, 8, 16, 64, 256, 1024];

/// A layout with keys of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Subject {
    layout: Layout,
    algorithm: Algorithm,
    /// The least depth at which it is measured.
    from: Depth,
}

const SUBJECTS: [Subject; 6] = [
    subject(Layout::AesGcm, Algorithm::AES_128_GCM, Depth::Quick),
    subject(Layout::AesGcmSiv, Algorithm::AES_256_GCM_SIV, Depth::Quick),
    subject(Layout::Deterministic, Algorithm::AES_SIV_256, Depth::Quick),
    subject(Layout::ChaCha20Poly1305, Algorithm::CHACHA20_POLY1305, Depth::Quick),
    subject(Layout::AesGcm, Algorithm::AES_256_GCM, Depth::Full),
    subject(Layout::AesGcmSiv, Algorithm::AES_128_GCM_SIV, Depth::Full),
];

const fn subject(layout: Layout, algorithm: Algorithm, from: Depth) -> Subject {
    Subject { layout, algorithm, from }
}

/// The table.
pub(crate) const TABLE: Table = Table {
    rows,
    blocks,
    legend: LEGEND,
    drawings: &[Drawing::new("Cells of a table", Side::Size, Measure::Nanoseconds).by_operation()],
    ..Table::new(NAME)
};

fn rows(peers: &PeerSet<'_>, depth: Depth) -> Vec<Row> {
    let sizes = if depth == Depth::Quick { &SIZES[..1] } else { &SIZES };
    let is_measured = |subject: &&Subject| subject.from != Depth::Full || depth == Depth::Full;
    let mut rows = Vec::new();
    for &size in sizes {
        for &subject in SUBJECTS.iter().filter(is_measured) {
            for direction in Direction::ALL {
                rows.push(ours(subject, direction, size));
                rows.extend(peer_rows(peers, subject, direction, size));
            }
        }
    }
    if depth != Depth::Quick {
        for &subject in SUBJECTS.iter().filter(is_measured) {
            rows.extend(Direction::ALL.map(|direction| on_all_processors(subject, direction)));
        }
    }
    rows
}

fn ours(subject: Subject, direction: Direction, size: usize) -> Row {
    let point = Point { api: API.into(), ..Point::default().of_ours(Isa::detect()) };
    row(point, subject, direction, size, Maker::Ours)
}

/// One thread for each processor, each with columns of its own.
fn on_all_processors(subject: Subject, direction: Direction) -> Row {
    let mut row = ours(subject, direction, SIZES[0]);
    row.point.threads = u32::try_from(processors::allowed().len()).ok();
    row.point.id += ALL;
    row
}

fn peer_rows(peers: &PeerSet<'_>, subject: Subject, direction: Direction, size: usize) -> Vec<Row> {
    let is_loop = |peer: &&CipherUnderTest<dyn Aead>| {
        // Every value in a context of its own, and a library configured not to use the processor,
        // are for other tables.
        let api = &peer.point().api;
        peer.algorithm() == subject.algorithm && !api.contains("oneshot") && api != "gcry-nohw"
    };
    let peers = peers.aeads().iter().filter(is_loop);
    let row = |peer: &CipherUnderTest<dyn Aead>| {
        row(peer.point().clone(), subject, direction, size, Maker::Loop(Box::new(peer.clone())))
    };
    peers.map(row).collect()
}

fn row(mut point: Point, subject: Subject, direction: Direction, size: usize, maker: Maker) -> Row {
    point.table = NAME.into();
    point.subject = subject.algorithm.to_string();
    point.op = direction.name().into();
    point.size = Some(size as u64);
    point.batch = u32::try_from(ROWS).ok();
    point.key = Some("kept".into());
    point.chained = Some(false);
    point.threads = Some(1);
    let Point { source, api, subject: name, op, .. } = &point;
    point.id = format!("{NAME}/{source}/{api}/{name}/{op}/{size}");
    let batches = Batches { multiple: ROWS, ..Batches::default() };
    Row::new(point, batches, move || Values::new(&maker, subject, direction, size))
}

const LEGEND: &str = "\
To read: medians, nanoseconds for a value. *: certainly the fastest of its column. ~: no certain
difference. ?: not verified. Columns of 4096 values; each gets a random nonce and a tag, in one new
buffer for all; deterministic: a tag only. Others are loops over their values, with our buffer and
our nonces, with AES-SIV always the same one. best peer : lanecrypt is the time of the best of the
others divided by ours.
";

/// The blocks of these points: one thread by size, then one and all processors.
fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    [SIZES_OF_VALUES.blocks(scope), PROCESSORS.blocks(scope)].concat()
}

/// One layout in one direction.
const SIZES_OF_VALUES: Grid = Grid {
    of: |point| point.threads == Some(1),
    title: |point, unit| {
        let of = |subject: &&Subject| subject.algorithm.to_string() == point.subject;
        let layout = SUBJECTS.iter().find(of).map_or_else(String::new, |s| s.layout.to_string());
        format!("{layout}, {}, {}: {unit}, by its bytes", point.subject, point.op)
    },
    units: &[("ns for a value", |_, point| number(point.ns))],
    is_ranked: true,
    compare: &[("best peer : lanecrypt", best_peer_by_ours)],
    ..Grid::USUAL
};

/// One thread and one for each processor.
const PROCESSORS: List = List {
    of: Point::is_ours,
    title: |_| "All processors: millions of values in a second".to_owned(),
    names: (&["", "bytes"], |_, p| vec![subject_and_operation(p), figure::bytes(p)]),
    columns: &[
        ("processors", |_, line| Some(line.all()?.threads?.to_string())),
        ("one thread", |_, line| marked(line.one()?, millions(line.one()?))),
        ("all", |_, line| marked(line.all()?, millions(line.all()?))),
        ("ratio", |_, line| scaling(line.one(), line.all())),
    ],
    is_shown: |line| line.one().is_some() && line.all().is_some(),
    ..List::USUAL
};
