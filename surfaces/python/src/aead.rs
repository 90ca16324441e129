//! Ciphers with authentication, with the interface of the package `cryptography`, version 50:
//! names, order of arguments, exceptions and their messages.

use std::ops::RangeInclusive;

use lanecrypt_ciphers::{Algorithm, Cipher, Error};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::input::{Input, writable};
use crate::lock::unlocked;
use crate::scratch::Scratch;
use crate::{InvalidTag, random};

/// Results up to this length are made on the stack, before they are copied to the caller's buffer.
const SHORT: usize = 1 << 12;

/// What a class has.
struct Aead {
    /// Wiped on drop. The key is expanded where it stays.
    cipher: Box<Cipher>,
    nonces: RangeInclusive<usize>,
    /// What is said of other nonces.
    nonce_message: &'static str,
}

impl Aead {
    #[inline]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, data, aad) = (Input::new(nonce)?, Input::new(data)?, optional(aad)?);
        let length = data.len() + self.cipher.tag_length();
        let nonce = self.admit(&nonce)?.fixed(py)?;
        let aad = aad.as_ref().map(|aad| aad.fixed(py)).transpose()?;
        let aad = aad.as_deref().unwrap_or_default();
        PyBytes::new_with(py, length, |packet| self.seal(py, &nonce, &data, aad, packet))
    }

    #[inline]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (nonce, data, aad) = (Input::new(nonce)?, Input::new(data)?, optional(aad)?);
        let nonce = self.admit(&nonce)?.fixed(py)?;
        let length = self.message_length(&data)?;
        let aad = aad.as_ref().map(|aad| aad.fixed(py)).transpose()?;
        let aad = aad.as_deref().unwrap_or_default();
        PyBytes::new_with(py, length, |message| self.open(py, &nonce, &data, aad, message))
    }

    fn encrypt_into(
        &self,
        py: Python<'_>,
        nonce: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        buf: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (nonce, data, aad) = (Input::new(nonce)?, Input::new(data)?, optional(aad)?);
        let length = data.len() + self.cipher.tag_length();
        let nonce = self.admit(&nonce)?.fixed(py)?;
        let aad = aad.as_ref().map(|aad| aad.fixed(py)).transpose()?;
        let aad = aad.as_deref().unwrap_or_default();
        into(py, buf, length, |packet| self.seal(py, &nonce, &data, aad, packet))
    }

    fn decrypt_into(
        &self,
        py: Python<'_>,
        nonce: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        buf: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let (nonce, data, aad) = (Input::new(nonce)?, Input::new(data)?, optional(aad)?);
        let nonce = self.admit(&nonce)?.fixed(py)?;
        let length = self.message_length(&data)?;
        let aad = aad.as_ref().map(|aad| aad.fixed(py)).transpose()?;
        let aad = aad.as_deref().unwrap_or_default();
        into(py, buf, length, |message| self.open(py, &nonce, &data, aad, message))
    }

    /// Writes the packet of `data`, all of it.
    #[inline]
    fn seal(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        data: &Input<'_, '_>,
        aad: &[u8],
        packet: &mut [u8],
    ) -> PyResult<()> {
        match data {
            Input::Bytes(bytes) => {
                let bytes = bytes.as_bytes();
                unlocked(py, bytes.len() + aad.len(), || {
                    self.cipher.seal_to(nonce, aad, bytes, packet)
                })
            }
            Input::Buffer(buffer) => {
                buffer.copy_to_slice(py, packet.split_at_mut(buffer.len_bytes()).0)?;
                unlocked(py, packet.len() + aad.len(), || self.cipher.seal(nonce, aad, packet))
            }
        }
        .map_err(exception)
    }

    /// Writes the message of the packet `data`, or zeros.
    #[inline]
    fn open(
        &self,
        py: Python<'_>,
        nonce: &[u8],
        data: &Input<'_, '_>,
        aad: &[u8],
        message: &mut [u8],
    ) -> PyResult<()> {
        let packet = data.fixed(py)?;
        unlocked(py, packet.len() + aad.len(), || self.cipher.open_to(nonce, aad, &packet, message))
            .map_err(exception)
    }

    fn admit<'i, 'a, 'py>(&self, nonce: &'i Input<'a, 'py>) -> PyResult<&'i Input<'a, 'py>> {
        if self.nonces.contains(&nonce.len()) {
            Ok(nonce)
        } else {
            Err(PyValueError::new_err(self.nonce_message))
        }
    }

    fn message_length(&self, packet: &Input<'_, '_>) -> PyResult<usize> {
        packet.len().checked_sub(self.cipher.tag_length()).ok_or_else(|| InvalidTag::new_err(()))
    }
}

fn optional<'a, 'py>(object: Option<&'a Bound<'py, PyAny>>) -> PyResult<Option<Input<'a, 'py>>> {
    object.map(Input::new).transpose()
}

/// Has a result made in memory of our own, and copies it to the caller's buffer when it is complete
/// and right: nobody sees a part of it, or a message that is not authentic, and `buf` may be the
/// data's.
pub(crate) fn into(
    py: Python<'_>,
    buf: &Bound<'_, PyAny>,
    length: usize,
    make: impl FnOnce(&mut [u8]) -> PyResult<()>,
) -> PyResult<usize> {
    let target = writable(buf)?;
    if target.len_bytes() != length {
        return Err(PyValueError::new_err(format!("buffer must be {length} bytes")));
    }
    let mut place = Scratch::<SHORT>::new(length);
    let place = place.bytes();
    make(place)?;
    target.copy_from_slice(py, place)?;
    Ok(length)
}

#[cold]
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        Error::Authentication => InvalidTag::new_err(()),
        Error::AadLength | Error::DataLength => {
            PyOverflowError::new_err("Data or associated data too long.")
        }
        Error::NonceLength | Error::KeyLength => PyValueError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The bytes of a key, in the words of `cryptography` if there are three lengths.
pub(crate) fn key_of_bits(bit_length: usize, allowed: &[usize]) -> PyResult<usize> {
    if allowed.contains(&bit_length) {
        return Ok(bit_length / 8);
    }
    let lengths = match allowed {
        [a, b, c] => format!("{a}, {b}, or {c}"),
        _ => allowed.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "),
    };
    Err(PyValueError::new_err(format!("bit_length must be {lengths}")))
}

/// Makes a class: its documentation, names, algorithms by the length of keys in bytes, what is said
/// of other keys, lengths of nonces and what is said of others, and its `generate_key`.
macro_rules! class {
    (
        $(#[doc = $doc:literal])* $name:ident, $python:literal,
        keys { $($length:literal => $algorithm:ident),+ } else $key_message:literal,
        nonces $nonces:expr, else $nonce_message:literal,
        generate { $($generate:tt)+ }
    ) => {
        $(#[doc = $doc])*
        #[pyclass(frozen, module = "lanecrypt", name = $python)]
        pub(crate) struct $name(Aead);

        #[pymethods]
        impl $name {
            #[new]
            fn new(py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
                let key = Input::new(key)?;
                let algorithm = match key.len() {
                    $($length => Algorithm::$algorithm,)+
                    _ => return Err(PyValueError::new_err($key_message)),
                };
                let mut copy = Scratch::<64>::new(key.len());
                key.copy_to(py, copy.bytes())?;
                let cipher = Cipher::boxed(algorithm, copy.bytes())
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
                Ok(Self(Aead { cipher, nonces: $nonces, nonce_message: $nonce_message }))
            }

            $($generate)+

            /// Encrypts `data` and returns the ciphertext with its tag of 16 bytes behind it.
            ///
            /// `associated_data`, or None, is authenticated and not encrypted. **Never use a nonce
            /// twice under one key.**
            #[pyo3(signature = (nonce, data, associated_data))]
            fn encrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                self.0.encrypt(py, nonce, data, associated_data)
            }

            /// Decrypts what `encrypt` returned.
            ///
            /// Raises InvalidTag if the nonce, the ciphertext, the tag or the associated data is
            /// another one.
            #[pyo3(signature = (nonce, data, associated_data))]
            fn decrypt<'py>(
                &self,
                py: Python<'py>,
                nonce: &Bound<'py, PyAny>,
                data: &Bound<'py, PyAny>,
                associated_data: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                self.0.decrypt(py, nonce, data, associated_data)
            }

            /// Does what `encrypt` does, into `buf`, which must have the length of the result, and
            /// returns this length. `buf` and `data` may be the same memory.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn encrypt_into(
                &self,
                py: Python<'_>,
                nonce: &Bound<'_, PyAny>,
                data: &Bound<'_, PyAny>,
                associated_data: Option<&Bound<'_, PyAny>>,
                buf: &Bound<'_, PyAny>,
            ) -> PyResult<usize> {
                self.0.encrypt_into(py, nonce, data, associated_data, buf)
            }

            /// Does what `decrypt` does, into `buf`, which must have the length of the result, and
            /// returns this length. If the message is not authentic, nothing is written.
            #[pyo3(signature = (nonce, data, associated_data, buf))]
            fn decrypt_into(
                &self,
                py: Python<'_>,
                nonce: &Bound<'_, PyAny>,
                data: &Bound<'_, PyAny>,
                associated_data: Option<&Bound<'_, PyAny>>,
                buf: &Bound<'_, PyAny>,
            ) -> PyResult<usize> {
                self.0.decrypt_into(py, nonce, data, associated_data, buf)
            }
        }
    };
}

class! {
    /// AES-GCM (NIST SP 800-38D) with keys of 128, 192 or 256 bits and tags of 16 bytes.
    ///
    /// Nonces have 8 to 128 bytes. Take 12: others are hashed and cost more.
    AesGcm, "AESGCM",
    keys { 16 => AES_128_GCM, 24 => AES_192_GCM, 32 => AES_256_GCM }
    else "AESGCM key must be 128, 192, or 256 bits.",
    nonces 8..=128, else "Nonce must be between 8 and 128 bytes",
    generate {
        /// A random key of 128, 192 or 256 bits.
        #[staticmethod]
        fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
            random::new_bytes(py, key_of_bits(bit_length, &[128, 192, 256])?)
        }
    }
}

class! {
    /// AES-GCM-SIV (RFC 8452) with keys of 128 or 256 bits, nonces of 12 bytes and tags of 16.
    ///
    /// If a nonce is used twice, an attacker sees whether the two messages are the same, and
    /// nothing else.
    AesGcmSiv, "AESGCMSIV",
    keys { 16 => AES_128_GCM_SIV, 32 => AES_256_GCM_SIV }
    else "AES-GCM-SIV key must be 128 or 256 bits.",
    nonces 12..=12, else "Nonce must be 12 bytes long",
    generate {
        /// A random key of 128 or 256 bits.
        #[staticmethod]
        fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyBytes>> {
            random::new_bytes(py, key_of_bits(bit_length, &[128, 256])?)
        }
    }
}

class! {
    /// ChaCha20-Poly1305 (RFC 8439) with keys of 32 bytes, nonces of 12 and tags of 16.
    ChaCha20Poly1305, "ChaCha20Poly1305",
    keys { 32 => CHACHA20_POLY1305 } else "ChaCha20Poly1305 key must be 32 bytes.",
    nonces 12..=12, else "Nonce must be 12 bytes",
    generate {
        /// A random key of 32 bytes.
        #[staticmethod]
        fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
            random::new_bytes(py, 32)
        }
    }
}

class! {
    /// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) with keys of 32 bytes, nonces of 24 and tags of
    /// 16.
    ///
    /// Nonces may be random: any number of messages may have one of `token_bytes(24)` under one
    /// key.
    XChaCha20Poly1305, "XChaCha20Poly1305",
    keys { 32 => XCHACHA20_POLY1305 } else "XChaCha20Poly1305 key must be 32 bytes.",
    nonces 24..=24, else "Nonce must be 24 bytes",
    generate {
        /// A random key of 32 bytes.
        #[staticmethod]
        fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
            random::new_bytes(py, 32)
        }
    }
}
