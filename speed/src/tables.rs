//! The tables, one file or folder each.

use crate::table::Table;

pub(crate) mod grid;
pub(crate) mod headline;

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
pub(crate) const TABLES: &[&dyn Table] = &[
    &cprng::Cprng,
    &random::Random,
    &urandom::Urandom,
    &calls::Calls,
    &packets::Packets,
    &columns::Columns,
    &engine::Engine,
    &device::Device,
    &rsa::Rsa,
    #[cfg(any(feature = "aws-lc", feature = "ring"))]
    &tls::Tls,
];

/// The names of all tables, each once.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = TABLES.iter().map(|table| table.name()).collect();
    names.dedup();
    names
}

/// The parts of a table.
pub(crate) fn parts(name: &str) -> impl Iterator<Item = &'static dyn Table> {
    TABLES.iter().copied().filter(move |table| table.name() == name)
}
