//! The tables, one file or folder each.

use core::time::Duration;

use crate::depth::Depth;
use crate::options::Options;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::sampler::{Limits, Sampled};
use crate::text;

pub(crate) mod grid;
pub(crate) mod headline;

// The tables.
pub(crate) mod calls;
pub(crate) mod cprng;
pub(crate) mod packets;
pub(crate) mod random;
pub(crate) mod urandom;

/// Every table, in the order of the first screen. Those of one name are parts of one table, which
/// share its time.
pub(crate) const TABLES: &[&dyn Table] =
    &[&cprng::Cprng, &random::Random, &urandom::Urandom, &calls::Calls, &packets::Packets];

/// A table, or a part of one: what is measured, and how it is shown.
pub(crate) trait Table: Sync {
    /// Its name on the command line and in [`Point::table`].
    fn name(&self) -> &'static str;

    /// What it is called while it is measured.
    fn heading(&self) -> &'static str {
        self.name()
    }

    /// Seconds that the whole table takes if the user says nothing.
    fn seconds(&self, depth: Depth) -> u64 {
        if depth == Depth::Quick { 20 } else { 60 }
    }

    /// How many of its points are measured if the user asks for this.
    fn depth(&self, options: &Options) -> Depth {
        options.depth
    }

    /// What is sampled, at a depth: ours and the peers that it asks `rivals` for.
    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row>;

    /// Points that need no measurement: a document's figures.
    fn given(&self) -> Vec<Point> {
        Vec::new()
    }

    /// Whether the document's test as a whole belongs to it, which takes as long as it takes.
    fn has_test(&self) -> bool {
        false
    }

    /// The ids of figures that are not sampled in rows.
    fn extra_ids(&self) -> Vec<String> {
        Vec::new()
    }

    /// Measures those whose ids `fits`, in so much `time`, unless `limits` end it first.
    fn extra(
        &self,
        _fits: &dyn Fn(&str) -> bool,
        _time: Duration,
        _limits: &Limits<'_>,
        _sampled: &mut Sampled,
    ) {
    }

    /// Enters what follows from the measured figures.
    fn finish(&self, _points: &mut [Point]) {}

    /// The table as text.
    fn text(&self, points: &[Point]) -> String;

    /// Its rows on the first screen.
    fn headline_rows(&self, _rivals: &Rivals<'_>, _depth: Depth) -> Vec<Row> {
        Vec::new()
    }

    /// Its part of the first screen, of the points that there are.
    fn headline(&self, _points: &[Point]) -> String {
        String::new()
    }
}

/// The names of all tables, each once.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = TABLES.iter().map(|table| table.name()).collect();
    names.dedup();
    names
}

/// The parts of a table.
pub(crate) fn parts(name: &str) -> impl Iterator<Item = &'static dyn Table> {
    TABLES.iter().copied().filter(move |table| table.name() == name)
}

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

/// Those rows that are not among `rows` yet.
pub(crate) fn add_once(rows: &mut Vec<Row>, more: impl IntoIterator<Item = Row>) {
    for row in more {
        if !rows.iter().any(|known| known.point.id == row.point.id) {
            rows.push(row);
        }
    }
}

/// How many times as long `peer` takes; a tilde where the intervals overlap.
pub(crate) fn ratio(ours: &Point, peer: &Point) -> String {
    let (Some(a), Some(b)) = (ours.estimate(), peer.estimate()) else { return String::new() };
    if !ours.verified || !peer.verified {
        return "?".to_owned();
    }
    let apart = a.is_below(&b) || b.is_below(&a);
    format!("{}{}", if apart { "" } else { "~" }, text::times(b.median / a.median))
}

/// The one with the least median; a rank among peers is not claimed by it.
pub(crate) fn quickest<'a>(points: impl Iterator<Item = &'a Point>) -> Option<&'a Point> {
    let cycles = |p: &Point| p.cycles.unwrap_or(f64::INFINITY);
    points.min_by(|a, b| cycles(a).total_cmp(&cycles(b)))
}
