//! An expanded key, and who serves what is asked of it.

use core::fmt;
use std::sync::Arc;

use lanecrypt_ciphers::lanes::in_parts;
use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa, Nonce, NonceSequence, hazmat};
use zeroize::ZeroizeOnDrop;

use crate::class::Class;
use crate::cost::Lanes;
use crate::{Data, Driver, Jobs, Operation, Request, SessionId};

/// An expanded key, for any number of messages and threads.
///
/// [`Engine::open`](crate::Engine::open) makes one. The key is expanded once, and wiped on drop;
/// requests only read it. One message at a time goes through the methods here, which cost what
/// those of [`Cipher`] cost; many at once through [`Engine::process`](crate::Engine::process).
///
/// Who moves a session leaves its key where it was, as with every value in Rust;
/// [`Engine::open_boxed`](crate::Engine::open_boxed) makes one that stays in its place.
///
/// As constant time as its algorithm is; lengths, nonces, associated data and whether a message is
/// authentic are public.
//
// It begins a cache line, and what requests need of it besides the key is in the first.
#[repr(align(64))]
pub struct Session {
    pub(crate) keyed: Keyed,
}

/// What this processor needs to serve a session itself.
//
// What stands before the keys is in the same place of both variants.
#[repr(u8)]
pub(crate) enum Keyed {
    Sealed(Head, Cipher),
    Raw(Head, hazmat::Cipher),
}

/// What there is to know of a session besides its key.
pub(crate) struct Head {
    /// What its requests can go together with.
    class: Class,
    /// Which lanes its messages have, forward and backward.
    kinds: [u8; 2],
    /// Who serves it, if that is not the software here.
    route: Option<Route>,
}

impl Head {
    /// Of a session that the software here serves.
    fn of(algorithm: Algorithm) -> Self {
        Self { class: Class::of(algorithm), kinds: Lanes::kinds(algorithm), route: None }
    }
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
        let head = Head::of(algorithm);
        Ok(Self { keyed: Keyed::Sealed(head, Cipher::with_isa(isa, algorithm, key)?) })
    }

    /// The same without authentication.
    pub(crate) fn raw(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        let head = Head::of(algorithm);
        Ok(Self { keyed: Keyed::Raw(head, hazmat::Cipher::new(isa, algorithm, key)?) })
    }

    /// One that `make` makes, on the heap: its key is expanded there, and nowhere else.
    pub(crate) fn boxed(
        make: impl FnOnce(&[u8]) -> Result<Self, Error>,
        key: &[u8],
    ) -> Result<Box<Self>, Error> {
        // It is moved to the heap while it has a key that nobody need hide, without equal halves.
        let mut stand_in = [0; 256];
        stand_in.iter_mut().zip(0..=u8::MAX).for_each(|(byte, number)| *byte = number);
        let stand_in = stand_in.get(..key.len()).ok_or(Error::KeyLength)?;
        let mut session = Box::new(make(stand_in)?);
        match &mut session.keyed {
            Keyed::Sealed(_, cipher) => cipher.set_key(key)?,
            Keyed::Raw(_, cipher) => cipher.set_key(key)?,
        }
        Ok(session)
    }

    /// Has a driver serve it.
    pub(crate) fn on(mut self, driver: Arc<dyn Driver>, id: SessionId) -> Self {
        let (Keyed::Sealed(head, _) | Keyed::Raw(head, _)) = &mut self.keyed;
        let kinds = [Lanes::ELSEWHERE; 2];
        *head = Head { class: Class::ELSEWHERE, kinds, route: Some(Route { driver, id }) };
        self
    }

    /// What it does.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        match &self.keyed {
            Keyed::Sealed(_, cipher) => cipher.algorithm(),
            Keyed::Raw(_, cipher) => cipher.algorithm(),
        }
    }

    /// The name of the driver that serves it.
    #[must_use]
    pub fn driver(&self) -> &str {
        self.route().map_or("software", |route| route.driver.name())
    }

    /// Bytes of a tag, which a sealed message is longer by; 0 without authentication.
    #[must_use]
    #[inline]
    pub fn tag_length(&self) -> usize {
        match &self.keyed {
            Keyed::Sealed(_, cipher) => cipher.tag_length(),
            Keyed::Raw(..) => 0,
        }
    }

    /// The message and the tag of a packet; none if there is no room for a tag.
    #[inline]
    pub(crate) fn cut<'p>(&self, packet: &'p mut [u8]) -> Option<(&'p mut [u8], &'p mut [u8])> {
        let at = packet.len().checked_sub(self.tag_length())?;
        packet.split_at_mut_checked(at)
    }

    /// Makes tags of so many bytes, as [`Cipher::set_tag_length`] does, with the same limits.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]; [`Error::Unsupported`] if the session does not authenticate, or another
    /// driver than the software serves it. Nothing has changed then.
    pub fn set_tag_length(&mut self, bytes: usize) -> Result<(), Error> {
        match &mut self.keyed {
            Keyed::Sealed(Head { route: None, .. }, cipher) => cipher.set_tag_length(bytes),
            _ => Err(Error::Unsupported),
        }
    }

    /// Seals a packet in place, with the next nonce of a sequence, which it returns, as
    /// [`Cipher::seal_next`] does.
    ///
    /// # Errors
    ///
    /// As [`Cipher::seal_next`]; [`Error::Unsupported`] if the session does not authenticate. No nonce
    /// is used up then, but by another driver than the software that refuses the packet.
    #[inline]
    pub fn seal_next(
        &self,
        nonces: &mut impl NonceSequence,
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<Nonce, Error> {
        match &self.keyed {
            Keyed::Raw(..) => Err(Error::Unsupported),
            Keyed::Sealed(Head { route: None, .. }, cipher) => {
                cipher.seal_next(nonces, aad, packet)
            }
            Keyed::Sealed(..) => {
                if packet.len() < self.tag_length() {
                    return Err(Error::OutputLength);
                }
                if nonces.nonce_length() != self.algorithm().nonce_length() {
                    return Err(Error::NonceLength);
                }
                let nonce = nonces.fresh()?;
                self.serve(Request::seal(self, &nonce, aad, packet))?;
                Ok(nonce)
            }
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
        match &self.keyed {
            Keyed::Sealed(Head { route: None, .. }, cipher) => cipher.seal(nonce, aad, packet),
            _ => self.serve(Request::seal(self, nonce, aad, packet)),
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
        match &self.keyed {
            Keyed::Sealed(Head { route: None, .. }, cipher) => cipher.open(nonce, aad, packet),
            _ => {
                self.serve(Request::open(self, nonce, aad, &mut *packet))?;
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
        data: impl Into<Data<'d>>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.keyed {
            Keyed::Sealed(Head { route: None, .. }, cipher) => {
                cipher.seal_detached(nonce, aad, in_parts(data.in_out()?), tag)
            }
            _ => self.serve(Request::seal_detached(self, nonce, aad, data, tag)),
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
        data: impl Into<Data<'d>>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.keyed {
            Keyed::Sealed(Head { route: None, .. }, cipher) => {
                cipher.open_detached(nonce, aad, in_parts(data.in_out()?), tag)
            }
            _ => self.serve(Request::open_detached(self, nonce, aad, data, tag)),
        }
    }

    /// Encrypts a message without a tag, as [`hazmat::Cipher::encrypt`] does.
    ///
    /// # Errors
    ///
    /// As [`hazmat::Cipher::encrypt`], [`Error::OutputLength`] if there are two slices of different
    /// lengths; [`Error::Unsupported`] if the session authenticates.
    #[inline]
    pub fn encrypt<'d>(&self, iv: &[u8], data: impl Into<Data<'d>>) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.keyed {
            Keyed::Raw(Head { route: None, .. }, cipher) => cipher.encrypt(iv, data.in_out()?),
            _ => self.serve(Request::encrypt(self, iv, data)),
        }
    }

    /// Decrypts a message without a tag, as [`hazmat::Cipher::decrypt`] does.
    ///
    /// # Errors
    ///
    /// As [`hazmat::Cipher::decrypt`], [`Error::OutputLength`] if there are two slices of different
    /// lengths; [`Error::Unsupported`] if the session authenticates.
    #[inline]
    pub fn decrypt<'d>(&self, iv: &[u8], data: impl Into<Data<'d>>) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.keyed {
            Keyed::Raw(Head { route: None, .. }, cipher) => cipher.decrypt(iv, data.in_out()?),
            _ => self.serve(Request::decrypt(self, iv, data)),
        }
    }

    pub(crate) fn id(&self) -> SessionId {
        self.route().map_or_else(SessionId::default, |route| route.id)
    }

    #[inline]
    pub(crate) fn route(&self) -> Option<&Route> {
        self.head().route.as_ref()
    }

    #[inline]
    pub(crate) fn class(&self) -> Class {
        self.head().class
    }

    /// Which lanes there are for an operation, or none, or another driver: see [`Lanes`]. An operation
    /// that the session has not counts as the one that it has in the same direction, and is refused
    /// wherever it is served.
    #[inline]
    pub(crate) fn kind(&self, operation: Operation) -> u8 {
        let [forward, backward] = self.head().kinds;
        match operation {
            Operation::Encrypt | Operation::Seal => forward,
            Operation::Decrypt | Operation::Open => backward,
        }
    }

    #[inline]
    fn head(&self) -> &Head {
        match &self.keyed {
            Keyed::Sealed(head, _) | Keyed::Raw(head, _) => head,
        }
    }

    /// One request, served at once.
    #[inline]
    pub(crate) fn serve(&self, mut request: Request<'_>) -> Result<(), Error> {
        match self.route() {
            Some(route) => {
                route.driver.process(Jobs::requests(core::slice::from_mut(&mut request)));
                request.outcome().unwrap_or(Err(Error::Unsupported))
            }
            None => request.work.serve(self, request.nonce),
        }
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

/// Any number of threads may share a session.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Session>();
};
