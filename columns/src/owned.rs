//! A column that owns its buffers.

use core::fmt;

use crate::Column;
use crate::column::Values;
use crate::validity::Validity;

/// A column that owns its buffers, in Arrow's layout.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnedColumn {
    /// The offsets of the values.
    pub offsets: Offsets,
    /// The bytes of all values.
    pub data: Vec<u8>,
    /// A bit for each row, the lowest bit of the first byte first, or `None` if no row is NULL.
    pub validity: Option<Vec<u8>>,
    /// The number of rows that are NULL, including the failed ones.
    pub nulls: usize,
    /// The number of cells that could not be decrypted and became NULL
    /// ([`OnError::Null`](crate::OnError::Null)).
    pub failed: usize,
    /// Those of them whose key is not in the [`Keyring`](crate::Keyring), or disabled there.
    pub unknown: usize,
    /// Whether each value is UTF-8, as requested by [`Options::text`](crate::Options::text).
    pub is_text: bool,
}

/// The offsets of the values of an [`OwnedColumn`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offsets {
    /// `Binary` or `Utf8`: one offset more than rows.
    Binary(Vec<i32>),
    /// `LargeBinary` or `LargeUtf8`: one offset more than rows.
    Large(Vec<i64>),
    /// `FixedSizeBinary`.
    FixedSize {
        /// The bytes of a value.
        width: usize,
        /// The number of rows.
        rows: usize,
    },
}

impl OwnedColumn {
    /// The same column, borrowed.
    #[must_use]
    pub fn column(&self) -> Column<'_> {
        let data = &self.data[..];
        let values = match &self.offsets {
            Offsets::Binary(offsets) => Values::Binary { offsets, data },
            Offsets::Large(offsets) => Values::LargeBinary { offsets, data },
            &Offsets::FixedSize { width, rows } => Values::FixedSize { width, rows, data },
        };
        let column = Column { values, validity: None };
        // A row without a bit is NULL, in case the bitmap was shortened.
        let validity = self.validity.as_deref().map(Validity::of_all);
        Column { validity, ..column }
    }

    /// The value in a row. `None` if it is NULL or there is no such row.
    #[must_use]
    pub fn value(&self, row: usize) -> Option<&[u8]> {
        if row >= self.len() {
            return None;
        }
        let mut value = [None];
        self.column().read(row..row + 1, &mut value).ok()?;
        value[0]
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.column().len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Without the values.
impl fmt::Debug for OwnedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("OwnedColumn");
        f.field("rows", &self.len()).field("nulls", &self.nulls).field("failed", &self.failed);
        f.finish_non_exhaustive()
    }
}
