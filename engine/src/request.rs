//! One message that is to be encrypted, decrypted, sealed or opened.

use core::fmt;

use lanecrypt_ciphers::lanes::in_parts;
use lanecrypt_ciphers::{Error, InOutBuf};

use crate::class::Class;
use crate::{Session, SessionId};

/// What is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Operation {
    /// Encrypted without a tag.
    Encrypt,
    /// Decrypted without a tag.
    Decrypt,
    /// Encrypted, with a tag.
    Seal,
    /// Decrypted, if its tag is right.
    Open,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Encrypt, Self::Decrypt, Self::Seal, Self::Open];

    /// Its name: `encrypt`, `decrypt`, `seal` or `open`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::Seal => "seal",
            Self::Open => "open",
        }
    }
}

/// One message, and what is to be done with it, under the key of a session.
///
/// A request is served once: [`process`](crate::Engine::process) leaves one that has an
/// [`outcome`](Self::outcome) as it is. (A message that is sealed in place twice under one nonce is
/// plaintext again.)
#[must_use = "a request is served by `Engine::process`"]
pub struct Request<'a> {
    pub(crate) session: &'a Session,
    pub(crate) nonce: &'a [u8],
    pub(crate) work: Work<'a>,
}

/// What is done, and with what.
//
// The state stands in the same place of all variants, in what would be left empty behind the byte
// that tells them apart.
#[repr(u8)]
pub(crate) enum Work<'a> {
    Encrypt(State, InOutBuf<'a, 'a, u8>),
    Decrypt(State, InOutBuf<'a, 'a, u8>),
    Seal { state: State, aad: &'a [u8], data: InOutBuf<'a, 'a, u8>, tag: &'a mut [u8] },
    Open { state: State, aad: &'a [u8], data: InOutBuf<'a, 'a, u8>, tag: &'a [u8] },
}

/// How far a request has come.
#[derive(Clone, Copy)]
pub(crate) struct State {
    /// Which requests it can go together with.
    pub(crate) class: Class,
    pub(crate) outcome: Result<(), Error>,
}

impl State {
    #[inline]
    fn new(session: &Session, operation: Operation) -> Self {
        Self { class: session.class().with(operation), outcome: Ok(()) }
    }
}

impl<'a> Request<'a> {
    /// Seals a packet in place: its last [`tag_length`](Session::tag_length) bytes are room for the
    /// tag, those before are the message.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Self {
        match session.cut(packet) {
            Some((data, tag)) => Self::seal_detached(session, nonce, aad, data, tag),
            None => Self::refused(session, Error::OutputLength),
        }
    }

    /// Opens a packet in place. If it is authentic, the message lies at its front; if not, that is
    /// wiped.
    #[inline]
    pub fn open(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Self {
        match session.cut(packet) {
            Some((data, tag)) => Self::open_detached(session, nonce, aad, data, tag),
            None => Self::refused(session, Error::Authentication),
        }
    }

    /// Encrypts a message, a slice in place or an [`InOutBuf`] from one buffer to another, and
    /// writes its tag, of [`tag_length`](Session::tag_length) bytes.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal_detached(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: impl Into<InOutBuf<'a, 'a, u8>>,
        tag: &'a mut [u8],
    ) -> Self {
        let state = State::new(session, Operation::Seal);
        Self { session, nonce, work: Work::Seal { state, aad, data: data.into(), tag } }
    }

    /// Decrypts a message, a slice in place or an [`InOutBuf`] from one buffer to another, if its
    /// tag is right; if not, the output is wiped.
    #[inline]
    pub fn open_detached(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: impl Into<InOutBuf<'a, 'a, u8>>,
        tag: &'a [u8],
    ) -> Self {
        let state = State::new(session, Operation::Open);
        Self { session, nonce, work: Work::Open { state, aad, data: data.into(), tag } }
    }

    /// Encrypts a message without a tag, by a session of
    /// [`open_hazmat`](crate::Engine::open_hazmat); a slice in place or an [`InOutBuf`] from one
    /// buffer to another.
    #[inline]
    pub fn encrypt(
        session: &'a Session,
        iv: &'a [u8],
        data: impl Into<InOutBuf<'a, 'a, u8>>,
    ) -> Self {
        let state = State::new(session, Operation::Encrypt);
        Self { session, nonce: iv, work: Work::Encrypt(state, data.into()) }
    }

    /// Decrypts a message without a tag, by a session of
    /// [`open_hazmat`](crate::Engine::open_hazmat); a slice in place or an [`InOutBuf`] from one
    /// buffer to another.
    #[inline]
    pub fn decrypt(
        session: &'a Session,
        iv: &'a [u8],
        data: impl Into<InOutBuf<'a, 'a, u8>>,
    ) -> Self {
        let state = State::new(session, Operation::Decrypt);
        Self { session, nonce: iv, work: Work::Decrypt(state, data.into()) }
    }

    /// The same request for as long as this one is lent, with an outcome of its own.
    #[inline(always)]
    pub(crate) fn lent(&mut self) -> Request<'_> {
        let work = match &mut self.work {
            Work::Encrypt(state, data) => Work::Encrypt(*state, data.reborrow()),
            Work::Decrypt(state, data) => Work::Decrypt(*state, data.reborrow()),
            Work::Seal { state, aad, data, tag } => {
                Work::Seal { state: *state, aad, data: data.reborrow(), tag }
            }
            Work::Open { state, aad, data, tag } => {
                Work::Open { state: *state, aad, data: data.reborrow(), tag }
            }
        };
        Request { session: self.session, nonce: self.nonce, work }
    }

    /// One that is settled before it is processed.
    #[cold]
    fn refused(session: &'a Session, error: Error) -> Self {
        let state = State { class: Class::SETTLED, outcome: Err(error) };
        let nothing = InOutBuf::from(&mut [][..]);
        Self { session, nonce: &[], work: Work::Encrypt(state, nothing) }
    }

    /// What came of it; `None` before it has been processed.
    ///
    /// The errors are those of the session's method of the same name. After an error nothing has been
    /// written, but for [`Error::Authentication`]: there the output has been wiped.
    #[must_use]
    pub fn outcome(&self) -> Option<Result<(), Error>> {
        let State { class, outcome } = *self.state();
        (class == Class::SETTLED).then_some(outcome)
    }

    /// The session whose key it is under.
    #[must_use]
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// What is to be done.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self.work {
            Work::Encrypt(..) => Operation::Encrypt,
            Work::Decrypt(..) => Operation::Decrypt,
            Work::Seal { .. } => Operation::Seal,
            Work::Open { .. } => Operation::Open,
        }
    }

    /// For drivers: what the session is called there.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        self.session.id()
    }

    /// For drivers: the nonce, or the initialization vector.
    #[must_use]
    pub fn nonce(&self) -> &'a [u8] {
        self.nonce
    }

    /// For drivers: what is authenticated and not encrypted.
    #[must_use]
    pub fn aad(&self) -> &'a [u8] {
        match self.work {
            Work::Seal { aad, .. } | Work::Open { aad, .. } => aad,
            Work::Encrypt(..) | Work::Decrypt(..) => &[],
        }
    }

    /// For drivers: the data, in place or from one buffer to another.
    #[must_use]
    pub fn data(&mut self) -> InOutBuf<'_, '_, u8> {
        match &mut self.work {
            Work::Encrypt(_, data)
            | Work::Decrypt(_, data)
            | Work::Seal { data, .. }
            | Work::Open { data, .. } => in_parts(data.reborrow()),
        }
    }

    /// For drivers: writes the tag of a message that was to be sealed, which has as many bytes as
    /// there is room for.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`] if it has not, [`Error::Unsupported`] if nothing was to be sealed.
    pub fn put_tag(&mut self, made: &[u8]) -> Result<(), Error> {
        match &mut self.work {
            Work::Seal { tag, .. } if tag.len() == made.len() => {
                tag.copy_from_slice(made);
                Ok(())
            }
            Work::Seal { .. } => Err(Error::TagLength),
            _ => Err(Error::Unsupported),
        }
    }

    /// For drivers: the tag that came with a message that is to be opened.
    #[must_use]
    pub fn tag(&self) -> Option<&'a [u8]> {
        match self.work {
            Work::Open { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// For drivers: what came of it.
    #[inline]
    pub fn settle(&mut self, outcome: Result<(), Error>) {
        *self.state_mut() = State { class: Class::SETTLED, outcome };
    }

    #[inline]
    pub(crate) fn state(&self) -> &State {
        match &self.work {
            Work::Encrypt(state, _)
            | Work::Decrypt(state, _)
            | Work::Seal { state, .. }
            | Work::Open { state, .. } => state,
        }
    }

    #[inline]
    fn state_mut(&mut self) -> &mut State {
        match &mut self.work {
            Work::Encrypt(state, _)
            | Work::Decrypt(state, _)
            | Work::Seal { state, .. }
            | Work::Open { state, .. } => state,
        }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("session", &self.session)
            .field("operation", &self.operation())
            .field("outcome", &self.outcome())
            .finish_non_exhaustive()
    }
}
