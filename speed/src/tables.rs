//! The tables, one file each.

pub(crate) mod calls;
pub(crate) mod cprng;
pub(crate) mod grid;
pub(crate) mod headline;
pub(crate) mod packets;
pub(crate) mod random;
pub(crate) mod urandom;
pub(crate) mod wide;

use crate::results::Point;

/// Whether a generator wipes what it gave out and does not repeat itself after a fork.
///
/// Known from the peers' documentation and from tests: `rand` does neither, and libsodium's
/// internal generator repeats its buffered words in a child.
pub(crate) fn is_safe(point: &Point) -> bool {
    !(point.source == "rand" || point.source == "libsodium" && point.api == "internal")
}

/// The first elements of a point's id; `erasing` is what goes without saying.
pub(crate) fn id(point: &Point) -> String {
    let Point { table, source, api, subject, generator, .. } = point;
    let kind = generator.as_deref().filter(|&kind| kind != "erasing");
    let kind = kind.map_or_else(String::new, |kind| format!("/{kind}"));
    format!("{table}/{source}/{api}/{subject}{kind}")
}

/// Whether a generator is held by its user, rather than found at every call.
pub(crate) fn is_held(point: &Point) -> bool {
    point.api == "held" || point.source == "rand" && point.api != "thread-rng"
}

/// The name of what was measured, and a mark where it is not safe.
pub(crate) fn name(point: &Point) -> String {
    let mark = if is_safe(point) { "" } else { "°" };
    format!("{} {}{mark}", point.source, point.api)
}

/// What [`name`]'s mark means.
pub(crate) const MARK: &str = "° keeps what it gave out, or repeats itself after a fork.\n";
