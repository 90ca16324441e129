//! Points that are shown together.

use crate::machine::Machine;
use crate::results::Point;

/// The points that are shown, and their machine.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) points: Vec<&'a Point>,
}

impl<'a> Scope<'a> {
    /// The points of a table.
    pub(crate) fn of(machine: &'a Machine, points: &'a [Point], table: &str) -> Self {
        let points = points.iter().filter(|point| point.table == table).collect();
        Self { machine, points }
    }

    /// Those that `fits` chooses.
    pub(crate) fn only(&self, fits: impl Fn(&Point) -> bool) -> Self {
        self.with(self.points.iter().copied().filter(|point| fits(point)).collect())
    }

    /// Other points of the same machine.
    pub(crate) fn with<'b>(&self, points: Vec<&'b Point>) -> Scope<'b>
    where
        'a: 'b,
    {
        Scope { machine: self.machine, points }
    }

    /// The first point that fits.
    pub(crate) fn find(&self, fits: impl Fn(&Point) -> bool) -> Option<&'a Point> {
        self.points.iter().copied().find(|point| fits(point))
    }

    /// The point of one thread.
    pub(crate) fn one(&self) -> Option<&'a Point> {
        self.find(|point| point.threads == Some(1))
    }

    /// The point of several threads.
    pub(crate) fn all(&self) -> Option<&'a Point> {
        self.find(|point| point.threads > Some(1))
    }

    /// The points by their keys, in the order of the measured ones.
    pub(crate) fn groups<K: PartialEq>(&self, key: impl Fn(&Point) -> K) -> Vec<(K, Self)> {
        let mut groups: Vec<(K, Self)> = Vec::new();
        let (measured, given): (Vec<&Point>, Vec<&Point>) =
            self.points.iter().copied().partition(|point| is_measured(point));
        for point in measured.into_iter().chain(given) {
            let key = key(point);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => group.points.push(point),
                None => groups.push((key, self.with(vec![point]))),
            }
        }
        groups
    }

    /// Whether it is ours at a lower level of instruction set than this machine's.
    pub(crate) fn is_lower(&self, point: &Point) -> bool {
        is_lower(point, &self.machine.isa)
    }
}

/// Whether its figure is neither a document's nor computed.
pub(crate) fn is_measured(point: &Point) -> bool {
    point.source != "document" && point.source != MODEL
}

/// The [`Point::source`] of figures that are computed to be shown.
pub(crate) const MODEL: &str = "model";

/// A figure as text.
pub(crate) type Figure = fn(&Scope<'_>, &Point) -> Option<String>;
/// A column by its order and name; points without one are in every column.
pub(crate) type Place = Option<(u64, String)>;

/// Whether a point is ours at another level of instruction set than `isa`, which ours has there.
pub(crate) fn is_lower(point: &Point, isa: &str) -> bool {
    point.is_ours() && point.isa.as_ref().is_some_and(|level| level != isa)
}
