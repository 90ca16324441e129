//! Columns as objects with Arrow's interface.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_array::{LargeStringArray, StringArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, FieldRef};
use lanecrypt_columns::{Offsets, OwnedColumn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::error::PyArrowResult;
use pyo3_arrow::ffi::{
    ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule,
};

/// A column in one piece, for `pyarrow.array`, `polars.Series` and others.
#[pyclass(frozen, module = "lanecrypt.columns")]
pub(crate) struct Array {
    array: ArrayRef,
    field: FieldRef,
}

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        format!("<lanecrypt.columns.Array of {} {}>", self.array.len(), self.field.data_type())
    }

    /// The number of rows that are NULL.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// Arrow's interface: the type.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.field.as_ref())
    }

    /// Arrow's interface: the type and the buffers.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyTuple>> {
        // Whether to cast to a type that is asked for is left to us. Casts would be half of the
        // library.
        drop(requested_schema);
        to_array_pycapsules(py, Arc::clone(&self.field), &self.array, None)
    }
}

/// A column in several pieces, for `pyarrow.chunked_array`, `polars.Series` and others.
#[pyclass(frozen, module = "lanecrypt.columns")]
pub(crate) struct ChunkedArray {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
}

#[pymethods]
impl ChunkedArray {
    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __repr__(&self) -> String {
        format!(
            "<lanecrypt.columns.ChunkedArray of {} {} in {} chunks>",
            self.__len__(),
            self.field.data_type(),
            self.chunks.len()
        )
    }

    /// The number of rows that are NULL.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.null_count()).sum()
    }

    /// Arrow's interface: the type.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.field.as_ref())
    }

    /// Arrow's interface: the type and the buffers of each piece.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let chunks = self.chunks.clone().into_iter().map(Ok);
        let reader = Box::new(ArrayIterator::new(chunks, Arc::clone(&self.field)));
        // As for an array in one piece.
        drop(requested_schema);
        to_stream_pycapsule(py, reader, None)
    }
}

/// The object for a result, which has at least one chunk.
pub(super) fn object(
    py: Python<'_>,
    chunks: Vec<ArrayRef>,
    is_chunked: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let Some(array) = chunks.first().cloned() else {
        return Err(PyValueError::new_err("a column without a type"));
    };
    let field = Arc::new(Field::new("", array.data_type().clone(), true));
    Ok(if is_chunked {
        Bound::new(py, ChunkedArray { chunks, field })?.into_any()
    } else {
        Bound::new(py, Array { array, field })?.into_any()
    })
}

/// The same buffers as Arrow's array.
pub(super) fn array(column: OwnedColumn) -> PyResult<ArrayRef> {
    made(column).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn made(column: OwnedColumn) -> Result<ArrayRef, ArrowError> {
    let rows = column.len();
    let nulls = column
        .validity
        .map(|bits| NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, rows)));
    let data = Buffer::from_vec(column.data);
    Ok(match column.offsets {
        Offsets::Binary(offsets) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            if column.is_text {
                Arc::new(StringArray::try_new(offsets, data, nulls)?)
            } else {
                Arc::new(BinaryArray::try_new(offsets, data, nulls)?)
            }
        }
        Offsets::Large(offsets) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            if column.is_text {
                Arc::new(LargeStringArray::try_new(offsets, data, nulls)?)
            } else {
                Arc::new(LargeBinaryArray::try_new(offsets, data, nulls)?)
            }
        }
        Offsets::FixedSize { width, .. } => {
            let width = i32::try_from(width)
                .map_err(|_| ArrowError::InvalidArgumentError("values too long".into()))?;
            Arc::new(FixedSizeBinaryArray::try_new_with_len(width, data, nulls, rows)?)
        }
        _ => return Err(ArrowError::NotYetImplemented("a kind of column".into())),
    })
}
