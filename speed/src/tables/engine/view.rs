//! What the table shows.

use crate::block::Block;
use crate::figure::{self, marked, megabits, millions, number, scaling, subject_and_operation};
use crate::results::Point;
use crate::scope::{MODEL, Scope};
use crate::tables::study::{self, in_flight, is_latency, label};
use crate::view::{Grid, List};

pub(super) const LEGEND: &str = "\
To read: medians; cycles; less is faster. ?: not verified. in flight:
requests of each client that are handed over and not yet taken back. Each client is one thread and
has 64 sessions with their own keys and buffers. session: a loop over calls. process: a slice of
requests, built and passed to the engine. local-queue: served on the client's thread. worker-queue:
served by a worker on another processor, while the client polls. machine ring: numbers through two
bare rings to a thread on another processor and back, the floor of a worker. Latency is from
submission to taking the completion; reading the clock twice for each request is in these figures.
Would a card help? lanecrypt speed engine --model FILE
";

/// The blocks of these points.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let (cards, mut with_cards) = (study::cards(&SIZES), scope.clone());
    with_cards.points.extend(&cards);
    let mut blocks = LAYERS.blocks(scope);
    blocks.extend(CLIENTS.blocks(scope));
    if scope.find(|point| point.source == "document").is_some() {
        blocks.extend(FIGURE.blocks(&with_cards));
    }
    blocks.extend(study::LATENCIES.blocks(scope));
    blocks
}

fn is_of_one(point: &Point) -> bool {
    point.threads.unwrap_or(1) == 1 && !is_latency(point)
}

/// One client: a line for each layer and depth.
const LAYERS: Grid = Grid {
    of: |point| is_of_one(point) && point.source != "document",
    title: |point, unit| {
        let driver = point.driver.as_deref().unwrap_or("software");
        let what = subject_and_operation(point);
        format!("{what}, driver {driver}, one client: {unit}, by size in bytes")
    },
    names: (&["", "in flight"], |_, point| vec![label(point), in_flight(point)]),
    units: &[
        ("cycles", |_, point| number(point.cycles)),
        ("Mbit/s", |_, point| number(megabits(point))),
        ("million requests/s", |_, point| number(millions(point))),
    ],
    ..Grid::USUAL
};

/// Two clients: the requests of both in a second, divided by those of one.
const CLIENTS: List = List {
    of: |point| !is_latency(point),
    title: |_| {
        "One and two clients on two processors: millions of requests of all in a second".to_owned()
    },
    names: (&["", "", "in flight", "bytes"], |_, point| {
        let what = subject_and_operation(point);
        vec![what, label(point), in_flight(point), figure::bytes(point)]
    }),
    columns: &[
        ("one client", |_, line| marked(line.one()?, millions(line.one()?))),
        ("two clients", |_, line| marked(line.all()?, millions(line.all()?))),
        ("ratio", |_, line| scaling(line.one(), line.all())),
    ],
    is_shown: |line| line.one().is_some() && line.all().is_some(),
    ..List::USUAL
};

/// The sizes of the study's Figure 1.
const SIZES: [u64; 3] = [64, 1024, 8192];

/// The study's Figure 1: one client that waits for each request.
const FIGURE: Grid = Grid {
    of: |point| {
        let is_it = point.depth == Some(1) && point.source != "machine";
        is_it && is_of_one(point) && point.size.is_some_and(|size| SIZES.contains(&size))
    },
    title: |_, unit| {
        format!("As in the study's Figure 1, one client that waits for each request: {unit} by bytes")
    },
    names: (&[""], |_, point| {
        vec![match &*point.source {
            "document" => label(point),
            MODEL => format!("{} {}", label(point), point.subject),
            _ => format!("{}: {}", point.api, subject_and_operation(point)),
        }]
    }),
    units: &[("megabits in a second", |_, point| number(megabits(point)))],
    note: "\
study: its text gives these two figures. Of 64 bytes it says that KERNEL-DES is close to KERNEL-NULL,
and KERNEL-3DES half of it; that cards lose with small requests and win with large ones; that the
5805 and 5820 take the same for DES and 3DES, and the 7751 and 7811 do not.
model: computed from descriptions of cards, in a host of 2003; nothing was measured.
",
    ..Grid::USUAL
};
