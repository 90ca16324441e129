//! Validity of rows: a bit for each, the lowest bit of a byte first.

use crate::Error;

/// Bits of a larger bitmap.
#[derive(Clone, Copy)]
pub(crate) struct Validity<'a> {
    bits: &'a [u8],
    /// The position of the first bit.
    offset: usize,
}

impl<'a> Validity<'a> {
    /// The bits of `rows` rows, the first of them at `offset`.
    pub(crate) fn new(bits: &'a [u8], offset: usize, rows: usize) -> Result<Self, Error> {
        let needed = offset.checked_add(rows).ok_or(Error::Memory)?.div_ceil(8);
        if bits.len() < needed {
            return Err(Error::BufferLength { needed, given: bits.len() });
        }
        Ok(Self { bits, offset })
    }

    /// All bits of a bitmap.
    pub(crate) fn of_all(bits: &'a [u8]) -> Self {
        Self { bits, offset: 0 }
    }

    /// Whether this row is valid. A row without a bit is NULL.
    #[inline]
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        let bit = self.offset + row;
        self.bits.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 != 0)
    }

    /// An owned bitmap for the first `rows` rows, and the number of NULLs.
    pub(crate) fn to_owned(self, rows: usize) -> (Vec<u8>, usize) {
        let mut bits = vec![0; rows.div_ceil(8)];
        let mut valid = 0;
        for row in (0..rows).filter(|&row| self.is_valid(row)) {
            bits[row / 8] |= 1 << (row % 8);
            valid += 1;
        }
        (bits, rows - valid)
    }
}

/// Makes these rows NULL, in the bitmap of `rows` rows, if there is one.
pub(crate) fn clear(validity: &mut Option<Vec<u8>>, rows: usize, cleared: &[usize]) {
    if cleared.is_empty() {
        return;
    }
    let bits = validity.get_or_insert_with(|| {
        let mut bits = vec![0xff; rows.div_ceil(8)];
        if let Some(last) = bits.last_mut()
            && !rows.is_multiple_of(8)
        {
            *last = (1 << (rows % 8)) - 1;
        }
        bits
    });
    for &row in cleared {
        bits[row / 8] &= !(1 << (row % 8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_from_any_offset() {
        let bits = [0b1010_0110, 0b0000_0001];
        let validity = Validity::new(&bits, 1, 8).expect("nine bits");
        assert!(
            (0..8)
                .map(|row| validity.is_valid(row))
                .eq([true, true, false, false, true, false, true, true])
        );
        assert_eq!(validity.to_owned(8), (vec![0b1101_0011], 3));
        assert_eq!(validity.to_owned(3), (vec![0b011], 1));
    }

    #[test]
    fn a_bitmap_that_is_too_short_is_refused() {
        assert_eq!(
            Validity::new(&[0xff], 1, 8).map(|_| ()),
            Err(Error::BufferLength { needed: 2, given: 1 })
        );
        assert_eq!(Validity::new(&[], usize::MAX, 1).map(|_| ()), Err(Error::Memory));
    }

    #[test]
    fn rows_are_cleared_in_a_bitmap_that_is_made_for_them() {
        let mut validity = None;
        clear(&mut validity, 11, &[]);
        assert_eq!(validity, None);
        clear(&mut validity, 11, &[0, 9]);
        assert_eq!(validity, Some(vec![0xfe, 0b101]));
    }
}
