//! The positions of the values in the output, before any of them is computed.

use lanecrypt_kernels::prefer_huge_pages;

use crate::blocks::{BLOCK, blocks};
use crate::column::Values;
use crate::{Column, Error, Offsets};

/// The positions of the values in the output.
pub(crate) struct Plan {
    pub(crate) offsets: Offsets,
    /// The bytes of all values.
    pub(crate) bytes: usize,
}

impl Plan {
    /// The plan for values with the lengths `length` of those of `column`. NULLs have no bytes,
    /// unless all values have the same length.
    pub(crate) fn new(column: &Column<'_>, length: impl Fn(usize) -> usize) -> Result<Self, Error> {
        Ok(match column.values {
            Values::FixedSize { width, rows, .. } => {
                let width = length(width);
                let bytes = width.checked_mul(rows).ok_or(Error::Memory)?;
                Self { offsets: Offsets::FixedSize { width, rows }, bytes }
            }
            Values::Binary { .. } => {
                let (offsets, bytes) = offsets(column, length, Error::TooLong)?;
                Self { offsets: Offsets::Binary(offsets), bytes }
            }
            Values::LargeBinary { .. } | Values::Views { .. } => {
                let (offsets, bytes) = offsets(column, length, Error::Memory)?;
                Self { offsets: Offsets::Large(offsets), bytes }
            }
        })
    }

    /// The start of the value of a row, which is the end of that of the previous row.
    pub(crate) fn position(&self, row: usize) -> usize {
        let position = match &self.offsets {
            Offsets::Binary(offsets) => usize::try_from(offsets[row]).ok(),
            Offsets::Large(offsets) => usize::try_from(offsets[row]).ok(),
            Offsets::FixedSize { width, .. } => width.checked_mul(row),
        };
        // The plan was computed from such numbers.
        position.unwrap_or(self.bytes)
    }

    /// The bytes that a NULL takes.
    pub(crate) fn null(&self) -> usize {
        match self.offsets {
            Offsets::FixedSize { width, .. } => width,
            _ => 0,
        }
    }

    /// Zeroed memory for all values.
    pub(crate) fn memory(&self) -> Result<Vec<u8>, Error> {
        let mut probe = Vec::<u8>::new();
        probe.try_reserve_exact(self.bytes).map_err(|_| Error::Memory)?;
        drop(probe);
        // Not by `resize`, which would write zeros to pages that are already zero.
        let mut memory = vec![0; self.bytes];
        // The first writes to so much memory would take longer than encrypting.
        prefer_huge_pages(&mut memory);
        Ok(memory)
    }
}

/// The rule for the lengths of values.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    /// The difference between the lengths of a cell and its value.
    pub(crate) overhead: usize,
    /// The bytes that a NULL takes.
    pub(crate) null: usize,
}

impl Lengths {
    /// The bytes of the value of a cell, or those that a NULL takes. A cell that is too short has
    /// none.
    pub(crate) fn plain(self, cell: Option<&[u8]>) -> usize {
        cell.map_or(self.null, |cell| cell.len().saturating_sub(self.overhead))
    }
}

/// The offsets of values of these lengths, and the end of the last one. If they exceed `O`, the
/// error is `too_long`.
fn offsets<O: TryFrom<usize>>(
    column: &Column<'_>,
    length: impl Fn(usize) -> usize,
    too_long: Error,
) -> Result<(Vec<O>, usize), Error> {
    let offset = |bytes: usize| O::try_from(bytes).map_err(|_| too_long);
    let mut offsets = Vec::new();
    offsets.try_reserve_exact(column.len() + 1).map_err(|_| Error::Memory)?;
    let mut bytes = 0_usize;
    offsets.push(offset(0)?);
    let mut values = [None; BLOCK];
    for rows in blocks(0..column.len()) {
        let values = &mut values[..rows.len()];
        column.read(rows, values)?;
        for value in values {
            if let Some(value) = value {
                bytes = bytes.checked_add(length(value.len())).ok_or(Error::Memory)?;
            }
            offsets.push(offset(bytes)?);
        }
    }
    Ok((offsets, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_one_after_the_other() {
        let column = Column::binary(&[0, 1, 4, 4], b"abcd").with_validity(&[0b101], 0);
        let plan = Plan::new(&column.expect("three bits"), |bytes| bytes + 10).expect("a plan");
        assert_eq!(plan.offsets, Offsets::Binary(vec![0, 11, 11, 21]));
        assert_eq!((plan.bytes, plan.position(1), plan.null()), (21, 11, 0));

        let column = Column::fixed_size(4, 3, &[0; 12]).expect("enough bytes");
        let plan = Plan::new(&column, |bytes| bytes + 10).expect("a plan");
        assert_eq!(plan.offsets, Offsets::FixedSize { width: 14, rows: 3 });
        assert_eq!((plan.bytes, plan.position(2), plan.null()), (42, 28, 14));
    }

    #[test]
    fn offsets_of_32_bits_end_at_2_to_the_31() {
        let most = usize::try_from(i32::MAX).expect("64 bits");
        let plan = |bytes: usize| Plan::new(&Column::binary(&[0, 0, 0], b""), |_| bytes);
        assert!(plan(most / 2).is_ok());
        assert_eq!(plan(most / 2 + 1).map(|_| ()), Err(Error::TooLong));
        assert_eq!(plan(usize::MAX).map(|_| ()), Err(Error::TooLong));
        let large = Column::large_binary(&[0, 0, 0], b"");
        assert!(Plan::new(&large, |_| most).is_ok());
        assert_eq!(Plan::new(&large, |_| usize::MAX).map(|_| ()), Err(Error::Memory));
        let plan = Plan::new(&large, |_| most << 30).expect("offsets of 64 bits");
        assert_eq!(plan.memory(), Err(Error::Memory));
    }
}
