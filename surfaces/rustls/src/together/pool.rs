//! The pool: connections that continue together.

use core::fmt;

use lanecrypt_fibers::{Current, Pool, is_waiting_possible, wait};
use lanecrypt_rsa::Workspace;

use super::jobs::{self, Failed, Job};

thread_local! {
    static CURRENT: Current<Box<Job>> = const { Current::new() };
}

/// Whether the caller is in a pool, so that a job may be [processed](together) with others.
pub(crate) fn is_here() -> bool {
    is_waiting_possible(&CURRENT) && jobs::lanes() > 0
}

/// Waits until the job was processed together with those of other connections. `None` if it is left
/// to the base.
pub(crate) fn together(job: Job) -> Option<Result<Box<Job>, Failed>> {
    let job = wait(&CURRENT, Box::new(job)).ok()?;
    let outcome = job.outcome?;
    Some(outcome.map(|()| job))
}

/// The same for a job that the base cannot compute, because the key is ours.
pub(crate) fn finish(job: Job) -> Result<Box<Job>, Failed> {
    let mut job = wait(&CURRENT, Box::new(job)).unwrap_or_else(|job| job);
    let outcome = job.outcome.unwrap_or_else(|| job.compute());
    outcome.map(|()| job)
}

/// Advances connections together, so that their key exchanges and signatures are computed side by
/// side.
///
/// [`run`](Self::run) takes one closure for each connection that has something to read. Each runs
/// until it has finished or until rustls needs a key exchange or a signature. When all have come
/// that far, these operations are processed as one batch, and the closures continue.
///
#[cfg_attr(feature = "ring", doc = "```no_run")]
#[cfg_attr(not(feature = "ring"), doc = "```ignore")]
/// use rustls::ServerConnection;
/// use rustls_lanecrypt::HandshakePool;
///
/// # fn ready() -> Vec<ServerConnection> { Vec::new() }
/// let mut pool = HandshakePool::new();
/// loop {
///     // The connections of which `epoll` says that they are readable, after `read_tls`.
///     let mut connections: Vec<ServerConnection> = ready();
///     let closures = connections.iter_mut().map(|connection| || connection.process_new_packets());
///     for outcome in pool.run(closures) {
///         // As without a pool: write what there is to write, close after an error.
///         let _ = outcome;
///     }
/// }
/// ```
///
/// There are no timers and no threads: a batch is what is there. A single closure is called as it
/// is. The base computes what does not gain by lanes: with AVX-512, an operation that is alone of
/// its kind, or the only one beyond a multiple of eight; with AVX2, those beyond a multiple of
/// four; without AVX2, and outside of a pool, all of them.
///
/// Connections need a configuration with our provider. For others, and for operations that we do
/// not have, a pool changes nothing.
///
/// # Closures
///
/// All closures run on the caller's thread, so that they need not be `Send`, each on a stack of 256
/// KiB, at most 64 at once. A closure must not hold a lock while rustls works if another closure
/// takes it, too. It may do anything else, such as reading from the socket before and writing
/// after.
#[derive(Default)]
pub struct HandshakePool {
    pool: Option<Pool<Box<Job>>>,
    workspace: Workspace,
}

impl fmt::Debug for HandshakePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandshakePool").finish_non_exhaustive()
    }
}

impl HandshakePool {
    /// A pool. Its stacks are made when they are needed, and kept.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs the closures, and returns their results in order.
    ///
    /// # Panics
    ///
    /// With the first panic of a closure, after all others have finished.
    pub fn run<F, R>(&mut self, closures: impl IntoIterator<Item = F>) -> Vec<R>
    where
        F: FnOnce() -> R,
    {
        let Self { pool, workspace } = self;
        let pool = pool.get_or_insert_with(|| Pool::new(&CURRENT));
        pool.run(closures, |jobs| jobs::process(jobs, workspace))
    }
}
