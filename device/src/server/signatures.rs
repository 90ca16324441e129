//! Signatures, which take a thousand times as long as ciphers: a separate thread makes and checks
//! them, in batches of all clients.

use std::sync::Arc;
use std::time::Instant;

#[cfg(feature = "rsa")]
use lanecrypt_engine::AsymmetricKey;
use lanecrypt_engine::{BatchBuffer, Engine, Error, Operation};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::{Error as RsaError, Request, Workspace, process};
use zeroize::Zeroizing;

use super::peer::{Link, Peer};
use super::sessions::Opened;
use super::worker::{CompletionNotifier, Work, Worker};
use crate::Statistics;
use crate::protocol::request::{ArenaRanges, Code, WireRequest};
use crate::protocol::status;

/// The most signatures that are served together: they fill the widest lanes, and complete before
/// many others arrive.
const TOGETHER: usize = 8;

/// The signatures of all clients.
#[derive(Debug)]
pub(super) struct Signatures {
    worker: Worker<Job, Done>,
    /// The most of a client.
    most: u32,
}

/// A signature to make or to check.
#[derive(Debug)]
struct Job {
    /// Keeps the key alive while it is used.
    opened: Opened,
    code: Code,
    /// The client's number of it.
    number: u64,
    /// The message or digest, followed by the signature or the room for one. No client can access
    /// it.
    bytes: Zeroizing<Vec<u8>>,
    message: usize,
    /// The offset of the signature in the arena.
    offset: u32,
    /// Its outcome, if it is one of a digest.
    outcome: Option<Result<(), Error>>,
}

/// A finished job.
#[derive(Debug)]
struct Done {
    number: u64,
    outcome: Result<(), Error>,
    /// The signature, if one was made.
    signature: Vec<u8>,
    offset: u32,
    /// The number of its bytes.
    span: usize,
    /// Whether it was the first of its batch.
    is_first: bool,
}

impl Signatures {
    /// For up to `most` of each client at a time.
    pub(super) fn new(most: u32, notifier: &Arc<CompletionNotifier>) -> Self {
        Self { worker: Worker::new("lanecrypt-sign", notifier), most }
    }

    /// Allows up to `most` of each client at a time.
    pub(super) fn allow(&mut self, most: u32) {
        self.most = most;
    }

    /// Takes a request of this session.
    ///
    /// # Errors
    ///
    /// The status of the refusal.
    pub(super) fn take(
        &mut self,
        (peer, link): (&Peer, &Link),
        opened: &Opened,
        code: Code,
        found: &WireRequest,
        places: ArenaRanges,
    ) -> Result<(), u32> {
        if !opened.is_asymmetric() {
            return Err(status::of(Err(Error::Unsupported)));
        }
        if found.nonce_length() > 0 {
            return Err(status::of(Err(Error::NonceLength)));
        }
        // A client that respects its window never has more.
        if !link.signatures.admits(self.most, link.memory.layout().arena(), places.span) {
            return Err(status::FULL);
        }
        let mut bytes = Zeroizing::new(Vec::new());
        let has_memory = bytes.try_reserve_exact(places.span).is_ok();
        if !has_memory || self.worker.begin(Signer::new).is_err() {
            return Err(status::of(Err(Error::DriverFailed)));
        }
        bytes.resize(places.span, 0);
        // From here on the client cannot change the request.
        if !link.memory.read(found.offset, &mut bytes) {
            return Err(status::MALFORMED);
        }
        let message = places.header;
        // It is within the arena, as all of the request is.
        let offset = found.offset.saturating_add(u32::try_from(message).unwrap_or(u32::MAX));
        let (number, opened) = (found.number, opened.clone());
        link.signatures.begins(places.span);
        let cost = cost(&opened, code);
        let job = Job { opened, code, number, bytes, message, offset, outcome: None };
        self.worker.give(peer.number, cost, job);
        Ok(())
    }

    /// Answers finished jobs.
    pub(super) fn answer(&self, peers: &[Peer], statistics: &mut Statistics) {
        for (client, done) in self.worker.done() {
            statistics.signatures += 1;
            statistics.signature_batches += u64::from(done.is_first);
            statistics.failed += u64::from(done.outcome.is_err());
            // It may have disconnected.
            let peer = peers.iter().find(|peer| peer.number == client);
            if let Some(link) = peer.and_then(Peer::link) {
                link.signatures.ends(done.span);
                link.answer(done.number, status::of(done.outcome), done.offset, &done.signature);
            }
        }
    }

    /// Drops jobs of a disconnected client that are not begun.
    pub(super) fn forget(&self, client: u64) {
        self.worker.forget(client);
    }

    /// Takes back the jobs that are not begun: the client, the number, and the length.
    pub(super) fn cancel(&self) -> impl Iterator<Item = (u64, u64, usize)> {
        self.worker.cancel().map(|(client, job)| (client, job.number, job.bytes.len()))
    }

    /// Waits until those that are being served are finished, but not longer than until this time.
    pub(super) fn wait_for_begun(&self, until: Instant) {
        self.worker.wait_for_begun(until);
    }
}

/// About how many nanoseconds a signature takes. One of RSA with 2048 bits takes about a
/// millisecond with a private key, and a thirtieth with a public one.
fn cost(opened: &Opened, code: Code) -> u64 {
    let signs = code.operation() == Some(Operation::Sign);
    match 8 * opened.session().signature_length() as u64 {
        // Ed25519 and P-256.
        512 => {
            if signs {
                20_000
            } else {
                50_000
            }
        }
        bits => {
            let time = 1_000_000 * bits.saturating_pow(3) / 2048_u64.pow(3);
            if signs { time } else { time / 30 }
        }
    }
}

/// The work of the thread, with its memory.
struct Signer {
    buffer: BatchBuffer,
    #[cfg(feature = "rsa")]
    workspace: Workspace,
}

impl Signer {
    fn new() -> Self {
        Self {
            buffer: Engine::new().batch_buffer(TOGETHER),
            #[cfg(feature = "rsa")]
            workspace: Workspace::new(),
        }
    }

    /// Signs the digests among these jobs. The engine accepts only messages.
    #[cfg(feature = "rsa")]
    fn sign_digests(&mut self, jobs: &mut [(u64, Job)]) {
        let (mut requests, mut outcomes) = (Vec::new(), Vec::new());
        for (_, job) in jobs.iter_mut().filter(|(_, job)| job.code == Code::SignDigest) {
            let Job { opened, bytes, message, outcome, .. } = job;
            let (digest, signature) = bytes.split_at_mut(*message);
            let rsa = opened.session().asymmetric_key().and_then(AsymmetricKey::rsa);
            match rsa.and_then(|(key, padding)| Some((key.private_key()?, padding))) {
                Some((key, padding)) => {
                    requests.push(Request::sign_digest(key, padding, digest, signature));
                    outcomes.push(outcome);
                }
                None => *outcome = Some(Err(Error::Unsupported)),
            }
        }
        // Each request has its own outcome.
        let _failed = process(&mut requests, &mut self.workspace);
        for (outcome, request) in outcomes.into_iter().zip(&requests) {
            let signed = request.outcome().unwrap_or(Err(RsaError::Fault));
            *outcome = Some(signed.map_err(error));
        }
    }

    /// There are no keys to sign with.
    #[cfg(not(feature = "rsa"))]
    fn sign_digests(&mut self, jobs: &mut [(u64, Job)]) {
        for (_, job) in jobs.iter_mut().filter(|(_, job)| job.code == Code::SignDigest) {
            job.outcome = Some(Err(Error::Unsupported));
        }
    }
}

/// The engine's name of an error.
#[cfg(feature = "rsa")]
fn error(error: RsaError) -> Error {
    match error {
        RsaError::DigestLength => Error::DataLength,
        RsaError::Entropy => Error::Entropy,
        RsaError::KeyTooShort => Error::KeyLength,
        RsaError::OutputLength => Error::OutputLength,
        RsaError::Fault => Error::Fault,
        // The others belong to other operations.
        _ => Error::Unsupported,
    }
}

impl Work<Job, Done> for Signer {
    const TOGETHER: usize = TOGETHER;

    fn work(&mut self, jobs: &mut Vec<(u64, Job)>, done: &mut Vec<(u64, Done)>) {
        self.sign_digests(jobs);
        let mut batch = self.buffer.batch();
        for (_, job) in jobs.iter_mut().filter(|(_, job)| job.outcome.is_none()) {
            let Job { opened, code, bytes, message, .. } = job;
            let (message, signature) = bytes.split_at_mut(*message);
            // If it is refused immediately, its outcome is stored as well.
            let _outcome = match code {
                Code::Keyed(Operation::Sign) => batch.sign(opened.session(), message, signature),
                _ => batch.verify(opened.session(), message, signature),
            };
        }
        // Each outcome is checked below.
        let _ = batch.finish();
        let mut outcomes = (0..).map(|at| self.buffer.outcome(at));
        for (at, (client, job)) in jobs.iter().enumerate() {
            let outcome = job.outcome.or_else(|| outcomes.next().flatten());
            let outcome = outcome.unwrap_or(Err(Error::Unsupported)).or_else(|e| job.try_older(e));
            let is_made = job.code.operation() == Some(Operation::Sign) && outcome.is_ok();
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
    /// Checks a signature that the current version of the key did not make by the earlier ones.
    fn try_older(&self, error: Error) -> Result<(), Error> {
        if self.code != Code::Keyed(Operation::Verify) || error != Error::Authentication {
            return Err(error);
        }
        let (message, signature) = self.bytes.split_at_checked(self.message).ok_or(error)?;
        let mut older = self.opened.older(Operation::Verify);
        let found = older.any(|older| older.session().verify(message, signature).is_ok());
        if found { Ok(()) } else { Err(error) }
    }

    fn done(&self, outcome: Result<(), Error>, is_first: bool) -> Done {
        let (number, offset, span) = (self.number, self.offset, self.bytes.len());
        Done { number, outcome, signature: Vec::new(), offset, span, is_first }
    }
}
