//! Signatures and key exchanges, which take a thousand times as long as ciphers: a separate thread
//! serves them, in batches of all clients.

use std::sync::Arc;
use std::time::Instant;

#[cfg(feature = "_asymmetric")]
use lanecrypt_engine::AsymmetricKey;
use lanecrypt_engine::{BatchBuffer, Engine, Error, Operation};
#[cfg(feature = "pk")]
use lanecrypt_pk as pk;
#[cfg(feature = "rsa")]
use lanecrypt_rsa::{self as rsa, Workspace};
use zeroize::Zeroizing;

use super::peer::{Link, Peer};
use super::sessions::Opened;
use super::worker::{CompletionNotifier, Work, Worker};
use crate::Statistics;
use crate::protocol::request::{ArenaRanges, Code, WireRequest};
use crate::protocol::status;

/// The most requests that are served together: they fill the widest lanes, and complete before
/// many others arrive.
const TOGETHER: usize = 8;

/// The requests of asymmetric keys of all clients.
#[derive(Debug)]
pub(super) struct AsymmetricRequests {
    worker: Worker<Job, Done>,
    /// The most of a client.
    most: u32,
}

/// A signature to make or to check, or a secret to agree on.
#[derive(Debug)]
struct Job {
    /// Keeps the key alive while it is used.
    opened: Opened,
    code: Code,
    /// The client's number of it.
    number: u64,
    /// The message, digest, or what the other side sent, followed by a signature, or by the room
    /// for the output. No client can access it.
    bytes: Zeroizing<Vec<u8>>,
    /// The length of the input.
    input: usize,
    /// The offset of the signature or output in the arena.
    offset: u32,
    /// Its outcome, if it is one of a digest.
    outcome: Option<Result<(), Error>>,
}

/// A finished job.
#[derive(Debug)]
struct Done {
    number: u64,
    outcome: Result<(), Error>,
    /// The signature or the secret, if one was made.
    output: Zeroizing<Vec<u8>>,
    offset: u32,
    /// The number of its bytes.
    span: usize,
    /// Whether it was the first of its batch.
    is_first: bool,
}

impl AsymmetricRequests {
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
        if !link.asymmetric.admits(self.most, link.memory.layout().arena(), places.span) {
            return Err(status::FULL);
        }
        let mut bytes = Zeroizing::new(Vec::new());
        let has_memory = bytes.try_reserve_exact(places.span).is_ok();
        if !has_memory || self.worker.begin(Server::new).is_err() {
            return Err(status::of(Err(Error::DriverFailed)));
        }
        bytes.resize(places.span, 0);
        // From here on the client cannot change the request.
        if !link.memory.read(found.offset, &mut bytes) {
            return Err(status::MALFORMED);
        }
        let input = places.header;
        // It is within the arena, as all of the request is.
        let offset = found.offset.saturating_add(u32::try_from(input).unwrap_or(u32::MAX));
        let (number, opened) = (found.number, opened.clone());
        link.asymmetric.begins(places.span);
        let cost = cost(&opened, code);
        let job = Job { opened, code, number, bytes, input, offset, outcome: None };
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
                link.asymmetric.ends(done.span);
                link.answer(done.number, status::of(done.outcome), done.offset, &done.output);
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

/// About how many nanoseconds a request takes. A signature of RSA with 2048 bits takes about a
/// millisecond with a private key, and a thirtieth with a public one.
fn cost(opened: &Opened, code: Code) -> u64 {
    let signs = code.operation() == Some(Operation::Sign);
    match 8 * opened.session().signature_length() as u64 {
        // Key exchange.
        0 => 50_000,
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
struct Server {
    buffer: BatchBuffer,
    #[cfg(feature = "rsa")]
    workspace: Workspace,
}

impl Server {
    fn new() -> Self {
        Self {
            buffer: Engine::new().batch_buffer(TOGETHER),
            #[cfg(feature = "rsa")]
            workspace: Workspace::new(),
        }
    }

    /// Signs the digests among these jobs. The engine accepts only messages.
    fn sign_digests(&mut self, jobs: &mut [(u64, Job)]) {
        #[cfg(feature = "rsa")]
        self.sign_rsa_digests(jobs);
        #[cfg(feature = "pk")]
        sign_p256_digests(jobs);
        for job in digests(jobs) {
            job.outcome = Some(Err(Error::Unsupported));
        }
    }

    #[cfg(feature = "rsa")]
    fn sign_rsa_digests(&mut self, jobs: &mut [(u64, Job)]) {
        let (mut requests, mut outcomes) = (Vec::new(), Vec::new());
        for Job { opened, bytes, input, outcome, .. } in digests(jobs) {
            let key = opened.session().asymmetric_key().and_then(AsymmetricKey::rsa);
            if let Some((key, padding)) = key
                && let Some(key) = key.private_key()
            {
                let (digest, signature) = bytes.split_at_mut(*input);
                requests.push(rsa::Request::sign_digest(key, padding, digest, signature));
                outcomes.push(outcome);
            }
        }
        // Each request has its own outcome.
        let _failed = rsa::process(&mut requests, &mut self.workspace);
        for (outcome, request) in outcomes.into_iter().zip(&requests) {
            let signed = request.outcome().unwrap_or(Err(rsa::Error::Fault));
            *outcome = Some(signed.map_err(rsa_error));
        }
    }
}

/// The jobs that are to sign a digest and have no outcome.
fn digests(jobs: &mut [(u64, Job)]) -> impl Iterator<Item = &mut Job> {
    let is_due = |job: &&mut Job| job.code == Code::SignDigest && job.outcome.is_none();
    jobs.iter_mut().map(|(_, job)| job).filter(is_due)
}

/// Signs the digests by SHA-256 among these jobs by ECDSA.
#[cfg(feature = "pk")]
fn sign_p256_digests(jobs: &mut [(u64, Job)]) {
    let (mut requests, mut outcomes) = (Vec::new(), Vec::new());
    for Job { opened, bytes, input, outcome, .. } in digests(jobs) {
        let Some(AsymmetricKey::P256(key)) = opened.session().asymmetric_key() else { continue };
        let (digest, signature) = bytes.split_at_mut(*input);
        match (<&[u8; 32]>::try_from(&*digest), signature.try_into()) {
            (Ok(digest), Ok(signature)) => {
                requests.push(pk::Request::p256_sign_digest(key, digest, signature));
                outcomes.push(outcome);
            }
            (Err(_), _) => *outcome = Some(Err(Error::DataLength)),
            (_, Err(_)) => *outcome = Some(Err(Error::OutputLength)),
        }
    }
    // Each request has its own outcome.
    let _failed = pk::process(&mut requests);
    for (outcome, request) in outcomes.into_iter().zip(&requests) {
        let signed = request.outcome().unwrap_or(Err(pk::Error::Fault));
        *outcome = Some(signed.map_err(|error| match error {
            pk::Error::Entropy => Error::Entropy,
            _ => Error::Fault,
        }));
    }
}

/// The engine's name of an error.
#[cfg(feature = "rsa")]
fn rsa_error(error: rsa::Error) -> Error {
    match error {
        rsa::Error::DigestLength => Error::DataLength,
        rsa::Error::Entropy => Error::Entropy,
        rsa::Error::KeyTooShort => Error::KeyLength,
        rsa::Error::OutputLength => Error::OutputLength,
        rsa::Error::Fault => Error::Fault,
        // The others belong to other operations.
        _ => Error::Unsupported,
    }
}

impl Work<Job, Done> for Server {
    const TOGETHER: usize = TOGETHER;

    fn work(&mut self, jobs: &mut Vec<(u64, Job)>, done: &mut Vec<(u64, Done)>) {
        self.sign_digests(jobs);
        let mut batch = self.buffer.batch();
        for (_, job) in jobs.iter_mut().filter(|(_, job)| job.outcome.is_none()) {
            let Job { opened, code, bytes, input, .. } = job;
            let (input, result) = bytes.split_at_mut(*input);
            // If it is refused immediately, its outcome is stored as well.
            let _outcome = match code {
                Code::Keyed(Operation::Sign) => batch.sign(opened.session(), input, result),
                Code::Keyed(Operation::Agree) => batch.agree(opened.session(), input, result),
                _ => batch.verify(opened.session(), input, result),
            };
        }
        // Each outcome is checked below.
        let _ = batch.finish();
        let mut outcomes = (0..).map(|at| self.buffer.outcome(at));
        for (at, (client, job)) in jobs.iter().enumerate() {
            let outcome = job.outcome.or_else(|| outcomes.next().flatten());
            let outcome = outcome.unwrap_or(Err(Error::Unsupported)).or_else(|e| job.try_older(e));
            let is_made = job.code.operation() != Some(Operation::Verify) && outcome.is_ok();
            let output = job.bytes.get(job.input..).filter(|_| is_made).unwrap_or_default();
            let output = Zeroizing::new(output.to_vec());
            done.push((*client, Done { output, ..job.done(outcome, at == 0) }));
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
        let (message, signature) = self.bytes.split_at_checked(self.input).ok_or(error)?;
        let mut older = self.opened.older(Operation::Verify);
        let found = older.any(|older| older.session().verify(message, signature).is_ok());
        if found { Ok(()) } else { Err(error) }
    }

    fn done(&self, outcome: Result<(), Error>, is_first: bool) -> Done {
        let (number, offset, span) = (self.number, self.offset, self.bytes.len());
        Done { number, outcome, output: Zeroizing::default(), offset, span, is_first }
    }
}
