//! Eight numbers side by side.

use super::multiply::{multiply, square};
use super::selection::Selection;
use super::{BLOCK, DIGIT};
use crate::montgomery::x86_64::lanes::{ENTRIES, Kernel, Moduli, WINDOW};
use crate::montgomery::{Lanes, Workspace};

/// Only [`super::raise`] uses it, on processors that have AVX-512 with IFMA.
pub(super) struct Eight;

impl Kernel for Eight {
    type Vector = Lanes;
    const NUMBERS: usize = 8;
    const WIDTH: u32 = DIGIT;
    const ROOM: usize = 1;

    fn vectors(digits: usize) -> usize {
        debug_assert!(digits.is_multiple_of(BLOCK), "whole blocks");
        digits
    }

    /// All entries of a digit, then those of the next one.
    fn table(vectors: usize) -> usize {
        ENTRIES * vectors
    }

    fn memory(workspace: &mut Workspace, count: usize) -> &mut [Lanes] {
        workspace.lanes(count)
    }

    fn place(number: &mut [Lanes], which: usize, digit: usize) -> &mut u64 {
        &mut number[digit].0[which]
    }

    fn multiply(moduli: &mut Moduli<'_, Lanes>, number: &mut [Lanes], other: &[Lanes]) {
        // SAFETY: the processor has the instructions, see `Eight`.
        unsafe { multiply(moduli, number, other) }
    }

    fn square(moduli: &mut Moduli<'_, Lanes>, number: &mut [Lanes]) {
        // SAFETY: the processor has the instructions, see `Eight`.
        unsafe { square(moduli, number, &mut Selection::none()) }
    }

    fn square_and_look_up(
        moduli: &mut Moduli<'_, Lanes>,
        number: &mut [Lanes],
        table: &[Lanes],
        indices: &[u64; 8],
        entry: &mut [Lanes],
    ) {
        // SAFETY: the processor has the instructions, see `Eight`.
        unsafe { square_and_select(moduli, number, table, indices, entry) }
    }

    fn look_up(table: &[Lanes], indices: &[u64; 8], entry: &mut [Lanes]) {
        // SAFETY: the processor has the instructions, see `Eight`.
        unsafe { select(table, indices, entry) }
    }

    fn store_entry(table: &mut [Lanes], index: usize, number: &[Lanes]) {
        for (entry, &digit) in table.iter_mut().skip(index).step_by(ENTRIES).zip(number) {
            *entry = digit;
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn square_and_select(
    moduli: &mut Moduli<'_, Lanes>,
    number: &mut [Lanes],
    table: &[Lanes],
    indices: &[u64; 8],
    entry: &mut [Lanes],
) {
    let mut selection = Selection::new(table.as_chunks().0, indices, entry);
    for _ in 0..WINDOW {
        square(moduli, number, &mut selection);
    }
    selection.finish();
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn select(table: &[Lanes], indices: &[u64; 8], entry: &mut [Lanes]) {
    Selection::new(table.as_chunks().0, indices, entry).finish();
}
