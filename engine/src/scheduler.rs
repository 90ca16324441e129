//! Distributes the messages of a batch: to drivers by session, and to lanes by class, length and
//! number of messages of a kind. Signatures and key
//! exchange come last, because they take a thousand times as long.
//!
//! Messages at the front of a batch that do not benefit from lanes are processed one by one. The
//! others are taken 256 at a time: messages of one class run at once, mixed classes are grouped by
//! index on the stack. No message is moved.

mod groups;

use alloc::sync::Arc;

use lanecrypt_ciphers::Error;
use lanecrypt_ciphers::lanes::Lengths;

use self::groups::Groups;
use crate::Driver;
use crate::class::Class;
use crate::drivers::serve_class;
use crate::lanes::Lanes;
use crate::session::Route;
use crate::session::entry::Entry;
use crate::session::job::{AsJobs, Jobs, List};
use crate::session::members::{AT_ONCE, Members};
use crate::session::work::State;

/// Smaller batches are not worth sorting.
const FEW: usize = 4;

/// Serves each message of a batch that has not been served, here or by the driver of its session.
/// Returns how many have failed, including messages that had failed before.
#[inline(never)]
pub(crate) fn serve<'a, E: AsJobs<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    let mut failed = 0;
    let mut rest = batch;
    // The leading messages that run without lanes in any case need not be sorted.
    while rest.first().is_some_and(|first| is_immediate(lanes, first, rest.len())) {
        let Some(first) = rest.split_off_first_mut() else { break };
        failed += usize::from(!first.serve());
    }
    rest.chunks_mut(AT_ONCE).fold(failed, |failed, batch| failed + serve_some(lanes, batch))
}

/// Serves at most [`AT_ONCE`] messages. A batch of one class is checked once before it is served,
/// and not again.
#[inline]
fn serve_some<'a, E: AsJobs<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    let Some(first) = batch.first() else { return 0 };
    let class = first.state().class;
    if class.is_asymmetric() {
        // They are served after all other messages.
    } else if let Some(driver) = awaited(first) {
        if leading(driver, batch) == batch.len() {
            serve_by(driver, batch);
            return failed(batch);
        }
    } else if batch.iter().all(|entry| entry.state().awaits(class)) {
        let lengths = side_by_side(lanes, class, batch.len(), batch.iter());
        return serve_class(class, lengths, Members::of(E::jobs(batch), None));
    }
    serve_mixed(lanes, batch)
}

/// Whether the software serves a message without lanes, in a batch of this size.
#[inline(always)]
fn is_immediate<'a, E: Entry<'a>>(lanes: &Lanes, entry: &E, messages: usize) -> bool {
    let State { class, outcome } = entry.state();
    outcome.is_none()
        && match Lanes::kind(class) {
            Lanes::ALONE => true,
            Lanes::ELSEWHERE => false,
            kind => !lanes.of_kind(kind.into(), messages).contains(entry.work().bytes()),
        }
}

/// The number of messages that have failed. All have an outcome.
fn failed<'a, E: Entry<'a>>(batch: &[E]) -> usize {
    batch.iter().filter(|entry| entry.state().outcome != Some(Ok(()))).count()
}

#[inline(never)]
fn serve_mixed<'a, E: AsJobs<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    if batch.len() < FEW {
        for entry in &mut *batch {
            if entry.state().outcome.is_none() && entry.state().class.is_here() {
                entry.serve();
            }
        }
    } else {
        let groups = Groups::new(batch);
        for (class, count) in groups.classes() {
            let mut way = groups.way(class);
            let lengths = side_by_side(lanes, class, count, way.through(batch));
            serve_class(class, lengths, Members::of(E::jobs(batch), Some(&mut way)));
        }
    }
    serve_others(batch);
    failed(batch)
}

/// The lengths of the messages of a class that run in lanes. Only messages that can benefit from
/// lanes count towards the number, not all messages of the class.
#[inline]
fn side_by_side<'b, 'a: 'b, E: Entry<'a> + 'b>(
    lanes: &Lanes,
    class: Class,
    count: usize,
    members: impl Iterator<Item = &'b E>,
) -> Lengths {
    let most = lanes.lengths(class, count);
    if most == Lengths::NONE || most == Lengths::ALL {
        return most;
    }
    let joining = members.filter(|entry| most.contains(entry.work().bytes())).count();
    if joining == count { most } else { lanes.lengths(class, joining) }
}

impl Jobs<'_, '_> {
    /// Serves them by this processor's software, which has the key of every session. If all have
    /// the same algorithm and operation, they run in lanes where that is faster.
    pub fn serve_by_software(self, lanes: &Lanes) {
        let (class, lengths) = match self.list() {
            List::Requests(requests) => shared(lanes, requests.iter()),
            List::Waiting(waiting) => shared(lanes, waiting.iter()),
            List::Lent(jobs) => shared(lanes, jobs.iter().flatten()),
        };
        serve_class(class, lengths, Members::of(self, None));
    }
}

/// The class that messages have in common if the software serves them, regardless of the drivers of
/// their sessions, and the lengths that run in lanes.
fn shared<'b, 'a: 'b, E: Entry<'a> + 'b>(
    lanes: &Lanes,
    messages: impl Iterator<Item = &'b E> + Clone,
) -> (Class, Lengths) {
    let of = |entry: &E| (entry.session().algorithm(), entry.state().class.operation());
    let mut each = messages.clone().map(of);
    match each.next() {
        Some((Some(algorithm), operation)) if each.all(|it| it == (Some(algorithm), operation)) => {
            let class = Class::of(algorithm).with(operation);
            let count = messages.clone().count();
            (class, side_by_side(lanes, class, count, messages))
        }
        _ => (Class::ELSEWHERE, Lengths::NONE),
    }
}

/// Passes messages to their drivers, in runs of consecutive messages, and serves the remaining
/// requests of asymmetric keys.
#[inline(never)]
fn serve_others<'a, E: AsJobs<'a>>(batch: &mut [E]) {
    let mut asymmetric = false;
    let mut rest = &mut *batch;
    while let Some(first) = rest.first() {
        let Some(driver) = awaited(first) else {
            asymmetric |= first.state().class.is_asymmetric();
            rest = &mut rest[1..];
            continue;
        };
        let (run, behind) = rest.split_at_mut(leading(driver, rest));
        serve_by(driver, run);
        rest = behind;
    }
    #[cfg(feature = "pk")]
    if asymmetric {
        crate::asymmetric::serve(&mut *batch, &crate::asymmetric::Pk);
    }
    #[cfg(feature = "rsa")]
    if asymmetric {
        let library = crate::asymmetric::Rsa(lanecrypt_rsa::Backend::Measured);
        crate::asymmetric::serve(batch, &library);
    }
    #[cfg(not(feature = "_asymmetric"))]
    debug_assert!(!asymmetric || batch.iter().all(|entry| entry.state().outcome.is_some()));
}

/// The number of messages at the front of a batch that wait for this driver.
#[inline]
fn leading<'a, E: Entry<'a>>(driver: &Arc<dyn Driver>, batch: &[E]) -> usize {
    let same = |entry: &E| awaited(entry).is_some_and(|other| Arc::ptr_eq(driver, other));
    batch.iter().take_while(|entry| same(entry)).count()
}

/// Passes messages to the driver that serves them.
fn serve_by<'a, E: AsJobs<'a>>(driver: &Arc<dyn Driver>, batch: &mut [E]) {
    driver.process(E::jobs(batch));
    for entry in batch {
        let (_, _, work) = entry.parts();
        work.state.outcome.get_or_insert(Err(Error::Unsupported));
    }
}

/// The driver that a message waits for, if it is not the software.
#[inline]
fn awaited<'a, E: Entry<'a>>(entry: &E) -> Option<&'a Arc<dyn Driver>> {
    let state = entry.state();
    if state.class.is_here() || state.outcome.is_some() {
        return None;
    }
    entry.session().route().map(|Route { driver, .. }| driver)
}
