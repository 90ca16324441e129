//! Sessions: an expanded key, its requests, and the driver that serves them.

pub(crate) mod driver;
pub(crate) mod entry;
pub(crate) mod job;
pub(crate) mod members;
pub(crate) mod request;
pub(crate) mod waiting;
pub(crate) mod work;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa, hazmat};
use lanecrypt_kernels::wipe;
use zeroize::ZeroizeOnDrop;

use self::driver::Driver;
#[cfg(feature = "_asymmetric")]
use crate::AsymmetricKey;
use crate::Operation;
use crate::class::Class;
use crate::lanes::Lanes;

/// An expanded key, for any number of messages and threads.
///
/// [`Engine::session`](crate::Engine::session) returns one. The key is expanded once, and wiped on
/// drop; requests only read it. The methods here serve one message at a time and cost the same as
/// those of [`Cipher`]. [`Engine::process`](crate::Engine::process) serves many at once.
///
/// Moving a session leaves a copy of its key in the old place, as with every value in Rust.
/// [`Engine::boxed_session`](crate::Engine::boxed_session) returns a session that is not moved.
///
/// It is as constant-time as its algorithm. Lengths, nonces, associated data, and whether a message
/// is authentic, are public.
//
// It is aligned to a cache line. Besides the key, requests need only the first line.
#[repr(align(64))]
pub struct Session {
    pub(crate) key: SessionKey,
}

/// The keys with which this processor serves a session.
//
// The fields before the keys are at the same offsets in all variants.
#[repr(u8)]
pub(crate) enum SessionKey {
    Sealed(Head, Cipher),
    Raw(Head, hazmat::RawCipher),
    /// It is behind a pointer, so that it does not enlarge sessions of ciphers.
    #[cfg(feature = "_asymmetric")]
    Asymmetric(Head, Box<AsymmetricKey>),
}

/// The fields of a session besides its key.
pub(crate) struct Head {
    /// The class of its requests.
    class: Class,
    /// The kinds of its forward and backward messages, which decide their lanes, and of the
    /// requests of its asymmetric key.
    kinds: [u8; 3],
    /// The driver that serves it, if that is not the software.
    pub(crate) route: Option<Route>,
}

impl Head {
    /// The head of a session that the software serves.
    fn of(algorithm: Algorithm) -> Self {
        let [forward, backward] = Lanes::kinds(algorithm);
        let kinds = [forward, backward, Lanes::ALONE];
        Self { class: Class::of(algorithm), kinds, route: None }
    }
}

/// A driver's identifier for one of its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "drivers make it")]
pub struct SessionId(pub u64);

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
        Ok(Self { key: SessionKey::Sealed(head, Cipher::with_isa(isa, algorithm, key)?) })
    }

    /// The same without authentication.
    pub(crate) fn raw(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        let head = Head::of(algorithm);
        Ok(Self { key: SessionKey::Raw(head, hazmat::RawCipher::with_isa(isa, algorithm, key)?) })
    }

    /// A session with an asymmetric key, which a driver serves, or the software.
    #[cfg(feature = "_asymmetric")]
    pub(crate) fn asymmetric(key: AsymmetricKey, route: Option<Route>) -> Self {
        let asymmetric = if route.is_some() { Lanes::ELSEWHERE } else { Lanes::TOGETHER };
        let kinds = [Lanes::ALONE, Lanes::ALONE, asymmetric];
        let head = Head { class: Class::ASYMMETRIC, kinds, route };
        Self { key: SessionKey::Asymmetric(head, Box::new(key)) }
    }

    /// A session that `make` creates on the heap. Its key is expanded only there.
    pub(crate) fn boxed(
        make: impl FnOnce(&[u8]) -> Result<Self, Error>,
        key: &[u8],
    ) -> Result<Box<Self>, Error> {
        // Bytes of a session that no field uses are copied from the stack. These must not be the
        // round keys of another session, which its kernels left there.
        wipe::stack::<{ 8 << 10 }>();
        wipe::registers();
        Self::boxed_from_clean_stack(make, key)
    }

    #[inline(never)]
    fn boxed_from_clean_stack(
        make: impl FnOnce(&[u8]) -> Result<Self, Error>,
        key: &[u8],
    ) -> Result<Box<Self>, Error> {
        // It is moved to the heap while it holds a public stand-in key, which has no equal halves.
        let mut stand_in = [0; 256];
        stand_in.iter_mut().zip(0..=u8::MAX).for_each(|(byte, number)| *byte = number);
        let stand_in = stand_in.get(..key.len()).ok_or(Error::KeyLength)?;
        let mut session = Box::new(make(stand_in)?);
        match &mut session.key {
            SessionKey::Sealed(_, cipher) => cipher.set_key(key)?,
            SessionKey::Raw(_, cipher) => cipher.set_key(key)?,
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(..) => return Err(Error::Unsupported),
        }
        Ok(session)
    }

    /// Assigns the session of a cipher to a driver.
    pub(crate) fn on(mut self, driver: Arc<dyn Driver>, id: SessionId) -> Self {
        let head = match &mut self.key {
            SessionKey::Sealed(head, _) | SessionKey::Raw(head, _) => head,
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(head, _) => head,
        };
        let kinds = [Lanes::ELSEWHERE, Lanes::ELSEWHERE, Lanes::ALONE];
        *head = Head { class: Class::ELSEWHERE, kinds, route: Some(Route { driver, id }) };
        self
    }

    /// The algorithm of its cipher; `None` if it has an asymmetric key.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Option<Algorithm> {
        match &self.key {
            SessionKey::Sealed(_, cipher) => Some(cipher.algorithm()),
            SessionKey::Raw(_, cipher) => Some(cipher.algorithm()),
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(..) => None,
        }
    }

    /// The cipher that serves its messages, such as for messages [in pieces](Cipher::sealer);
    /// `None` if another driver than the software serves it, or if it does not authenticate.
    #[must_use]
    #[inline]
    pub fn cipher(&self) -> Option<&Cipher> {
        match &self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => Some(cipher),
            _ => None,
        }
    }

    /// Its asymmetric key; `None` if it is the session of a cipher.
    #[cfg(feature = "_asymmetric")]
    #[cfg_attr(docsrs, doc(cfg(any(feature = "pk", feature = "rsa"))))]
    #[must_use]
    pub fn asymmetric_key(&self) -> Option<&AsymmetricKey> {
        match &self.key {
            SessionKey::Asymmetric(_, key) => Some(key),
            _ => None,
        }
    }

    /// The length of its signatures in bytes; 0 if it is not for signatures.
    #[must_use]
    pub fn signature_length(&self) -> usize {
        match &self.key {
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(_, key) => key.signature_length(),
            _ => 0,
        }
    }

    /// The length in bytes of what it [agrees](Self::agree) on: 32 of a secret, after 1088 of a
    /// ciphertext if it encapsulates; 0 if it is not for key exchange.
    #[must_use]
    pub fn agreement_length(&self) -> usize {
        match &self.key {
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(_, key) => key.agreement_length(),
            _ => 0,
        }
    }

    /// Whether it has an asymmetric key.
    pub(crate) fn is_asymmetric(&self) -> bool {
        match &self.key {
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(..) => true,
            _ => false,
        }
    }

    /// Whether its asymmetric key has an operation.
    pub(crate) fn has_asymmetric(&self, operation: Operation) -> bool {
        match &self.key {
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(_, key) => key.operations().contains(&operation),
            _ => {
                let _ = operation;
                false
            }
        }
    }

    /// The name of the driver that serves it.
    #[must_use]
    pub fn driver(&self) -> &str {
        self.route().map_or("software", |route| route.driver.name())
    }

    /// The length of a tag in bytes, which sealing adds to a message; 0 without authentication.
    #[must_use]
    #[inline]
    pub fn tag_length(&self) -> usize {
        match &self.key {
            SessionKey::Sealed(_, cipher) => cipher.tag_length(),
            _ => 0,
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
    /// driver other than the software serves it. After an error the session is unchanged.
    pub fn set_tag_length(&mut self, bytes: usize) -> Result<(), Error> {
        match &mut self.key {
            SessionKey::Sealed(Head { route: None, .. }, cipher) => cipher.set_tag_length(bytes),
            _ => Err(Error::Unsupported),
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
    /// operation that the session does not have counts as the one in the same direction that it
    /// has; every driver refuses it.
    #[inline]
    pub(crate) fn kind(&self, operation: Operation) -> u8 {
        let [forward, backward, asymmetric] = self.head().kinds;
        match operation {
            Operation::Encrypt | Operation::Seal => forward,
            Operation::Decrypt | Operation::Open => backward,
            Operation::Sign | Operation::Verify | Operation::Agree => asymmetric,
        }
    }

    #[inline]
    fn head(&self) -> &Head {
        match &self.key {
            SessionKey::Sealed(head, _) | SessionKey::Raw(head, _) => head,
            #[cfg(feature = "_asymmetric")]
            SessionKey::Asymmetric(head, _) => head,
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Session");
        #[cfg(feature = "_asymmetric")]
        if let Some(key) = self.asymmetric_key() {
            fields.field("key", key);
        }
        if let Some(algorithm) = self.algorithm() {
            fields.field("algorithm", &algorithm);
        }
        fields.field("driver", &self.driver()).finish_non_exhaustive()
    }
}

// Ciphers and asymmetric keys wipe themselves, and drivers wipe a session when it is closed.
impl ZeroizeOnDrop for Session {}

/// Any number of threads may share a session.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Session>();
};
