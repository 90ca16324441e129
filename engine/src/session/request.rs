//! A request: one message to encrypt, decrypt, seal, open or sign, a signature to check, or a
//! secret to agree on.

use core::fmt;

use lanecrypt_ciphers::Error;

use super::Session;
use super::entry::Entry;
use super::work::Work;
use crate::class::Class;
use crate::{Data, Operation};

/// One message and the operation on it, under the key of a session.
///
/// A request is served once: [`process`](crate::Engine::process) leaves a request that has an
/// [`outcome`](Self::outcome) as it is. (Sealing a message in place twice under one nonce would
/// restore the plaintext.) It may be sent to another thread.
///
/// A caller that produces messages one after another needs no slice of requests: filling a
/// [`Batch`](crate::Batch) costs less.
#[must_use = "a request is served by `Engine::process`"]
pub struct Request<'a> {
    pub(crate) session: &'a Session,
    pub(crate) nonce: &'a [u8],
    pub(crate) work: Work<'a>,
}

impl<'a> Request<'a> {
    /// Seals a message in place: **the last [`tag_length`](Session::tag_length) bytes are room for
    /// the tag and are overwritten**; the bytes before them are the message.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        buffer: &'a mut [u8],
    ) -> Self {
        let work = Work::packet(session, Operation::Seal, aad, buffer);
        Self { session, nonce, work }
    }

    /// Opens a packet in place. If it is authentic, the message is at its front; if not, the
    /// message is wiped.
    #[inline]
    pub fn open(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Self {
        let work = Work::packet(session, Operation::Open, aad, packet);
        Self { session, nonce, work }
    }

    /// Encrypts a message, in place or from one slice to another, and writes its tag, of
    /// [`tag_length`](Session::tag_length) bytes.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal_detached(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: impl Into<Data<'a>>,
        tag: &'a mut [u8],
    ) -> Self {
        Self { session, nonce, work: Work::seal(session, aad, data.into(), tag) }
    }

    /// Decrypts a message, in place or from one slice to another, if its tag is valid; if not, the
    /// output is wiped.
    #[inline]
    pub fn open_detached(
        session: &'a Session,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: impl Into<Data<'a>>,
        tag: &'a [u8],
    ) -> Self {
        Self { session, nonce, work: Work::open(session, aad, data.into(), tag) }
    }

    /// Encrypts a message without a tag, in place or from one slice to another, with a session of
    /// [`raw_session`](crate::Engine::raw_session).
    #[inline]
    pub fn encrypt(session: &'a Session, iv: &'a [u8], data: impl Into<Data<'a>>) -> Self {
        let work = Work::raw(session, Operation::Encrypt, data.into());
        Self { session, nonce: iv, work }
    }

    /// Decrypts a message without a tag, in place or from one slice to another, with a session of
    /// [`raw_session`](crate::Engine::raw_session).
    #[inline]
    pub fn decrypt(session: &'a Session, iv: &'a [u8], data: impl Into<Data<'a>>) -> Self {
        let work = Work::raw(session, Operation::Decrypt, data.into());
        Self { session, nonce: iv, work }
    }

    /// Signs a message into `signature`, which has
    /// [`signature_length`](Session::signature_length) bytes.
    ///
    /// A session without a private key refuses it with [`Error::Unsupported`].
    #[inline]
    pub fn sign(session: &'a Session, message: &'a [u8], signature: &'a mut [u8]) -> Self {
        Self { session, nonce: &[], work: Work::sign(session, message, signature) }
    }

    /// Checks the signature of a message.
    ///
    /// A session without a key of signatures refuses it with [`Error::Unsupported`].
    #[inline]
    pub fn verify(session: &'a Session, message: &'a [u8], signature: &'a [u8]) -> Self {
        Self { session, nonce: &[], work: Work::verify(session, message, signature) }
    }

    /// Computes a shared secret from what the other side sent, and writes it to `output`, which has
    /// [`agreement_length`](Session::agreement_length) bytes: see
    /// `AsymmetricKey`.
    ///
    /// A session without a key of key exchange refuses it with [`Error::Unsupported`].
    #[inline]
    pub fn agree(session: &'a Session, received: &'a [u8], output: &'a mut [u8]) -> Self {
        Self { session, nonce: &[], work: Work::agree(session, received, output) }
    }

    /// The outcome; `None` before the request has been processed.
    ///
    /// The errors are those of the session's method of the same name. After an error the output is
    /// unchanged, except that [`Error::Authentication`] wipes it.
    #[must_use]
    pub fn outcome(&self) -> Option<Result<(), Error>> {
        self.work.state.outcome
    }

    /// The session that holds its key.
    #[must_use]
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.class().operation()
    }

    #[inline]
    pub(crate) fn class(&self) -> Class {
        self.work.state.class
    }
}

impl<'a> Entry<'a> for Request<'a> {
    #[inline]
    fn work(&self) -> &Work<'a> {
        &self.work
    }

    #[inline(always)]
    fn parts(&mut self) -> (&Session, &[u8], &mut Work<'a>) {
        (self.session, self.nonce, &mut self.work)
    }

    #[inline]
    fn session(&self) -> &'a Session {
        self.session
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

/// A request may be sent to another thread and back.
const _: () = {
    const fn sent<T: Send + Sync>() {}
    sent::<Request<'_>>();
};
