//! The place of a message in a queue.

use core::mem;

use lanecrypt_ciphers::Error;

use super::nonce::KeptNonce;
use super::{Completion, Message, MessageError, SessionHandle};
use crate::session::work::Work;
use crate::{Operation, Session};

/// A message that waits, or one that has been served, or nothing.
pub(super) struct Slot<B> {
    pub(super) buffer: Option<B>,
    pub(super) user: u64,
    /// `None` while the message waits.
    pub(super) outcome: Option<Result<(), MessageError>>,
    // The following fields are those of the last message that waited here.
    pub(super) operation: Operation,
    pub(super) session: SessionHandle,
    pub(super) header: usize,
    pub(super) nonce: KeptNonce,
    pub(super) nonce_length: u8,
}

/// With a buffer of two words it is one cache line, the unit of transfer to a worker.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Slot<Box<[u8]>>>() == 64);

impl<B> Slot<B> {
    pub(super) const fn empty() -> Self {
        Self {
            buffer: None,
            user: 0,
            outcome: None,
            operation: Operation::Encrypt,
            session: SessionHandle::NONE,
            header: 0,
            nonce: KeptNonce::NONE,
            nonce_length: 0,
        }
    }

    /// A message that waits.
    #[inline(always)]
    pub(super) fn of(message: Message<impl AsRef<[u8]>, B>) -> Self {
        let Message { buffer, user, header, nonce, operation, session } = message;
        let (buffer, (nonce, nonce_length)) = (Some(buffer), KeptNonce::new(nonce.as_ref()));
        Self { buffer, user, outcome: None, operation, session, header, nonce, nonce_length }
    }

    /// Stores a message that waits.
    //
    // Field by field, so that fields are stored directly from registers. A message in memory would
    // be copied, and the copy would stall on the preceding stores.
    #[inline(always)]
    pub(super) fn wait(&mut self, message: Message<impl AsRef<[u8]>, B>) {
        let Message { buffer, user, header, nonce, operation, session } = message;
        self.hold(buffer);
        self.user = user;
        self.outcome = None;
        self.operation = operation;
        self.session = session;
        self.header = header;
        (self.nonce, self.nonce_length) = KeptNonce::new(nonce.as_ref());
    }

    /// Stores a message that was already served.
    #[inline(always)]
    pub(super) fn settle(&mut self, buffer: B, user: u64, outcome: Result<(), MessageError>) {
        self.hold(buffer);
        self.user = user;
        self.outcome = Some(outcome);
    }

    /// Takes a buffer. The slot is empty, so that nothing has to be dropped: the code for that
    /// would cost a fifth of a message without work.
    #[inline(always)]
    fn hold(&mut self, buffer: B) {
        debug_assert!(self.buffer.is_none(), "a message is still there");
        mem::forget(self.buffer.replace(buffer));
    }

    /// Whether its message is to be returned.
    #[inline(always)]
    pub(super) fn is_done(&self) -> bool {
        self.outcome.is_some() && self.buffer.is_some()
    }

    /// Whether a message waits here.
    #[inline(always)]
    pub(super) fn waits(&self) -> bool {
        self.outcome.is_none() && self.buffer.is_some()
    }

    /// Returns the message, if it was served.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<Completion<B>> {
        let outcome = self.outcome?;
        let buffer = self.buffer.take()?;
        Some(Completion { buffer, user: self.user, outcome })
    }
}

impl<B: AsMut<[u8]>> Slot<B> {
    /// The nonce of its message, if it was not too long to be stored, and the bytes of its buffer.
    #[inline(always)]
    pub(super) fn parts(&mut self) -> (Option<&[u8]>, &mut [u8]) {
        let bytes = self.buffer.as_mut().map(B::as_mut).unwrap_or_default();
        (self.nonce.bytes(self.nonce_length), bytes)
    }

    /// Serves its message without lanes.
    pub(super) fn serve(&mut self, session: &Session) {
        let (operation, header) = (self.operation, self.header);
        let (nonce, bytes) = self.parts();
        let serve = |nonce| serve(session, operation, nonce, header, bytes);
        let outcome = nonce.ok_or(Error::NonceLength).and_then(serve);
        self.outcome = Some(outcome.map_err(MessageError::Refused));
    }

    /// Its nonce and its work, for a batch; an error if it cannot be begun.
    #[inline(always)]
    pub(super) fn work(&mut self, session: &Session) -> Result<(&[u8], Work<'_>), Error> {
        let (operation, header) = (self.operation, self.header);
        let (nonce, bytes) = self.parts();
        let nonce = nonce.ok_or(Error::NonceLength)?;
        if operation.is_asymmetric() {
            let (input, result) = asymmetric(session, operation, nonce, header, bytes)?;
            let work = match operation {
                Operation::Sign => Work::sign(session, input, result),
                Operation::Verify => Work::verify(session, input, result),
                _ => Work::agree(session, input, result),
            };
            return Ok((nonce, work));
        }
        let (header, data) = bytes.split_at_mut_checked(header).ok_or(Error::AadLength)?;
        let work = match operation {
            Operation::Seal | Operation::Open => Work::packet(session, operation, header, data),
            _ => Work::raw(session, operation, data.into()),
        };
        Ok((nonce, work))
    }
}

/// The length of a message in bytes; of a packet without a tag of 16 bytes, because only costs
/// depend on it.
#[inline(always)]
pub(super) fn message_bytes(operation: Operation, header: usize, buffer: &[u8]) -> usize {
    let bytes = buffer.len().saturating_sub(header);
    match operation {
        Operation::Seal | Operation::Open => bytes.saturating_sub(16),
        _ => bytes,
    }
}

/// Serves a message without lanes.
#[inline(always)]
pub(super) fn serve(
    session: &Session,
    operation: Operation,
    nonce: &[u8],
    header: usize,
    buffer: &mut [u8],
) -> Result<(), Error> {
    if operation.is_asymmetric() {
        return serve_asymmetric(session, operation, nonce, header, buffer);
    }
    if nonce.len() > KeptNonce::LONGEST {
        return Err(Error::NonceLength);
    }
    let (header, data) = buffer.split_at_mut_checked(header).ok_or(Error::AadLength)?;
    match operation {
        Operation::Seal => session.seal(nonce, header, data),
        Operation::Open => session.open(nonce, header, data).map(|_| ()),
        Operation::Encrypt => session.encrypt(nonce, data),
        Operation::Decrypt => session.decrypt(nonce, data),
        // They are split in another way.
        Operation::Sign | Operation::Verify | Operation::Agree => Err(Error::Unsupported),
    }
}

#[cold]
#[inline(never)]
fn serve_asymmetric(
    session: &Session,
    operation: Operation,
    nonce: &[u8],
    header: usize,
    buffer: &mut [u8],
) -> Result<(), Error> {
    let (input, result) = asymmetric(session, operation, nonce, header, buffer)?;
    match operation {
        Operation::Sign => session.sign(input, result),
        Operation::Verify => session.verify(input, result),
        _ => session.agree(input, result),
    }
}

/// What comes in with its header, and behind it a signature, or the room for the result.
fn asymmetric<'b>(
    session: &Session,
    operation: Operation,
    nonce: &[u8],
    header: usize,
    buffer: &'b mut [u8],
) -> Result<(&'b [u8], &'b mut [u8]), Error> {
    if !session.has_asymmetric(operation) {
        return Err(Error::Unsupported);
    }
    if !nonce.is_empty() {
        return Err(Error::NonceLength);
    }
    let behind = buffer.len().checked_sub(header).ok_or(Error::AadLength)?;
    let length = match operation {
        Operation::Agree => session.agreement_length(),
        _ => session.signature_length(),
    };
    if behind < length {
        let is_room = operation != Operation::Verify;
        return Err(if is_room { Error::OutputLength } else { Error::Authentication });
    }
    let (input, result) = buffer.split_at_mut(buffer.len() - length);
    Ok((input, result))
}
