//! Random numbers: what the standard module `secrets` has, and `uuid4`.
//!
//! All of them are of the calling thread's generator, which survives forks. If the system gives no
//! random bytes, they raise `OSError`.

mod letters;
mod uuid;

use lanecrypt_random::try_fill;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyMemoryView, PySlice, PyString};

pub(crate) use self::uuid::uuid4;
use crate::input::writable;
use crate::lock::unlocked;
use crate::scratch::Scratch;

/// The number of random bytes where the caller names none, as in `secrets`.
const DEFAULT: usize = 32;

/// The most bytes that `fill` makes at a time, in memory of its own.
const PIECE: usize = 1 << 18;

/// Random bytes, 32 if no number is given, as `secrets.token_bytes`.
///
/// >>> len(token_bytes(16))
/// 16
#[pyfunction]
#[pyo3(signature = (nbytes=None, /))]
pub(crate) fn token_bytes<'py>(
    py: Python<'py>,
    nbytes: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    new_bytes(py, number(nbytes)?)
}

/// Random bytes in hexadecimal digits, two for each byte, as `secrets.token_hex`.
///
/// >>> len(token_hex(16))
/// 32
#[pyfunction]
#[pyo3(signature = (nbytes=None, /))]
pub(crate) fn token_hex<'py>(
    py: Python<'py>,
    nbytes: Option<isize>,
) -> PyResult<Bound<'py, PyString>> {
    text(py, number(nbytes)?, |length| 2 * length, letters::hex)
}

/// Random bytes as text for URLs (RFC 4648, section 5, without padding), as
/// `secrets.token_urlsafe`.
///
/// >>> len(token_urlsafe(16))
/// 22
#[pyfunction]
#[pyo3(signature = (nbytes=None, /))]
pub(crate) fn token_urlsafe<'py>(
    py: Python<'py>,
    nbytes: Option<isize>,
) -> PyResult<Bound<'py, PyString>> {
    text(py, number(nbytes)?, |length| (4 * length).div_ceil(3), letters::url_safe)
}

/// A random integer from 0 to below `exclusive_upper_bound`, all with the same probability, as
/// `secrets.randbelow`.
///
/// >>> randbelow(6) in range(6)
/// True
#[pyfunction]
#[pyo3(signature = (exclusive_upper_bound, /))]
pub(crate) fn randbelow<'py>(
    py: Python<'py>,
    exclusive_upper_bound: &Bound<'py, PyInt>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(bound) = exclusive_upper_bound.extract::<u64>() {
        return Ok(below(bound)?.into_pyobject(py)?.into_any());
    }
    if exclusive_upper_bound.lt(0)? {
        return Err(not_positive());
    }
    let bits = exclusive_upper_bound.call_method0(pyo3::intern!(py, "bit_length"))?.extract()?;
    loop {
        let number = bits_of(py, bits)?;
        if number.lt(exclusive_upper_bound)? {
            return Ok(number);
        }
    }
}

/// A random integer of `k` bits, as `secrets.randbits`.
///
/// >>> 0 <= randbits(12) < 4096
/// True
#[pyfunction]
#[pyo3(signature = (k, /))]
pub(crate) fn randbits(py: Python<'_>, k: isize) -> PyResult<Bound<'_, PyAny>> {
    match usize::try_from(k) {
        Ok(k) => bits_of(py, k),
        Err(_) => Err(PyValueError::new_err("number of bits must be non-negative")),
    }
}

/// A random element of a sequence that is not empty, as `secrets.choice`.
///
/// >>> choice("abc") in "abc"
/// True
#[pyfunction]
#[pyo3(signature = (sequence, /))]
pub(crate) fn choice<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let length = sequence.len()?;
    if length == 0 {
        return Err(PyIndexError::new_err("Cannot choose from an empty sequence"));
    }
    sequence.get_item(below(length as u64)?)
}

/// A random number from 0.0 to below 1.0, a multiple of 2**-53.
///
/// >>> 0.0 <= random() < 1.0
/// True
#[pyfunction]
pub(crate) fn random() -> PyResult<f64> {
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    Ok((word()? >> 11) as f64 / (1u64 << 53) as f64)
}

/// Fills a writable buffer, such as a bytearray, with random bytes.
///
/// >>> key = bytearray(32)
/// >>> fill(key)
#[pyfunction]
#[pyo3(signature = (buffer, /))]
pub(crate) fn fill(py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
    let target = writable(buffer)?;
    let length = target.len_bytes();
    let mut bytes = Scratch::<64>::new(PIECE.min(length));
    let bytes = bytes.bytes();
    if length <= PIECE {
        fill_bytes(py, bytes)?;
        return target.copy_from_slice(py, bytes);
    }
    let view = PyMemoryView::from(buffer)?.call_method1("cast", ("B",))?;
    for start in (0..length).step_by(PIECE) {
        let piece = &mut bytes[..PIECE.min(length - start)];
        fill_bytes(py, piece)?;
        let at = |index: usize| isize::try_from(index).unwrap_or(isize::MAX);
        let slice = view.get_item(PySlice::new(py, at(start), at(start + piece.len()), 1))?;
        writable(&slice)?.copy_from_slice(py, piece)?;
    }
    Ok(())
}

/// Random bytes as a new object.
pub(crate) fn new_bytes(py: Python<'_>, length: usize) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, length, |bytes| fill_bytes(py, bytes))
}

/// Random bytes as text, which `write` makes of them.
fn text(
    py: Python<'_>,
    length: usize,
    text_length: impl Fn(usize) -> usize,
    write: impl Fn(&[u8], &mut [u8]),
) -> PyResult<Bound<'_, PyString>> {
    if length > isize::MAX as usize / 4 {
        return Err(PyMemoryError::new_err(()));
    }
    let (mut bytes, mut text) =
        (Scratch::<32>::new(length), Scratch::<64>::new(text_length(length)));
    fill_bytes(py, bytes.bytes())?;
    write(bytes.bytes(), text.bytes());
    let text = str::from_utf8(text.bytes());
    Ok(PyString::new(py, text.map_err(|error| PyValueError::new_err(error.to_string()))?))
}

/// Fills memory that no other thread knows, without the interpreter's lock if it is long.
#[inline]
fn fill_bytes(py: Python<'_>, bytes: &mut [u8]) -> PyResult<()> {
    let length = bytes.len();
    unlocked(py, length, || try_fill(bytes)).map_err(|_| no_entropy())
}

#[inline]
fn word() -> PyResult<u64> {
    let mut bytes = [0; 8];
    try_fill(&mut bytes).map_err(|_| no_entropy())?;
    Ok(u64::from_le_bytes(bytes))
}

/// Uniform below `bound`: Lemire, "Fast Random Integer Generation in an Interval" (2019).
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a product")]
fn below(bound: u64) -> PyResult<u64> {
    if bound == 0 {
        return Err(not_positive());
    }
    loop {
        let product = u128::from(word()?) * u128::from(bound);
        let (high, low) = ((product >> 64) as u64, product as u64);
        // The products that are one too many: 2^64 modulo the bound.
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return Ok(high);
        }
    }
}

fn bits_of(py: Python<'_>, bits: usize) -> PyResult<Bound<'_, PyAny>> {
    if bits == 0 {
        return Ok(0u8.into_pyobject(py)?.into_any());
    }
    if bits <= 64 {
        return Ok((word()? >> (64 - bits)).into_pyobject(py)?.into_any());
    }
    let bytes = new_bytes(py, bits.div_ceil(8))?;
    let number = py
        .get_type::<PyInt>()
        .call_method1(pyo3::intern!(py, "from_bytes"), (bytes, pyo3::intern!(py, "little")))?;
    number.rshift(bits.next_multiple_of(8) - bits)
}

fn number(nbytes: Option<isize>) -> PyResult<usize> {
    match nbytes {
        None => Ok(DEFAULT),
        Some(nbytes) => usize::try_from(nbytes)
            .map_err(|_| PyValueError::new_err("negative argument not allowed")),
    }
}

#[cold]
fn not_positive() -> PyErr {
    PyValueError::new_err("Upper bound must be positive.")
}

#[cold]
fn no_entropy() -> PyErr {
    PyOSError::new_err("the system gives no random bytes")
}
