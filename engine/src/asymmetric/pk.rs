//! Signatures of Ed25519, and of ECDSA with P-256 and SHA-256; key exchange by X25519, P-256 and
//! ML-KEM-768.

use lanecrypt_ciphers::Error;
use lanecrypt_pk::mlkem768::CIPHERTEXT_LENGTH;
use lanecrypt_pk::{self as pk, Request, p256, x25519};

use super::key::AsymmetricKey;
use super::library::Library;

/// The crate of curves and of ML-KEM.
pub(crate) struct Pk;

/// The public key of the other side. A ciphertext is used as it is.
#[derive(Default)]
pub(crate) enum Input {
    #[default]
    Bytes,
    X25519(x25519::PublicKey),
    P256(p256::PublicKey),
}

impl Library for Pk {
    type Request<'r> = Request<'r>;
    type Input = Input;

    fn has(key: &AsymmetricKey) -> bool {
        match key {
            #[cfg(feature = "rsa")]
            AsymmetricKey::Rsa(..) => false,
            _ => true,
        }
    }

    fn signing<'r>(
        key: &'r AsymmetricKey,
        message: &'r [u8],
        signature: &'r mut [u8],
    ) -> Result<Request<'r>, Error> {
        let signature = signature.try_into().map_err(|_| Error::OutputLength)?;
        match key {
            AsymmetricKey::Ed25519(key) => Ok(Request::ed25519_sign(key, message, signature)),
            AsymmetricKey::P256(key) => Ok(Request::p256_sign(key, message, signature)),
            _ => Err(Error::Unsupported),
        }
    }

    fn verifying<'r>(
        key: &'r AsymmetricKey,
        message: &'r [u8],
        signature: &'r [u8],
    ) -> Result<Request<'r>, Error> {
        let signature = signature.try_into().map_err(|_| Error::Authentication)?;
        let ed25519 = |key| Request::ed25519_verify(key, message, signature);
        let p256 = |key| Request::p256_verify(key, message, signature);
        Ok(match key {
            AsymmetricKey::Ed25519(key) => ed25519(key.verifying_key()),
            AsymmetricKey::Ed25519Public(key) => ed25519(key),
            AsymmetricKey::P256(key) => p256(key.public_key()),
            AsymmetricKey::P256Public(key) => p256(key),
            _ => return Err(Error::Unsupported),
        })
    }

    fn input(key: &AsymmetricKey, received: &[u8], output_length: usize) -> Result<Input, Error> {
        if output_length != key.agreement_length() {
            return Err(Error::OutputLength);
        }
        match (key, received.len()) {
            (AsymmetricKey::X25519(_), _) => {
                let public = received.try_into().map_err(|_| Error::DataLength)?;
                Ok(Input::X25519(x25519::PublicKey::from_bytes(public)))
            }
            (AsymmetricKey::EcdhP256(_), 33 | 65) => p256::PublicKey::from_sec1_bytes(received)
                .map(Input::P256)
                .map_err(|_| Error::PublicKey),
            (AsymmetricKey::EcdhP256(_), _) => Err(Error::DataLength),
            _ => Ok(Input::Bytes),
        }
    }

    fn agreeing<'r>(
        key: &'r AsymmetricKey,
        received: &'r [u8],
        input: &'r Input,
        output: &'r mut [u8],
    ) -> Result<Request<'r>, Error> {
        Ok(match (key, input) {
            (AsymmetricKey::X25519(key), Input::X25519(public)) => {
                Request::x25519_shared_secret(key, public, exactly(output)?)
            }
            (AsymmetricKey::EcdhP256(key), Input::P256(public)) => {
                Request::p256_shared_secret(key, public, exactly(output)?)
            }
            (AsymmetricKey::MlKem768(key), _) => {
                let ciphertext = received.try_into().map_err(|_| Error::DataLength)?;
                Request::mlkem768_decapsulate(key, ciphertext, exactly(output)?)
            }
            (AsymmetricKey::MlKem768Public(key), _) => {
                if !received.is_empty() {
                    return Err(Error::DataLength);
                }
                let parts = output.split_at_mut_checked(CIPHERTEXT_LENGTH);
                let (ciphertext, secret) = parts.ok_or(Error::OutputLength)?;
                Request::mlkem768_encapsulate(key, exactly(ciphertext)?, exactly(secret)?)
            }
            _ => return Err(Error::Unsupported),
        })
    }

    fn process(&self, requests: &mut [Request<'_>]) {
        // Each request has its own outcome.
        let _failed = pk::process(requests);
    }

    fn outcome(request: &Request<'_>) -> Option<Result<(), Error>> {
        request.outcome().map(|outcome| outcome.map_err(error))
    }
}

/// Room of the right length.
fn exactly<const N: usize>(room: &mut [u8]) -> Result<&mut [u8; N], Error> {
    room.try_into().map_err(|_| Error::OutputLength)
}

/// The engine's name of an error.
fn error(error: pk::Error) -> Error {
    match error {
        pk::Error::Signature => Error::Authentication,
        pk::Error::Entropy => Error::Entropy,
        pk::Error::Fault => Error::Fault,
        pk::Error::SmallOrder => Error::PublicKey,
        // Those of a later version.
        _ => Error::Unsupported,
    }
}
