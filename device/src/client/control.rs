//! Requests of clients by the socket: sessions.

use lanecrypt_engine::Algorithm;
#[cfg(feature = "rsa")]
use lanecrypt_engine::RsaKey;
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;

use super::Session;
use super::connection::Connection;
use crate::Error;
use crate::protocol::{ControlRequest, ControlResponse};
#[cfg(feature = "rsa")]
use crate::protocol::{RejectReason, RsaSent, Scheme};

impl Connection {
    /// Opens a session with this key.
    pub(super) fn session(&self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        let name = algorithm.to_string();
        self.ask_session(&ControlRequest::Open { algorithm: &name, key })
    }

    /// Opens a session with a key that the daemon generates.
    pub(super) fn generated_session(&self, algorithm: Algorithm) -> Result<Session, Error> {
        let name = algorithm.to_string();
        self.ask_session(&ControlRequest::Generate { algorithm: &name, length: 0 })
    }

    /// Opens a session with a key that has a name.
    pub(super) fn named_session(&self, name: &str) -> Result<Session, Error> {
        self.ask_session(&ControlRequest::Named { name })
    }

    /// The same with an RSA key and one of its paddings.
    #[cfg(feature = "rsa")]
    pub(super) fn named_rsa_session(&self, name: &str, padding: Padding) -> Result<Session, Error> {
        self.ask_session(&ControlRequest::NamedRsa { name, scheme: scheme(padding)? })
    }

    /// Opens a session with this RSA key.
    #[cfg(feature = "rsa")]
    pub(super) fn rsa_session(&self, key: &RsaKey, padding: Padding) -> Result<Session, Error> {
        match key {
            RsaKey::Private(key) if key.has_primes() => {
                let der = key.to_pkcs8_der().map_err(|_| Error::Denied(RejectReason::Key))?;
                self.rsa_session_from_der(&der, padding)
            }
            RsaKey::Private(key) => key.with_components(|numbers| {
                let (n, e, d) = (numbers.n, numbers.e, numbers.d);
                let key = RsaSent::Numbers { n, e, d };
                self.ask_session(&ControlRequest::OpenRsa { scheme: scheme(padding)?, key })
            }),
            key => self.rsa_session_from_der(&key.public_key().to_spki_der(), padding),
        }
    }

    /// The same with the DER of a key.
    #[cfg(feature = "rsa")]
    pub(super) fn rsa_session_from_der(
        &self,
        der: &[u8],
        padding: Padding,
    ) -> Result<Session, Error> {
        let key = RsaSent::Der(der);
        self.ask_session(&ControlRequest::OpenRsa { scheme: scheme(padding)?, key })
    }

    /// Opens a session with an RSA key that the daemon generates.
    #[cfg(feature = "rsa")]
    pub(super) fn generated_rsa_session(
        &self,
        bits: u32,
        padding: Padding,
    ) -> Result<Session, Error> {
        self.ask_session(&ControlRequest::GenerateRsa { scheme: scheme(padding)?, bits })
    }

    /// The public key of a session, as the DER of its SPKI.
    pub(super) fn public_key(&self, session: Session) -> Result<Vec<u8>, Error> {
        self.ask(&ControlRequest::PublicKey { session: session.number }, |answer| {
            let ControlResponse::PublicKey(der) = answer else { return None };
            Some(der)
        })
    }

    /// Closes a session.
    pub(super) fn close(&self, session: Session) -> Result<(), Error> {
        let asked = ControlRequest::Close { session: session.number };
        self.ask(&asked, |answer| matches!(answer, ControlResponse::Closed).then_some(()))
    }

    fn ask_session(&self, asked: &ControlRequest<'_>) -> Result<Session, Error> {
        self.ask(asked, |answer| match answer {
            ControlResponse::Session { session, algorithm, makes_nonces } => {
                Some(Session::of_cipher(session, algorithm.parse().ok()?, makes_nonces))
            }
            ControlResponse::SignatureSession { session, signature_length } => {
                Some(Session::asymmetric(session, signature_length, 0))
            }
            ControlResponse::AgreementSession { session, agreement_length } => {
                Some(Session::asymmetric(session, 0, agreement_length))
            }
            _ => None,
        })
    }
}

/// A padding as it is sent.
#[cfg(feature = "rsa")]
fn scheme(padding: Padding) -> Result<Scheme<'static>, Error> {
    let salt = padding.salt_length().map(u32::try_from).transpose();
    // No modulus has room for a longer one.
    let salt = salt.map_err(|_| Error::Denied(RejectReason::KeyLength))?;
    Ok(Scheme { hash: padding.hash().name(), salt })
}
