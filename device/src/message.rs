//! Messages that a client submits now and receives back later.

use core::fmt;

use lanecrypt_engine::{Operation, message_methods, queue};

use crate::protocol::request::Code;
use crate::{Error, Session};

/// A request in flight. Each client counts its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

/// One request with its buffer, which it owns until its completion returns it.
///
/// The buffer is anything that holds bytes, such as a `Vec<u8>`. A packet to seal ends with room
/// for its tag, and its [header](Self::with_header) comes first:
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

message_methods!(Session);

impl<N, B> Message<N, B> {
    /// A message with this operation. To sign, to verify and to agree, the nonce is empty: see
    /// [`sign`](Message::sign).
    #[inline]
    pub fn new(session: Session, operation: Operation, nonce: N, buffer: B) -> Self {
        let code = Code::Keyed(operation);
        Self { buffer, user: 0, header: 0, nonce, code, session: Some(session) }
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
}

impl<B> Message<[u8; 0], B> {
    /// The same as [`sign`](Self::sign) with the digest of a message, computed with the hash
    /// function of the session's padding, or with SHA-256 for ECDSA. If it does not have the length
    /// of such a digest, the message completes with
    /// [`DataLength`](lanecrypt_engine::Error::DataLength).
    pub fn sign_digest(session: Session, buffer: B) -> Self {
        Self { code: Code::SignDigest, ..Self::sign(session, buffer) }
    }

    /// A message to seal with a nonce that the daemon makes, as
    /// [`Client::seal_next`](crate::Client::seal_next) does. The daemon writes the nonce to the
    /// front of the buffer, which has room for it:
    ///
    /// ```text
    /// | room for the nonce | header | message | room for the tag |
    /// ```
    pub fn seal_next(session: Session, buffer: B) -> Self {
        Self { code: Code::SealNext, ..Self::new(session, Operation::Seal, [], buffer) }
    }

    /// A buffer to fill with random bytes from the daemon's generator.
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

/// A message that the daemon completed, with its outcome and its buffer.
///
/// After an error the buffer is unchanged, except after that of authentication, which wipes the
/// message.
pub type Completion<B> = queue::Completion<B, Error>;

/// A message that a client rejected, with the reason.
pub type Rejected<M> = queue::Rejected<M, Error>;
