//! What a table shows, described by values: which points are in a block, what its lines and columns
//! are, and whom a figure is compared with. All blocks of all tables are made here.

use crate::block::Block;
use crate::figure::{candidate, mark, name, number, quickest, ratio, size};
use crate::results::{Point, fastest};
use crate::scope::{Figure, Place, Scope, is_measured};

/// The columns of names, and the names of a point.
type Names = (&'static [&'static str], fn(&Scope<'_>, &Point) -> Vec<String>);

/// Blocks with a line for each candidate and a column for each size, batch or the like.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) of: Choice,
    /// The title of a point's block, with its unit. Points of one title are in one block.
    pub(crate) title: fn(&Point, &str) -> String,
    /// The names of a point's line, after their columns' names. Points with the same names are in
    /// one line.
    pub(crate) names: Names,
    pub(crate) over: fn(&Scope<'_>, &Point) -> Place,
    /// The figures, each in a block of its own.
    pub(crate) units: &'static [(&'static str, Figure)],
    /// Whether the certainly fastest of each column is marked.
    pub(crate) is_ranked: bool,
    /// Lines under those of the candidates.
    pub(crate) compare: &'static [(&'static str, Comparison)],
    pub(crate) note: &'static str,
}

/// A cell under a column.
type Comparison = fn(&At<'_>) -> Option<String>;
/// Which points are meant.
type Choice = fn(&Point) -> bool;

/// A column, for comparisons.
pub(crate) struct At<'a> {
    /// The points of the lines.
    pub(crate) shown: Scope<'a>,
    /// The points that the lines were chosen from.
    pub(crate) all: Scope<'a>,
}

/// The time of the best of the others divided by ours, in a column.
pub(crate) fn best_peer_by_ours(at: &At<'_>) -> Option<String> {
    let peers = at.shown.points.iter().copied().filter(|point| !point.is_ours());
    Some(ratio(at.shown.find(Point::is_ours)?, quickest(peers.filter(|p| p.verified))?))
}

impl Grid {
    /// What a grid is unless it says otherwise.
    pub(crate) const USUAL: Self = Self {
        of: |_| true,
        title: |_, unit| unit.to_owned(),
        names: (&[""], |scope, point| vec![candidate(scope, point)]),
        over: |_, point| size(point),
        units: &[("cycles", |_, point| number(point.cycles))],
        is_ranked: false,
        compare: &[],
        note: "",
    };

    /// Its blocks of these points.
    pub(crate) fn blocks(&self, scope: &Scope<'_>) -> Vec<Block> {
        let groups = scope.only(self.of).groups(|point| (self.title)(point, ""));
        groups.iter().flat_map(|(_, group)| self.chosen(group, &group.points)).collect()
    }

    /// The blocks of one title that show these of the points in `scope`.
    pub(crate) fn chosen(&self, scope: &Scope<'_>, shown: &[&Point]) -> Vec<Block> {
        let shown = scope.with(shown.to_vec());
        let place = |point: &Point| (self.over)(scope, point);
        let mut places: Vec<(u64, String)> = Vec::new();
        for at in shown.points.iter().filter(|p| is_measured(p)).filter_map(|p| place(p)) {
            if !places.contains(&at) {
                places.push(at);
            }
        }
        places.sort_by_key(|&(order, _)| order);
        let Some(first) = shown.points.first().filter(|_| !places.is_empty()) else {
            return Vec::new();
        };
        let mut lines = shown.groups(|point| (self.names.1)(scope, point));
        lines.sort_by_key(|(_, line)| match line.points[0] {
            point if !is_measured(point) => 0,
            point if point.is_ours() => 1,
            _ => 2,
        });
        let is_at =
            |point: &Point, at: &(u64, String)| place(point).is_none_or(|place| place == *at);
        let cells: Vec<Vec<Option<&Point>>> = lines
            .iter()
            .map(|(_, line)| places.iter().map(|at| line.find(|p| is_at(p, at))).collect())
            .collect();
        let everywhere = scope.only(|point| place(point).is_none());
        let best = |column: usize| {
            let shown = cells.iter().filter_map(|line| line[column]);
            fastest(shown.chain(everywhere.points.iter().copied())).filter(|_| self.is_ranked)
        };
        let best: Vec<Option<&Point>> = (0..places.len()).map(best).collect();
        let compared = self.compare.iter().map(|(name, compare)| {
            let cells = places.iter().map(|at| {
                let (shown, all) = (shown.only(|p| is_at(p, at)), scope.only(|p| is_at(p, at)));
                compare(&At { shown, all })
            });
            (vec![(*name).to_owned()], cells.collect::<Vec<_>>())
        });
        let compared: Vec<(Vec<String>, Vec<Option<String>>)> = compared.collect();
        let columns = places.iter().map(|(_, name)| name.clone());
        let names = self.names.0.len();
        let header: Vec<String> =
            self.names.0.iter().map(|&name| name.to_owned()).chain(columns).collect();
        let block = |&(unit, figure): &(&str, Figure)| {
            let figures = lines.iter().zip(&cells).map(|((names, _), cells)| {
                let cells = cells
                    .iter()
                    .zip(&best)
                    .map(|(&point, &best)| Some(figure(scope, point?)? + mark(point?, best)));
                (names.clone(), cells.collect())
            });
            let all = figures.chain(compared.iter().cloned());
            let rows = all.filter(|(_, cells)| cells.iter().any(Option::is_some));
            let rows = rows.map(|(mut row, cells)| {
                row.resize(names, String::new());
                row.extend(cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_owned())));
                row
            });
            let rows: Vec<Vec<String>> = rows.collect();
            let (title, note) = ((self.title)(first, unit), self.note.to_owned());
            (!rows.is_empty()).then(|| Block { title, header: header.clone(), rows, note })
        };
        self.units.iter().filter_map(block).collect()
    }
}

/// A cell of a line in which several points may be.
pub(crate) type Cell = fn(&Scope<'_>, &Scope<'_>) -> Option<String>;

/// Blocks with a line for each thing and columns of several kinds.
#[derive(Clone, Copy)]
pub(crate) struct List {
    pub(crate) of: Choice,
    /// The title of a point's block. Points of one title are in one block.
    pub(crate) title: fn(&Point) -> String,
    /// The names of a point's line, after their columns' names. Points with the same names are in
    /// one line.
    pub(crate) names: Names,
    /// The cells, of the block's points and those of the line.
    pub(crate) columns: &'static [(&'static str, Cell)],
    /// The order of the lines, by their first points; lines of equal order stay as they are.
    pub(crate) order: fn(&Point) -> u64,
    /// Whether a line is shown.
    pub(crate) is_shown: fn(&Scope<'_>) -> bool,
    pub(crate) note: &'static str,
}

impl List {
    /// What a list is unless it says otherwise.
    pub(crate) const USUAL: Self = Self {
        of: |_| true,
        title: |_| String::new(),
        names: (&[""], |scope, point| vec![name(scope, point)]),
        columns: &[],
        order: |_| 0,
        is_shown: |_| true,
        note: "",
    };

    /// Its blocks of these points.
    pub(crate) fn blocks(&self, scope: &Scope<'_>) -> Vec<Block> {
        let (names, name) = self.names;
        let columns = self.columns.iter().map(|(name, _)| *name);
        let header: Vec<String> = names.iter().copied().chain(columns).map(str::to_owned).collect();
        let block = |(title, group): (String, Scope<'_>)| {
            let mut lines = group.groups(|point| name(scope, point));
            lines.retain(|(_, line)| (self.is_shown)(line));
            let given_first = |point| (is_measured(point), (self.order)(point));
            lines.sort_by_key(|(_, line)| given_first(line.points[0]));
            let rows = lines.into_iter().map(|(mut row, line)| {
                let cells = self.columns.iter().map(|(_, cell)| cell(&group, &line));
                row.extend(cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned())));
                row
            });
            let (rows, note) = (rows.collect::<Vec<_>>(), self.note.to_owned());
            (!rows.is_empty()).then(|| Block { title, header: header.clone(), rows, note })
        };
        let groups = scope.only(self.of).groups(self.title).into_iter();
        groups
            .filter(|(_, of)| of.points.iter().any(|p| is_measured(p)))
            .filter_map(block)
            .collect()
    }
}

/// A block of the first screen: ours beside the best peers, a line for each kind of request.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) title: &'static str,
    pub(crate) lines: &'static [Line],
    /// Ours; the first is compared with the peers.
    pub(crate) ours: &'static [(&'static str, Choice)],
    /// The peers that are shown: who may be, and who of them is.
    pub(crate) peers: &'static [(&'static str, Choice, Pick)],
    /// Further points that the figures are computed from.
    pub(crate) also: fn(&Point) -> bool,
}

/// Chooses one of these points of a scope.
pub(crate) type Pick = for<'a> fn(&Scope<'_>, Vec<&'a Point>) -> Option<&'a Point>;

/// The peer with the least cycles.
pub(crate) const BEST: Pick = |_, points| quickest(points.into_iter());

/// How many times as long as the best peer another may take.
const ABSURD: f64 = 20.0;

/// A line of the first screen.
pub(crate) struct Line {
    pub(crate) what: &'static str,
    /// Whether a point is ours or a peer's of this line.
    pub(crate) of: Choice,
    pub(crate) figure: Figure,
    /// Whether the figures can be ranked.
    pub(crate) is_compared: bool,
}

impl Line {
    /// A line with cycles.
    pub(crate) const fn new(what: &'static str, of: Choice) -> Self {
        Self { what, of, figure: |_, point| number(point.cycles), is_compared: true }
    }
}

impl Screen {
    /// What a screen is unless it says otherwise.
    pub(crate) const USUAL: Self = Self {
        title: "",
        lines: &[],
        ours: &[("ours", |_| true)],
        peers: &[("best peer", |_| true, BEST)],
        also: |_| false,
    };

    /// Whether a point has to be measured for it.
    pub(crate) fn needs(&self, point: &Point) -> bool {
        let is_chosen = match point.is_ours() {
            true => self.ours.iter().any(|(_, of)| of(point)),
            false => self.peers.iter().any(|(_, of, _)| of(point)),
        };
        is_chosen && (self.lines.iter().any(|line| (line.of)(point)) || (self.also)(point))
    }

    /// Ours in a line, and its peers whose answers are right.
    ///
    /// A peer that takes [`ABSURD`] times as long as another is left out: it has no code for this
    /// processor.
    pub(crate) fn compared<'a>(
        &self,
        line: &Line,
        scope: &Scope<'a>,
    ) -> Option<(&'a Point, Vec<&'a Point>)> {
        let here = scope.only(|point| point.cycles.is_some() && (line.of)(point));
        let ours = here.find(|p| p.is_ours() && !scope.is_lower(p) && (self.ours[0].1)(p))?;
        let is_shown = |point: &Point| self.peers.iter().any(|(_, of, _)| of(point));
        let mut peers = here.points;
        peers.retain(|point| !point.is_ours() && point.verified && is_shown(point));
        let least = quickest(peers.iter().copied()).and_then(|point| point.cycles);
        peers.retain(|point| point.cycles.zip(least).is_none_or(|(a, b)| a < ABSURD * b));
        Some((ours, peers))
    }

    /// The block of these points; none without a line.
    pub(crate) fn block(&self, scope: &Scope<'_>) -> Option<Block> {
        let row = |line: &Line| {
            let (ours, peers) = self.compared(line, scope)?;
            let here = scope.only(|point| point.cycles.is_some() && (line.of)(point));
            let figure = |point: &Point| Some((line.figure)(scope, point)? + mark(point, None));
            let own = |of: Choice| {
                here.find(|point| point.is_ours() && !scope.is_lower(point) && of(point))
            };
            let mut row = vec![line.what.to_owned(), ours.subject.clone()];
            let figures = self.ours.iter().map(|&(_, of)| own(of).and_then(figure));
            row.extend(figures.map(|figure| figure.unwrap_or_else(|| "-".to_owned())));
            for (_, of, pick) in self.peers {
                let peers = peers.iter().copied().filter(|point| of(point)).collect();
                let beside = pick(scope, peers).and_then(|peer| {
                    let ratio = if line.is_compared { ratio(ours, peer) } else { String::new() };
                    let other = if peer.subject == ours.subject { "" } else { "†" };
                    Some([name(scope, peer) + other, figure(peer)?, ratio])
                });
                row.extend(beside.unwrap_or_else(|| ["-", "", ""].map(str::to_owned)));
            }
            Some(row)
        };
        let rows: Vec<Vec<String>> = self.lines.iter().filter_map(row).collect();
        let ours = self.ours.iter().map(|(name, _)| *name);
        let peers = self.peers.iter().flat_map(|(name, ..)| [*name, "", "peer ÷ ours"]);
        let header =
            ["request", "cipher"].into_iter().chain(ours).chain(peers).map(str::to_owned).collect();
        let title = self.title.to_owned();
        (!rows.is_empty()).then(|| Block { title, header, rows, ..Block::default() })
    }
}
