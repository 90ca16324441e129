//! Messages in flight, with their buffers.

use super::channel::Channel;
use super::window::Owner;
use crate::protocol::request::{Code, Request};
use crate::protocol::status;
use crate::shared::Mapping;
use crate::{Completion, Error, Message, Rejected};

/// The client's record of a message in flight.
pub(super) struct InFlight<B> {
    /// The number of its request.
    pub(super) number: u64,
    buffer: B,
    user: u64,
    /// The offset of the answer in the buffer, and the bytes that are before it in the arena.
    answer: usize,
    before: u32,
}

/// Writes a message to the ring.
#[inline]
pub(super) fn put<N: AsRef<[u8]>, B: AsMut<[u8]>>(
    channel: &mut Channel,
    message: Message<N, B>,
    owner: Owner,
) -> Result<InFlight<B>, Rejected<Message<N, B>>> {
    if let Err(reason) = channel.check_usable() {
        return Err(Rejected { value: message, reason });
    }
    let Message { mut buffer, user, header, nonce, code, session } = message;
    let bytes = buffer.as_mut();
    // The room for a nonce is in front of the header.
    let room = match (code, session) {
        (Code::SealNext, Some(session)) => session.nonce_length(),
        _ => 0,
    };
    let mut answer = room.saturating_add(header);
    let put = match bytes.len().checked_sub(answer) {
        None => Err(Error::Refused(lanecrypt_engine::Error::AadLength)),
        Some(mut length) => {
            if code.is_signature() {
                // All bytes before the signature are signed. The daemon refuses one that is too
                // short.
                let signature = session.map_or(0, |session| session.signature_length());
                length = length.min(signature);
                answer = bytes.len() - length;
            }
            let (apart, rest) = bytes.split_at(room);
            let request = Request {
                session: session.map_or(0, |session| session.number),
                code,
                nonce: if room > 0 { apart } else { nonce.as_ref() },
                header: answer - room,
                length,
            };
            channel.put(&request, owner, |memory, offset| {
                code == Code::Fill || memory.write(offset, rest)
            })
        }
    };
    match put {
        Ok(number) => {
            let before = if room > 0 { u32::try_from(answer).unwrap_or(0) } else { 0 };
            Ok(InFlight { number, buffer, user, answer, before })
        }
        Err(reason) => {
            let given = Message { buffer, user, header, nonce, code, session };
            Err(Rejected { value: given, reason })
        }
    }
}

impl<B> InFlight<B> {
    /// The completion with this outcome.
    #[inline]
    pub(super) fn completed(self, outcome: Result<(), Error>) -> Completion<B> {
        Completion::new(self.buffer, self.user, outcome)
    }
}

impl<B: AsMut<[u8]>> InFlight<B> {
    /// Copies the answer into the buffer, and returns the completion.
    #[inline]
    pub(super) fn read(&mut self, memory: &Mapping, offset: u32, status: u32) -> Result<(), Error> {
        // An answer with a nonce begins in front of the header.
        let (at, offset) = match self.before {
            0 => (self.answer, offset),
            before => (0, offset.saturating_sub(before)),
        };
        if status::changes(status)
            && let Some(room) = self.buffer.as_mut().get_mut(at..)
            && !memory.read(offset, room)
        {
            return Err(Error::Malformed);
        }
        status::outcome(status)
    }
}
