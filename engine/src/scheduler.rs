//! Who serves what of a batch, and what goes side by side: by class, by length, by how many there
//! are of a kind.

mod groups;

use std::sync::Arc;

use lanecrypt_ciphers::Error;
use lanecrypt_ciphers::lanes::Lengths;

use self::groups::{AT_ONCE, Groups};
use crate::Driver;
use crate::class::Class;
use crate::cost::Lanes;
use crate::drivers::serve_class;
use crate::entry::Entry;
use crate::session::Route;
use crate::work::State;

/// Fewer are not worth sorting.
const FEW: usize = 4;

/// Serves each message of a batch that has not been served, here or by the driver of its session,
/// and returns how many have failed; those that had failed before count, too.
#[inline(never)]
pub(crate) fn serve<'a, E: Entry<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    let mut failed = 0;
    let mut rest = batch;
    // Nobody needs to count those who gain nothing by company, were all the others of their kind.
    while rest.first().is_some_and(|first| goes_alone(lanes, first, rest.len())) {
        let Some(first) = rest.split_off_first_mut() else { break };
        failed += usize::from(!first.serve());
    }
    rest.chunks_mut(AT_ONCE).fold(failed, |failed, batch| failed + serve_some(lanes, batch))
}

/// Serves at most [`AT_ONCE`]. A batch of one class is looked at once before it is served, and not
/// again after that.
#[inline]
fn serve_some<'a, E: Entry<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    let Some(first) = batch.first() else { return 0 };
    let class = first.state().class;
    if let Some(driver) = awaited(first) {
        if leading(driver, batch) == batch.len() {
            serve_by(driver, batch);
            return failed(batch);
        }
    } else if batch.iter().all(|entry| entry.state().awaits(class)) {
        let lengths = side_by_side(lanes, class, batch.len(), batch.iter());
        return serve_class(class, lengths, batch.iter_mut());
    }
    serve_mixed(lanes, batch)
}

/// Whether the software here is to serve a message alone, in a batch of so many.
#[inline(always)]
fn goes_alone<'a, E: Entry<'a>>(lanes: &Lanes, entry: &E, messages: usize) -> bool {
    let State { class, outcome } = entry.state();
    outcome.is_none()
        && match Lanes::kind(class) {
            Lanes::ALONE => true,
            Lanes::ELSEWHERE => false,
            kind => !lanes.of_kind(kind.into(), messages).contain(entry.work().bytes()),
        }
}

/// How many have failed.
fn failed<'a, E: Entry<'a>>(batch: &[E]) -> usize {
    batch.iter().filter(|entry| entry.state().outcome != Some(Ok(()))).count()
}

#[inline(never)]
fn serve_mixed<'a, E: Entry<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    if batch.len() < FEW {
        for entry in &mut *batch {
            if entry.state().outcome.is_none() && entry.state().class.is_here() {
                entry.serve();
            }
        }
    } else {
        let groups = Groups::new(batch);
        for (class, count) in groups.classes() {
            let lengths = side_by_side(lanes, class, count, groups.shared(class, batch));
            serve_class(class, lengths, groups.members(class, batch));
        }
    }
    serve_elsewhere(batch);
    failed(batch)
}

/// The lengths of those messages of a class that go side by side: by how many there are that would,
/// not by how many there are.
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
    let joining = members.filter(|entry| most.contain(entry.work().bytes())).count();
    if joining == count { most } else { lanes.lengths(class, joining) }
}

/// Has other drivers serve what is theirs, in runs as they stand.
#[inline(never)]
fn serve_elsewhere<'a, E: Entry<'a>>(batch: &mut [E]) {
    let mut rest = batch;
    while let Some(first) = rest.first() {
        let Some(driver) = awaited(first) else {
            rest = &mut rest[1..];
            continue;
        };
        let (run, behind) = rest.split_at_mut(leading(driver, rest));
        serve_by(driver, run);
        rest = behind;
    }
}

/// How many messages at the front of a batch wait for this driver.
#[inline]
fn leading<'a, E: Entry<'a>>(driver: &Arc<dyn Driver>, batch: &[E]) -> usize {
    let same = |entry: &E| awaited(entry).is_some_and(|other| Arc::ptr_eq(driver, other));
    batch.iter().take_while(|entry| same(entry)).count()
}

/// Has a driver serve what is its own.
fn serve_by<'a, E: Entry<'a>>(driver: &Arc<dyn Driver>, batch: &mut [E]) {
    driver.process(E::jobs(batch));
    for entry in batch {
        let (_, _, work) = entry.parts();
        work.state.outcome.get_or_insert(Err(Error::Unsupported));
    }
}

/// The other driver that a message waits for.
#[inline]
fn awaited<'a, E: Entry<'a>>(entry: &E) -> Option<&'a Arc<dyn Driver>> {
    let state = entry.state();
    if !state.class.is_elsewhere() || state.outcome.is_some() {
        return None;
    }
    entry.session().route().map(|Route { driver, .. }| driver)
}
