//! A batch that is served while it is filled.

mod buffer;

use core::fmt;
use core::mem::forget;

use lanecrypt_ciphers::Error;

pub use self::buffer::BatchBuffer;
use crate::lanes::Lanes;
use crate::session::waiting::{self, Memory, Waiting};
use crate::session::work::Work;
use crate::{BatchError, Data, Operation, Session};

/// Messages of any sessions, algorithms, lengths and directions, served while they are added.
///
/// Some messages do not benefit from lanes: all messages of AES-GCM and AES-CTR, and long ones (see
/// [`Lanes`](crate::Lanes::ranges)). The call that adds such a message serves it at once and
/// returns its outcome. The other messages wait and run in lanes together, when the buffer is full
/// or at [`finish`](Self::finish); the call that adds one returns `None`. The previous batch
/// predicts the number of messages, which determines the lengths that wait.
///
/// **Until the batch is finished, waiting messages are neither encrypted nor authenticated.**
/// Dropping a batch also serves them, but reports nothing.
// Two words, so that it is passed in registers. `finish` would copy a larger one, with loads that
// are wider than the preceding stores and so stall on them.
#[must_use = "what waits is served by `finish`"]
pub struct Batch<'r, 'a> {
    buffer: &'r mut BatchBuffer,
    /// The buffer's memory, once a message waits.
    waiting: Option<Memory<'a>>,
}

impl<'r, 'a> Batch<'r, 'a> {
    #[inline(always)]
    fn new(buffer: &'r mut BatchBuffer) -> Self {
        Self { buffer, waiting: None }
    }

    /// Seals a message in place, as [`Session::seal`] does: **the last
    /// [`tag_length`](Session::tag_length) bytes are room for the tag and are overwritten**.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        buffer: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        self.packet(Operation::Seal, session, nonce, aad, buffer)
    }

    /// Opens a packet in place, as [`Session::open`] does. If it is authentic, the message is at
    /// its front; if not, the message is wiped.
    #[inline]
    pub fn open(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        self.packet(Operation::Open, session, nonce, aad, packet)
    }

    /// Encrypts a message and writes its tag, as [`Session::seal_detached`] does.
    ///
    /// **The nonce must not have been used before under the session's key.**
    #[inline]
    pub fn seal_detached(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        data: impl Into<Data<'a>>,
        tag: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        let data = data.into();
        if self.runs_now(session.kind(Operation::Seal), data.len()) {
            let outcome = session.seal_detached(nonce, aad, data, tag);
            return self.served(outcome);
        }
        let (from, to) = data.parts();
        self.seal_batched(session, nonce, aad, from, to, tag)
    }

    /// Decrypts a message if its tag is valid, as [`Session::open_detached`] does; if not, the
    /// output is wiped.
    #[inline]
    pub fn open_detached(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        data: impl Into<Data<'a>>,
        tag: &'a [u8],
    ) -> Option<Result<(), Error>> {
        let data = data.into();
        if self.runs_now(session.kind(Operation::Open), data.len()) {
            let outcome = session.open_detached(nonce, aad, data, tag);
            return self.served(outcome);
        }
        let (from, to) = data.parts();
        self.open_batched(session, nonce, aad, from, to, tag)
    }

    /// Encrypts a message without a tag, as [`Session::encrypt`] does.
    #[inline]
    pub fn encrypt(
        &mut self,
        session: &'a Session,
        iv: &[u8],
        data: impl Into<Data<'a>>,
    ) -> Option<Result<(), Error>> {
        self.raw(Operation::Encrypt, session, iv, data.into())
    }

    /// Decrypts a message without a tag, as [`Session::decrypt`] does.
    #[inline]
    pub fn decrypt(
        &mut self,
        session: &'a Session,
        iv: &[u8],
        data: impl Into<Data<'a>>,
    ) -> Option<Result<(), Error>> {
        self.raw(Operation::Decrypt, session, iv, data.into())
    }

    /// Signs a message, as [`Session::sign`] does. The signatures of a batch wait and are computed
    /// together, after the messages of ciphers.
    pub fn sign(
        &mut self,
        session: &'a Session,
        message: &'a [u8],
        signature: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        self.asymmetric(session, Work::sign(session, message, signature))
    }

    /// Checks the signature of a message, as [`Session::verify`] does. The signatures of a batch
    /// wait and are checked together, after the messages of ciphers.
    pub fn verify(
        &mut self,
        session: &'a Session,
        message: &'a [u8],
        signature: &'a [u8],
    ) -> Option<Result<(), Error>> {
        self.asymmetric(session, Work::verify(session, message, signature))
    }

    /// Computes a shared secret, as [`Session::agree`] does. The key exchanges of a batch wait and
    /// are computed together, after the messages of ciphers.
    pub fn agree(
        &mut self,
        session: &'a Session,
        received: &'a [u8],
        output: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        self.asymmetric(session, Work::agree(session, received, output))
    }

    /// The number of messages so far, which is the index of the next one.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether there are no messages yet.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Serves the waiting messages. [`BatchBuffer::outcomes`] has the outcome of each message.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if at least one message of the batch failed.
    #[inline(always)]
    pub fn finish(mut self) -> Result<(), BatchError> {
        self.end();
        let failed = self.buffer.failed();
        // The batch is finished and has returned its memory.
        forget(self);
        if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
    }

    /// Seals or opens a packet in place.
    #[inline(always)]
    fn packet(
        &mut self,
        operation: Operation,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        if self.runs_now(session.kind(operation), packet.len().saturating_sub(16)) {
            let outcome = packet_alone(operation, session, nonce, aad, packet);
            return self.served(outcome);
        }
        self.packet_batched(operation, session, nonce, aad, packet)
    }

    /// Encrypts or decrypts a message without a tag.
    #[inline(always)]
    fn raw(
        &mut self,
        operation: Operation,
        session: &'a Session,
        iv: &[u8],
        data: Data<'a>,
    ) -> Option<Result<(), Error>> {
        if self.runs_now(session.kind(operation), data.len()) {
            let outcome = raw_alone(operation, session, iv, data);
            return self.served(outcome);
        }
        let (from, to) = data.parts();
        self.raw_batched(operation, session, iv, from, to)
    }

    /// Adds a request of an asymmetric key to those that wait, unless it was refused.
    fn asymmetric(&mut self, session: &'a Session, work: Work<'a>) -> Option<Result<(), Error>> {
        match work.state.outcome {
            Some(refused) => self.served(refused),
            None => self.wait(session, &[], work),
        }
    }

    /// Whether a message does not benefit from lanes.
    #[inline(always)]
    fn runs_now(&mut self, kind: u8, bytes: usize) -> bool {
        kind == Lanes::ALONE || self.buffer.runs_now(kind, bytes)
    }

    #[inline(always)]
    fn served(&mut self, outcome: Result<(), Error>) -> Option<Result<(), Error>> {
        self.buffer.served(outcome);
        Some(outcome)
    }

    // Messages that may run in lanes are not inlined, so that a loop over messages that never do
    // stays small. The slices are passed one by one, in registers: a struct in memory would be
    // copied, and the copy would stall on the stores that made the struct.

    #[inline(never)]
    fn packet_batched(
        &mut self,
        operation: Operation,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        packet: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        if self.waits(session, operation, nonce, packet.len().saturating_sub(16)) {
            return self.wait(session, nonce, Work::packet(session, operation, aad, packet));
        }
        self.alone(session, || packet_alone(operation, session, nonce, aad, packet))
    }

    #[inline(never)]
    fn seal_batched(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        from: Option<&'a [u8]>,
        to: &'a mut [u8],
        tag: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        let data = Data::of_parts(from, to);
        if self.waits(session, Operation::Seal, nonce, data.len()) {
            return self.wait(session, nonce, Work::seal(session, aad, data, tag));
        }
        self.alone(session, || session.seal_detached(nonce, aad, data, tag))
    }

    #[inline(never)]
    fn open_batched(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        aad: &'a [u8],
        from: Option<&'a [u8]>,
        to: &'a mut [u8],
        tag: &'a [u8],
    ) -> Option<Result<(), Error>> {
        let data = Data::of_parts(from, to);
        if self.waits(session, Operation::Open, nonce, data.len()) {
            return self.wait(session, nonce, Work::open(session, aad, data, tag));
        }
        self.alone(session, || session.open_detached(nonce, aad, data, tag))
    }

    #[inline(never)]
    fn raw_batched(
        &mut self,
        operation: Operation,
        session: &'a Session,
        iv: &[u8],
        from: Option<&'a [u8]>,
        to: &'a mut [u8],
    ) -> Option<Result<(), Error>> {
        let data = Data::of_parts(from, to);
        if self.waits(session, operation, iv, data.len()) {
            return self.wait(session, iv, Work::raw(session, operation, data));
        }
        self.alone(session, || raw_alone(operation, session, iv, data))
    }

    /// Serves a message that does not wait. If its driver panics, it has no outcome.
    #[inline(always)]
    fn alone(
        &mut self,
        session: &Session,
        serve: impl FnOnce() -> Result<(), Error>,
    ) -> Option<Result<(), Error>> {
        if session.route().is_none() {
            return self.served(serve());
        }
        let begun = self.buffer.begin();
        let outcome = serve();
        self.buffer.finish(begun, outcome);
        Some(outcome)
    }

    /// Whether a message waits, either for others or for the driver of its session.
    #[inline(always)]
    fn waits(
        &mut self,
        session: &Session,
        operation: Operation,
        nonce: &[u8],
        bytes: usize,
    ) -> bool {
        // No message that runs in lanes has a longer nonce.
        nonce.len() <= waiting::LONGEST_NONCE
            && match session.kind(operation) {
                Lanes::ELSEWHERE => true,
                kind => self.buffer.joins(kind, bytes),
            }
    }

    #[inline(always)]
    fn wait(
        &mut self,
        session: &'a Session,
        nonce: &[u8],
        work: Work<'a>,
    ) -> Option<Result<(), Error>> {
        let [waiting] = &mut **self.waiting.get_or_insert_with(|| self.buffer.lend());
        waiting.push(Waiting::new(session, nonce, work, self.buffer.take()));
        if waiting.len() >= self.buffer.most() {
            self.buffer.serve(waiting);
        }
        None
    }

    /// Serves the waiting messages and prepares the buffer for the next batch.
    #[inline(always)]
    fn end(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            self.buffer.end(waiting);
        }
        self.buffer.learn();
    }
}

#[inline(always)]
fn packet_alone(
    operation: Operation,
    session: &Session,
    nonce: &[u8],
    aad: &[u8],
    packet: &mut [u8],
) -> Result<(), Error> {
    match operation {
        Operation::Seal => session.seal(nonce, aad, packet),
        _ => session.open(nonce, aad, packet).map(|_| ()),
    }
}

#[inline(always)]
fn raw_alone(
    operation: Operation,
    session: &Session,
    iv: &[u8],
    data: Data<'_>,
) -> Result<(), Error> {
    match operation {
        Operation::Encrypt => session.encrypt(iv, data),
        _ => session.decrypt(iv, data),
    }
}

impl Drop for Batch<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Batch<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("messages", &self.len())
            .field("waiting", &self.waiting.as_ref().map_or(0, |memory| memory[0].len()))
            .finish_non_exhaustive()
    }
}

/// Rooms and batches may be sent to another thread.
const _: () = {
    const fn sent<T: Send + Sync>() {}
    sent::<BatchBuffer>();
    sent::<Batch<'_, '_>>();
};
