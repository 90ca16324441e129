//! Messages in flight, with their buffers.

use lanecrypt_engine::Operation;

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
    if message.code == Code::SealNext {
        return put_next(channel, message, owner);
    }
    let Message { mut buffer, user, header, nonce, code, session } = message;
    let bytes = buffer.as_mut();
    let mut answer = header;
    let put = match bytes.len().checked_sub(header) {
        None => Err(Error::Refused(lanecrypt_engine::Error::AadLength)),
        Some(mut length) => {
            if code.is_asymmetric() {
                // All bytes before the result are its input. The daemon refuses room that is too
                // short.
                let result = session.map_or(0, |session| match code {
                    Code::Keyed(Operation::Agree) => session.agreement_length(),
                    _ => session.signature_length(),
                });
                length = length.min(result);
                answer = bytes.len() - length;
            }
            let request = Request {
                session: session.map_or(0, |session| session.number),
                code,
                nonce: nonce.as_ref(),
                header: answer,
                length,
            };
            channel.put(&request, owner, |memory, offset| {
                code == Code::Fill || memory.write(offset, bytes)
            })
        }
    };
    match put {
        Ok(number) => Ok(InFlight { number, buffer, user, answer, before: 0 }),
        Err(reason) => {
            let given = Message { buffer, user, header, nonce, code, session };
            Err(Rejected { value: given, reason })
        }
    }
}

/// The same for a message whose nonce the daemon makes: the room for it is in front of the header.
/// Apart, because a nonce from one of two places costs every message 150 instructions more.
#[cold]
#[inline(never)]
fn put_next<N, B: AsMut<[u8]>>(
    channel: &mut Channel,
    mut message: Message<N, B>,
    owner: Owner,
) -> Result<InFlight<B>, Rejected<Message<N, B>>> {
    let room = message.session.map_or(0, |session| session.nonce_length());
    let answer = room.saturating_add(message.header);
    let bytes = message.buffer.as_mut();
    let put = match (bytes.len().checked_sub(answer), bytes.split_at_checked(room)) {
        (Some(length), Some((nonce, rest))) => {
            let session = message.session.map_or(0, |session| session.number);
            let (code, header) = (message.code, message.header);
            let request = Request { session, code, nonce, header, length };
            channel.put(&request, owner, |memory, offset| memory.write(offset, rest))
        }
        _ => Err(Error::Refused(lanecrypt_engine::Error::AadLength)),
    };
    match put {
        Ok(number) => {
            let before = u32::try_from(answer).unwrap_or(0);
            let Message { buffer, user, .. } = message;
            Ok(InFlight { number, buffer, user, answer, before })
        }
        Err(reason) => Err(Rejected { value: message, reason }),
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
