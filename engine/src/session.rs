//! An expanded key, and who serves what is asked of it.

use core::fmt;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Cipher, Error, InOutBuf, Isa, hazmat};
use zeroize::ZeroizeOnDrop;

use crate::request::Work;
use crate::{Driver, Request, SessionId};

/// An expanded key, for any number of messages and threads.
///
/// [`Engine::open`](crate::Engine::open) makes one. The key is expanded once, and wiped on drop;
/// requests only read it. One message at a time goes through the methods here, which cost what
/// those of [`Cipher`] cost; many at once through [`Engine::process`](crate::Engine::process).
pub struct Session {
    pub(crate) keyed: Keyed,
    /// Who serves it, if that is not the software here.
    route: Option<Route>,
}

/// What this processor needs to serve a session itself.
pub(crate) enum Keyed {
    Sealed(Cipher),
    Raw(hazmat::Cipher),
}

/// A driver's session, which is closed on drop.
pub(crate) struct Route {
    pub(crate) driver: Arc<dyn Driver>,
    pub(crate) id: SessionId,
}

impl Drop for Route {
    fn drop(&mut self) {
        self.driver.close(self.id);
    }
}

impl Session {
    /// One that the software here serves.
    pub(crate) fn sealed(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        Ok(Self { keyed: Keyed::Sealed(Cipher::with_isa(isa, algorithm, key)?), route: None })
    }

    /// The same without authentication.
    pub(crate) fn raw(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        Ok(Self { keyed: Keyed::Raw(hazmat::Cipher::new(isa, algorithm, key)?), route: None })
    }

    /// Has a driver serve it.
    pub(crate) fn on(self, driver: Arc<dyn Driver>, id: SessionId) -> Self {
        Self { route: Some(Route { driver, id }), ..self }
    }

    /// What it does.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        match &self.keyed {
            Keyed::Sealed(cipher) => cipher.algorithm(),
            Keyed::Raw(cipher) => cipher.algorithm(),
        }
    }

    /// The name of the driver that serves it.
    #[must_use]
    pub fn driver(&self) -> &str {
        self.route.as_ref().map_or("software", |route| route.driver.name())
    }

    /// Bytes of a tag, which a sealed message is longer by; 0 without authentication.
    #[must_use]
    #[inline]
    pub fn tag_length(&self) -> usize {
        match &self.keyed {
            Keyed::Sealed(cipher) => cipher.tag_length(),
            Keyed::Raw(_) => 0,
        }
    }

    /// Seals a packet in place, as [`Cipher::seal`] does.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// As [`Cipher::seal`]; [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn seal(&self, nonce: &[u8], aad: &[u8], packet: &mut [u8]) -> Result<(), Error> {
        match (&self.keyed, &self.route) {
            (Keyed::Sealed(cipher), None) => cipher.seal(nonce, aad, packet),
            _ => self.served(Request::seal(self, nonce, aad, packet)),
        }
    }

    /// Opens a packet in place, if it is authentic, and answers the message, as [`Cipher::open`]
    /// does.
    ///
    /// # Errors
    ///
    /// As [`Cipher::open`]; [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn open<'p>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        packet: &'p mut [u8],
    ) -> Result<&'p mut [u8], Error> {
        match (&self.keyed, &self.route) {
            (Keyed::Sealed(cipher), None) => cipher.open(nonce, aad, packet),
            _ => {
                self.served(Request::open(self, nonce, aad, packet))?;
                let message = packet.len().saturating_sub(self.tag_length());
                packet.get_mut(..message).ok_or(Error::Authentication)
            }
        }
    }

    /// Encrypts a message and writes its tag, as [`Cipher::seal_detached`] does.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// As [`Cipher::seal_detached`]; [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn seal_detached<'d>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Into<InOutBuf<'d, 'd, u8>>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        match (&self.keyed, &self.route) {
            (Keyed::Sealed(cipher), None) => cipher.seal_detached(nonce, aad, data, tag),
            _ => {
                let mut data = data.into();
                self.served(Request::seal_detached(self, nonce, aad, data.reborrow(), tag))
            }
        }
    }

    /// Decrypts a message, if its tag is right, as [`Cipher::open_detached`] does.
    ///
    /// # Errors
    ///
    /// As [`Cipher::open_detached`]; [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn open_detached<'d>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Into<InOutBuf<'d, 'd, u8>>,
        tag: &[u8],
    ) -> Result<(), Error> {
        match (&self.keyed, &self.route) {
            (Keyed::Sealed(cipher), None) => cipher.open_detached(nonce, aad, data, tag),
            _ => {
                let mut data = data.into();
                self.served(Request::open_detached(self, nonce, aad, data.reborrow(), tag))
            }
        }
    }

    /// Encrypts a message without a tag, as [`hazmat::Cipher::encrypt`] does.
    ///
    /// # Errors
    ///
    /// As [`hazmat::Cipher::encrypt`]; [`Error::Unsupported`] if the session authenticates.
    #[inline]
    pub fn encrypt<'d>(
        &self,
        iv: &[u8],
        data: impl Into<InOutBuf<'d, 'd, u8>>,
    ) -> Result<(), Error> {
        match (&self.keyed, &self.route) {
            (Keyed::Raw(cipher), None) => cipher.encrypt(iv, data),
            _ => {
                let mut data = data.into();
                self.served(Request::encrypt(self, iv, data.reborrow()))
            }
        }
    }

    /// Decrypts a message without a tag, as [`hazmat::Cipher::decrypt`] does.
    ///
    /// # Errors
    ///
    /// As [`hazmat::Cipher::decrypt`]; [`Error::Unsupported`] if the session authenticates.
    #[inline]
    pub fn decrypt<'d>(
        &self,
        iv: &[u8],
        data: impl Into<InOutBuf<'d, 'd, u8>>,
    ) -> Result<(), Error> {
        match (&self.keyed, &self.route) {
            (Keyed::Raw(cipher), None) => cipher.decrypt(iv, data),
            _ => {
                let mut data = data.into();
                self.served(Request::decrypt(self, iv, data.reborrow()))
            }
        }
    }

    pub(crate) fn id(&self) -> SessionId {
        self.route.as_ref().map_or_else(SessionId::default, |route| route.id)
    }

    pub(crate) fn route(&self) -> Option<&Route> {
        self.route.as_ref()
    }

    /// One request, served at once.
    fn served(&self, request: Request<'_>) -> Result<(), Error> {
        let mut batch = [request];
        match &self.route {
            Some(route) => route.driver.process(&mut batch),
            None => batch[0].alone(),
        }
        batch[0].outcome().unwrap_or(Err(Error::Unsupported))
    }
}

impl Request<'_> {
    /// Served by the software here, by itself.
    #[inline]
    pub(crate) fn alone(&mut self) {
        if self.settled {
            return;
        }
        let nonce = self.nonce;
        self.outcome = match (&self.session.keyed, &mut self.work) {
            (Keyed::Raw(cipher), Work::Encrypt(data)) => cipher.encrypt(nonce, data.reborrow()),
            (Keyed::Raw(cipher), Work::Decrypt(data)) => cipher.decrypt(nonce, data.reborrow()),
            (Keyed::Sealed(cipher), Work::Seal { aad, data, tag }) => {
                cipher.seal_detached(nonce, aad, data.reborrow(), tag)
            }
            (Keyed::Sealed(cipher), Work::Open { aad, data, tag }) => {
                cipher.open_detached(nonce, aad, data.reborrow(), tag)
            }
            _ => Err(Error::Unsupported),
        };
        self.settled = true;
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("algorithm", &self.algorithm())
            .field("driver", &self.driver())
            .finish_non_exhaustive()
    }
}

// Both kinds of cipher wipe themselves, and drivers wipe the sessions that are closed.
impl ZeroizeOnDrop for Session {}
