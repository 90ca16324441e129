//! Columns of tables: from objects with Arrow's interface for Python to such objects
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

mod export;
mod import;
mod keyring;

use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::ArrayRef;
use lanecrypt_columns::{
    CellError, Column, Error, Layout, OnError, Options, OwnedColumn, UnknownLayout,
};
use pyo3::exceptions::{
    PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyUnicodeError, PyValueError,
};
use pyo3::prelude::*;

pub(crate) use self::export::{Array, ChunkedArray};
use self::import::{Borrowing, Input, Kind};
pub(crate) use self::keyring::Keyring;
use crate::input::copied;
use crate::{InvalidTag, UnknownKey};

/// A key for columns, expanded once, with one layout of cells. `used` counts values that were
/// encrypted under it before.
#[pyclass(frozen, module = "lanecrypt.columns", name = "Key")]
pub(crate) struct ColumnKey {
    key: lanecrypt_columns::ColumnKey,
    /// Nothing else depends on it, so no order is needed.
    failed: AtomicUsize,
}

#[pymethods]
impl ColumnKey {
    #[new]
    #[pyo3(signature = (key, layout="aes_gcm_siv", *, used=0))]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, layout: &str, used: u64) -> PyResult<Self> {
        let layout = parsed(layout)?;
        let mut key = copied(py, key)?;
        let key = lanecrypt_columns::ColumnKey::new(layout, key.bytes()).map_err(exception)?;
        Ok(Self { key: key.already_used(used), failed: AtomicUsize::new(0) })
    }

    /// The layout of its cells.
    #[getter]
    fn layout(&self) -> &'static str {
        self.key.layout().name()
    }

    /// How many values count as encrypted: those of earlier runs, and of calls that failed,
    /// included.
    #[getter]
    fn used(&self) -> u64 {
        self.key.used()
    }

    /// How many cells could not be decrypted and became NULL, in all calls with `on_error="null"`.
    #[getter]
    fn failed(&self) -> usize {
        self.failed.load(Ordering::Relaxed)
    }

    /// Encrypts each value of a column; `lanecrypt.columns.encrypt` says how.
    #[pyo3(name = "_encrypt", signature = (column, *, context, rows, threads))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        context: &[u8],
        rows: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options::new().context(context).threads(threads);
        on_column(py, column, rows, options, |values, options| self.key.encrypt(values, options))
    }

    /// Decrypts each cell of a column; `lanecrypt.columns.decrypt` says how.
    #[pyo3(name = "_decrypt", signature = (column, *, context, rows, null_on_error, text, threads))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        context: &[u8],
        rows: Option<&Bound<'py, PyAny>>,
        null_on_error: bool,
        text: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let on_error = if null_on_error { OnError::Null } else { OnError::Fail };
        let options =
            Options::new().context(context).threads(threads).on_error(on_error).text(text);
        on_column(py, column, rows, options, |cells, options| {
            let values = self.key.decrypt(cells, options)?;
            self.failed.fetch_add(values.failed, Ordering::Relaxed);
            Ok(values)
        })
    }
}

fn parsed(layout: &str) -> PyResult<Layout> {
    layout.parse().map_err(|error: UnknownLayout| PyValueError::new_err(error.to_string()))
}

/// Does the work on a column, without the interpreter's lock. The result is of its kind.
fn on_column<'py>(
    py: Python<'py>,
    column: &Bound<'py, PyAny>,
    rows: Option<&Bound<'py, PyAny>>,
    options: Options<'_>,
    work: impl Fn(&Column<'_>, &Options<'_>) -> Result<OwnedColumn, Error> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let (column, rows) = (Input::new(column)?, rows.map(Input::new).transpose()?);
    let made = py.detach(|| each_chunk(&column, rows.as_ref(), options, &work))?;
    export::object(py, made, column.is_chunked)
}

/// Does the work on each chunk of a column, with the values of `rows` that belong to it. Without
/// any chunk it is done on none, so that the result has a type.
fn each_chunk(
    column: &Input,
    rows: Option<&Input>,
    options: Options<'_>,
    work: impl Fn(&Column<'_>, &Options<'_>) -> Result<OwnedColumn, Error>,
) -> PyResult<Vec<ArrayRef>> {
    let total = column.rows();
    let rows = rows.map(Input::joined).transpose()?;
    if let Some(rows) = &rows
        && rows.len() != total
    {
        return Err(exception(Error::Rows { column: total, associated: rows.len() }));
    }
    let mut first = 0;
    let mut made = Vec::new();
    for chunk in column.chunks() {
        let length = chunk.len();
        let own_rows = rows.as_ref().map(|rows| rows.slice(first, length));
        let own_rows = own_rows.as_ref().map(|rows| Borrowing::new(rows, Kind::Associated));
        let own_rows = own_rows.transpose()?;
        let options = match &own_rows {
            Some(rows) => options.rows(rows.column()?),
            None => options,
        };
        let values = Borrowing::new(&chunk, Kind::Values)?;
        let output = work(&values.column()?, &options).map_err(|error| in_row(error, first));
        made.push(export::array(output.map_err(exception)?)?);
        first += length;
    }
    Ok(made)
}

/// An error in a chunk whose first row is `first` of the column.
fn in_row(error: Error, first: usize) -> Error {
    match error {
        Error::Cell { row, reason } => Error::Cell { row: row + first, reason },
        Error::Buffers { row } => Error::Buffers { row: row + first },
        Error::NullAssociated { row } => Error::NullAssociated { row: row + first },
        other => other,
    }
}

#[cold]
fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Cell { reason: CellError::Authentication | CellError::NoKeyId, .. } => {
            InvalidTag::new_err(text)
        }
        Error::Cell { reason, .. } if reason.is_unknown() => UnknownKey::new_err(text),
        Error::UnknownKey { .. } => UnknownKey::new_err(text),
        Error::Cell { reason: CellError::NotText, .. } => PyUnicodeError::new_err(text),
        Error::TooLong => PyOverflowError::new_err(text),
        Error::Memory => PyMemoryError::new_err(text),
        Error::KeyExhausted => PyRuntimeError::new_err(text),
        Error::Entropy => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
