//! This processor: batches sorted by class, each class side by side or one by one.

mod groups;
mod serve;

use std::sync::Arc;

use lanecrypt_ciphers::lanes::Lengths;
use lanecrypt_ciphers::{Algorithm, Error, Isa};

use self::groups::{AT_ONCE, Groups, Leading};
use crate::class::Class;
use crate::cost::Costs;
use crate::session::Route;
use crate::{Driver, Operation, Request, Session, SessionId};

/// Fewer are not worth sorting.
const FEW: usize = 4;

/// Serves every algorithm with the kernels of this processor, from the key that the session holds.
#[derive(Debug)]
pub(crate) struct Software {
    isa: Isa,
    pub(crate) costs: Costs,
}

impl Software {
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa, costs: Costs::built_in(isa.level()) }
    }

    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    /// Serves every request of a batch, here or by the driver of its session, and returns how many
    /// failed.
    #[inline(never)]
    pub(crate) fn serve(&self, batch: &mut [Request<'_>]) -> usize {
        batch.chunks_mut(AT_ONCE).map(|batch| self.serve_some(batch)).sum()
    }

    /// The same for at most [`AT_ONCE`].
    #[inline]
    fn serve_some(&self, batch: &mut [Request<'_>]) -> usize {
        let Some(first) = batch.first() else { return 0 };
        let class = first.state().class;
        if let Some(driver) = awaited(first) {
            if leading(driver, batch) == batch.len() {
                return serve_by(driver, batch);
            }
        } else if !self.costs.have_lanes(class) {
            // How many there are makes no difference to these, so nobody needs to count them first.
            let mut leading = Leading::new(class, batch);
            let failed = serve::class(class, Lengths::NONE, leading.most(), &mut leading);
            return match leading.rest() {
                [] => failed,
                rest => failed + self.serve_mixed(rest),
            };
        } else if batch.iter().all(|request| request.state().class == class) {
            let lengths = self.costs.lengths(class, batch.len());
            let mut all = Leading::new(class, batch);
            return serve::class(class, lengths, all.most(), &mut all);
        }
        self.serve_mixed(batch)
    }

    #[inline(never)]
    fn serve_mixed(&self, batch: &mut [Request<'_>]) -> usize {
        let mut failed = 0;
        if batch.len() < FEW {
            for request in &mut *batch {
                failed += match request.state().class {
                    class if class.is_here() => usize::from(request.alone().is_err()),
                    Class::SETTLED => usize::from(request.outcome() != Some(Ok(()))),
                    _ => 0,
                }
            }
            return failed + elsewhere(batch);
        }
        let groups = Groups::new(batch);
        for (class, count) in groups.classes() {
            if !class.is_elsewhere() {
                let lengths = self.costs.lengths(class, count);
                failed += serve::class(class, lengths, count, groups.members(class, batch));
            }
        }
        failed + elsewhere(batch)
    }
}

/// Serves a batch of requests of one class, those of `lengths` side by side: what is
/// measured.
pub(crate) fn serve_as(lengths: Lengths, batch: &mut [Request<'_>]) -> usize {
    let Some(class) = batch.first().map(|first| first.state().class) else { return 0 };
    let mut all = Leading::new(class, batch);
    serve::class(class, lengths, all.most(), &mut all)
}

/// Has other drivers serve what is theirs, in runs as they stand, and returns how many failed.
#[inline(never)]
fn elsewhere(batch: &mut [Request<'_>]) -> usize {
    let mut failed = 0;
    let mut rest = batch;
    while let Some(first) = rest.first() {
        let Some(driver) = awaited(first) else {
            rest = &mut rest[1..];
            continue;
        };
        let (run, behind) = rest.split_at_mut(leading(driver, rest));
        failed += serve_by(driver, run);
        rest = behind;
    }
    failed
}

/// How many requests at the front of a batch wait for this driver.
#[inline]
fn leading(driver: &Arc<dyn Driver>, batch: &[Request<'_>]) -> usize {
    let same =
        |request: &Request<'_>| awaited(request).is_some_and(|other| Arc::ptr_eq(driver, other));
    batch.iter().take_while(|request| same(request)).count()
}

/// Has a driver serve what is its own, and returns how many failed.
fn serve_by(driver: &Arc<dyn Driver>, batch: &mut [Request<'_>]) -> usize {
    driver.process(batch);
    let mut failed = 0;
    for request in batch {
        if request.outcome().is_none() {
            request.settle(Err(Error::Unsupported));
        }
        failed += usize::from(request.state().outcome.is_err());
    }
    failed
}

/// The other driver that a request waits for.
#[inline]
fn awaited<'a>(request: &Request<'a>) -> Option<&'a Arc<dyn Driver>> {
    if !request.state().class.is_elsewhere() {
        return None;
    }
    request.session.route().map(|Route { driver, .. }| driver)
}

impl Driver for Software {
    fn name(&self) -> &'static str {
        "software"
    }

    fn cost(
        &self,
        algorithm: Algorithm,
        operation: Operation,
        bytes: usize,
        batch: usize,
    ) -> Option<f64> {
        self.costs.nanoseconds(algorithm, operation, bytes, batch)
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        let made = match algorithm.is_aead() {
            true => Session::sealed(self.isa, algorithm, key),
            false => Session::raw(self.isa, algorithm, key),
        };
        made.map(|_| SessionId::default())
    }

    fn close(&self, _session: SessionId) {}

    fn process(&self, batch: &mut [Request<'_>]) {
        self.serve(batch);
    }
}
