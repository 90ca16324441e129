//! A column of values in Arrow's layout.

use core::fmt;
use core::ops::Range;

use crate::Error;
use crate::validity::Validity;

/// A column of values in Arrow's layout. It borrows the buffers.
///
/// Offsets and lengths are untrusted. Each is checked when its row is read, and refused as
/// [`Error::Buffers`].
#[derive(Clone, Copy)]
pub struct Column<'a> {
    pub(crate) values: Values<'a>,
    pub(crate) validity: Option<Validity<'a>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Values<'a> {
    /// `Binary`, `Utf8`: one offset more than rows.
    Binary { offsets: &'a [i32], data: &'a [u8] },
    /// `LargeBinary`, `LargeUtf8`.
    LargeBinary { offsets: &'a [i64], data: &'a [u8] },
    /// `FixedSizeBinary`; the length of `data` is not yet checked against the rows.
    FixedSize { width: usize, rows: usize, data: &'a [u8] },
    /// `BinaryView`, `Utf8View`.
    Views { views: &'a [[u8; 16]], buffers: &'a [&'a [u8]] },
}

/// The longest value that is stored in a view.
const INLINE: usize = 12;

impl<'a> Column<'a> {
    /// A column of Arrow's `Binary` or `Utf8`: value n is `data` from offset n to offset n + 1. A
    /// slice of a larger column has a slice of its offsets, and all of its data.
    #[must_use]
    pub fn binary(offsets: &'a [i32], data: &'a [u8]) -> Self {
        Self { values: Values::Binary { offsets, data }, validity: None }
    }

    /// A column of Arrow's `LargeBinary` or `LargeUtf8`, with offsets of 64 bits.
    #[must_use]
    pub fn large_binary(offsets: &'a [i64], data: &'a [u8]) -> Self {
        Self { values: Values::LargeBinary { offsets, data }, validity: None }
    }

    /// A column of Arrow's `FixedSizeBinary`: `rows` values of `width` bytes.
    ///
    /// It may also be a column of numbers, for associated data: the values are then their bytes in
    /// memory, which Arrow keeps in little-endian order.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `data` is shorter.
    pub fn fixed_size(width: usize, rows: usize, data: &'a [u8]) -> Result<Self, Error> {
        let needed = width.checked_mul(rows).ok_or(Error::Memory)?;
        if data.len() < needed {
            return Err(Error::BufferLength { needed, given: data.len() });
        }
        Ok(Self { values: Values::FixedSize { width, rows, data }, validity: None })
    }

    /// A column of Arrow's `BinaryView` or `Utf8View`: 16 bytes for each row, and the buffers that
    /// they refer to.
    #[must_use]
    pub fn views(views: &'a [[u8; 16]], buffers: &'a [&'a [u8]]) -> Self {
        Self { values: Values::Views { views, buffers }, validity: None }
    }

    /// The same column with a bit for each row, which is set for valid rows; the others are NULL.
    /// The bit of the first row is at the position `offset`, counted from the lowest bit of the
    /// first byte.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if there are fewer bits than rows.
    pub fn with_validity(self, bits: &'a [u8], offset: usize) -> Result<Self, Error> {
        Ok(Self { validity: Some(Validity::new(bits, offset, self.len())?), ..self })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.values {
            // Arrow allows an empty buffer of offsets if there are no rows.
            Values::Binary { offsets, .. } => offsets.len().saturating_sub(1),
            Values::LargeBinary { offsets, .. } => offsets.len().saturating_sub(1),
            Values::FixedSize { rows, .. } => rows,
            Values::Views { views, .. } => views.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An owned bitmap, if any row is NULL, and the number of NULLs.
    pub(crate) fn nulls(&self) -> (Option<Vec<u8>>, usize) {
        match self.validity.map(|validity| validity.to_owned(self.len())) {
            Some((bits, nulls)) if nulls > 0 => (Some(bits), nulls),
            _ => (None, 0),
        }
    }

    /// Stores the values of these rows in `block`, and `None` for each NULL. The kind of the column
    /// is matched once for all of them.
    ///
    /// # Errors
    ///
    /// [`Error::Buffers`] with the first row that is not NULL and not in the buffers.
    #[inline]
    pub(crate) fn read(
        &self,
        rows: Range<usize>,
        block: &mut [Option<&'a [u8]>],
    ) -> Result<(), Error> {
        let first = rows.start;
        match self.values {
            Values::Binary { offsets, data } => self.fill(first, block, |row| {
                between(data, *offsets.get(row)?, *offsets.get(row + 1)?)
            }),
            Values::LargeBinary { offsets, data } => self.fill(first, block, |row| {
                between(data, *offsets.get(row)?, *offsets.get(row + 1)?)
            }),
            Values::FixedSize { width, data, .. } => {
                self.fill(first, block, |row| data.get(row * width..)?.get(..width))
            }
            Values::Views { views, buffers } => {
                self.fill(first, block, |row| viewed(views.get(row)?, buffers))
            }
        }
    }

    #[inline(always)]
    fn fill(
        &self,
        first: usize,
        block: &mut [Option<&'a [u8]>],
        value: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Result<(), Error> {
        let found = |row| value(row).ok_or(Error::Buffers { row });
        match self.validity {
            None => {
                for (index, place) in block.iter_mut().enumerate() {
                    *place = Some(found(first + index)?);
                }
            }
            Some(validity) => {
                for (index, place) in block.iter_mut().enumerate() {
                    let row = first + index;
                    *place = if validity.is_valid(row) { Some(found(row)?) } else { None };
                }
            }
        }
        Ok(())
    }
}

/// Without the values.
impl fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("rows", &self.len()).finish_non_exhaustive()
    }
}

/// The bytes between two offsets.
#[inline(always)]
fn between<O: TryInto<usize>>(data: &[u8], from: O, to: O) -> Option<&[u8]> {
    data.get(from.try_into().ok()?..to.try_into().ok()?)
}

/// The value of a view: its length, and the value itself if it is short; otherwise the first four
/// bytes, the index of the buffer and the offset in it. All numbers are little-endian, of 32 bits.
#[inline(always)]
fn viewed<'a>(view: &'a [u8; 16], buffers: &[&'a [u8]]) -> Option<&'a [u8]> {
    let (words, _) = view.as_chunks::<4>();
    let number = |word: [u8; 4]| usize::try_from(i32::from_le_bytes(word)).ok();
    let &[length, _, buffer, offset] = words else { return None };
    let length = number(length)?;
    if length <= INLINE {
        return view.get(4..4 + length);
    }
    buffers.get(number(buffer)?)?.get(number(offset)?..)?.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(column: &Column<'a>) -> Result<Vec<Option<&'a [u8]>>, Error> {
        let mut block = vec![None; column.len()];
        column.read(0..column.len(), &mut block)?;
        Ok(block)
    }

    #[test]
    fn every_kind_has_the_same_values() {
        let expected = [Some(&b"abc"[..]), Some(b""), Some(b"more than 12 bytes")];
        let data = b"-abcmore than 12 bytes";
        assert_eq!(read(&Column::binary(&[1, 4, 4, 22], data)).expect("binary"), expected);
        assert_eq!(read(&Column::large_binary(&[1, 4, 4, 22], data)).expect("large"), expected);
        let views =
            [*b"\x03\0\0\0abc\0\0\0\0\0\0\0\0\0", [0; 16], *b"\x12\0\0\0more\x01\0\0\0\x04\0\0\0"];
        assert_eq!(read(&Column::views(&views, &[b"", data])).expect("views"), expected);
        let fixed = Column::fixed_size(2, 3, b"aabbcc--").expect("enough bytes");
        assert_eq!(read(&fixed).expect("fixed"), [&b"aa"[..], b"bb", b"cc"].map(Some));
    }

    #[test]
    fn no_rows_need_no_offsets() {
        assert!(Column::binary(&[], b"").is_empty());
        assert!(Column::large_binary(&[7], b"").is_empty());
        assert_eq!(Column::fixed_size(0, 3, b"").expect("no bytes").len(), 3);
    }

    #[test]
    fn wrong_buffers_are_refused_at_their_row() {
        let refused = |column: Column<'_>| read(&column).err();
        assert_eq!(refused(Column::binary(&[0, 2, 1], b"ab")), Some(Error::Buffers { row: 1 }));
        assert_eq!(refused(Column::binary(&[0, 3], b"ab")), Some(Error::Buffers { row: 0 }));
        assert_eq!(refused(Column::binary(&[-1, 1], b"ab")), Some(Error::Buffers { row: 0 }));
        assert_eq!(
            refused(Column::large_binary(&[0, i64::MAX], b"ab")),
            Some(Error::Buffers { row: 0 })
        );
        let long = |buffer: i32, offset: i32| {
            let mut view = [0; 16];
            view[..4].copy_from_slice(&13_i32.to_le_bytes());
            view[8..12].copy_from_slice(&buffer.to_le_bytes());
            view[12..].copy_from_slice(&offset.to_le_bytes());
            view
        };
        for (buffer, offset) in [(1, 0), (-1, 0), (0, 8), (0, -1), (0, i32::MAX)] {
            let views = [[0; 16], long(buffer, offset)];
            assert_eq!(
                refused(Column::views(&views, &[&[0; 20]])),
                Some(Error::Buffers { row: 1 })
            );
        }
        let mut negative = [0; 16];
        negative[..4].copy_from_slice(&(-1_i32).to_le_bytes());
        assert_eq!(refused(Column::views(&[negative], &[])), Some(Error::Buffers { row: 0 }));
        assert_eq!(
            Column::fixed_size(8, 2, &[0; 15]).err(),
            Some(Error::BufferLength { needed: 16, given: 15 })
        );
        assert_eq!(Column::fixed_size(usize::MAX, 2, &[]).err(), Some(Error::Memory));
    }

    #[test]
    fn what_a_null_refers_to_is_not_read() {
        let column = Column::binary(&[0, 99, 1], b"a").with_validity(&[0], 0).expect("two bits");
        assert_eq!(read(&column), Ok(vec![None, None]));
        assert_eq!(
            Column::binary(&[0; 10], b"").with_validity(&[0xff], 0).err(),
            Some(Error::BufferLength { needed: 2, given: 1 })
        );
    }
}
