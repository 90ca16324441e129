//! Sessions: an expanded key, and the driver that serves its requests.

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
/// [`Engine::session`](crate::Engine::session) makes one. The key is expanded once, and wiped on drop;
/// requests only read it. The methods here serve one message at a time and cost the same as those
/// of [`Cipher`]. [`Engine::process`](crate::Engine::process) serves many at once.
///
/// Moving a session leaves a copy of its key in the old place, as with every value in Rust.
/// [`Engine::boxed_session`](crate::Engine::boxed_session) makes a session that stays in its place.
///
/// It is as constant-time as its algorithm. Lengths, nonces, associated data, and whether a message
/// is authentic, are public.
//
// It is aligned to a cache line. Besides the key, requests need only the first line.
#[repr(align(64))]
pub struct Session {
    pub(crate) keyed: Keyed,
}

/// The keys with which this processor serves a session itself.
//
// The fields before the keys are at the same offsets in both variants.
#[repr(u8)]
pub(crate) enum Keyed {
    Sealed(Head, Cipher),
    Raw(Head, hazmat::RawCipher),
}

/// The fields of a session besides its key.
pub(crate) struct Head {
    /// The class of its requests.
    class: Class,
    /// The kinds of its forward and backward messages, which decide their lanes.
    kinds: [u8; 2],
    /// The driver that serves it, if that is not the software.
    route: Option<Route>,
}

impl Head {
    /// The head of a session that the software serves.
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
    /// A session that the software serves.
    pub(crate) fn sealed(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        let head = Head::of(algorithm);
        Ok(Self { keyed: Keyed::Sealed(head, Cipher::with_isa(isa, algorithm, key)?) })
    }

    /// The same without authentication.
    pub(crate) fn raw(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        let head = Head::of(algorithm);
        Ok(Self { keyed: Keyed::Raw(head, hazmat::RawCipher::with_isa(isa, algorithm, key)?) })
    }

    /// A session that `make` makes, on the heap. Its key is expanded there and nowhere else.
    pub(crate) fn boxed(
        make: impl FnOnce(&[u8]) -> Result<Self, Error>,
        key: &[u8],
    ) -> Result<Box<Self>, Error> {
        // It is moved to the heap while it holds a public stand-in key, which has no equal halves.
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

    /// Has a driver serve the session.
    pub(crate) fn on(mut self, driver: Arc<dyn Driver>, id: SessionId) -> Self {
        let (Keyed::Sealed(head, _) | Keyed::Raw(head, _)) = &mut self.keyed;
        let kinds = [Lanes::ELSEWHERE; 2];
        *head = Head { class: Class::ELSEWHERE, kinds, route: Some(Route { driver, id }) };
        self
    }

    /// Its algorithm.
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

    /// The length of a tag in bytes, by which a sealed message is longer; 0 without authentication.
    #[must_use]
    #[inline]
    pub fn tag_length(&self) -> usize {
        match &self.keyed {
            Keyed::Sealed(_, cipher) => cipher.tag_length(),
            Keyed::Raw(..) => 0,
        }
    }

    /// The message and the tag of a packet; none if it is shorter than a tag.
    #[inline]
    pub(crate) fn cut<'p>(&self, packet: &'p mut [u8]) -> Option<(&'p mut [u8], &'p mut [u8])> {
        let at = packet.len().checked_sub(self.tag_length())?;
        packet.split_at_mut_checked(at)
    }

    /// Sets the length of tags in bytes, as [`Cipher::set_tag_length`] does, with the same limits.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]; [`Error::Unsupported`] if the session does not authenticate, or if a
    /// driver other than the software serves it. After an error nothing has changed.
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
    /// Same as [`Cipher::seal_next`]; [`Error::Unsupported`] if the session does not authenticate.
    /// After an error no nonce is used up, unless a driver other than the software refused the
    /// packet.
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
    /// Same as [`Cipher::seal`]; [`Error::Unsupported`] if the session does not authenticate.
    #[inline]
    pub fn seal(&self, nonce: &[u8], aad: &[u8], packet: &mut [u8]) -> Result<(), Error> {
        match &self.keyed {
            Keyed::Sealed(Head { route: None, .. }, cipher) => cipher.seal(nonce, aad, packet),
            _ => self.serve(Request::seal(self, nonce, aad, packet)),
        }
    }

    /// Opens a packet in place, if it is authentic, and returns the message, as [`Cipher::open`]
    /// does.
    ///
    /// # Errors
    ///
    /// Same as [`Cipher::open`]; [`Error::Unsupported`] if the session does not authenticate.
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
    /// Same as [`Cipher::seal_detached`]; [`Error::Unsupported`] if the session does not
    /// authenticate.
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
    /// Same as [`Cipher::open_detached`]; [`Error::Unsupported`] if the session does not
    /// authenticate.
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

    /// Encrypts a message without a tag, as [`hazmat::RawCipher::encrypt`] does.
    ///
    /// # Errors
    ///
    /// Same as [`hazmat::RawCipher::encrypt`]; [`Error::OutputLength`] if there are two slices of
    /// different lengths; [`Error::Unsupported`] if the session authenticates.
    #[inline]
    pub fn encrypt<'d>(&self, iv: &[u8], data: impl Into<Data<'d>>) -> Result<(), Error> {
        let mut data: Data<'_> = data.into();
        match &self.keyed {
            Keyed::Raw(Head { route: None, .. }, cipher) => cipher.encrypt(iv, data.in_out()?),
            _ => self.serve(Request::encrypt(self, iv, data)),
        }
    }

    /// Decrypts a message without a tag, as [`hazmat::RawCipher::decrypt`] does.
    ///
    /// # Errors
    ///
    /// Same as [`hazmat::RawCipher::decrypt`]; [`Error::OutputLength`] if there are two slices of
    /// different lengths; [`Error::Unsupported`] if the session authenticates.
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

    /// The kind of an operation's messages: lanes, no lanes, or another driver; see [`Lanes`]. An
    /// operation that the session does not have counts as the one that it has in the same
    /// direction; it is refused wherever it is served.
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

    /// Serves one request at once.
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

// Both ciphers wipe themselves, and drivers wipe a session when it is closed.
impl ZeroizeOnDrop for Session {}

/// Any number of threads may share a session.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Session>();
};
