//! Operations: new keys, shared secrets and signatures.

use core::cell::RefCell;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use lanecrypt_pk::{Error, Request, process};
use zeroize::Zeroizing;

use super::halves::{Curve, Halves, Public, Secret};
use crate::asynchronous::{Job, Queue, Work};
use crate::count::COUNTS;
use crate::errors::{Failure, Trouble};
use crate::stack::with_room;

/// How many keys are made at once: as many as there are lanes.
const AHEAD: usize = 8;

thread_local! {
    static QUEUE: Arc<Queue<Operation>> = Arc::default();
    static POOLS: RefCell<[Pool; 2]> = RefCell::default();
}

/// An operation with a private key.
pub(super) enum Operation {
    /// The secret that is shared with another key.
    Share(Arc<Secret>, Public),
    /// The signature of a digest.
    Sign(Arc<Secret>, [u8; 32]),
}

/// A shared secret in the first half, or a signature. None of an operation that was alone.
type Outcome = Option<Result<Zeroizing<[u8; 64]>, Error>>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Entropy => Failure::Entropy,
            Error::SmallOrder => Failure::SmallOrder,
            _ => Failure::Fault,
        }
        .into()
    }
}

impl Operation {
    /// Does it together with others of its kind. None if no job runs or no other waits: the default
    /// provider is faster with one that is alone.
    pub(super) fn run(self, job: Option<Job<'_>>) -> Outcome {
        // A thread that ends has no queue.
        let (job, queue) = (job?, QUEUE.try_with(Arc::clone).ok()?);
        queue.wait(self, &job).unwrap_or(Some(Err(Error::Fault)))
    }

    /// What is done side by side with others of the same kind.
    fn kind(&self) -> usize {
        match self {
            Self::Share(_, Public::P256(_)) => 0,
            Self::Share(_, Public::X25519(_)) => 1,
            Self::Sign(..) => 2,
        }
    }

    /// None for keys that are no pair; there are no such operations.
    fn request<'a>(&'a self, place: &'a mut [u8; 64]) -> Option<Request<'a>> {
        Some(match self {
            Self::Share(secret, public) => {
                let place = place.first_chunk_mut()?;
                match (&**secret, public) {
                    (Secret::P256(secret, _), Public::P256(public)) => {
                        Request::p256_shared_secret(secret, public, place)
                    }
                    (Secret::X25519(secret), Public::X25519(public)) => {
                        Request::x25519_shared_secret(secret, public, place)
                    }
                    _ => return None,
                }
            }
            Self::Sign(secret, digest) => {
                Request::p256_sign_digest(secret.signing()?, digest, place)
            }
        })
    }
}

impl Work for Operation {
    type Outcome = Outcome;

    fn serve(batch: &[&Self]) -> Vec<Outcome> {
        let served = with_room(|| serve(batch));
        served.unwrap_or_else(|| batch.iter().map(|_| None).collect())
    }
}

fn serve(batch: &[&Operation]) -> Vec<Outcome> {
    let mut kinds = [0_u64; 3];
    for operation in batch {
        kinds[operation.kind()] += 1;
    }
    let mut places: Vec<_> = batch.iter().map(|_| Zeroizing::new([0; 64])).collect();
    // Each with its place in the batch.
    let (at, mut requests): (Vec<_>, Vec<_>) = batch
        .iter()
        .zip(&mut places)
        .enumerate()
        .filter(|(_, (operation, _))| kinds[operation.kind()] > 1)
        .filter_map(|(at, (operation, place))| Some((at, operation.request(place)?)))
        .unzip();
    // Each request has an outcome of its own.
    let _ = process(&mut requests);
    let served: Vec<_> = requests.iter().map(Request::outcome).collect();
    drop(requests);
    let [p256, x25519, signatures] = kinds.map(|count| if count > 1 { count } else { 0 });
    COUNTS.signatures.fetch_add(signatures, Ordering::Relaxed);
    COUNTS.agreements.fetch_add(p256 + x25519, Ordering::Relaxed);
    COUNTS.together.fetch_add(p256 + x25519 + signatures, Ordering::Relaxed);
    let mut outcomes: Vec<Outcome> = batch.iter().map(|_| None).collect();
    for (at, served) in at.into_iter().zip(served) {
        let place = core::mem::replace(&mut places[at], Zeroizing::new([0; 64]));
        outcomes[at] = served.map(|served| served.map(|()| place));
    }
    outcomes
}

/// Keys of a curve that have been made ahead.
#[derive(Default)]
struct Pool {
    keys: Vec<Halves>,
    /// The process that has made them: a forked one must not use the same.
    process: u32,
}

/// A new key.
pub(super) fn new_key(curve: Curve) -> Result<Halves, Trouble> {
    let key = POOLS.try_with(|pools| {
        let mut pools = pools.try_borrow_mut().ok()?;
        pools[curve as usize].take(curve)
    });
    let key = match key {
        Ok(Some(key)) => key,
        // A thread that ends has no keys.
        _ => make(curve, 1)?.pop().ok_or(Failure::Fault)?,
    };
    COUNTS.keys.fetch_add(1, Ordering::Relaxed);
    Ok(key)
}

impl Pool {
    fn take(&mut self, curve: Curve) -> Option<Halves> {
        let process = std::process::id();
        if self.process != process {
            // The first key is made alone: it may be the only one.
            *self = Self { keys: Vec::new(), process };
            return None;
        }
        if self.keys.is_empty() {
            self.keys = make(curve, AHEAD).ok()?;
        }
        self.keys.pop()
    }
}

/// Makes keys together.
fn make(curve: Curve, count: usize) -> Result<Vec<Halves>, Trouble> {
    with_room(|| make_here(curve, count)).unwrap_or(Err(Failure::Memory.into()))
}

fn make_here(curve: Curve, count: usize) -> Result<Vec<Halves>, Trouble> {
    let secrets = (0..count).map(|_| new_secret(curve).map(Arc::new));
    let secrets: Vec<_> = secrets.collect::<Result<_, _>>()?;
    let mut places = vec![[0; 65]; count];
    let requests = secrets.iter().zip(&mut places);
    let requests = requests.map(|(secret, place)| match &**secret {
        Secret::P256(secret, _) => Some(Request::p256_public_key(secret, place)),
        Secret::X25519(secret) => {
            Some(Request::x25519_public_key(secret, place.first_chunk_mut()?))
        }
    });
    let mut requests: Vec<_> = requests.collect::<Option<_>>().ok_or(Failure::Fault)?;
    process(&mut requests).map_err(|_| Failure::Fault)?;
    drop(requests);
    let length = if curve == Curve::P256 { 65 } else { 32 };
    let keys = secrets.into_iter().zip(&places).map(|(secret, place)| {
        let public = Public::new(curve, &place[..length]).ok_or(Failure::Fault)?;
        Ok(Halves { public: Some(public), secret: Some(secret) })
    });
    keys.collect()
}

fn new_secret(curve: Curve) -> Result<Secret, Trouble> {
    loop {
        let mut bytes = Zeroizing::new([0; 32]);
        lanecrypt_random::try_fill(&mut *bytes).map_err(|_| Failure::Entropy)?;
        if curve == Curve::X25519 {
            // As OpenSSL stores them (RFC 7748, section 5).
            bytes[0] &= 248;
            bytes[31] = bytes[31] & 127 | 64;
        }
        // Numbers that are too great for P-256 are rare, and reveal nothing of others.
        if let Some(secret) = Secret::new(curve, &bytes) {
            return Ok(secret);
        }
    }
}
