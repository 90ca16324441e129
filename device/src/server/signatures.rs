//! Signatures, which take a thousand times as long as ciphers: a thread of their own makes and checks
//! them, in batches of all clients.

use std::sync::Arc;

use lanecrypt_engine::{Engine, Error, Operation, Room};
use zeroize::Zeroizing;

use super::clerk::{Clerk, News, Work};
use super::peer::{Link, Peer};
use super::sessions::Opened;
use crate::Statistics;
use crate::protocol::request::{Found, Places};
use crate::protocol::status;

/// How many signatures are served together, at most: they fill the widest lanes, and are answered
/// before many others have come.
const TOGETHER: usize = 8;

/// The signatures of all clients.
#[derive(Debug)]
pub(super) struct Signatures {
    clerk: Clerk<Job, Done>,
    /// The most of a client.
    most: u32,
}

/// A signature to make or to check.
#[derive(Debug)]
struct Job {
    /// Keeps the key as long as it is used.
    opened: Opened,
    operation: Operation,
    /// The client's number of it.
    number: u64,
    /// The message, and behind it the signature or the room for one. No client can reach it.
    bytes: Zeroizing<Vec<u8>>,
    message: usize,
    /// Where in the arena the signature belongs.
    offset: u32,
}

/// A job that has been done.
#[derive(Debug)]
struct Done {
    number: u64,
    outcome: Result<(), Error>,
    /// The signature, if one was made.
    signature: Vec<u8>,
    offset: u32,
    /// How many bytes it has held.
    span: usize,
    /// Whether it was the first of its batch.
    is_first: bool,
}

impl Signatures {
    /// For up to `most` of each client at a time.
    pub(super) fn new(most: u32, news: &Arc<News>) -> Self {
        Self { clerk: Clerk::new("lanecrypt-sign", news), most }
    }

    /// Takes a request of this session.
    ///
    /// # Errors
    ///
    /// The status that says why not.
    pub(super) fn take(
        &mut self,
        (peer, link): (&Peer, &Link),
        opened: &Opened,
        operation: Operation,
        found: &Found,
        places: Places,
    ) -> Result<(), u32> {
        if !opened.has_signatures() {
            return Err(status::of(Err(Error::Unsupported)));
        }
        if found.has_nonce() {
            return Err(status::of(Err(Error::NonceLength)));
        }
        // No client that keeps to its window comes here with more.
        if !link.may_begin(self.most, places.span) {
            return Err(status::FULL);
        }
        if self.clerk.begin(|| Signer(Engine::new().room(TOGETHER))).is_err() {
            return Err(status::of(Err(Error::DriverFailed)));
        }
        let mut bytes = Zeroizing::new(vec![0; places.span]);
        // From here on the client can change nothing any more.
        if !link.memory.read(found.offset, &mut bytes) {
            return Err(status::MALFORMED);
        }
        let message = places.header;
        // It is within the arena, as all of the request is.
        let offset = found.offset.saturating_add(u32::try_from(message).unwrap_or(u32::MAX));
        let (number, opened) = (found.number, opened.clone());
        link.begins(places.span);
        self.clerk.give(peer.number, Job { opened, operation, number, bytes, message, offset });
        Ok(())
    }

    /// Answers what has been done.
    pub(super) fn answer(&self, peers: &[Peer], statistics: &mut Statistics) {
        for (client, done) in self.clerk.done() {
            statistics.signatures += 1;
            statistics.signature_batches += u64::from(done.is_first);
            statistics.failed += u64::from(done.outcome.is_err());
            // It may be gone.
            let peer = peers.iter().find(|peer| peer.number == client);
            if let Some(link) = peer.and_then(|peer| peer.link.as_ref()) {
                link.ends(done.span);
                link.answer(done.number, status::of(done.outcome), done.offset, &done.signature);
            }
        }
    }

    /// Drops what has not been begun for a client that is gone.
    pub(super) fn forget(&self, client: u64) {
        self.clerk.forget(client);
    }

    /// Waits until there is something to [answer](Self::answer); false if nothing is left.
    pub(super) fn wait(&self) -> bool {
        self.clerk.wait()
    }
}

/// What the thread does, with its memory.
struct Signer(Room);

impl Work<Job, Done> for Signer {
    const TOGETHER: usize = TOGETHER;

    fn work(&mut self, jobs: &mut [(u64, Job)], done: &mut Vec<(u64, Done)>) {
        let mut batch = self.0.batch();
        for (_, Job { opened, operation, bytes, message, .. }) in &mut *jobs {
            let (message, signature) = bytes.split_at_mut(*message);
            // If it is refused at once, its outcome is kept as well.
            let _outcome = match operation {
                Operation::Sign => batch.sign(opened.session(), message, signature),
                _ => batch.verify(opened.session(), message, signature),
            };
        }
        // Each outcome is asked for below.
        let _ = batch.finish();
        for (at, (client, job)) in jobs.iter().enumerate() {
            let outcome = self.0.outcome(at).unwrap_or(Err(Error::Unsupported));
            let is_made = job.operation == Operation::Sign && outcome.is_ok();
            let signature = job.bytes.get(job.message..).filter(|_| is_made).unwrap_or_default();
            let signature = signature.to_vec();
            done.push((*client, Done { signature, ..job.done(outcome, at == 0) }));
        }
    }

    fn failed(job: Job) -> Done {
        job.done(Err(Error::DriverFailed), false)
    }
}

impl Job {
    fn done(&self, outcome: Result<(), Error>, is_first: bool) -> Done {
        let (number, offset, span) = (self.number, self.offset, self.bytes.len());
        Done { number, outcome, signature: Vec::new(), offset, span, is_first }
    }
}
