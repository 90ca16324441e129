//! Who serves what of a batch, and what goes side by side: by class, by length, by how many there
//! are of a kind.

mod groups;

use std::sync::Arc;

use lanecrypt_ciphers::Error;
use lanecrypt_ciphers::lanes::Lengths;

use self::groups::{AT_ONCE, Groups, Leading};
use crate::Driver;
use crate::class::Class;
use crate::cost::Lanes;
use crate::drivers::serve_class;
use crate::entry::Entry;
use crate::session::Route;

/// Fewer are not worth sorting.
const FEW: usize = 4;

/// Serves each message of a batch that has not been served, here or by the driver of its session,
/// and returns how many have failed; those that had failed before count, too.
#[inline(never)]
pub(crate) fn serve<'a, E: Entry<'a>>(lanes: &Lanes, batch: &mut [E]) -> usize {
    for batch in batch.chunks_mut(AT_ONCE) {
        serve_some(lanes, batch);
    }
    batch.iter().filter(|entry| entry.state().outcome != Some(Ok(()))).count()
}

/// Serves at most [`AT_ONCE`].
#[inline]
fn serve_some<'a, E: Entry<'a>>(lanes: &Lanes, batch: &mut [E]) {
    let Some(first) = batch.first() else { return };
    let class = first.state().class;
    if let Some(driver) = awaited(first) {
        if leading(driver, batch) == batch.len() {
            return serve_by(driver, batch);
        }
    } else if !lanes.serve(class) {
        // How many there are makes no difference to these, so nobody needs to count them first.
        let mut leading = Leading::new(class, batch);
        serve_class(class, Lengths::NONE, &mut leading);
        return match leading.rest() {
            [] => {}
            rest => serve_mixed(lanes, rest),
        };
    } else if batch.iter().all(|entry| entry.state().awaits(class)) {
        let lengths = side_by_side(lanes, class, batch.len(), batch.iter());
        return serve_class(class, lengths, &mut Leading::new(class, batch));
    }
    serve_mixed(lanes, batch);
}

#[inline(never)]
fn serve_mixed<'a, E: Entry<'a>>(lanes: &Lanes, batch: &mut [E]) {
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
