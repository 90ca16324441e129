//! Signatures: keys that sign, keys that verify, and many signatures at once.

use std::borrow::Cow;
use std::sync::LazyLock;

use lanecrypt_engine::{AsymmetricKey, Engine, Error, Request, RsaKey, Session};
use lanecrypt_pk::{ed25519, p256};
use lanecrypt_rsa::{Hash, Padding};
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::input::{Fixed, Input, copied};

pyo3::create_exception!(
    lanecrypt.signatures,
    InvalidSignature,
    PyException,
    "A signature is not one of this message, under this key."
);

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

/// So many signatures are requests at a time.
const AT_ONCE: usize = 1024;

/// What signatures are made and checked by.
struct Algorithm {
    name: &'static str,
    scheme: Scheme,
}

#[derive(Clone, Copy, PartialEq)]
enum Scheme {
    Ed25519,
    EcdsaP256,
    /// The same with signatures in DER.
    EcdsaP256Der,
    Rsa(Padding),
}

/// The names are those of JOSE (RFC 7518, RFC 8037, RFC 9864), except for DER.
static ALGORITHMS: [Algorithm; 10] = [
    Algorithm::new("EdDSA", Scheme::Ed25519),
    Algorithm::new("Ed25519", Scheme::Ed25519),
    Algorithm::new("ES256", Scheme::EcdsaP256),
    Algorithm::new("ES256-DER", Scheme::EcdsaP256Der),
    Algorithm::new("PS256", Scheme::Rsa(Padding::pss(Hash::SHA256))),
    Algorithm::new("PS384", Scheme::Rsa(Padding::pss(Hash::SHA384))),
    Algorithm::new("PS512", Scheme::Rsa(Padding::pss(Hash::SHA512))),
    Algorithm::new("RS256", Scheme::Rsa(Padding::pkcs1v15(Hash::SHA256))),
    Algorithm::new("RS384", Scheme::Rsa(Padding::pkcs1v15(Hash::SHA384))),
    Algorithm::new("RS512", Scheme::Rsa(Padding::pkcs1v15(Hash::SHA512))),
];

impl Algorithm {
    const fn new(name: &'static str, scheme: Scheme) -> Self {
        Self { name, scheme }
    }

    fn named(name: &str) -> PyResult<&'static Self> {
        ALGORITHMS.iter().find(|algorithm| algorithm.name == name).ok_or_else(|| {
            let known = ALGORITHMS.each_ref().map(|algorithm| algorithm.name).join(", ");
            PyValueError::new_err(format!("unknown algorithm {name:?}; there are {known}"))
        })
    }
}

/// A key with its algorithm.
struct Key {
    session: Session,
    algorithm: &'static Algorithm,
}

impl Key {
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, name: &str, is_private: bool) -> PyResult<Self> {
        let algorithm = Algorithm::named(name)?;
        let read = |bytes: &[u8]| py.detach(|| Self::read(bytes, algorithm, is_private));
        match key.cast::<PyString>() {
            Ok(pem) => read(pem.to_str()?.trim().as_bytes()),
            Err(_) => read(copied(py, key)?.bytes()),
        }
    }

    fn read(bytes: &[u8], algorithm: &'static Algorithm, is_private: bool) -> PyResult<Self> {
        let key = match algorithm.scheme {
            Scheme::Ed25519 => ed25519_key(bytes, is_private).map_err(refused)?,
            Scheme::EcdsaP256 | Scheme::EcdsaP256Der => {
                p256_key(bytes, is_private).map_err(refused)?
            }
            Scheme::Rsa(padding) => {
                (RsaKey::from_pem_or_der(bytes).map_err(refused)?, padding).into()
            }
        };
        match (key.is_private(), is_private) {
            (true, false) => {
                Err(PyValueError::new_err("a private key, where a public one belongs"))
            }
            (false, true) => {
                Err(PyValueError::new_err("a public key, where a private one belongs"))
            }
            _ => Ok(Self { session: ENGINE.asymmetric_session(key), algorithm }),
        }
    }

    /// The public key as DER.
    fn spki(&self) -> Vec<u8> {
        self.session.asymmetric_key().and_then(|key| key.to_spki_der().ok()).unwrap_or_default()
    }

    /// A signature as sessions take it; one that is no DER becomes one that is always wrong.
    fn raw<'s>(&self, signature: &'s [u8]) -> Cow<'s, [u8]> {
        if self.algorithm.scheme != Scheme::EcdsaP256Der {
            return signature.into();
        }
        p256::signature_from_der(signature).map(|raw| raw.to_vec()).unwrap_or_default().into()
    }

    fn repr(&self, class: &str) -> String {
        format!("<lanecrypt.signatures.{class} {}>", self.algorithm.name)
    }
}

/// A key from PEM, from DER, or from 32 bytes: the seed or the public key.
fn ed25519_key(bytes: &[u8], is_private: bool) -> Result<AsymmetricKey, lanecrypt_pk::KeyError> {
    match bytes.try_into() {
        Ok(seed) if is_private => Ok(ed25519::SigningKey::from_bytes(seed).into()),
        Ok(point) => Ok(ed25519::VerifyingKey::from_bytes(point)?.into()),
        Err(_) => AsymmetricKey::ed25519_from_pem_or_der(bytes),
    }
}

/// A key from PEM, from DER, from the 32 bytes of the secret number, or from a public point.
fn p256_key(bytes: &[u8], is_private: bool) -> Result<AsymmetricKey, lanecrypt_pk::KeyError> {
    match (is_private, bytes.try_into(), bytes) {
        (true, Ok(number), _) => Ok(p256::SigningKey::from_bytes(number)?.into()),
        // DER begins with another byte, and so does PEM.
        (false, _, [2..=4, ..]) => Ok(p256::PublicKey::from_sec1_bytes(bytes)?.into()),
        _ => AsymmetricKey::p256_from_pem_or_der(bytes),
    }
}

fn refused(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A private key, which signs.
///
/// `key` is PKCS#8 as PEM (`str` or bytes) or DER, not encrypted; of RSA also PKCS#1, of ES256 also
/// SEC 1, or the 32 bytes of the secret: the seed of EdDSA, the number of ES256 (`d` of a JWK).
/// ValueError if it is another one.
#[pyclass(frozen, module = "lanecrypt.signatures")]
pub(crate) struct SigningKey(Key);

#[pymethods]
impl SigningKey {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, algorithm: &str) -> PyResult<Self> {
        Key::new(py, key, algorithm, true).map(Self)
    }

    /// Signs a message. EdDSA, ES256: 64 bytes; ES256-DER: at most 72; RSA: as many as the modulus.
    fn sign<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let message = Input::new(message)?;
        let message = message.fixed(py)?;
        let session = &self.0.session;
        let mut signature = vec![0; session.signature_length()];
        let signed = py.detach(|| session.sign(&message, &mut signature));
        signed.map_err(|error| match error {
            Error::Entropy => PyOSError::new_err(error.to_string()),
            error => PyRuntimeError::new_err(error.to_string()),
        })?;
        match (self.0.algorithm.scheme, signature.first_chunk()) {
            (Scheme::EcdsaP256Der, Some(raw)) => {
                let mut room = [0; p256::MAX_DER_LENGTH];
                Ok(PyBytes::new(py, p256::signature_to_der(raw, &mut room)))
            }
            _ => Ok(PyBytes::new(py, &signature)),
        }
    }

    /// The key that verifies what this one signs.
    fn verifying_key(&self) -> PyResult<VerifyingKey> {
        Key::read(&self.0.spki(), self.0.algorithm, false).map(VerifyingKey)
    }

    /// The name of its algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.0.algorithm.name
    }

    fn __repr__(&self) -> String {
        self.0.repr("SigningKey")
    }
}

/// A public key, which verifies.
///
/// `key` is SPKI as PEM (`str` or bytes) or DER; of RSA also PKCS#1; of EdDSA also the 32 bytes of
/// the key (`x` of a JWK), of ES256 also a point: 4, x and y (65 bytes), or compressed (33 bytes).
/// ValueError if it is another one.
#[pyclass(frozen, module = "lanecrypt.signatures")]
pub(crate) struct VerifyingKey(Key);

#[pymethods]
impl VerifyingKey {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, algorithm: &str) -> PyResult<Self> {
        Key::new(py, key, algorithm, false).map(Self)
    }

    /// Checks a signature. Raises InvalidSignature if it is wrong, whatever its length.
    fn verify(
        &self,
        py: Python<'_>,
        message: &Bound<'_, PyAny>,
        signature: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (message, signature) = (Input::new(message)?, Input::new(signature)?);
        let (message, signature) = (message.fixed(py)?, signature.fixed(py)?);
        let signature = self.0.raw(&signature);
        let verified = py.detach(|| self.0.session.verify(&message, &signature));
        verified.map_err(|error| match error {
            Error::Authentication => InvalidSignature::new_err("wrong signature"),
            error => PyRuntimeError::new_err(error.to_string()),
        })
    }

    /// The key as DER (SPKI).
    fn to_der<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.spki())
    }

    /// The name of its algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.0.algorithm.name
    }

    fn __repr__(&self) -> String {
        self.0.repr("VerifyingKey")
    }
}

/// Checks many signatures, and returns a list of `bool`: whether each is right.
///
/// `keys` is one VerifyingKey for all, or one for each message, of any algorithms. Signatures of
/// one algorithm run side by side. A wrong one changes nothing for the others. ValueError if there
/// are not as many signatures, and keys, as messages.
#[pyfunction]
pub(crate) fn verify_many(
    py: Python<'_>,
    keys: &Bound<'_, PyAny>,
    messages: &Bound<'_, PyAny>,
    signatures: &Bound<'_, PyAny>,
) -> PyResult<Vec<bool>> {
    let (messages, signatures) = (objects(messages)?, objects(signatures)?);
    let keys = match keys.cast::<VerifyingKey>() {
        Ok(key) => vec![key.clone(); messages.len()],
        Err(_) => objects(keys)?
            .into_iter()
            .map(|key| Ok(key.cast_into::<VerifyingKey>()?))
            .collect::<PyResult<_>>()?,
    };
    if keys.len() != messages.len() || signatures.len() != messages.len() {
        let (keys, messages, signatures) = (keys.len(), messages.len(), signatures.len());
        return Err(PyValueError::new_err(format!(
            "{keys} keys, {messages} messages and {signatures} signatures: not as many of each"
        )));
    }
    let (messages, signatures) = (inputs(&messages)?, inputs(&signatures)?);
    let (messages, signatures) = (fixed(py, &messages)?, fixed(py, &signatures)?);
    let keys: Vec<&Key> = keys.iter().map(|key| &key.get().0).collect();
    Ok(py.detach(|| {
        let mut verdicts = Vec::with_capacity(keys.len());
        let chunks = messages.chunks(AT_ONCE).zip(signatures.chunks(AT_ONCE));
        for (keys, (messages, signatures)) in keys.chunks(AT_ONCE).zip(chunks) {
            let raw = keys.iter().zip(signatures).map(|(key, signature)| key.raw(signature));
            let raw: Vec<_> = raw.collect();
            let each = keys.iter().zip(messages).zip(&raw);
            let mut requests: Vec<_> = each
                .map(|((key, message), raw)| Request::verify(&key.session, message, raw))
                .collect();
            // Each request has its own outcome.
            let _failed = ENGINE.process(&mut requests);
            verdicts.extend(requests.iter().map(|request| request.outcome() == Some(Ok(()))));
        }
        verdicts
    }))
}

/// The objects of an iterable. Another thread may change a list, but not the objects that are held.
fn objects<'py>(iterable: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    iterable.try_iter()?.collect()
}

fn inputs<'a, 'py>(objects: &'a [Bound<'py, PyAny>]) -> PyResult<Vec<Input<'a, 'py>>> {
    objects.iter().map(Input::new).collect()
}

fn fixed<'a>(py: Python<'_>, inputs: &'a [Input<'_, '_>]) -> PyResult<Vec<Fixed<'a>>> {
    inputs.iter().map(|input| input.fixed(py)).collect()
}
