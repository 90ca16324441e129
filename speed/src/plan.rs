//! What a run measures: parts, each with its rows and its share of the time.

use std::collections::HashSet;

use crate::depth::Depth;
use crate::glob::Glob;
use crate::options::{Error, Options, Shown};
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::table::Table;
use crate::tables;
use crate::tables::headline::HEADLINES;

/// The divisor of the shares of a table's parts.
const SHARES: u32 = 60;

/// The measurements under one heading.
pub(crate) struct Part {
    pub(crate) table: &'static dyn Table,
    /// Its share of the time.
    pub(crate) share: u32,
    pub(crate) rows: Vec<Row>,
    /// Which of them are on the first screen, and come first.
    pub(crate) first: Vec<bool>,
    /// Points that need no measurement.
    pub(crate) given: Vec<Point>,
    /// Whether it has figures that are not sampled in rows.
    pub(crate) extra: bool,
}

impl Part {
    fn new(table: &'static dyn Table, share: u32, options: &Options, rivals: &Rivals<'_>) -> Self {
        let depth = table.depth(options);
        let mut rows = match is_summary(table, options) && depth != Depth::Full {
            true => table.headline_rows(rivals, depth),
            false => table.rows(rivals, depth),
        };
        rows.retain(|row| fits(options, &row.point.id));
        let screen: HashSet<String> =
            table.headline_rows(rivals, depth).into_iter().map(|row| row.point.id).collect();
        let first = rows.iter().map(|row| screen.contains(&row.point.id)).collect();
        let mut given = table.given();
        given.retain(|point| fits(options, &point.id));
        let extra = table.extra_ids().iter().any(|id| fits(options, id));
        Self { table, share, rows, first, given, extra }
    }

    /// The document's whole test has no time limit, unless the user sets one.
    pub(crate) fn is_endless(&self, options: &Options) -> bool {
        options.depth == Depth::Full && self.table.has_test() && options.budget.is_none()
    }
}

/// Whether only the table's part of the first screen is shown, because all of it is longer than a
/// screen.
pub(crate) fn is_summary(table: &dyn Table, options: &Options) -> bool {
    table.is_long() && options.shown == Shown::Usual && options.only.is_none()
}

pub(crate) fn fits(options: &Options, id: &str) -> bool {
    options.only.as_ref().is_none_or(|only| only.matches(id))
}

/// The parts of a run in a process of its own.
pub(crate) fn plan_of(options: &Options) -> Result<Vec<Part>, Error> {
    plan(options, &Rivals::new(options)?)
}

/// All measurements of a run, in order.
pub(crate) fn plan(options: &Options, rivals: &Rivals<'_>) -> Result<Vec<Part>, Error> {
    let plan = all_that_fit(options, rivals);
    match &options.only {
        Some(only) if plan.is_empty() => {
            let all = Options { only: Some(Glob::new("*")), ..options.clone() };
            let all = all_that_fit(&all, rivals);
            let ids = || all.iter().flat_map(|part| part.rows.iter().map(|row| &row.point.id));
            let within = Glob::new(format!("*{only}*"));
            let example = ids().find(|id| within.matches(id)).or_else(|| ids().next()).cloned();
            Err(Error::NothingMatches { only: only.clone(), example })
        }
        _ => Ok(plan),
    }
}

fn all_that_fit(options: &Options, rivals: &Rivals<'_>) -> Vec<Part> {
    let tables = options.chosen_tables();
    let part = |table, share| Part::new(table, share, options, rivals);
    let mut plan = Vec::new();
    if tables.is_empty() {
        plan.extend(HEADLINES.iter().map(|table| part(table, 0)));
        // By the number of rows, because all are about as long.
        for part in &mut plan {
            part.share = u32::try_from(part.rows.len()).unwrap_or(SHARES);
        }
    }
    for table in tables {
        let parts: Vec<&'static dyn Table> = tables::parts(table.name()).collect();
        let share = SHARES / u32::try_from(parts.len()).unwrap_or(SHARES);
        plan.extend(parts.into_iter().map(|table| part(table, share)));
    }
    plan.retain(|part| !part.rows.is_empty() || !part.given.is_empty() || part.extra);
    plan
}
