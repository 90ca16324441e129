//! Encrypted files, from and to file objects of Python. The interpreter's lock is taken for their
//! methods only, and for the bytes that come in and go out.

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::sync::{Mutex, MutexGuard};

use lanecrypt_ciphers::{Algorithm, Cipher};
use lanecrypt_stream::file::{self, Argon2id, Error, Options, Secret};
use lanecrypt_stream::{Decryptor, Encryptor};
use pyo3::exceptions::{
    PyMemoryError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::InvalidTag;
use crate::input::{Input, copied};
use crate::lock::unlocked;
use crate::scratch::Scratch;

pyo3::create_exception!(
    lanecrypt.file,
    FileError,
    PyValueError,
    "A file cannot be decrypted, and the message says why."
);
pyo3::create_exception!(
    lanecrypt.file,
    NotEncrypted,
    FileError,
    "It does not begin as the files of lanecrypt do."
);
pyo3::create_exception!(
    lanecrypt.file,
    UnsupportedFile,
    FileError,
    "Its header has a version, an algorithm, a size of chunks or a kind of secret that is unknown."
);
pyo3::create_exception!(
    lanecrypt.file,
    TruncatedFile,
    FileError,
    "It ends too early, at the end of a chunk or in its header."
);
pyo3::create_exception!(
    lanecrypt.file,
    CostRefused,
    FileError,
    "Its passphrase costs more than is allowed, or less."
);

/// A file object that is read.
struct Source(Py<PyAny>);

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            py.check_signals()?;
            let read = self.0.bind(py).call_method1(intern!(py, "read"), (out.len(),))?;
            if read.is_none() {
                return Err(ErrorKind::WouldBlock.into());
            }
            if read.is_instance_of::<PyString>() {
                return Err(
                    PyTypeError::new_err("the file is in text mode: open it as binary").into()
                );
            }
            let bytes = Input::new(&read)?;
            let Some(room) = out.get_mut(..bytes.len()) else {
                return Err(PyValueError::new_err("read() gave more than was asked for").into());
            };
            bytes.copy_to(py, room)?;
            Ok(room.len())
        })
    }
}

/// A file object that is written.
struct Target(Py<PyAny>);

impl Write for Target {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            py.check_signals()?;
            let data = PyBytes::new(py, data);
            let written = self.0.bind(py).call_method1(intern!(py, "write"), (&data,))?;
            if written.is_none() {
                return Err(ErrorKind::WouldBlock.into());
            }
            let written = written.extract::<usize>()?;
            if written > data.as_bytes().len() {
                return Err(PyValueError::new_err("write() took more than there was").into());
            }
            Ok(written)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Python::attach(|py| {
            let object = self.0.bind(py);
            if object.hasattr(intern!(py, "flush"))? {
                object.call_method0(intern!(py, "flush"))?;
            }
            Ok(())
        })
    }
}

/// What a file is encrypted with, for a moment.
struct Given {
    bytes: Scratch<64>,
    is_key: bool,
}

impl Given {
    fn new(
        py: Python<'_>,
        key: Option<&Bound<'_, PyAny>>,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (given, is_key) = match (key, passphrase) {
            (Some(key), None) => (key, true),
            (None, Some(passphrase)) => (passphrase, false),
            _ => return Err(PyTypeError::new_err("give key= or passphrase=, one of them")),
        };
        Ok(Self { bytes: copied(py, given)?, is_key })
    }

    fn secret(&mut self) -> PyResult<Secret<'_>> {
        let bytes = &*self.bytes.bytes();
        if !self.is_key {
            return Ok(Secret::Passphrase(bytes));
        }
        let refused = |_| {
            let needed = file::KEY_LENGTH;
            PyValueError::new_err(format!(
                "a key of {} bytes where {needed} are needed",
                bytes.len()
            ))
        };
        bytes.try_into().map(Secret::Key).map_err(refused)
    }
}

/// How a new file is encrypted. `cost` is the memory in KiB, the passes and the lanes of Argon2id.
fn options(algorithm: &str, cost: Option<(u32, u16, u8)>) -> PyResult<Options> {
    let Ok(algorithm) = algorithm.parse() else { return Err(unknown(algorithm)) };
    let argon2id = match cost {
        Some((memory, passes, lanes)) => Argon2id { memory, passes, lanes },
        None => Argon2id::default(),
    };
    Ok(Options { algorithm, argon2id })
}

fn unknown(algorithm: &str) -> PyErr {
    let known =
        [Algorithm::AES_256_GCM, Algorithm::CHACHA20_POLY1305, Algorithm::XCHACHA20_POLY1305];
    let known = known.map(|algorithm| algorithm.to_string()).join(", ");
    PyValueError::new_err(format!("unknown algorithm {algorithm:?}; files have {known}"))
}

/// An error of the file with this name.
#[cold]
fn exception(error: Error, name: &str, is_key: bool) -> PyErr {
    use lanecrypt_stream::Error as Stream;

    let text = match &error {
        Error::Secret if !is_key => "another passphrase, or its header was changed".to_owned(),
        error => error.to_string(),
    };
    let text = format!("{name}: {text}");
    match error {
        // Those of the file objects stay as they are.
        Error::Read(error) | Error::Write(error) => error.into(),
        Error::Secret | Error::Stream(Stream::Authentication { .. } | Stream::Extended { .. }) => {
            InvalidTag::new_err(text)
        }
        Error::NotThisFormat => NotEncrypted::new_err(text),
        Error::Version(_) | Error::Algorithm | Error::ChunkSize(_) | Error::KeyKind(_) => {
            UnsupportedFile::new_err(text)
        }
        Error::TruncatedHeader | Error::Stream(Stream::Truncated { .. }) => {
            TruncatedFile::new_err(text)
        }
        Error::Argon2id(_) => CostRefused::new_err(text),
        Error::Memory => PyMemoryError::new_err(text),
        Error::Stream(Stream::TooLong) => PyOverflowError::new_err(text),
        Error::Stream(Stream::Refused(lanecrypt_ciphers::Error::Entropy)) => {
            PyOSError::new_err(text)
        }
        _ => FileError::new_err(text),
    }
}

/// An error of a stream whose header was right.
fn in_stream(error: io::Error, name: &str) -> PyErr {
    exception(error.downcast().map_or_else(Error::Read, Error::Stream), name, true)
}

/// Encrypts all that `source` has to `target`, and returns how many bytes that were.
#[pyfunction]
#[pyo3(signature = (source, target, *, key, passphrase, algorithm, cost, name))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub(crate) fn encrypt_file(
    py: Python<'_>,
    source: Py<PyAny>,
    target: Py<PyAny>,
    key: Option<&Bound<'_, PyAny>>,
    passphrase: Option<&Bound<'_, PyAny>>,
    algorithm: &str,
    cost: Option<(u32, u16, u8)>,
    name: &str,
) -> PyResult<u64> {
    let options = options(algorithm, cost)?;
    let mut given = Given::new(py, key, passphrase)?;
    let secret = given.secret()?;
    let done = py.detach(|| file::encrypt(&options, secret, Source(source), Target(target)));
    done.map_err(|error| match error {
        Error::Algorithm => unknown(algorithm),
        error => exception(error, name, key.is_some()),
    })
}

/// Decrypts the file `source` to `target`, and returns how many bytes it had. What is written is
/// authentic, and all of it only if no error is raised.
#[pyfunction]
#[pyo3(signature = (source, target, *, key, passphrase, name))]
pub(crate) fn decrypt_file(
    py: Python<'_>,
    source: Py<PyAny>,
    target: Py<PyAny>,
    key: Option<&Bound<'_, PyAny>>,
    passphrase: Option<&Bound<'_, PyAny>>,
    name: &str,
) -> PyResult<u64> {
    let mut given = Given::new(py, key, passphrase)?;
    let secret = given.secret()?;
    let done = py.detach(|| file::decrypt(secret, Source(source), Target(target)));
    done.map_err(|error| exception(error, name, key.is_some()))
}

/// What is decrypted while it is read.
#[pyclass(frozen, module = "lanecrypt.file")]
pub(crate) struct FileReader {
    decryptor: Mutex<Decryptor<Source, Box<Cipher>>>,
    name: String,
}

#[pymethods]
impl FileReader {
    /// Reads the header.
    #[new]
    #[pyo3(signature = (source, *, key, passphrase, name))]
    fn new(
        py: Python<'_>,
        source: Py<PyAny>,
        key: Option<&Bound<'_, PyAny>>,
        passphrase: Option<&Bound<'_, PyAny>>,
        name: String,
    ) -> PyResult<Self> {
        let mut given = Given::new(py, key, passphrase)?;
        let secret = given.secret()?;
        let made = py.detach(|| file::decryptor(secret, Source(source)));
        let decryptor = made.map_err(|error| exception(error, &name, key.is_some()))?;
        Ok(Self { decryptor: Mutex::new(decryptor), name })
    }

    /// At most so many bytes, which are authentic; none at the end of the file.
    fn read<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = held(&self.decryptor)?;
        let decryptor = &mut *guard;
        let opened = py.detach(|| decryptor.fill_buf().map(|_| ()));
        // What was opened stays there, so this does not read again.
        let opened = opened.and_then(|()| decryptor.fill_buf());
        let bytes = opened.map_err(|error| in_stream(error, &self.name))?;
        let bytes = PyBytes::new(py, &bytes[..bytes.len().min(size)]);
        decryptor.consume(bytes.as_bytes().len());
        Ok(bytes)
    }
}

/// What is encrypted while it is written.
#[pyclass(frozen, module = "lanecrypt.file")]
pub(crate) struct FileWriter {
    /// None after an error, and at the end.
    encryptor: Mutex<Option<Encryptor<Target, Box<Cipher>>>>,
    name: String,
}

#[pymethods]
impl FileWriter {
    /// Writes the header.
    #[new]
    #[pyo3(signature = (target, *, key, passphrase, algorithm, cost, name))]
    fn new(
        py: Python<'_>,
        target: Py<PyAny>,
        key: Option<&Bound<'_, PyAny>>,
        passphrase: Option<&Bound<'_, PyAny>>,
        algorithm: &str,
        cost: Option<(u32, u16, u8)>,
        name: String,
    ) -> PyResult<Self> {
        let options = options(algorithm, cost)?;
        let mut given = Given::new(py, key, passphrase)?;
        let secret = given.secret()?;
        let made = py.detach(|| file::encryptor(&options, secret, Target(target)));
        let encryptor = made.map_err(|error| match error {
            Error::Algorithm => unknown(algorithm),
            error => exception(error, &name, key.is_some()),
        })?;
        Ok(Self { encryptor: Mutex::new(Some(encryptor)), name })
    }

    /// Encrypts these bytes behind those before, and returns how many they are.
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let data = Input::new(data)?;
        let data = data.fixed(py)?;
        let bytes = data.len();
        self.work(|encryptor| unlocked(py, bytes, || encryptor.write_all(&data)))?;
        Ok(bytes)
    }

    /// Writes the chunks that are whole.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.work(|encryptor| py.detach(|| encryptor.flush()))
    }

    /// Writes the last chunk, without which nobody takes the file for a whole one.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.work(|encryptor| py.detach(|| encryptor.try_finish()))?;
        *held(&self.encryptor)? = None;
        Ok(())
    }
}

impl FileWriter {
    /// After an error nothing more is done: what the target has is not known.
    fn work(
        &self,
        work: impl FnOnce(&mut Encryptor<Target, Box<Cipher>>) -> io::Result<()>,
    ) -> PyResult<()> {
        let mut guard = held(&self.encryptor)?;
        let Some(encryptor) = guard.as_mut() else {
            let text = format!("{}: closed, or not complete after an error", self.name);
            return Err(PyValueError::new_err(text));
        };
        work(encryptor).map_err(|error| {
            *guard = None;
            in_stream(error, &self.name)
        })
    }
}

/// What one call at a time may use. Waiting for another could last forever: it may be further up on
/// the same stack, or need the interpreter's lock.
fn held<T>(mutex: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    let busy = |_| PyRuntimeError::new_err("the file is in use by another call");
    mutex.try_lock().map_err(busy)
}
