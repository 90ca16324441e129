//! Figures of points as text, and what they are compared with.

use crate::results::Point;
use crate::scope::{MODEL, Place, Scope};
use crate::text;

/// A number that may be missing.
pub(crate) fn number(value: Option<f64>) -> Option<String> {
    value.map(text::number)
}

/// A number of a point, with its mark.
pub(crate) fn marked(point: &Point, value: Option<f64>) -> Option<String> {
    Some(number(value)? + mark(point, None))
}

/// Megabits (10^6 bits) of all threads or processes in a second.
pub(crate) fn megabits(point: &Point) -> Option<f64> {
    Some(point.megabytes_per_second()? * 8.0)
}

/// Millions of requests in a second.
pub(crate) fn millions(point: &Point) -> Option<f64> {
    Some(point.per_second? / 1e6)
}

/// Microseconds of a request.
pub(crate) fn microseconds(point: &Point) -> Option<f64> {
    Some(point.ns? / 1e3)
}

/// Cycles of a byte, with three digits behind the point.
pub(crate) fn per_byte(_: &Scope<'_>, point: &Point) -> Option<String> {
    point.cycles_per_byte().map(|cycles| format!("{cycles:.3}"))
}

/// The column of a point's size, or of its range of sizes.
pub(crate) fn size(point: &Point) -> Place {
    match (point.size, &point.sizes) {
        (Some(size), _) => Some((size, text::size(size))),
        (None, Some(sizes)) => Some((u64::MAX, sizes.clone())),
        (None, None) => None,
    }
}

/// The column of a point's batch.
pub(crate) fn batch(_: &Scope<'_>, point: &Point) -> Place {
    point.batch.map(|batch| (u64::from(batch), batch.to_string()))
}

/// Bytes of a request as a cell.
pub(crate) fn bytes(point: &Point) -> String {
    size(point).map_or_else(|| "-".to_owned(), |(_, name)| name)
}

/// A count as a cell.
pub(crate) fn count(value: Option<u32>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// The cipher and the operation.
pub(crate) fn subject_and_operation(point: &Point) -> String {
    format!("{} {}", point.subject, point.op)
}

/// Whether two points differ in their sizes and numbers at most.
pub(crate) fn is_same_line(a: &Point, b: &Point) -> bool {
    (&a.source, &a.api, &a.subject, &a.isa, &a.op) == (&b.source, &b.api, &b.subject, &b.isa, &b.op)
}

/// The name of the measured thing, with a mark if it is not held to the level that was asked for,
/// and with the level of instruction set if that is not the machine's.
pub(crate) fn candidate(scope: &Scope<'_>, point: &Point) -> String {
    let level = point.isa.as_ref().filter(|_| scope.is_lower(point));
    let level = level.map_or_else(String::new, |isa| format!(" {isa}"));
    format!("{} {}{}{level}", point.source, point.api, scope.machine.mark(&point.source))
}

/// The name of the measured thing, with a mark if it is not safe.
pub(crate) fn name(scope: &Scope<'_>, point: &Point) -> String {
    let mark = if is_safe(point) { "" } else { "°" };
    format!("{} {}{mark}{}", point.source, point.api, scope.machine.mark(&point.source))
}

/// The meaning of [`name`]'s mark.
pub(crate) const MARK: &str = "°: keeps its output in its state, or repeats itself after a fork.\n";

/// Whether a generator wipes its output from its state and does not repeat itself after a fork.
///
/// Known from the peers' documentation and from tests: `rand` does neither, and libsodium's
/// internal generator repeats its buffered words in a child.
pub(crate) fn is_safe(point: &Point) -> bool {
    !(point.source == "rand" || point.source == "libsodium" && point.api == "internal")
}

/// Whether a generator is held by its user, rather than found at every call.
pub(crate) fn is_held(point: &Point) -> bool {
    point.api == "held" || point.source == "rand" && point.api != "thread-rng"
}

/// The mark after a figure: whether it is verified, and whether it is the `best`.
pub(crate) fn mark(point: &Point, best: Option<&Point>) -> &'static str {
    match best {
        _ if point.source == "document" || point.source == MODEL => "",
        _ if !point.verified => "?",
        Some(best) if core::ptr::eq(best, point) => "*",
        _ => "",
    }
}

/// A tilde before a figure that is projected.
pub(crate) fn projected(point: &Point) -> &'static str {
    if point.whole == Some(false) { "~" } else { "" }
}

/// The peer's time divided by ours; with a tilde if the intervals overlap, and in parentheses if
/// one of the figures is not firm.
pub(crate) fn ratio(ours: &Point, peer: &Point) -> String {
    let (Some(a), Some(b)) = (ours.estimate(), peer.estimate()) else { return String::new() };
    if !ours.verified || !peer.verified {
        return "?".to_owned();
    }
    let apart = a.is_below(&b) || b.is_below(&a);
    let times = text::times(b.median / a.median);
    if !ours.is_firm() || !peer.is_firm() {
        return format!("({times})");
    }
    format!("{}{times}", if apart { "" } else { "~" })
}

/// The requests of `many` in a second divided by those of `one`.
pub(crate) fn scaling(one: Option<&Point>, many: Option<&Point>) -> Option<String> {
    Some(text::times(many?.per_second? / one?.per_second?))
}

/// The firm point with the least median, or any if none is firm; that does not make it the certain
/// fastest.
pub(crate) fn quickest<'a>(points: impl Iterator<Item = &'a Point>) -> Option<&'a Point> {
    let cycles = |p: &Point| (!p.is_firm(), p.cycles.unwrap_or(f64::INFINITY));
    points.min_by(|a, b| {
        let ((a_is_not, a), (b_is_not, b)) = (cycles(a), cycles(b));
        a_is_not.cmp(&b_is_not).then(a.total_cmp(&b))
    })
}
