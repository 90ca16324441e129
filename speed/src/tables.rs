//! The tables, one file or folder each.

use crate::depth::Depth;
use crate::figure::MARK;
use crate::table::{READING, Table};

mod study;

// The tables.
pub(crate) mod calls;
pub(crate) mod columns;
pub(crate) mod cprng;
pub(crate) mod device;
pub(crate) mod engine;
pub(crate) mod packets;
pub(crate) mod random;
pub(crate) mod rsa;
// Both features have what handshakes need.
#[cfg(any(feature = "aws-lc", feature = "ring"))]
pub(crate) mod tls;
pub(crate) mod urandom;

/// Every table, in the order of the first screen. Entries with the same name are parts of one
/// table, and share its time.
pub(crate) static TABLES: &[Table] = &[
    cprng::TABLE,
    random::TABLE,
    urandom::TABLE,
    calls::TABLE,
    packets::TABLE,
    columns::TABLE,
    engine::TABLE,
    device::TABLE,
    rsa::TABLE,
    #[cfg(any(feature = "aws-lc", feature = "ring"))]
    tls::TABLE,
];

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
