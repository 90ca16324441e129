//! The tables, one file or folder each.

use crate::block::Sheet;
use crate::depth::Depth;
use crate::drawing::Drawing;
use crate::figure::MARK;
use crate::results::Results;
use crate::scope::Scope;
use crate::table::{READING, Table};
use crate::verdict::Verdict;

mod latency;
mod study;

// The tables.
pub(crate) mod calls;
pub(crate) mod columns;
#[cfg(target_os = "linux")]
pub(crate) mod cprng;
#[cfg(target_os = "linux")]
pub(crate) mod device;
pub(crate) mod engine;
mod handshakes;
pub(crate) mod packets;
pub(crate) mod random;
pub(crate) mod rsa;
mod tls;
pub(crate) mod urandom;

/// Every table, in the order of the first screen. Entries with the same name are parts of one
/// table, and share its time.
static ALL: &[Table] = &[
    packets::TABLE,
    #[cfg(target_os = "linux")]
    cprng::TABLE,
    random::TABLE,
    rsa::TABLE,
    handshakes::TABLE,
    urandom::TABLE,
    calls::TABLE,
    columns::TABLE,
    engine::TABLE,
    #[cfg(target_os = "linux")]
    device::TABLE,
    tls::TABLE,
];

/// Those that can be measured: the last one needs handshakes.
pub(crate) static TABLES: &[Table] = match cfg!(any(feature = "aws-lc", feature = "ring")) {
    true => ALL,
    false => ALL.split_last().expect("there are tables").1,
};

/// The names of all tables, each once.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    names.dedup();
    names
}

/// The parts of a table.
pub(crate) fn parts(name: &str) -> impl Iterator<Item = &'static Table> {
    TABLES.iter().filter(move |table| table.name == name)
}

/// What the tables show of these results, each with how to read it.
#[must_use]
pub fn sheets(results: &Results) -> Vec<Sheet> {
    let Results { machine, points, .. } = results;
    let sheet = |table: &Table| table.sheet(&Scope::of(machine, points, table.name));
    ALL.iter().map(sheet).filter(|sheet| !sheet.blocks.is_empty()).collect()
}

/// How ours stands in the usual requests of these results, in one sentence; empty without peers.
#[must_use]
pub fn verdict(results: &Results) -> String {
    let Results { machine, points, .. } = results;
    let mut verdict = Verdict::default();
    for table in ALL {
        verdict.add(table.screen, &Scope::of(machine, points, table.name));
    }
    verdict.text()
}

/// The charts of all tables, each with its table.
pub fn drawings() -> impl Iterator<Item = (&'static str, &'static Drawing)> {
    ALL.iter().flat_map(|table| table.drawings.iter().map(|drawing| (table.name, drawing)))
}

/// The default time of the first screen in seconds. With the look at the machine and the checks at
/// the end that is half a minute, or 75 seconds.
pub(crate) fn seconds_of_screen(depth: Depth) -> u64 {
    if depth == Depth::Quick { 28 } else { 72 }
}

/// How to read the first screen, and how to see more.
pub(crate) fn closing() -> String {
    let names = names().join(", ").replacen(", ", ", or ", 1);
    format!("\n{READING}{MARK}Whole tables: lanecrypt speed {names}.\n")
}
