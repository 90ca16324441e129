//! AES-SIV, which has strings instead of a nonce, with the interface of the package `cryptography`.

use lanecrypt_ciphers::DeterministicAesSiv;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::InvalidTag;
use crate::aead::{exception, into, key_of_bits};
use crate::input::{Fixed, Input};
use crate::lock::unlocked;
use crate::random;
use crate::scratch::Scratch;

/// AES-SIV (RFC 5297) with keys of 256, 384 or 512 bits, without a nonce: equal data and associated
/// data give equal ciphertexts.
///
/// `associated_data` is a list of at most 126 strings of bytes, or None. A nonce, if there is one,
/// is the last of them. A ciphertext has its tag of 16 bytes in front.
#[pyclass(frozen, module = "lanecrypt", name = "AESSIV")]
pub(crate) struct AesSiv(Box<DeterministicAesSiv>);

#[pymethods]
impl AesSiv {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let key = Input::new(key)?;
        let refused = || PyValueError::new_err("AESSIV key must be 256, 384, or 512 bits.");
        if ![32, 48, 64].contains(&key.len()) {
            return Err(refused());
        }
        let mut copy = Scratch::<64>::new(key.len());
        key.copy_to(py, copy.bytes())?;
        Ok(Self(DeterministicAesSiv::boxed(copy.bytes()).map_err(|_| refused())?))
    }

    /// A random key of 256, 384 or 512 bits.
    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
        random::new_bytes(py, key_of_bits(bit_length, &[256, 384, 512])?)
    }

    /// Encrypts `data` and returns the ciphertext with its tag of 16 bytes in front.
    #[pyo3(signature = (data, associated_data))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = Input::new(data)?;
        let length = data.len() + DeterministicAesSiv::OVERHEAD;
        PyBytes::new_with(py, length, |packet| self.seal(py, &data, associated_data, packet))
    }

    /// Decrypts what `encrypt` returned.
    ///
    /// Raises InvalidTag if the ciphertext, the tag or the associated data is another one.
    #[pyo3(signature = (data, associated_data))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = Input::new(data)?;
        let length = value_length(&data)?;
        PyBytes::new_with(py, length, |value| self.open(py, &data, associated_data, value))
    }

    /// Does what `encrypt` does, into `buf`, which must have the length of the result, and returns
    /// this length. `buf` and `data` may be the same memory.
    #[pyo3(signature = (data, associated_data, buf))]
    fn encrypt_into<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let data = Input::new(data)?;
        let length = data.len() + DeterministicAesSiv::OVERHEAD;
        into(py, buf, length, |packet| self.seal(py, &data, associated_data, packet))
    }

    /// Does what `decrypt` does, into `buf`, which must have the length of the result, and returns
    /// this length. If the message is not authentic, nothing is written.
    #[pyo3(signature = (data, associated_data, buf))]
    fn decrypt_into<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let data = Input::new(data)?;
        let length = value_length(&data)?;
        into(py, buf, length, |value| self.open(py, &data, associated_data, value))
    }
}

impl AesSiv {
    fn seal(
        &self,
        py: Python<'_>,
        data: &Input<'_, '_>,
        associated: Option<&Bound<'_, PyAny>>,
        packet: &mut [u8],
    ) -> PyResult<()> {
        let data = data.fixed(py)?;
        with_strings(py, associated, |strings, bytes| {
            unlocked(py, data.len() + bytes, || self.0.seal_to(strings, &data, packet))
                .map_err(exception)
        })
    }

    fn open(
        &self,
        py: Python<'_>,
        data: &Input<'_, '_>,
        associated: Option<&Bound<'_, PyAny>>,
        value: &mut [u8],
    ) -> PyResult<()> {
        let data = data.fixed(py)?;
        with_strings(py, associated, |strings, bytes| {
            unlocked(py, data.len() + bytes, || self.0.open_to(strings, &data, value))
                .map_err(exception)
        })
    }
}

fn value_length(packet: &Input<'_, '_>) -> PyResult<usize> {
    let length = packet.len().checked_sub(DeterministicAesSiv::OVERHEAD);
    length.ok_or_else(|| InvalidTag::new_err(()))
}

/// Hands over the strings of a list, and how many bytes they have together.
fn with_strings<T>(
    py: Python<'_>,
    associated: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&[&[u8]], usize) -> PyResult<T>,
) -> PyResult<T> {
    let Some(list) = associated else { return work(&[], 0) };
    // Another thread may change the list, but not the objects that are held here.
    let objects: Vec<_> = list.cast::<PyList>()?.iter().collect();
    let inputs = objects.iter().map(Input::new).collect::<PyResult<Vec<_>>>()?;
    let fixed = inputs.iter().map(|input| input.fixed(py)).collect::<PyResult<Vec<Fixed<'_>>>>()?;
    let strings: Vec<&[u8]> = fixed.iter().map(|it| &**it).collect();
    work(&strings, strings.iter().map(|string| string.len()).sum())
}
