//! The extension module `lanecrypt._lanecrypt` of the Python package `lanecrypt`. The package's own
//! modules, in `python/lanecrypt`, re-export it and add what is written in Python.

#![forbid(unsafe_code)]

mod aead;
mod columns;
mod file;
mod input;
mod lock;
mod random;
mod scratch;
mod signatures;
mod siv;

use lanecrypt_ciphers::Isa;
use pyo3::prelude::*;

pyo3::create_exception!(
    lanecrypt,
    InvalidTag,
    pyo3::exceptions::PyException,
    "A message is not authentic: it, its nonce or its associated data was changed, or the key is \
     another one."
);

/// The level of instruction set whose kernels are used, such as `avx512`.
///
/// >>> x86_64 = {"ssse3", "aesni", "avx2", "avx2vaes", "avx512"}
/// >>> isa() in x86_64 | {"portable", "neon", "armaes", "armsha3"}
/// True
#[pyfunction]
fn isa() -> &'static str {
    Isa::detect().level().name()
}

pyo3::create_exception!(
    lanecrypt.columns,
    UnknownKey,
    pyo3::exceptions::PyLookupError,
    "The key ring does not have a key, or it is disabled there. The message has its id."
);

#[pymodule]
mod _lanecrypt {
    use lanecrypt_columns::Layout;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use super::aead::{AesGcm, AesGcmSiv, ChaCha20Poly1305, XChaCha20Poly1305};
    #[pymodule_export]
    use super::columns::{Array, ChunkedArray, ColumnKey, Keyring};
    #[pymodule_export]
    use super::file::{
        CostRefused, FileError, FileReader, FileWriter, NotEncrypted, TruncatedFile,
        UnsupportedFile, decrypt_file, encrypt_file,
    };
    #[pymodule_export]
    use super::random::{
        choice, fill, randbelow, randbits, random, token_bytes, token_hex, token_urlsafe, uuid4,
    };
    #[pymodule_export]
    use super::signatures::{InvalidSignature, SigningKey, VerifyingKey, verify_many};
    #[pymodule_export]
    use super::siv::AesSiv;
    #[pymodule_export]
    use super::{InvalidTag, UnknownKey, isa};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages have it under")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The names of the layouts of cells.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let names = Layout::ALL.map(Layout::name);
        module.add("LAYOUTS", PyTuple::new(module.py(), names)?)
    }
}
