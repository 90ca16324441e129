//! What a run measures: parts, each with its rows and its share of the time.

use std::collections::HashSet;

use crate::depth::Depth;
use crate::glob::Glob;
use crate::options::{Error, Options, Shown};
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::Row;
use crate::table::Table;
use crate::tables;

/// The divisor of the shares of a table's parts.
const SHARES: u32 = 60;

/// The measurements under one heading.
pub(crate) struct Part {
    pub(crate) table: &'static Table,
    /// Its share of the time.
    pub(crate) share: u32,
    pub(crate) rows: Vec<Row>,
    /// Which of them are on the first screen, and come first.
    pub(crate) first: Vec<bool>,
    /// Points that need no measurement.
    pub(crate) given: Vec<Point>,
    /// Whether it has figures that are not sampled in rows.
    pub(crate) extra: bool,
    /// Whether it is a part of the first screen.
    pub(crate) is_screen: bool,
}

impl Part {
    fn new(table: &'static Table, share: u32, options: &Options, peers: &PeerSet<'_>) -> Self {
        let is_screen = options.chosen_tables().is_empty();
        // A pattern can select any point of a long table.
        let depth = match options.depth {
            Depth::Normal if table.is_long && options.only.is_some() => Depth::Full,
            depth => depth,
        };
        let mut screen = table.screen_rows(peers);
        screen.retain(|row| fits(options, &row.point.id));
        let ids: HashSet<String> = screen.iter().map(|row| row.point.id.clone()).collect();
        let is_short = is_screen || is_summary(table, options) && depth != Depth::Full;
        let mut rows = if is_short { screen } else { (table.rows)(peers, depth) };
        rows.retain(|row| fits(options, &row.point.id));
        let first = rows.iter().map(|row| !is_screen && ids.contains(&row.point.id)).collect();
        let mut given = if is_screen { Vec::new() } else { (table.given)() };
        given.retain(|point| fits(options, &point.id));
        let extra = table.extra.as_ref().filter(|_| !is_screen);
        let extra = extra.is_some_and(|it| (it.ids)().iter().any(|id| fits(options, id)));
        Self { table, share, rows, first, given, extra, is_screen }
    }

    /// The document's whole test has no time limit, unless the user sets one.
    pub(crate) fn is_endless(&self, options: &Options) -> bool {
        let has_test = self.table.has_test && !self.is_screen;
        options.depth == Depth::Full && has_test && options.budget.is_none()
    }

    /// Its name while it is measured.
    pub(crate) fn heading(&self) -> &'static str {
        if self.is_screen { self.table.name } else { self.table.heading }
    }
}

/// Whether only the table's part of the first screen is shown, because all of it is longer than a
/// screen.
pub(crate) fn is_summary(table: &Table, options: &Options) -> bool {
    table.is_long && options.shown == Shown::Usual && options.only.is_none()
}

pub(crate) fn fits(options: &Options, id: &str) -> bool {
    options.only.as_ref().is_none_or(|only| only.matches(id))
}

/// The parts of a run in a process of its own.
pub(crate) fn plan_of(options: &Options) -> Result<Vec<Part>, Error> {
    plan(options, &PeerSet::new(options)?)
}

/// All measurements of a run, in order.
pub(crate) fn plan(options: &Options, peers: &PeerSet<'_>) -> Result<Vec<Part>, Error> {
    let plan = all_that_fit(options, peers);
    match &options.only {
        Some(only) if plan.is_empty() => {
            let all = Options { only: Some(Glob::new("*")), ..options.clone() };
            let all = all_that_fit(&all, peers);
            let ids = || all.iter().flat_map(|part| part.rows.iter().map(|row| &row.point.id));
            let within = Glob::new(format!("*{only}*"));
            let example = ids().find(|id| within.matches(id)).or_else(|| ids().next()).cloned();
            Err(Error::NothingMatches { only: only.clone(), example })
        }
        _ => Ok(plan),
    }
}

fn all_that_fit(options: &Options, peers: &PeerSet<'_>) -> Vec<Part> {
    let tables = options.chosen_tables();
    let part = |table, share| Part::new(table, share, options, peers);
    let mut plan = Vec::new();
    if tables.is_empty() {
        plan.extend(tables::TABLES.iter().map(|table| part(table, 0)));
        // By the number of rows, because all are about as long.
        for part in &mut plan {
            part.share = u32::try_from(part.rows.len()).unwrap_or(SHARES);
        }
    }
    for table in tables {
        let parts: Vec<&'static Table> = tables::parts(table.name()).collect();
        let share = SHARES / u32::try_from(parts.len()).unwrap_or(SHARES);
        plan.extend(parts.into_iter().map(|table| part(table, share)));
    }
    plan.retain(|part| !part.rows.is_empty() || !part.given.is_empty() || part.extra);
    plan
}
