//! Rings of keys.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use lanecrypt_columns::{Error, OnError, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{copied, exception, on_column, parsed};

/// Keys of one layout with ids, of which one, the primary key, encrypts. A new ring has `key` with
/// the id `id`, or a random key and a random id.
///
/// Each cell begins with the id of its key: the byte 1 and 4 bytes, big-endian. With the layout
/// `aes_gcm` and keys of 16 or 32 bytes these are ciphertexts of Tink's AES-GCM.
///
/// >>> import pyarrow as pa
/// >>> from lanecrypt import columns
/// >>> ring = columns.Keyring()
/// >>> old = ring.primary
/// >>> cells = columns.encrypt(pa.array(["Anne"]), ring)
/// >>> ring.set_primary(ring.add())
/// >>> moved = columns.rekey(cells, ring)
/// >>> moved.moved, moved.unknown, moved.forged
/// (1, 0, 0)
/// >>> ring.remove(old)
/// >>> columns.decrypt(moved.cells, ring, text=True).to_pylist()
/// ['Anne']
#[pyclass(frozen, module = "lanecrypt.columns")]
pub(crate) struct Keyring {
    ring: RwLock<lanecrypt_columns::Keyring>,
    /// Nothing else depends on these, so no order is needed.
    unknown: AtomicUsize,
    forged: AtomicUsize,
}

impl Keyring {
    fn from_ring(ring: lanecrypt_columns::Keyring) -> Self {
        let [unknown, forged] = [0; 2].map(AtomicUsize::new);
        Self { ring: RwLock::new(ring), unknown, forged }
    }

    /// Reads the ring. A thread that waits for its lock must not hold that of the interpreter.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&lanecrypt_columns::Keyring) -> T + Send,
    ) -> T {
        py.detach(|| work(&self.lock()))
    }

    fn lock(&self) -> RwLockReadGuard<'_, lanecrypt_columns::Keyring> {
        self.ring.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut lanecrypt_columns::Keyring) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(&mut self.ring.write().unwrap_or_else(PoisonError::into_inner)))
            .map_err(exception)
    }
}

#[pymethods]
impl Keyring {
    #[new]
    #[pyo3(signature = (layout="aes_gcm_siv", key=None, *, id=None))]
    fn new(
        py: Python<'_>,
        layout: &str,
        key: Option<&Bound<'_, PyAny>>,
        id: Option<u32>,
    ) -> PyResult<Self> {
        let new = Self::from_ring(lanecrypt_columns::Keyring::new(parsed(layout)?));
        new.add(py, key, id)?;
        Ok(new)
    }

    /// Adds an active key, and returns its id. Without `key` it is random, without `id` the id is.
    #[pyo3(signature = (key=None, *, id=None))]
    fn add(
        &self,
        py: Python<'_>,
        key: Option<&Bound<'_, PyAny>>,
        id: Option<u32>,
    ) -> PyResult<u32> {
        let key = key.map(|key| copied(py, key)).transpose()?;
        match (key, id) {
            (Some(mut key), Some(id)) => {
                self.change(py, |ring| ring.add_with_id(id, key.bytes()))?;
                Ok(id)
            }
            (Some(mut key), None) => self.change(py, |ring| ring.add(key.bytes())),
            (None, None) => self.change(py, lanecrypt_columns::Keyring::generate),
            (None, Some(_)) => Err(PyValueError::new_err("id= is the id of a key that is given")),
        }
    }

    /// Makes the key with this id the primary one; the one before stays active.
    fn set_primary(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.set_primary(id))
    }

    /// Disables the key with this id: its cells are refused.
    fn disable(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.disable(id))
    }

    /// Makes the disabled key with this id active again.
    fn enable(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.enable(id))
    }

    /// Removes the key with this id: its cells are lost.
    fn remove(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.remove(id))
    }

    /// The layout of its cells, behind the id.
    #[getter]
    fn layout(&self, py: Python<'_>) -> &'static str {
        self.read(py, |ring| ring.layout().name())
    }

    /// The id of the primary key.
    #[getter]
    fn primary(&self, py: Python<'_>) -> Option<u32> {
        self.read(py, lanecrypt_columns::Keyring::primary)
    }

    /// The ids of its keys, and their states: "primary", "active" or "disabled".
    #[getter]
    fn keys(&self, py: Python<'_>) -> Vec<(u32, &'static str)> {
        self.read(py, |ring| ring.keys().map(|(id, state)| (id, state.name())).collect())
    }

    /// How many cells became NULL in all calls with `on_error="null"` because the ring does not
    /// have their key, or has disabled it.
    #[getter]
    fn unknown(&self) -> usize {
        self.unknown.load(Ordering::Relaxed)
    }

    /// How many cells became NULL in all calls with `on_error="null"` although the ring has their
    /// key: changed or moved cells, values that are no text, and cells without the id of a key.
    #[getter]
    fn forged(&self) -> usize {
        self.forged.load(Ordering::Relaxed)
    }

    /// The ring as JSON, with its keys. To store it, `lanecrypt.envelope.wrap_ring` encrypts it.
    fn to_json(&self, py: Python<'_>) -> String {
        self.read(py, |ring| ring.to_json().to_string())
    }

    /// The ring that `to_json` wrote.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        lanecrypt_columns::Keyring::from_json(json).map(Self::from_ring).map_err(exception)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let keys = self.keys(py);
        let keys: Vec<_> = keys.iter().map(|(id, state)| format!("{id} {state}")).collect();
        format!("<lanecrypt.columns.Keyring of {}: {}>", self.layout(py), keys.join(", "))
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
        on_column(py, column, rows, options, |values, options| self.lock().encrypt(values, options))
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
            let values = self.lock().decrypt(cells, options)?;
            self.unknown.fetch_add(values.unknown, Ordering::Relaxed);
            self.forged.fetch_add(values.failed - values.unknown, Ordering::Relaxed);
            Ok(values)
        })
    }

    /// Moves each cell of a column to the primary key; `lanecrypt.columns.rekey` says how.
    #[pyo3(name = "_rekey", signature = (column, *, context, rows, threads))]
    fn rekey<'py>(
        &self,
        py: Python<'py>,
        column: &Bound<'py, PyAny>,
        context: &[u8],
        rows: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyAny>, [usize; 4])> {
        let options = Options::new().context(context).threads(threads);
        let counts = [0; 4].map(AtomicUsize::new);
        let made = on_column(py, column, rows, options, |cells, options| {
            let moved = self.lock().rekey(cells, options)?;
            let own = [moved.kept, moved.moved, moved.unknown, moved.forged];
            for (sum, count) in counts.iter().zip(own) {
                sum.fetch_add(count, Ordering::Relaxed);
            }
            Ok(moved.cells)
        })?;
        Ok((made, counts.map(AtomicUsize::into_inner)))
    }
}
