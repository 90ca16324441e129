//! The client.

mod channel;
mod parts;
mod remote;
mod settings;
mod window;

use core::fmt;
use std::collections::VecDeque;
use std::path::Path;

use lanecrypt_engine::{Algorithm, Operation};

use self::channel::{Channel, Done};
use self::parts::{Filling, Part, Whole};
pub use self::remote::Remote;
pub use self::settings::Settings;
use self::window::Owner;
use crate::protocol::request::{Code, Request};
use crate::protocol::socket::Packet;
use crate::protocol::{Answer, Asked, status};
use crate::{Completion, ConnectError, Error, Message, NotTaken, Statistics, Ticket};

/// A session that lives in a daemon, by number. It means nothing to any other client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    pub(crate) number: u32,
    pub(crate) algorithm: Algorithm,
}

impl Session {
    /// Its algorithm.
    #[must_use]
    pub fn algorithm(self) -> Algorithm {
        self.algorithm
    }

    /// The length of a tag in bytes, by which a sealed message is longer; 0 without authentication.
    #[must_use]
    pub fn tag_length(self) -> usize {
        self.algorithm.tag_length()
    }
}

/// A connection to a daemon, for one thread at a time.
///
/// Calls for one message wait for the answer. [`submit`](Self::submit) takes messages with their
/// buffers, as the engine's queues do, and [`poll`](Self::poll) and [`wait`](Self::wait) give them
/// back: in the order in which the daemon answers.
///
/// If the daemon ends, every call returns [`Error::Disconnected`], within 100 ms for those that wait.
/// Connecting again gives new sessions.
pub struct Client<B = Vec<u8>> {
    channel: Channel,
    /// The messages in flight, by the lowest bits of their numbers.
    kept: Box<[Option<Kept<B>>]>,
    /// Messages that were answered while something else was waited for.
    done: VecDeque<Completion<B>>,
}

/// What a client keeps of a message in flight.
struct Kept<B> {
    buffer: B,
    user: u64,
    header: usize,
}

impl<B> Client<B> {
    /// Connects to the daemon whose socket is at this path.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, ConnectError> {
        Self::connect_with(path, &Settings::default())
    }

    /// The same with these settings.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn connect_with(path: impl AsRef<Path>, settings: &Settings) -> Result<Self, ConnectError> {
        let channel = Channel::connect(path.as_ref(), settings)?;
        let depth = channel.memory().layout().depth() as usize;
        let kept = (0..depth).map(|_| None).collect();
        Ok(Self { channel, kept, done: VecDeque::with_capacity(depth) })
    }

    /// Opens a session with this key, which is sent to the daemon by the socket.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`]; [`Error::Disconnected`], [`Error::Forked`].
    pub fn session(&mut self, algorithm: Algorithm, key: &[u8]) -> Result<Session, Error> {
        let name = algorithm.to_string();
        self.ask_session(&Asked::Open { algorithm: &name, key })
    }

    /// Opens a session with a key of the longest length that the daemon makes. Nobody ever sees it,
    /// and it ends with the session.
    ///
    /// # Errors
    ///
    /// Same as [`session`](Self::session).
    pub fn generated_session(&mut self, algorithm: Algorithm) -> Result<Session, Error> {
        let name = algorithm.to_string();
        self.ask_session(&Asked::Generate { algorithm: &name, length: 0 })
    }

    /// Opens a session with a key that the daemon has under this name.
    ///
    /// # Errors
    ///
    /// Same as [`session`](Self::session).
    pub fn named_session(&mut self, name: &str) -> Result<Session, Error> {
        self.ask_session(&Asked::Named { name })
    }

    fn ask_session(&mut self, asked: &Asked<'_>) -> Result<Session, Error> {
        self.channel.ask(asked, |answer| {
            let Answer::Session { session, algorithm } = answer else { return None };
            Some(Session { number: session, algorithm: algorithm.parse().ok()? })
        })
    }

    /// Closes a session; the daemon wipes its key, unless it has a name. Messages in flight may still
    /// be served, or be refused.
    ///
    /// # Errors
    ///
    /// Same as [`session`](Self::session).
    pub fn close(&mut self, session: Session) -> Result<(), Error> {
        let asked = Asked::Close { session: session.number };
        self.channel.ask(&asked, |answer| matches!(answer, Answer::Closed).then_some(()))
    }

    /// What the daemon has done so far.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    pub fn statistics(path: impl AsRef<Path>) -> Result<Statistics, ConnectError> {
        let path = path.as_ref();
        let socket = channel::dial(path)?;
        let mut packet = Packet::new();
        channel::greet(&socket, &mut packet, &Asked::Statistics, path)?;
        match packet.value().1 {
            Some(Answer::Statistics(statistics)) => Ok(statistics),
            _ => Err(ConnectError::NotADaemon(path.to_owned())),
        }
    }

    /// The number of messages that have been submitted and not been given back.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.channel.in_flight() + self.done.len()
    }

    /// The length of the arena in bytes: no request is longer, with nonce, associated data and tag.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.channel.memory().layout().arena() as usize
    }
}

impl<B: AsMut<[u8]>> Client<B> {
    /// Seals a packet in place: its last [`tag_length`](Session::tag_length) bytes are room for the
    /// tag.
    ///
    /// **The nonce must not have been used before under the session's key.**
    ///
    /// # Errors
    ///
    /// [`Error`]; nothing has been written then.
    pub fn seal(
        &mut self,
        session: Session,
        nonce: &[u8],
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<(), Error> {
        self.serve(session, Operation::Seal, nonce, aad, packet)
    }

    /// Opens a packet in place, if it is authentic, and returns the message. If not, it is wiped.
    ///
    /// # Errors
    ///
    /// [`Error`]; nothing has been written then, unless it was not authentic.
    pub fn open<'p>(
        &mut self,
        session: Session,
        nonce: &[u8],
        aad: &[u8],
        packet: &'p mut [u8],
    ) -> Result<&'p mut [u8], Error> {
        self.serve(session, Operation::Open, nonce, aad, packet)?;
        let message = packet.len().saturating_sub(session.tag_length());
        packet.get_mut(..message).ok_or(Error::Malformed)
    }

    /// Encrypts a message in place without a tag.
    ///
    /// # Errors
    ///
    /// [`Error`]; nothing has been written then.
    pub fn encrypt(&mut self, session: Session, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.serve(session, Operation::Encrypt, iv, &[], data)
    }

    /// Decrypts a message in place without a tag.
    ///
    /// # Errors
    ///
    /// [`Error`]; nothing has been written then.
    pub fn decrypt(&mut self, session: Session, iv: &[u8], data: &mut [u8]) -> Result<(), Error> {
        self.serve(session, Operation::Decrypt, iv, &[], data)
    }

    /// Fills `out` with random bytes of the daemon's generator. More than fit into the arena come
    /// piece by piece.
    ///
    /// # Errors
    ///
    /// [`Error`]; a part may have been written then.
    pub fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        // Half of it, so that one piece is copied while the next is made.
        let longest = (self.longest() / 2).max(1);
        let mut pieces: Vec<Filling<'_>> = out.chunks_mut(longest).map(Filling::new).collect();
        self.run(&mut pieces)?;
        pieces.iter().try_for_each(Filling::outcome)
    }

    fn serve(
        &mut self,
        session: Session,
        operation: Operation,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
    ) -> Result<(), Error> {
        let mut whole = [Whole::new(session.number, operation, nonce, aad, data)];
        self.run(&mut whole)?;
        let [whole] = whole;
        whole.outcome()
    }

    /// Has the daemon serve each part, and waits for all.
    ///
    /// # Errors
    ///
    /// If the connection ends. Parts without an answer then stay without one.
    fn run(&mut self, parts: &mut [impl Part]) -> Result<(), Error> {
        self.channel.is_usable()?;
        let (mut given, mut answered) = (0, 0);
        while answered < parts.len() {
            while let Some(part) = parts.get_mut(given) {
                let put = part.put(&mut self.channel, Owner::Part(given));
                match put {
                    Ok(_) => given += 1,
                    Err(Error::Full) => break,
                    Err(error) => {
                        part.settle(Err(error));
                        (given, answered) = (given + 1, answered + 1);
                    }
                }
            }
            if answered == parts.len() {
                break;
            }
            self.channel.tell();
            self.channel.wait()?;
            while let Some(done) = self.channel.next()? {
                match done.pending.owner {
                    Owner::Part(at) => {
                        answered += 1;
                        if let Some(part) = parts.get_mut(at) {
                            part.take(self.channel.memory(), done.pending.offset, done.status);
                        }
                    }
                    Owner::Message => {
                        let completion = self.finish(&done)?;
                        self.done.push_back(completion);
                    }
                }
            }
        }
        Ok(())
    }

    /// Submits a message. The daemon sees it at the next [`flush`](Self::flush), [`poll`](Self::poll)
    /// or [`wait`](Self::wait).
    ///
    /// # Errors
    ///
    /// [`Error`], with the message. What the daemon refuses comes with the completion.
    #[inline]
    pub fn submit<N: AsRef<[u8]>>(
        &mut self,
        message: Message<N, B>,
    ) -> Result<Ticket, NotTaken<Message<N, B>>> {
        if let Err(reason) = self.channel.is_usable() {
            return Err(NotTaken { given: message, reason });
        }
        let Message { mut buffer, user, header, nonce, code, session } = message;
        let bytes = buffer.as_mut();
        let length = bytes.len().checked_sub(header);
        let request =
            length.map(|length| Request { session, code, nonce: nonce.as_ref(), header, length });
        let put = match request {
            None => Err(Error::Refused(lanecrypt_engine::Error::AadLength)),
            Some(request) => self.channel.put(&request, Owner::Message, |memory, offset| {
                code == Code::Fill || memory.write(offset, bytes)
            }),
        };
        match put {
            Ok(number) => {
                if let Some(kept) = self.place(number) {
                    *kept = Some(Kept { buffer, user, header });
                }
                Ok(Ticket(number))
            }
            Err(reason) => {
                let given = Message { buffer, user, header, nonce, code, session };
                Err(NotTaken { given, reason })
            }
        }
    }

    /// Tells the daemon of the messages that have been submitted, and wakes it if it sleeps.
    pub fn flush(&mut self) {
        if self.channel.is_usable().is_ok() {
            self.channel.tell();
        }
    }

    /// A completion, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Disconnected`] if the daemon is gone: [`abandoned`](Self::abandoned) gives the
    /// messages back that it has not answered.
    #[inline]
    pub fn poll(&mut self) -> Result<Option<Completion<B>>, Error> {
        if let Some(done) = self.done.pop_front() {
            return Ok(Some(done));
        }
        if self.channel.in_flight() == 0 {
            return Ok(None);
        }
        self.channel.tell();
        match self.channel.next()? {
            Some(done) => self.finish(&done).map(Some),
            None => Ok(None),
        }
    }

    /// Waits for a completion; `None` if nothing is in flight.
    ///
    /// # Errors
    ///
    /// Same as [`poll`](Self::poll).
    #[inline]
    pub fn wait(&mut self) -> Result<Option<Completion<B>>, Error> {
        loop {
            if let Some(done) = self.poll()? {
                return Ok(Some(done));
            }
            if self.channel.in_flight() == 0 {
                return Ok(None);
            }
            self.channel.is_usable()?;
            self.channel.wait()?;
        }
    }

    /// After the connection has ended: a message that has no answer, with the outcome
    /// [`Error::Disconnected`]. It may have been served.
    pub fn abandoned(&mut self) -> Option<Completion<B>> {
        if let Some(done) = self.done.pop_front() {
            return Some(done);
        }
        if self.channel.is_usable() != Err(Error::Disconnected) {
            return None;
        }
        let kept = self.kept.iter_mut().find_map(Option::take)?;
        Some(Completion { buffer: kept.buffer, user: kept.user, outcome: Err(Error::Disconnected) })
    }

    /// The completion of a message that has been answered.
    #[inline]
    fn finish(&mut self, done: &Done) -> Result<Completion<B>, Error> {
        let kept = self.place(done.number).and_then(Option::take).ok_or(Error::Malformed)?;
        let Kept { mut buffer, user, header } = kept;
        let mut outcome = status::outcome(done.status);
        if status::changes(done.status)
            && let Some(room) = buffer.as_mut().get_mut(header..)
            && !self.channel.memory().read(done.pending.offset, room)
        {
            outcome = Err(Error::Malformed);
        }
        Ok(Completion { buffer, user, outcome })
    }

    #[inline]
    fn place(&mut self, number: u64) -> Option<&mut Option<Kept<B>>> {
        // What is cut off is more than the index.
        #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
        let at = number as usize & (self.kept.len() - 1);
        self.kept.get_mut(at)
    }
}

impl<B> fmt::Debug for Client<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("channel", &self.channel).finish_non_exhaustive()
    }
}

/// A client may be sent to another thread.
const _: () = {
    const fn sent<T: Send>() {}
    sent::<Client>();
};
