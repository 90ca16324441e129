//! A table of the output, and the words that tables share.

use core::time::Duration;

use crate::depth::Depth;
use crate::device::DeviceOptions;
use crate::options::Options;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::sampler::{Limits, Sampled};
use crate::text;

/// Which figures are measured that are not sampled in rows, and for how long.
pub(crate) struct Extra<'a> {
    /// Whether the id of a point is wanted.
    pub(crate) fits: &'a dyn Fn(&str) -> bool,
    pub(crate) time: Duration,
    /// What ends it earlier.
    pub(crate) limits: Limits<'a>,
    pub(crate) device: &'a DeviceOptions,
}

/// A table, or a part of one: its measurements and its text.
pub(crate) trait Table: Sync {
    /// Its name on the command line and in [`Point::table`].
    fn name(&self) -> &'static str;

    /// Its name while it is measured.
    fn heading(&self) -> &'static str {
        self.name()
    }

    /// The default time of the whole table in seconds.
    fn seconds(&self, depth: Depth) -> u64 {
        if depth == Depth::Quick { 20 } else { 60 }
    }

    /// The depth of its points for these options.
    fn depth(&self, options: &Options) -> Depth {
        options.depth
    }

    /// The sampled rows at a depth: ours and the peers that it asks `rivals` for.
    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row>;

    /// Points that need no measurement: a document's figures.
    fn given(&self) -> Vec<Point> {
        Vec::new()
    }

    /// Whether it has the document's whole test, which has no time limit.
    fn has_test(&self) -> bool {
        false
    }

    /// The ids of figures that are not sampled in rows.
    fn extra_ids(&self) -> Vec<String> {
        Vec::new()
    }

    /// Measures these figures.
    fn extra(&self, _how: &Extra<'_>, _sampled: &mut Sampled) {}

    /// Enters figures that follow from the measured ones.
    fn finish(&self, _points: &mut [Point]) {}

    /// The table as text.
    fn text(&self, points: &[Point]) -> String;

    /// Whether it is longer than a screen: its rows of the first screen are then what is measured
    /// and shown, unless more is asked for.
    fn is_long(&self) -> bool {
        false
    }

    /// Its rows on the first screen.
    fn headline_rows(&self, _rivals: &Rivals<'_>, _depth: Depth) -> Vec<Row> {
        Vec::new()
    }

    /// Its part of the first screen, for the existing points.
    fn headline(&self, _points: &[Point]) -> String {
        String::new()
    }
}

/// Whether a generator wipes its output from its state and does not repeat itself after a fork.
///
/// Known from the peers' documentation and from tests: `rand` does neither, and libsodium's
/// internal generator repeats its buffered words in a child.
pub(crate) fn is_safe(point: &Point) -> bool {
    !(point.source == "rand" || point.source == "libsodium" && point.api == "internal")
}

/// The first elements of a point's id; `erasing` is the default and is omitted.
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

/// The name of the measured thing, with a mark if it is not safe.
pub(crate) fn name(point: &Point) -> String {
    let mark = if is_safe(point) { "" } else { "°" };
    format!("{} {}{mark}", point.source, point.api)
}

/// How to read a screen.
pub(crate) const READING: &str = "To read: cycles of the time-stamp counter, medians; less is faster. 1.50x: the time of the peer \
     divided\nby ours. ~: the two cannot be told apart. ?: ours is not verified. (1.50x): from one pass \
     only, or from\npasses that others disturbed.\n";

/// The meaning of [`name`]'s mark.
pub(crate) const MARK: &str = "°: keeps its output in its state, or repeats itself after a fork.\n";

/// The rows that are not among `rows` yet.
pub(crate) fn add_once(rows: &mut Vec<Row>, more: impl IntoIterator<Item = Row>) {
    for row in more {
        if !rows.iter().any(|known| known.point.id == row.point.id) {
            rows.push(row);
        }
    }
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

/// The firm point with the least median, or any if none is firm; that does not make it the certain
/// fastest.
pub(crate) fn quickest<'a>(points: impl Iterator<Item = &'a Point>) -> Option<&'a Point> {
    let cycles = |p: &Point| (!p.is_firm(), p.cycles.unwrap_or(f64::INFINITY));
    points.min_by(|a, b| {
        let ((a_is_not, a), (b_is_not, b)) = (cycles(a), cycles(b));
        a_is_not.cmp(&b_is_not).then(a.total_cmp(&b))
    })
}
