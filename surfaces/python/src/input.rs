//! What callers pass as bytes, and where results go.
//!
//! `bytes` never change, so they are read in place, also while the interpreter's lock is released.
//! All other objects with a buffer, such as `bytearray`, are copied first: another thread could
//! change them while a kernel reads them.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::scratch::Scratch;

/// An object with a contiguous buffer of bytes.
pub(crate) enum Input<'a, 'py> {
    Bytes(&'a Bound<'py, PyBytes>),
    Buffer(PyBuffer<u8>),
}

impl<'a, 'py> Input<'a, 'py> {
    #[inline]
    pub(crate) fn new(object: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyBytes>() {
            Ok(bytes) => Ok(Self::Bytes(bytes)),
            Err(_) => Ok(Self::Buffer(contiguous(object)?)),
        }
    }

    /// The number of bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes().len(),
            Self::Buffer(buffer) => buffer.len_bytes(),
        }
    }

    /// The bytes, which nobody changes.
    #[inline]
    pub(crate) fn fixed(&self, py: Python<'_>) -> PyResult<Fixed<'_>> {
        Ok(match self {
            Self::Bytes(bytes) => Fixed::Borrowed(bytes.as_bytes()),
            Self::Buffer(buffer) => Fixed::Copied(buffer.to_vec(py)?),
        })
    }

    /// Copies the bytes to memory of their length, for example of a key, whose copies are wiped.
    pub(crate) fn copy_to(&self, py: Python<'_>, target: &mut [u8]) -> PyResult<()> {
        match self {
            Self::Bytes(bytes) => {
                target.copy_from_slice(bytes.as_bytes());
                Ok(())
            }
            Self::Buffer(buffer) => buffer.copy_to_slice(py, target),
        }
    }
}

/// Bytes that stay as they are.
pub(crate) enum Fixed<'a> {
    Borrowed(&'a [u8]),
    Copied(Vec<u8>),
}

impl std::ops::Deref for Fixed<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
        }
    }
}

/// The bytes of a key or a passphrase, for a moment.
pub(crate) fn copied(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Scratch<64>> {
    let key = Input::new(key)?;
    let mut copy = Scratch::new(key.len());
    key.copy_to(py, copy.bytes())?;
    Ok(copy)
}

/// The buffer of an object that callers want results in.
pub(crate) fn writable(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<u8>> {
    let buffer = contiguous(object)?;
    if buffer.readonly() {
        return Err(PyTypeError::new_err("Buffer is not writable."));
    }
    Ok(buffer)
}

/// The messages are those of the package `cryptography`.
#[cold]
fn contiguous(object: &Bound<'_, PyAny>) -> PyResult<PyBuffer<u8>> {
    let buffer = PyBuffer::get(object).map_err(|_| {
        let hint = if object.is_instance_of::<PyString>() {
            "\nDid you mean to pass a bytestring instead?"
        } else {
            ""
        };
        let kind = object.get_type();
        PyTypeError::new_err(format!("Cannot convert \"{kind}\" instance to a buffer.{hint}"))
    })?;
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("Buffer is not contiguous."));
    }
    Ok(buffer)
}
