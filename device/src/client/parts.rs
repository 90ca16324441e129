//! Requests whose data is borrowed, for calls that wait.

use lanecrypt_engine::{Nonce, Operation};

use super::Session;
use super::channel::Channel;
use super::window::Owner;
use crate::Error;
use crate::protocol::request::{Code, Request};
use crate::protocol::status;
use crate::shared::Mapping;

/// The length of the longest nonce in bytes.
const LONGEST_NONCE: usize = 32;

/// A request of a call that waits.
pub(super) trait Part {
    /// Writes the request to the ring, and its bytes to the arena.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if it is to be retried after other completions; otherwise its outcome.
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error>;

    /// Takes the answer, whose message begins at this offset.
    fn take(&mut self, memory: &Mapping, offset: u32, status: u32);

    /// Sets its outcome without an answer.
    fn settle(&mut self, outcome: Result<(), Error>);
}

/// The offset after the associated data.
#[inline]
pub(super) fn behind(offset: u32, aad: &[u8]) -> u32 {
    // The request is within the arena, which has less than 2^32 bytes.
    offset.saturating_add(u32::try_from(aad.len()).unwrap_or(u32::MAX))
}

/// One message in place.
pub(super) struct Whole<'a> {
    session: u32,
    operation: Operation,
    nonce: &'a [u8],
    aad: &'a [u8],
    data: &'a mut [u8],
    outcome: Option<Result<(), Error>>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(
        session: u32,
        operation: Operation,
        nonce: &'a [u8],
        aad: &'a [u8],
        data: &'a mut [u8],
    ) -> Self {
        Self { session, operation, nonce, aad, data, outcome: None }
    }

    pub(super) fn outcome(self) -> Result<(), Error> {
        self.outcome.unwrap_or(Err(Error::Disconnected))
    }
}

impl Part for Whole<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let Self { aad, data, .. } = self;
        let request = Request {
            session: self.session,
            code: Code::Keyed(self.operation),
            nonce: self.nonce,
            header: aad.len(),
            length: data.len(),
        };
        channel.put(&request, owner, |memory, offset| {
            memory.write(offset, aad) && memory.write(behind(offset, aad), data)
        })?;
        Ok(())
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        let outcome = status::outcome(status);
        let read = !status::changes(status) || memory.read(offset, self.data);
        self.outcome = Some(if read { outcome } else { Err(Error::Malformed) });
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        self.outcome = Some(outcome);
    }
}

/// One message in place, with a nonce that the daemon makes.
pub(super) struct WholeNext<'a> {
    session: Session,
    aad: &'a [u8],
    data: &'a mut [u8],
    /// The nonce in its place.
    outcome: Option<Result<Nonce, Error>>,
}

impl<'a> WholeNext<'a> {
    pub(super) fn new(session: Session, aad: &'a [u8], data: &'a mut [u8]) -> Self {
        Self { session, aad, data, outcome: None }
    }

    pub(super) fn outcome(self) -> Result<Nonce, Error> {
        self.outcome.unwrap_or(Err(Error::Disconnected))
    }

    fn read(&mut self, memory: &Mapping, offset: u32) -> Option<Nonce> {
        let mut bytes = [0; LONGEST_NONCE];
        let nonce = bytes.get_mut(..self.session.nonce_length())?;
        let before = u32::try_from(nonce.len() + self.aad.len()).ok()?;
        let is_read =
            memory.read(offset.checked_sub(before)?, nonce) && memory.read(offset, self.data);
        if is_read { Nonce::new(nonce).ok() } else { None }
    }
}

impl Part for WholeNext<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let Self { session, aad, data, .. } = self;
        let room = [0; LONGEST_NONCE];
        let request = Request {
            session: session.number,
            code: Code::SealNext,
            nonce: room.get(..session.nonce_length()).unwrap_or_default(),
            header: aad.len(),
            length: data.len(),
        };
        channel.put(&request, owner, |memory, offset| {
            memory.write(offset, aad) && memory.write(behind(offset, aad), data)
        })?;
        Ok(())
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        let read = |()| self.read(memory, offset).ok_or(Error::Malformed);
        self.outcome = Some(status::outcome(status).and_then(read));
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        self.outcome = outcome.err().map(Err);
    }
}

/// A message or a digest to sign.
pub(super) struct Signing<'a> {
    session: u32,
    code: Code,
    message: &'a [u8],
    signature: &'a mut [u8],
    outcome: Option<Result<(), Error>>,
}

impl<'a> Signing<'a> {
    pub(super) fn new(session: u32, message: &'a [u8], signature: &'a mut [u8]) -> Self {
        let code = Code::Keyed(Operation::Sign);
        Self { session, code, message, signature, outcome: None }
    }

    /// The same with a digest.
    pub(super) fn of_digest(session: u32, digest: &'a [u8], signature: &'a mut [u8]) -> Self {
        Self { code: Code::SignDigest, ..Self::new(session, digest, signature) }
    }

    pub(super) fn outcome(self) -> Result<(), Error> {
        self.outcome.unwrap_or(Err(Error::Disconnected))
    }
}

/// Writes a request for a signature to the ring: a received one, or the room for one.
pub(super) fn put_signature(
    channel: &mut Channel,
    owner: Owner,
    (session, code): (u32, Code),
    message: &[u8],
    signature: Result<&[u8], usize>,
) -> Result<(), Error> {
    let (length, header) = (signature.map_or_else(|room| room, <[u8]>::len), message.len());
    let request = Request { session, code, nonce: &[], header, length };
    channel.put(&request, owner, |memory, offset| {
        memory.write(offset, message)
            && signature.map_or(true, |came| memory.write(behind(offset, message), came))
    })?;
    Ok(())
}

impl Part for Signing<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let room = self.signature.len();
        put_signature(channel, owner, (self.session, self.code), self.message, Err(room))
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        let outcome = status::outcome(status);
        let read = outcome.is_err() || memory.read(offset, self.signature);
        self.outcome = Some(if read { outcome } else { Err(Error::Malformed) });
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        self.outcome = Some(outcome);
    }
}

/// A signature to check.
pub(super) struct Checking<'a> {
    session: u32,
    message: &'a [u8],
    signature: &'a [u8],
    outcome: Option<Result<(), Error>>,
}

impl<'a> Checking<'a> {
    pub(super) fn new(session: u32, message: &'a [u8], signature: &'a [u8]) -> Self {
        Self { session, message, signature, outcome: None }
    }

    pub(super) fn outcome(self) -> Result<(), Error> {
        self.outcome.unwrap_or(Err(Error::Disconnected))
    }
}

impl Part for Checking<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let code = Code::Keyed(Operation::Verify);
        put_signature(channel, owner, (self.session, code), self.message, Ok(self.signature))
    }

    fn take(&mut self, _memory: &Mapping, _offset: u32, status: u32) {
        self.outcome = Some(status::outcome(status));
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        self.outcome = Some(outcome);
    }
}

/// Room for random bytes.
pub(super) struct Filling<'a> {
    room: &'a mut [u8],
    outcome: Option<Result<(), Error>>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(room: &'a mut [u8]) -> Self {
        Self { room, outcome: None }
    }

    pub(super) fn outcome(&self) -> Result<(), Error> {
        self.outcome.unwrap_or(Err(Error::Disconnected))
    }
}

impl Part for Filling<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let length = self.room.len();
        let request = Request { session: 0, code: Code::Fill, nonce: &[], header: 0, length };
        channel.put(&request, owner, |_, _| true)?;
        Ok(())
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        let outcome = status::outcome(status);
        let read = outcome.is_err() || memory.read(offset, self.room);
        self.outcome = Some(if read { outcome } else { Err(Error::Malformed) });
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        self.outcome = Some(outcome);
    }
}
