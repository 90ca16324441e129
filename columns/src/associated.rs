//! The associated data of cells.

use core::ops::Range;

use crate::blocks::{BLOCK, Cells};
use crate::{Column, Error, Options};

/// The associated data of every cell of a column.
#[derive(Clone, Copy)]
pub(crate) struct Associated<'a> {
    context: &'a [u8],
    rows: Option<Column<'a>>,
}

impl<'a> Associated<'a> {
    /// The associated data of the options, for a column of `rows` rows.
    pub(crate) fn new(options: &Options<'a>, rows: usize) -> Result<Self, Error> {
        let &Options { context, rows: column, .. } = options;
        match column {
            Some(column) if column.len() != rows => {
                Err(Error::Rows { column: rows, associated: column.len() })
            }
            _ => Ok(Self { context, rows: column }),
        }
    }

    /// The associated data of a block of cells, one after the other in `scratch`.
    pub(crate) fn of<'s>(
        &self,
        rows: Range<usize>,
        cells: &Cells<'_>,
        scratch: &'s mut Scratch,
    ) -> Result<OfBlock<'s>, Error>
    where
        'a: 's,
    {
        let Some(column) = self.rows else { return Ok(OfBlock::Same(self.context)) };
        let Scratch { bytes, ends } = scratch;
        let mut values = [None; BLOCK];
        let values = &mut values[..rows.len()];
        column.read(rows.clone(), values)?;
        // With its length, no context is a prefix of another.
        let length = u32::try_from(self.context.len()).map_err(|_| Error::Memory)?.to_be_bytes();
        bytes.clear();
        for ((row, value), (cell, end)) in rows.zip(values).zip(cells.iter().zip(&mut ends[..])) {
            match value {
                Some(value) => {
                    bytes.extend_from_slice(&length);
                    bytes.extend_from_slice(self.context);
                    bytes.extend_from_slice(value);
                }
                None if cell.is_some() => return Err(Error::NullAssociated { row }),
                None => {}
            }
            *end = bytes.len();
        }
        Ok(OfBlock::Each { bytes, ends })
    }
}

/// Memory for the associated data of a block.
pub(crate) struct Scratch {
    bytes: Vec<u8>,
    /// The end of the associated data of each row.
    ends: [usize; BLOCK],
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { bytes: Vec::new(), ends: [0; BLOCK] }
    }
}

/// The associated data of each cell of a block; empty if there is none.
#[derive(Clone, Copy)]
pub(crate) enum OfBlock<'s> {
    Same(&'s [u8]),
    Each { bytes: &'s [u8], ends: &'s [usize; BLOCK] },
}

impl<'s> OfBlock<'s> {
    /// That of the cell with this index in the block.
    #[inline(always)]
    pub(crate) fn cell(self, index: usize) -> &'s [u8] {
        match self {
            Self::Same(context) => context,
            Self::Each { bytes, ends } => {
                let from = if index == 0 { 0 } else { ends[index - 1] };
                &bytes[from..ends[index]]
            }
        }
    }

    /// The same as a string; no string differs from an empty one.
    #[inline(always)]
    pub(crate) fn string(self, index: usize) -> Option<&'s [u8]> {
        Some(self.cell(index)).filter(|string| !string.is_empty())
    }
}
