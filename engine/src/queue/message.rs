//! Messages for queues.

use core::fmt;

use super::SessionHandle;
use super::nonce::KeptNonce;
use crate::Operation;

/// The methods that messages of queues and of clients of the daemon share, except `Message::new`; a
/// parameter is the type that identifies a session.
#[doc(hidden)]
#[macro_export]
macro_rules! message_methods {
    ($session:ty) => {
        impl<N, B> Message<N, B> {
            /// A packet to seal in place: its last [`tag_length`](crate::Session::tag_length) bytes
            /// are room for the tag.
            ///
            /// **The nonce must not have been used before under the session's key.**
            #[inline(always)]
            pub fn seal(session: $session, nonce: N, packet: B) -> Self {
                Self::new(session, $crate::Operation::Seal, nonce, packet)
            }

            /// A packet to open in place. If it is authentic, the message is behind the header, and
            /// the tag behind the message; if not, the message is wiped.
            #[inline(always)]
            pub fn open(session: $session, nonce: N, packet: B) -> Self {
                Self::new(session, $crate::Operation::Open, nonce, packet)
            }

            /// A message to encrypt in place without a tag.
            #[inline(always)]
            pub fn encrypt(session: $session, iv: N, data: B) -> Self {
                Self::new(session, $crate::Operation::Encrypt, iv, data)
            }

            /// A message to decrypt in place without a tag.
            #[inline(always)]
            pub fn decrypt(session: $session, iv: N, data: B) -> Self {
                Self::new(session, $crate::Operation::Decrypt, iv, data)
            }

            /// The same message, whose first `bytes` bytes are left as they are. Sealing and
            /// opening authenticate them; to sign, verify and agree, they are taken like the rest.
            /// If the buffer is shorter, the message is refused with `Error::AadLength`.
            #[must_use]
            #[inline(always)]
            pub fn with_header(self, bytes: usize) -> Self {
                Self { header: bytes, ..self }
            }

            /// The same message with a number of the caller's choice, which its
            /// [`Completion`](super::Completion) returns. The default is 0.
            #[must_use]
            #[inline(always)]
            pub fn with_user(self, user: u64) -> Self {
                Self { user, ..self }
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
            /// A message to sign: the last
            /// [`signature_length`](crate::Session::signature_length) bytes of the buffer are room
            /// for the signature, and everything before them is the message.
            ///
            /// If the buffer is shorter than a signature, the message completes with
            /// `Error::OutputLength`.
            #[inline(always)]
            pub fn sign(session: $session, buffer: B) -> Self {
                Self::new(session, $crate::Operation::Sign, [], buffer)
            }

            /// A message whose signature is to be checked: the last
            /// [`signature_length`](crate::Session::signature_length) bytes of the buffer are the
            /// signature, and everything before them is the message.
            ///
            /// If the buffer is shorter than a signature, the message completes with
            /// `Error::Authentication`.
            #[inline(always)]
            pub fn verify(session: $session, buffer: B) -> Self {
                Self::new(session, $crate::Operation::Verify, [], buffer)
            }

            /// What the other side of a key exchange sent, for a shared secret: the last
            /// [`agreement_length`](crate::Session::agreement_length) bytes of the buffer are room
            /// for it, and everything before them is what was sent.
            ///
            /// If the buffer is shorter than that room, the message completes with
            /// `Error::OutputLength`.
            #[inline(always)]
            pub fn agree(session: $session, buffer: B) -> Self {
                Self::new(session, $crate::Operation::Agree, [], buffer)
            }
        }
    };
}

/// One message with its buffer, which it owns until the queue returns it.
///
/// The buffer is anything that holds bytes: a `Vec<u8>`, a `Box<[u8]>`, a buffer of a pool. A
/// packet to seal ends with room for its tag, and its [header](Self::with_header) comes first:
///
/// ```text
/// | header: authenticated, left as it is | message | room for the tag |
/// ```
///
/// The nonce is anything that has bytes: an array, or a reference to one. The queue copies it.
pub struct Message<N, B> {
    pub(super) buffer: B,
    pub(super) user: u64,
    pub(super) header: usize,
    pub(super) nonce: N,
    pub(super) operation: Operation,
    pub(super) session: SessionHandle,
}

message_methods!(SessionHandle);

impl<N, B> Message<N, B> {
    /// The longest nonce that a message can have, in bytes. A message with a longer one completes
    /// with [`Error::NonceLength`](crate::Error::NonceLength).
    pub const LONGEST_NONCE: usize = KeptNonce::LONGEST;

    /// A message with this operation. To sign, to verify and to agree, the nonce is empty: see
    /// [`sign`](Message::sign).
    #[inline(always)]
    pub fn new(session: SessionHandle, operation: Operation, nonce: N, buffer: B) -> Self {
        Self { buffer, user: 0, header: 0, nonce, operation, session }
    }

    /// The session that it is for.
    #[must_use]
    pub fn session(&self) -> SessionHandle {
        self.session
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }
}

impl<N, B> fmt::Debug for Message<N, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("session", &self.session)
            .field("operation", &self.operation)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}
