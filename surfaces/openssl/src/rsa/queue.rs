//! Signatures that wait for each other.
//!
//! In an asynchronous job, a signature goes into the queue of its thread, and the job pauses. The
//! program continues with others, which do the same. The first job that it resumes makes all the
//! signatures that wait, side by side. The others find theirs done.
//!
//! What waits belongs to the queue, not to the job: a job that is never resumed, together with its
//! keys and contexts, may be freed meanwhile. A job that another thread resumes keeps its queue.

use core::cell::RefCell;
use core::mem;
use core::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lanecrypt_rsa::{Error, Padding, PrivateKey, Request, Workspace, process};

use super::job::Job;
use super::key::Key;
use super::numbers::Numbers;
use super::remote;
use crate::count::COUNTS;

/// The most signatures that are made at once. More would make the first one wait and save nothing.
const MOST: usize = 32;

thread_local! {
    static QUEUE: Arc<Queue> = Arc::default();
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// The signatures that wait in a thread. The lock is held while they are made.
#[derive(Default)]
struct Queue(Mutex<Vec<Arc<Waiting>>>);

/// A signature that waits, or is done.
struct Waiting {
    key: Arc<Key>,
    padding: Padding,
    digest: Vec<u8>,
    outcome: Mutex<Option<Outcome>>,
}

/// What has become of a signature.
type Outcome = Result<Vec<u8>, Trouble>;

/// Why a signature was not made.
pub(super) enum Trouble {
    /// It failed here.
    Here(Error),
    /// A daemon did not make it. The reason is for people.
    Daemon(String),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Here(error)
    }
}

/// Makes a signature: together with others, if a job runs.
pub(super) fn sign(
    key: &Arc<Key>,
    padding: Padding,
    digest: &[u8],
    signature: &mut [u8],
    job: Option<Job<'_>>,
) -> Result<(), Trouble> {
    // A thread that ends has no queue.
    if let Some(job) = job
        && let Ok(queue) = QUEUE.try_with(Arc::clone)
    {
        let made = queue.sign(key, padding, digest, &job)?;
        return put(&made, signature);
    }
    if let Some(remote) = key.remote() {
        let [made] = &mut *sign_by_daemons(&[(remote, padding, digest)]) else {
            return Err(Error::Fault.into());
        };
        let made = mem::replace(made, Err(Error::Fault.into()))?;
        return put(&made, signature);
    }
    let private = key.numbers().and_then(Numbers::private).ok_or(Error::Fault)?;
    let request = Request::sign_digest(private, padding, digest, signature);
    let [outcome] = serve([request]);
    COUNTS.signatures.fetch_add(1, Ordering::Relaxed);
    Ok(outcome?)
}

/// Puts a signature to its place.
fn put(made: &[u8], signature: &mut [u8]) -> Result<(), Trouble> {
    // A daemon may give anything.
    if made.len() != signature.len() {
        return Err(Error::Fault.into());
    }
    signature.copy_from_slice(made);
    Ok(())
}

/// Has daemons make signatures.
fn sign_by_daemons(wanted: &[remote::Wanted<'_>]) -> Vec<Outcome> {
    let made = remote::sign(wanted);
    let count = made.iter().filter(|made| made.is_ok()).count() as u64;
    COUNTS.signatures.fetch_add(count, Ordering::Relaxed);
    if count > 1 {
        COUNTS.together.fetch_add(count, Ordering::Relaxed);
    }
    made.into_iter().map(|made| made.map_err(Trouble::Daemon)).collect()
}

/// Serves requests with the memory of the thread.
pub(super) fn serve<const N: usize>(mut requests: [Request<'_>; N]) -> [Result<(), Error>; N] {
    with_workspace(&mut requests);
    requests.map(|request| request.outcome().unwrap_or(Err(Error::Fault)))
}

fn with_workspace(requests: &mut [Request<'_>]) {
    let served = WORKSPACE.try_with(|workspace| {
        let mut workspace = workspace.try_borrow_mut().ok()?;
        // Each request has an outcome of its own.
        let _ = process(requests, &mut workspace);
        Some(())
    });
    if !matches!(served, Ok(Some(()))) {
        let _ = process(requests, &mut Workspace::new());
    }
}

impl Queue {
    fn sign(
        self: &Arc<Self>,
        key: &Arc<Key>,
        padding: Padding,
        digest: &[u8],
        job: &Job<'_>,
    ) -> Outcome {
        let waiting = Arc::new(Waiting {
            key: Arc::clone(key),
            padding,
            digest: digest.to_vec(),
            outcome: Mutex::new(None),
        });
        self.lock().push(Arc::clone(&waiting));
        let (queue, abandoned) = (Arc::clone(self), Arc::clone(&waiting));
        job.pause(Box::new(move || {
            queue.lock().retain(|other| !Arc::ptr_eq(other, &abandoned));
        }));
        if let Some(outcome) = waiting.take() {
            return outcome;
        }
        self.serve(&waiting);
        waiting.take().unwrap_or(Err(Error::Fault.into()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one signature and others that wait.
    fn serve(&self, first: &Arc<Waiting>) {
        let mut waiting = self.lock();
        // Another thread may have made it until the lock was free.
        let Some(own) = waiting.iter().position(|other| Arc::ptr_eq(other, first)) else { return };
        waiting.swap(0, own);
        let now = waiting.len().min(MOST);
        let others = waiting.split_off(now);
        let batch = mem::replace(&mut *waiting, others);

        let remote = batch.iter().filter_map(|waiting| {
            Some((waiting, (waiting.key.remote()?, waiting.padding, &waiting.digest[..])))
        });
        let (of_daemons, wanted): (Vec<_>, Vec<_>) = remote.unzip();
        for (waiting, outcome) in of_daemons.iter().zip(sign_by_daemons(&wanted)) {
            *waiting.outcome() = Some(outcome);
        }
        let keys: Vec<_> =
            batch.iter().filter_map(|waiting| Some((waiting, waiting.key()?))).collect();
        let lengths = keys.iter().map(|(_, key)| vec![0; key.signature_length()]);
        let mut signatures: Vec<Vec<u8>> = lengths.collect();
        let mut requests: Vec<_> = keys
            .iter()
            .zip(&mut signatures)
            .map(|((waiting, key), signature)| {
                Request::sign_digest(key, waiting.padding, &waiting.digest, signature)
            })
            .collect();
        with_workspace(&mut requests);
        let outcomes: Vec<_> = requests.iter().map(Request::outcome).collect();
        drop(requests);
        let made = signatures.len() as u64;
        COUNTS.signatures.fetch_add(made, Ordering::Relaxed);
        if made > 1 {
            COUNTS.together.fetch_add(made, Ordering::Relaxed);
        }
        for (((waiting, _), signature), outcome) in keys.iter().zip(signatures).zip(outcomes) {
            let outcome = outcome.unwrap_or(Err(Error::Fault)).map(|()| signature);
            *waiting.outcome() = Some(outcome.map_err(Trouble::Here));
        }
    }
}

impl Waiting {
    fn key(&self) -> Option<&PrivateKey> {
        self.key.numbers().and_then(Numbers::private)
    }

    fn outcome(&self) -> MutexGuard<'_, Option<Outcome>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Outcome> {
        self.outcome().take()
    }
}
