//! Requests whose data is borrowed, for calls that wait.

use lanecrypt_engine::{Nonce, Operation};

use super::Session;
use super::channel::Channel;
use super::window::Owner;
use crate::Error;
use crate::protocol::request::{Code, Request};
use crate::protocol::status;
use crate::shared::Mapping;

/// Room for the longest nonce.
const ROOM: [u8; 32] = [0; 32];

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
    code: Code,
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
        Self { session, code: Code::Keyed(operation), nonce, aad, data, outcome: None }
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
            code: self.code,
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
    whole: Whole<'a>,
    /// The nonce that came with the answer.
    made: Option<Nonce>,
}

impl<'a> WholeNext<'a> {
    pub(super) fn new(session: Session, aad: &'a [u8], data: &'a mut [u8]) -> Self {
        // The room for the nonce.
        let nonce = ROOM.get(..session.nonce_length()).unwrap_or_default();
        let whole = Whole {
            code: Code::SealNext,
            ..Whole::new(session.number, Operation::Seal, nonce, aad, data)
        };
        Self { whole, made: None }
    }

    pub(super) fn outcome(self) -> Result<Nonce, Error> {
        self.whole.outcome()?;
        self.made.ok_or(Error::Malformed)
    }
}

impl Part for WholeNext<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        self.whole.put(channel, owner)
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        self.whole.take(memory, offset, status);
        let mut bytes = ROOM;
        let Whole { nonce, aad, .. } = &self.whole;
        let before = u32::try_from(nonce.len() + aad.len()).ok();
        let at = before.and_then(|before| offset.checked_sub(before));
        if let (Some(at), Some(made)) = (at, bytes.get_mut(..nonce.len()))
            && memory.read(at, made)
        {
            self.made = Nonce::new(made).ok();
        }
    }

    fn settle(&mut self, outcome: Result<(), Error>) {
        self.whole.settle(outcome);
    }
}

/// A message or a digest to sign, or what the other side of a key exchange sent.
pub(super) struct Computing<'a> {
    session: u32,
    code: Code,
    input: &'a [u8],
    output: &'a mut [u8],
    outcome: Option<Result<(), Error>>,
}

impl<'a> Computing<'a> {
    pub(super) fn new(session: u32, code: Code, input: &'a [u8], output: &'a mut [u8]) -> Self {
        Self { session, code, input, output, outcome: None }
    }

    pub(super) fn outcome(self) -> Result<(), Error> {
        self.outcome.unwrap_or(Err(Error::Disconnected))
    }
}

/// Writes a request of an asymmetric key to the ring, with a received signature, or the length of
/// the room for the result.
pub(super) fn put_asymmetric(
    channel: &mut Channel,
    owner: Owner,
    (session, code): (u32, Code),
    input: &[u8],
    result: Result<&[u8], usize>,
) -> Result<(), Error> {
    let (length, header) = (result.map_or_else(|room| room, <[u8]>::len), input.len());
    let request = Request { session, code, nonce: &[], header, length };
    channel.put(&request, owner, |memory, offset| {
        memory.write(offset, input)
            && result.map_or(true, |came| memory.write(behind(offset, input), came))
    })?;
    Ok(())
}

impl Part for Computing<'_> {
    fn put(&mut self, channel: &mut Channel, owner: Owner) -> Result<(), Error> {
        let room = self.output.len();
        put_asymmetric(channel, owner, (self.session, self.code), self.input, Err(room))
    }

    fn take(&mut self, memory: &Mapping, offset: u32, status: u32) {
        let outcome = status::outcome(status);
        let read = outcome.is_err() || memory.read(offset, self.output);
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
        put_asymmetric(channel, owner, (self.session, code), self.message, Ok(self.signature))
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
