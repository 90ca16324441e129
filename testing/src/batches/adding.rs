//! A driver with visible work, so that tests can check that it is done exactly once.

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use lanecrypt_engine::{Algorithm, Driver, Error, Job, Jobs, SessionId};

/// Serves the null cipher by adding a number to each byte. The number depends on the nonce, which
/// may have any length.
#[derive(Clone, Debug)]
pub struct Adding(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    /// It panics over the job of this number, after half of its work.
    panics_at: AtomicUsize,
    /// The nonces of all jobs that it has begun.
    begun: Mutex<Vec<Vec<u8>>>,
}

impl Default for Adding {
    fn default() -> Self {
        let panics_at = AtomicUsize::new(usize::MAX);
        Self(Arc::new(Inside { panics_at, begun: Mutex::new(Vec::new()) }))
    }
}

impl Adding {
    pub const NAME: &str = "adding";

    /// Makes it panic after this many more jobs.
    pub fn panic_after(&self, jobs: usize) {
        // Relaxed: it is set and read on one thread.
        self.0.panics_at.store(self.begun().len() + jobs, Ordering::Relaxed);
    }

    pub fn begun(&self) -> Vec<Vec<u8>> {
        self.0.begun.lock().expect("it panics with it unlocked").clone()
    }

    fn begin(&self, nonce: &[u8]) -> bool {
        let mut begun = self.0.begun.lock().expect("it panics with it unlocked");
        begun.push(nonce.to_vec());
        // Relaxed: it is set and read on one thread.
        begun.len() <= self.0.panics_at.load(Ordering::Relaxed)
    }
}

/// The driver's work.
pub fn add(nonce: &[u8], data: &mut [u8]) {
    let sum = nonce.iter().fold(1_u8, |sum, byte| sum.wrapping_mul(3).wrapping_add(*byte));
    data.iter_mut().for_each(|byte| *byte = byte.wrapping_add(sum | 1));
}

/// The same for a job, also from one buffer to another.
///
/// # Errors
///
/// [`Error::OutputLength`] if there are two slices of different lengths.
pub fn serve(job: &mut Job<'_, '_>) -> Result<(), Error> {
    let nonce = job.nonce();
    add(nonce, job.data()?.into_out_with_copied_in());
    Ok(())
}

impl Driver for Adding {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn open(&self, algorithm: Algorithm, _: &[u8]) -> Result<SessionId, Error> {
        match algorithm {
            Algorithm::NULL => Ok(SessionId(7)),
            _ => Err(Error::Unsupported),
        }
    }

    fn close(&self, _: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        for mut job in jobs {
            let goes_on = self.begin(job.nonce());
            let outcome = serve(&mut job);
            assert!(goes_on, "the driver is exhausted");
            job.settle(outcome);
        }
    }
}
