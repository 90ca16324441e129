//! Signatures: made here or by daemons, alone or, in asynchronous jobs, together.

use core::cell::RefCell;
use core::mem;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use lanecrypt_rsa::{Error, Padding, PrivateKey, Request, Workspace, process};

use super::key::Key;
use super::numbers::Numbers;
use super::remote;
use crate::asynchronous::{Job, Queue, Work};
use crate::count::COUNTS;
use crate::errors::{Failure, Trouble};

thread_local! {
    static QUEUE: Arc<Queue<Signing>> = Arc::default();
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// A signature that is wanted.
struct Signing {
    key: Arc<Key>,
    padding: Padding,
    digest: Vec<u8>,
}

/// What has become of a signature.
type Outcome = Result<Vec<u8>, Trouble>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Entropy => Failure::Entropy,
            _ => Failure::Fault,
        }
        .into()
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
        let signing = Signing { key: Arc::clone(key), padding, digest: digest.to_vec() };
        let made = queue.wait(signing, &job).unwrap_or(Err(Error::Fault.into()))?;
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
    made.into_iter()
        .map(|made| made.map_err(|reason| Trouble::described(Failure::Daemon, reason)))
        .collect()
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

impl Work for Signing {
    type Outcome = Outcome;

    fn serve(batch: &[&Self]) -> Vec<Outcome> {
        let mut outcomes: Vec<Option<Outcome>> = batch.iter().map(|_| None).collect();
        let remote = batch.iter().enumerate().filter_map(|(place, signing)| {
            Some((place, (signing.key.remote()?, signing.padding, &signing.digest[..])))
        });
        let (places, wanted): (Vec<_>, Vec<_>) = remote.unzip();
        if !wanted.is_empty() {
            for (place, outcome) in places.into_iter().zip(sign_by_daemons(&wanted)) {
                outcomes[place] = Some(outcome);
            }
        }
        let here = batch.iter().zip(&mut outcomes);
        let here = here.filter_map(|(signing, outcome)| Some((signing, signing.key()?, outcome)));
        let mut here: Vec<_> = here
            .map(|(signing, key, outcome)| (signing, key, vec![0; key.signature_length()], outcome))
            .collect();
        let mut requests: Vec<_> = here
            .iter_mut()
            .map(|(signing, key, signature, _)| {
                Request::sign_digest(key, signing.padding, &signing.digest, signature)
            })
            .collect();
        with_workspace(&mut requests);
        let served: Vec<_> = requests.iter().map(Request::outcome).collect();
        drop(requests);
        let made = here.len() as u64;
        COUNTS.signatures.fetch_add(made, Ordering::Relaxed);
        if made > 1 {
            COUNTS.together.fetch_add(made, Ordering::Relaxed);
        }
        for ((_, _, signature, outcome), served) in here.into_iter().zip(served) {
            let served = served.unwrap_or(Err(Error::Fault));
            *outcome = Some(served.map(|()| signature).map_err(Trouble::from));
        }
        let outcomes = outcomes.into_iter();
        outcomes.map(|outcome| outcome.unwrap_or(Err(Error::Fault.into()))).collect()
    }
}

impl Signing {
    fn key(&self) -> Option<&PrivateKey> {
        self.key.numbers().and_then(Numbers::private)
    }
}
