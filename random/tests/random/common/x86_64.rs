//! Stepping through instructions, and reading registers.

#![cfg(target_arch = "x86_64")]

pub(crate) mod frames;
pub(crate) mod stepping;
pub(crate) mod traces;

use core::ops::Range;

use super::maps::{BUFFER, Mapping};

/// Where a generator's page has its key.
pub(crate) const KEY: Range<usize> = BUFFER + 16..BUFFER + 48;

/// The key of a page; zeros where the generator keeps none.
pub(crate) fn key(page: &[u8]) -> &[u8] {
    &page[KEY]
}

/// The first address behind a mapping.
fn end(mapping: Mapping) -> usize {
    mapping.address + mapping.length
}
