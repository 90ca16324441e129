//! Options of encryption and decryption.

use core::fmt;
use core::num::NonZero;
use std::thread;

use crate::Column;

/// Options for encrypting or decrypting a column: associated data, handling of cells that are not
/// authentic, threads.
///
/// ```
/// use lanecrypt_columns::{Column, ColumnKey, Error, Layout, OnError, Options};
///
/// # fn main() -> Result<(), Error> {
/// let key = ColumnKey::new(Layout::AesGcm, &[7; 16])?;
/// let values = Column::binary(&[0, 1, 2], b"ab");
/// let ids = Column::fixed_size(8, 2, b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0")?;
/// let table = Options::new().context(b"people.ssn").rows(ids);
/// let mut cells = key.encrypt(&values, &table)?;
///
/// // Someone swaps the two cells.
/// cells.data.rotate_left(29);
/// assert!(key.decrypt(&cells.column(), &table).is_err());
///
/// let nulls = key.decrypt(&cells.column(), &table.on_error(OnError::Null))?;
/// assert_eq!((nulls.value(0), nulls.failed), (None, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub(crate) context: &'a [u8],
    pub(crate) rows: Option<Column<'a>>,
    pub(crate) on_error: OnError,
    pub(crate) text: bool,
    pub(crate) threads: usize,
}

/// The handling of a cell that cannot be decrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnError {
    /// The column is refused, with the first such row.
    #[default]
    Fail,
    /// It becomes NULL, and is counted.
    Null,
}

impl<'a> Options<'a> {
    /// No associated data, one thread; one cell that cannot be decrypted fails the column.
    #[must_use]
    pub fn new() -> Self {
        Self { context: b"", rows: None, on_error: OnError::Fail, text: false, threads: 1 }
    }

    /// Associated data of every cell, such as the names of table and column. A cell can only be
    /// decrypted with the same context.
    #[must_use]
    pub fn context(self, context: &'a [u8]) -> Self {
        Self { context, ..self }
    }

    /// Associated data of each cell: a column of as many rows, without NULLs, such as the primary
    /// key. A cell can only be decrypted in a row with the same value.
    ///
    /// The bytes of the value are compared: the same number with 32 and with 64 bits is another
    /// value. The associated data of a cell is then the length of the context in bytes (4 bytes,
    /// big-endian), the context, and the value. Without this column it is only the context.
    #[must_use]
    pub fn rows(self, rows: Column<'a>) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// The handling of cells that cannot be decrypted.
    #[must_use]
    pub fn on_error(self, on_error: OnError) -> Self {
        Self { on_error, ..self }
    }

    /// Whether decrypted values must be UTF-8. Other values count as cells that cannot be
    /// decrypted.
    #[must_use]
    pub fn text(self, text: bool) -> Self {
        Self { text, ..self }
    }

    /// The number of threads for a column of more than 16,384 rows. With 0, the number of
    /// processors of the process.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            given => given,
        };
        Self { threads, ..self }
    }
}

/// Without associated data.
impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { on_error, text, threads, .. } = self;
        let mut f = f.debug_struct("Options");
        f.field("on_error", on_error).field("text", text).field("threads", threads);
        f.finish_non_exhaustive()
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self::new()
    }
}
