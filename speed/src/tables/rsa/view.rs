//! What the table shows, and what the study says of its Figures 2 and 3 beside it.

use super::document::BITS;
use super::rows::{OWN, Operation, PROCESS, SINGLE, USUAL, is_of};
use super::{bits, subject};
use crate::block::Block;
use crate::figure::{candidate, count, marked, number, quickest, ratio, scaling};
use crate::results::Point;
use crate::scope::{Place, Scope};
use crate::text;
use crate::view::{At, Grid, Line, List, Screen};

pub(super) const LEGEND: &str = "\
To read: medians, cycles for one signature. *: certainly the fastest of
its column. ~: cannot be distinguished. ?: not verified. PKCS#1 v1.5 with SHA-256, of digests; ring
hashes the message, too. Two keys of each size take turns, and every message is another. single: one
call for each, which AWS-LC serves where that costs less; own: without AWS-LC, for those sizes.
process: a slice of so many requests, built and passed on. Ours is blinded and its results are
checked. Peers have one call for each; those that refuse a key have no figure.
";

/// The blocks of these points.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let mut batches = BATCHES.blocks(scope);
    // With the usual ones only there is nothing to add.
    batches.retain(|block| block.rows.len() > 3);
    let mut blocks = Vec::new();
    for operation in Operation::ALL {
        let of = scope.only(|point| is_of(point, operation));
        blocks.extend(RATES.blocks(&of));
        blocks.extend(SIZES.blocks(&of));
    }
    blocks.append(&mut batches);
    blocks.extend(PROCESSORS.blocks(scope));
    blocks.extend(CARDS.blocks(scope));
    blocks.extend([IN_FLIGHT, PRIMES, CHECKS].iter().flat_map(|grid| grid.blocks(scope)));
    blocks
}

/// What people call an operation.
fn title(point: &Point) -> &'static str {
    match point.crt {
        Some(true) => "sign, with CRT",
        Some(false) => "sign, without CRT",
        None => "verify",
    }
}

/// The batches that all sizes are measured with; others are of the list of batches.
fn is_usual(point: &Point) -> bool {
    is_of_one_thread(point) && (point.api != PROCESS || matches!(point.batch, Some(4 | 8 | 64)))
}

fn is_of_one_thread(point: &Point) -> bool {
    point.source != "document" && point.threads == Some(1)
}

fn by_bits(_: &Scope<'_>, point: &Point) -> Place {
    bits(point).map(|bits| (bits as u64, bits.to_string()))
}

/// One operation by size.
const SIZES: Grid = Grid {
    of: is_usual,
    title: |point, unit| format!("RSA {}: {unit}, by bits of the key", title(point)),
    names: (&[""], |scope, point| {
        let batch = point.batch.filter(|_| point.api == PROCESS);
        let batch = batch.map_or_else(String::new, |batch| format!(" {batch}"));
        vec![candidate(scope, point) + &batch]
    }),
    over: by_bits,
    is_ranked: true,
    compare: &[
        ("best peer : single", |at| by_best_peer(at, SINGLE, 1)),
        ("best peer : own", |at| by_best_peer(at, OWN, 1)),
        ("best peer : process 4", |at| by_best_peer(at, PROCESS, 4)),
        ("best peer : process 8", |at| by_best_peer(at, PROCESS, 8)),
        ("best peer : process 64", |at| by_best_peer(at, PROCESS, 64)),
    ],
    ..Grid::USUAL
};

/// The same in a second.
const RATES: Grid =
    Grid { units: &[("in a second", |_, point| number(point.per_second))], compare: &[], ..SIZES };

/// The time of the best peer divided by ours.
fn by_best_peer(at: &At<'_>, api: &str, batch: u32) -> Option<String> {
    let peer = quickest(at.shown.points.iter().copied().filter(|point| !point.is_ours()))?;
    let is_it = |p: &Point| p.is_ours() && p.api == api && p.batch == Some(batch);
    Some(ratio(at.shown.find(is_it)?, peer))
}

/// Batches of one size: the latency of the whole, and what a signature of it costs.
const BATCHES: List = List {
    of: |point| {
        let is_it = matches!(&*point.api, SINGLE | PROCESS) && is_of_one_thread(point);
        point.is_ours() && is_it && bits(point) == Some(USUAL)
    },
    title: |point| format!("{} {}: batches", point.subject, title(point)),
    names: (&["batch"], |_, point| vec![count(point.batch)]),
    columns: &[
        ("all done, µs", |_, line| {
            let point = batch(line)?;
            number(Some(point.ns? * f64::from(point.batch?) / 1e3))
        }),
        ("cycles each", |_, line| marked(batch(line)?, batch(line)?.cycles)),
        ("in a second", |_, line| number(batch(line)?.per_second)),
        ("single : process", |all, line| {
            Some(ratio(batch(line)?, all.find(|point| point.api == SINGLE)?))
        }),
    ],
    order: |point| point.batch.map_or(0, u64::from),
    is_shown: |line| batch(line).is_some(),
    ..List::USUAL
};

fn batch<'a>(line: &Scope<'a>) -> Option<&'a Point> {
    line.find(|point| point.api == PROCESS)
}

/// One thread and one for each processor.
const PROCESSORS: List = List {
    of: |point| point.is_ours() && point.api == PROCESS && point.batch == Some(64),
    title: |_| "All processors, 64 in flight on each: in a second".to_owned(),
    names: (&[""], |_, point| vec![format!("{} {}", point.subject, title(point))]),
    columns: &[
        ("processors", |_, line| Some(line.all()?.threads?.to_string())),
        ("one thread", |_, line| marked(line.one()?, line.one()?.per_second)),
        ("all", |_, line| marked(line.all()?, line.all()?.per_second)),
        ("ratio", |_, line| scaling(line.one(), line.all())),
    ],
    is_shown: |line| line.one().is_some() && line.all().is_some(),
    ..List::USUAL
};

/// The study's card, as it was used and as it was sold, beside a call of ours.
const CARDS: List = List {
    of: |point| {
        let is_it = point.source == "document" || point.is_ours() && point.api == SINGLE;
        is_it && point.op == "sign" && bits(point) == Some(BITS)
    },
    title: |_| {
        "The study of the OpenBSD cryptographic framework: signatures in a second".to_owned()
    },
    names: (&[""], |_, point| {
        let with = if point.crt == Some(true) { "with" } else { "without" };
        vec![format!("{} {with} CRT, one blocked thread", point.subject)]
    }),
    columns: &[
        ("the study, 2003", |_, line| {
            let card = line.find(|point| point.source == "document")?;
            let quoted = match card.crt {
                Some(true) => "\"can perform\" 800",
                _ => "\"slightly over 100\"",
            };
            Some(format!("{quoted}, {}", card.api.replace("-vendor", " by its vendor")))
        }),
        ("here", |_, line| {
            let here = line.find(Point::is_ours)?;
            marked(here, here.per_second)
        }),
    ],
    is_shown: |line| line.find(|point| point.source == "document").is_some(),
    note: "\
The study's Figures 2 and 3 exist as pictures only; its text gives the two figures of the Broadcom
5820. It names two reasons for the difference: one thread is blocked until each signature is done,
so the card waits most of the time; and the vendor used CRT, which the study's engine did not.
",
    ..List::USUAL
};

/// One in flight and eight: a device that waits for a blocked thread is under-used.
const IN_FLIGHT: Grid = Grid {
    of: |point| {
        let is_it = point.api == SINGLE || point.api == PROCESS && point.batch == Some(8);
        point.is_ours() && is_it && is_of_one_thread(point) && is_of(point, Operation::SIGN)
    },
    title: |_, unit| format!("The study's \"under-utilizing\" with one thread: {unit}, by bits"),
    names: (&[""], |_, _| vec!["lanecrypt process : single".to_owned()]),
    over: by_bits,
    units: &[("8 in flight : one blocked thread, in a second", |scope, point| {
        let of = |api: &str| scope.find(|p| p.api == api && p.subject == point.subject);
        scaling(of(SINGLE), of(PROCESS))
    })],
    ..Grid::USUAL
};

/// Keys that know their primes, for each API that has one call for each signature.
const PRIMES: Grid = Grid {
    of: |point| is_of_one_thread(point) && point.api != PROCESS && point.op == "sign",
    title: |_, unit| format!("The study's \"considerably faster\" with CRT: {unit}, by bits"),
    over: by_bits,
    units: &[("without CRT : with CRT, cycles", |scope, point| {
        quotient(scope, point, [Operation::SIGN_WITHOUT, Operation::SIGN], |p| p.cycles)
    })],
    ..Grid::USUAL
};

/// Checking and signing.
const CHECKS: Grid = Grid {
    of: |point| is_of_one_thread(point) && point.api != PROCESS && point.crt != Some(false),
    title: |_, unit| format!("The study's \"much larger\" rate of checks: {unit}, by bits"),
    units: &[("verify : sign, in a second", |scope, point| {
        quotient(scope, point, [Operation::VERIFY, Operation::SIGN], |p| p.per_second)
    })],
    ..PRIMES
};

/// One operation divided by another, for the key and the API of a point.
fn quotient(
    scope: &Scope<'_>,
    point: &Point,
    operations: [Operation; 2],
    value: fn(&Point) -> Option<f64>,
) -> Option<String> {
    let key = |p: &Point| (p.source.clone(), p.api.clone(), p.subject.clone());
    let of = |operation| scope.find(|p| is_of(p, operation) && key(p) == key(point));
    let [above, below] = [of(operations[0])?, of(operations[1])?];
    let doubt = if above.verified && below.verified { "" } else { "?" };
    Some(text::times(value(above)? / value(below)?) + doubt)
}

/// The first screen, at the usual size.
pub(super) const SCREEN: Screen = Screen {
    title: "rsa-2048 signatures: in a second",
    lines: &[
        line("sign, with CRT, 1 in flight", |point| is_line(point, Operation::SIGN, 1)),
        line("sign, with CRT, 8 in flight", |point| is_line(point, Operation::SIGN, 8)),
        line("verify, 1 in flight", |point| is_line(point, Operation::VERIFY, 1)),
        line("verify, 8 in flight", |point| is_line(point, Operation::VERIFY, 8)),
    ],
    ..Screen::USUAL
};

const fn line(what: &'static str, of: fn(&Point) -> bool) -> Line {
    Line { figure: |_, point| number(point.per_second), ..Line::new(what, of) }
}

fn is_line(point: &Point, operation: Operation, in_flight: u32) -> bool {
    let api = if in_flight > 1 { PROCESS } else { SINGLE };
    let is_it = point.api == api && point.batch == Some(in_flight);
    is_of(point, operation)
        && point.subject == subject(USUAL)
        && is_of_one_thread(point)
        && (is_it || !point.is_ours())
}
