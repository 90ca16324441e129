//! Columns from Arrow's interface.
//!
//! The interface says nothing about the length of a buffer of values: who imports it takes the last
//! offset for that. Other offsets are checked against it, row by row, by `lanecrypt-columns`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait, new_empty_array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use lanecrypt_columns::Column;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyChunkedArray};

/// A column of an object with Arrow's interface.
pub(super) struct Input {
    chunks: Vec<ArrayRef>,
    data_type: DataType,
    /// Whether the object is a stream of chunks.
    pub(super) is_chunked: bool,
}

impl Input {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let (chunks, data_type, is_chunked) =
            if object.hasattr(pyo3::intern!(py, "__arrow_c_array__"))? {
                let (array, field) = object.extract::<PyArray>()?.into_inner();
                (vec![array], field.data_type().clone(), false)
            } else if object.hasattr(pyo3::intern!(py, "__arrow_c_stream__"))? {
                let (chunks, field) = object.extract::<PyChunkedArray>()?.into_inner();
                (chunks, field.data_type().clone(), true)
            } else {
                let kind = object.get_type();
                let needed = "a column has __arrow_c_array__ or __arrow_c_stream__";
                return Err(PyTypeError::new_err(format!("{kind} is not a column: {needed}")));
            };
        let input = Self { chunks, data_type, is_chunked };
        match &input.data_type {
            DataType::Struct(fields) => match &fields[..] {
                [field] => Self { data_type: field.data_type().clone(), ..input }.only_column(),
                _ => Err(PyTypeError::new_err(format!(
                    "a table of {} columns: take one of them",
                    fields.len()
                ))),
            },
            _ => Ok(input),
        }
    }

    /// The only column of a table.
    fn only_column(self) -> PyResult<Self> {
        let chunks = self.chunks.iter().map(|chunk| {
            let table = chunk.as_struct();
            if table.null_count() > 0 {
                return Err(PyTypeError::new_err("a struct that is NULL in some rows"));
            }
            Ok(Arc::clone(table.column(0)))
        });
        Ok(Self { chunks: chunks.collect::<PyResult<_>>()?, ..self })
    }

    pub(super) fn rows(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// All chunks, or an empty one if there are none.
    pub(super) fn chunks(&self) -> Vec<ArrayRef> {
        match &self.chunks[..] {
            [] => vec![new_empty_array(&self.data_type)],
            chunks => chunks.to_vec(),
        }
    }

    /// All chunks as one.
    pub(super) fn joined(&self) -> PyResult<ArrayRef> {
        let chunks = self.chunks();
        if let [one] = &chunks[..] {
            return Ok(Arc::clone(one));
        }
        for chunk in &chunks {
            // Joining takes offsets as they are.
            Borrowing::new(chunk, Kind::Associated)?.check()?;
        }
        let chunks: Vec<_> = chunks.iter().map(AsRef::as_ref).collect();
        arrow_select::concat::concat(&chunks)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// What a column is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Values or cells: bytes or text.
    Values,
    /// Associated data: numbers and dates, too.
    Associated,
}

/// An array, and what its column borrows of it.
pub(super) struct Borrowing<'a> {
    array: &'a ArrayRef,
    buffers: Vec<&'a [u8]>,
    /// The bytes of numbers, and how many each has.
    numbers: Option<(arrow_buffer::Buffer, usize)>,
}

impl<'a> Borrowing<'a> {
    pub(super) fn new(array: &'a ArrayRef, kind: Kind) -> PyResult<Self> {
        let data_type = array.data_type();
        let (mut buffers, mut numbers) = (Vec::new(), None);
        match data_type {
            DataType::Binary | DataType::Utf8 | DataType::LargeBinary | DataType::LargeUtf8 => {}
            DataType::FixedSizeBinary(_) => {}
            DataType::BinaryView => {
                buffers
                    .extend(array.as_binary_view().data_buffers().iter().map(|it| it.as_slice()));
            }
            DataType::Utf8View => {
                buffers
                    .extend(array.as_string_view().data_buffers().iter().map(|it| it.as_slice()));
            }
            _ => match data_type.primitive_width() {
                Some(width) if kind == Kind::Associated => {
                    let data = array.to_data();
                    let values = data.buffers().first().ok_or_else(|| wrong(data_type))?;
                    let (from, bytes) = (data.offset() * width, data.len() * width);
                    numbers = Some((values.slice_with_length(from, bytes), width));
                }
                _ => return Err(wrong(data_type)),
            },
        }
        Ok(Self { array, buffers, numbers })
    }

    pub(super) fn column(&self) -> PyResult<Column<'_>> {
        let array = self.array.as_ref();
        let column = match array.data_type() {
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                Column::binary(sound(array.offsets())?, array.value_data())
            }
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                Column::binary(sound(array.offsets())?, array.value_data())
            }
            DataType::LargeBinary => {
                let array = array.as_binary::<i64>();
                Column::large_binary(sound(array.offsets())?, array.value_data())
            }
            DataType::LargeUtf8 => {
                let array = array.as_string::<i64>();
                Column::large_binary(sound(array.offsets())?, array.value_data())
            }
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary();
                let width =
                    usize::try_from(array.value_length()).map_err(|_| wrong(array.data_type()))?;
                Column::fixed_size(width, array.len(), array.value_data())
                    .map_err(super::exception)?
            }
            DataType::BinaryView => {
                let views = array.as_binary_view().views().inner().as_slice();
                Column::views(views.as_chunks().0, &self.buffers)
            }
            DataType::Utf8View => {
                let views = array.as_string_view().views().inner().as_slice();
                Column::views(views.as_chunks().0, &self.buffers)
            }
            other => match &self.numbers {
                Some((values, width)) => {
                    Column::fixed_size(*width, array.len(), values).map_err(super::exception)?
                }
                None => return Err(wrong(other)),
            },
        };
        match array.nulls() {
            Some(nulls) if nulls.null_count() > 0 => {
                column.with_validity(nulls.validity(), nulls.offset()).map_err(super::exception)
            }
            _ => Ok(column),
        }
    }

    /// Reads every offset.
    fn check(&self) -> PyResult<()> {
        self.column()?;
        let is_sound = match self.array.data_type() {
            DataType::Binary => ascending(self.array.as_binary::<i32>().offsets()),
            DataType::Utf8 => ascending(self.array.as_string::<i32>().offsets()),
            DataType::LargeBinary => ascending(self.array.as_binary::<i64>().offsets()),
            DataType::LargeUtf8 => ascending(self.array.as_string::<i64>().offsets()),
            _ => true,
        };
        if is_sound { Ok(()) } else { Err(unsound()) }
    }
}

/// Offsets whose last one, by which the length of the values was taken, is a length.
fn sound<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> PyResult<&[O]> {
    match offsets.last() {
        Some(last) if *last < O::zero() => Err(unsound()),
        _ => Ok(offsets),
    }
}

fn ascending<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> bool {
    offsets.first().is_none_or(|first| *first >= O::zero()) && offsets.is_sorted()
}

#[cold]
fn unsound() -> PyErr {
    PyValueError::new_err("offsets that lead out of their buffer")
}

#[cold]
fn wrong(data_type: &DataType) -> PyErr {
    let needed = "cast it to bytes or text, or give type=";
    PyTypeError::new_err(format!("a column of {data_type}: {needed}"))
}
