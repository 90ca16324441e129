//! No page is locked without an atomic instruction on these processors: the number of the processor
//! takes a call.

use crate::linux::page::Page;
use crate::linux::table::{Entry, Table};

#[inline(always)]
pub(crate) fn lock<G, const WHICH: usize>(
    _: &'static Table<G>,
) -> Option<(&'static Page<G>, &'static Entry<G>)> {
    None
}
