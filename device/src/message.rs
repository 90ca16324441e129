//! Messages that a client submits now and gets back later.

use core::fmt;

use lanecrypt_engine::Operation;

use crate::protocol::request::Code;
use crate::{Error, Session};

/// A request in flight. Each client counts its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

/// One request with its buffer, which it owns until its completion gives it back.
///
/// The buffer is anything that holds bytes, such as a `Vec<u8>`. A packet to seal ends with room for
/// its tag, and its [header](Self::with_header) comes first:
///
/// ```text
/// | header: authenticated, left as it is | message | room for the tag |
/// ```
pub struct Message<N, B> {
    pub(crate) buffer: B,
    pub(crate) user: u64,
    pub(crate) header: usize,
    pub(crate) nonce: N,
    pub(crate) code: Code,
    pub(crate) session: Option<Session>,
}

impl<N, B> Message<N, B> {
    /// A packet to seal in place: its last [`tag_length`](Session::tag_length) bytes are room for the
    /// tag.
    ///
    /// **The nonce must not have been used before under the session's key.**
    pub fn seal(session: Session, nonce: N, packet: B) -> Self {
        Self::new(session, Operation::Seal, nonce, packet)
    }

    /// A packet to open in place. If it is authentic, the message is behind the header, and the tag
    /// behind the message; if not, the message is wiped.
    pub fn open(session: Session, nonce: N, packet: B) -> Self {
        Self::new(session, Operation::Open, nonce, packet)
    }

    /// A message to encrypt in place without a tag.
    pub fn encrypt(session: Session, iv: N, data: B) -> Self {
        Self::new(session, Operation::Encrypt, iv, data)
    }

    /// A message to decrypt in place without a tag.
    pub fn decrypt(session: Session, iv: N, data: B) -> Self {
        Self::new(session, Operation::Decrypt, iv, data)
    }

    /// A message with this operation. To sign and to verify, the nonce is empty: see
    /// [`sign`](Message::sign).
    #[inline]
    pub fn new(session: Session, operation: Operation, nonce: N, buffer: B) -> Self {
        let code = Code::Keyed(operation);
        Self { buffer, user: 0, header: 0, nonce, code, session: Some(session) }
    }

    /// The same message, whose first `bytes` bytes are left as they are. Sealing and opening
    /// authenticate them, and they are signed like the rest. If the buffer is shorter, the message is
    /// refused with [`AadLength`](lanecrypt_engine::Error::AadLength).
    #[must_use]
    #[inline]
    pub fn with_header(self, bytes: usize) -> Self {
        Self { header: bytes, ..self }
    }

    /// The same message with a number of the caller's choice, which its [`Completion`] gives back.
    /// Without it the number is 0.
    #[must_use]
    #[inline]
    pub fn with_user(self, user: u64) -> Self {
        Self { user, ..self }
    }

    /// The session that it is for; `None` for random bytes.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        self.session
    }

    /// The operation; `None` for random bytes.
    #[must_use]
    pub fn operation(&self) -> Option<Operation> {
        self.code.operation()
    }

    /// The caller's number.
    #[must_use]
    pub fn user(&self) -> u64 {
        self.user
    }

    /// Its buffer.
    #[must_use]
    pub fn into_buffer(self) -> B {
        self.buffer
    }
}

impl<B> Message<[u8; 0], B> {
    /// A message to sign: the last [`signature_length`](Session::signature_length) bytes of the buffer
    /// are room for the signature, and everything before them is the message.
    ///
    /// If the buffer is shorter than a signature, the message completes with
    /// [`OutputLength`](lanecrypt_engine::Error::OutputLength).
    pub fn sign(session: Session, buffer: B) -> Self {
        Self::new(session, Operation::Sign, [], buffer)
    }

    /// The same with the digest of a message, made by the hash function of the session's padding. If
    /// it does not have the length of such a digest, the message completes with
    /// [`DataLength`](lanecrypt_engine::Error::DataLength).
    pub fn sign_digest(session: Session, buffer: B) -> Self {
        Self { code: Code::SignDigest, ..Self::sign(session, buffer) }
    }

    /// A message whose signature is to be checked: the last
    /// [`signature_length`](Session::signature_length) bytes of the buffer are the signature, and
    /// everything before them is the message.
    ///
    /// If the buffer is shorter than a signature, the message completes with
    /// [`Authentication`](lanecrypt_engine::Error::Authentication).
    pub fn verify(session: Session, buffer: B) -> Self {
        Self::new(session, Operation::Verify, [], buffer)
    }

    /// A buffer to fill with random bytes of the daemon's generator.
    pub fn fill(buffer: B) -> Self {
        Self { buffer, user: 0, header: 0, nonce: [], code: Code::Fill, session: None }
    }
}

impl<N, B> fmt::Debug for Message<N, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("session", &self.session)
            .field("code", &self.code)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// A message that the daemon has answered, with its outcome and its buffer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion<B> {
    /// The message's buffer. It is as it was submitted after any error but that of authentication,
    /// which wipes the message.
    pub buffer: B,
    /// The message's [number](Message::with_user).
    pub user: u64,
    /// Whether the message has been served.
    pub outcome: Result<(), Error>,
}

/// A message that a client did not take, and why.
pub struct NotTaken<M> {
    /// The message, as it was given.
    pub given: M,
    /// Why.
    pub reason: Error,
}

impl<M> fmt::Debug for NotTaken<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotTaken").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<M> fmt::Display for NotTaken<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<M> core::error::Error for NotTaken<M> {}
