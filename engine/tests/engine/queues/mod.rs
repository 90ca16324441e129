//! Shared parts of the tests of queues: one interface to all of them, and messages with their
//! expected results.

pub(crate) mod faulty;
pub(crate) mod gate;
pub(crate) mod traffic;

use lanecrypt_engine::queue::{
    Completion, LocalQueue, Message, MessageError, Rejected, SessionHandle, Ticket, WorkerQueue,
};
use lanecrypt_engine::{Algorithm, Engine, Error, Operation, Session};

use lanecrypt_testing::batches::keys::{self, Key};
use lanecrypt_testing::batches::message::{self, Form};
use lanecrypt_testing::batches::numbers::Numbers;

/// Whether encryption with AES-128 in CBC waits for company on this processor. Says so if not.
pub(crate) fn cbc_waits(engine: &Engine) -> bool {
    let waits = engine.lanes().ranges().any(|lanes| {
        lanes.algorithm == Algorithm::AES_128_CBC && lanes.operation == Operation::Encrypt
    });
    if !waits {
        println!("SKIPPED lanes-aes-128-cbc: a loop costs less here");
    }
    waits
}

/// The length of a message whose bytes do not matter. Miri takes seconds for 512.
pub(crate) const LENGTH: usize = if cfg!(miri) { 16 } else { 512 };

pub(crate) type Buffer = Box<[u8]>;
pub(crate) type Given<'n> = Message<&'n [u8], Buffer>;

/// A queue of any kind.
pub(crate) trait Queue {
    fn attach(&mut self, session: Session) -> SessionHandle;
    fn detach(&mut self, session: SessionHandle) -> bool;
    fn submit<'n>(&mut self, message: Given<'n>) -> Result<Ticket, Rejected<Given<'n>>>;
    fn submit_many<'n>(&mut self, messages: &mut impl Iterator<Item = Given<'n>>) -> usize;
    fn poll(&mut self) -> Option<Completion<Buffer>>;
    fn cancel(&mut self, ticket: Ticket);
    fn in_flight(&self) -> usize;
}

impl Queue for LocalQueue<Buffer> {
    fn attach(&mut self, session: Session) -> SessionHandle {
        self.attach(session).expect("room for sessions")
    }

    fn detach(&mut self, session: SessionHandle) -> bool {
        self.detach(session).is_some()
    }

    fn submit<'n>(&mut self, message: Given<'n>) -> Result<Ticket, Rejected<Given<'n>>> {
        self.submit(message)
    }

    fn submit_many<'n>(&mut self, messages: &mut impl Iterator<Item = Given<'n>>) -> usize {
        self.submit_many(messages)
    }

    fn poll(&mut self) -> Option<Completion<Buffer>> {
        self.poll()
    }

    fn cancel(&mut self, ticket: Ticket) {
        self.cancel(ticket);
    }

    fn in_flight(&self) -> usize {
        self.in_flight()
    }
}

impl Queue for WorkerQueue<Buffer> {
    fn attach(&mut self, session: Session) -> SessionHandle {
        let mut session = Box::new(session);
        loop {
            match self.attach(session) {
                Ok(attached) => return attached,
                Err(refused) => session = refused.value,
            }
            std::thread::yield_now();
        }
    }

    fn detach(&mut self, session: SessionHandle) -> bool {
        loop {
            if let Ok(detached) = self.detach(session) {
                return detached;
            }
            std::thread::yield_now();
        }
    }

    fn submit<'n>(&mut self, message: Given<'n>) -> Result<Ticket, Rejected<Given<'n>>> {
        self.submit(message)
    }

    fn submit_many<'n>(&mut self, messages: &mut impl Iterator<Item = Given<'n>>) -> usize {
        self.submit_many(messages).expect("it is open")
    }

    fn poll(&mut self) -> Option<Completion<Buffer>> {
        self.poll()
    }

    fn cancel(&mut self, ticket: Ticket) {
        self.cancel(ticket);
    }

    fn in_flight(&self) -> usize {
        self.in_flight()
    }
}

/// A message, and what comes of it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The index of its session.
    pub(crate) session: usize,
    pub(crate) operation: Operation,
    pub(crate) nonce: Vec<u8>,
    pub(crate) header: usize,
    pub(crate) before: Buffer,
    pub(crate) after: Buffer,
    pub(crate) outcome: Result<(), MessageError>,
}

impl Case {
    /// A random message of up to about `len` bytes under the key of this index; one in eight is
    /// damaged.
    pub(crate) fn random(keys: &[Key], key: usize, len: usize, numbers: &mut impl Numbers) -> Self {
        loop {
            let length = numbers.below(len + 1);
            let mut message = message::Message::random(keys, key, length, numbers);
            if numbers.one_in(8) {
                message.damage(keys, numbers);
            }
            let packet = matches!(message.operation, Operation::Seal | Operation::Open);
            let form = if packet { Form::Packet } else { Form::InPlace };
            if message.form == form && !message.before {
                return Self::of(message);
            }
        }
    }

    fn of(message: message::Message) -> Self {
        let message::Message { key, operation, nonce, aad, data, expected, .. } = message;
        let with_header = |data: &[u8]| [&aad, data].concat().into_boxed_slice();
        let before = with_header(&data);
        let (outcome, after) = match nonce.len() {
            ..=24 => (expected.outcome, with_header(&expected.out)),
            _ => (Err(Error::NonceLength), before.clone()),
        };
        let outcome = outcome.map_err(MessageError::Refused);
        Self { session: key, operation, nonce, header: aad.len(), before, after, outcome }
    }

    pub(crate) fn message(&self, session: SessionHandle, user: u64) -> Given<'_> {
        Message::new(session, self.operation, &self.nonce[..], self.before.clone())
            .with_header(self.header)
            .with_user(user)
    }

    pub(crate) fn check(&self, done: &Completion<Buffer>) -> Result<(), String> {
        let right = match done.outcome {
            Err(MessageError::Panicked) => return Ok(()),
            Err(MessageError::Refused(_)) | Ok(()) => {
                self.outcome == done.outcome && self.after == done.buffer
            }
            Err(_) => self.before == done.buffer,
        };
        if right {
            return Ok(());
        }
        Err(format!("{:?} of {} bytes: {:?}", self.operation, self.before.len(), done.outcome))
    }
}

/// Keys of all algorithms, several of each, and their sessions.
pub(crate) fn sessions(engine: &Engine, numbers: &mut impl Numbers) -> (Vec<Key>, Vec<Session>) {
    let algorithms: Vec<Algorithm> = keys::algorithms();
    let keys = keys::random_keys(5, &algorithms, numbers);
    let sessions = keys::open(engine, &keys);
    (keys, sessions)
}
