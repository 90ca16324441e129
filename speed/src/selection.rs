//! The tables that a run is asked for, and its time.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use crate::depth::Depth;
use crate::options::{Options, Table};
use crate::tables;

impl Options {
    /// The tables to run, in order and each once; none for the headline rows.
    pub(crate) fn chosen_tables(&self) -> Vec<Table> {
        let mut tables = Vec::new();
        let asked = match (&self.tables[..], &self.only) {
            ([], Some(_)) => Table::all(),
            (asked, _) => asked.to_vec(),
        };
        for table in asked {
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        tables
    }

    /// Time for the whole run.
    pub(crate) fn total(&self) -> Duration {
        self.budget.unwrap_or_else(|| match &self.chosen_tables()[..] {
            [] => Duration::from_secs(tables::seconds_of_screen(self.depth)),
            tables => tables.iter().map(|table| table.time(self.depth)).sum(),
        })
    }
}

/// The default times of runs, as text for people.
#[must_use]
pub fn usual_times() -> String {
    let each = |depth| {
        let times = Table::all().into_iter().map(|table| table.time(depth).as_secs());
        (tables::seconds_of_screen(depth), times.min().unwrap_or(0))
    };
    let ((screen, each_table), (quick, few)) = (each(Depth::Normal), each(Depth::Quick));
    let mut text = format!(
        "{screen}s, or {each_table}s for each table; with --quick {quick}s, or {few}s for each table"
    );
    for table in Table::all() {
        let (usual, fewer) =
            (table.time(Depth::Normal).as_secs(), table.time(Depth::Quick).as_secs());
        if (usual, fewer) != (each_table, few) {
            text += &format!("; {usual}s and {fewer}s for {}", table.name());
        }
        let whole = table.time(Depth::Full);
        if whole != table.time(Depth::Normal) {
            text += &format!("; with --full {}m for {}", whole.as_secs() / 60, table.name());
        }
    }
    text
}

/// The part of `left` that the next of the tables with `shares` may take. Time that earlier ones
/// saved is shared.
pub(crate) fn share(left: Duration, shares: &[u32]) -> Duration {
    let first = shares.first().copied().unwrap_or(1);
    left * first / shares.iter().sum::<u32>().max(1)
}

impl Table {
    /// Every table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        tables::names().into_iter().map(Self).collect()
    }

    /// The time that it takes by default.
    fn time(self, depth: Depth) -> Duration {
        let seconds = tables::parts(self.0).map(|part| part.seconds[depth as usize]);
        Duration::from_secs(seconds.max().unwrap_or(0))
    }
}

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(name: &str) -> Result<Self, UnknownTable> {
        Self::all().into_iter().find(|table| table.name() == name).ok_or(UnknownTable)
    }
}

/// A string that names no [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTable;

impl fmt::Display for UnknownTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown table; known are {}", tables::names().join(", "))
    }
}

impl core::error::Error for UnknownTable {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::Glob;

    #[test]
    fn budgets() {
        let mut options = Options::default();
        assert_eq!(options.total().as_secs(), 72);
        let [random, urandom] = ["random", "urandom"].map(|name| name.parse().expect("it is one"));
        options.tables = vec![random];
        assert_eq!(options.total().as_secs(), 60);
        options.tables = vec![random, urandom, random];
        assert_eq!(options.total().as_secs(), 120);
        options.depth = Depth::Quick;
        assert_eq!(options.total().as_secs(), 40);
        options.budget = Some(Duration::from_secs(7));
        assert_eq!(options.total().as_secs(), 7);
        assert_eq!(share(Duration::from_secs(60), &[2, 2]).as_secs(), 30);
        assert_eq!(share(Duration::from_secs(60), &[1, 1, 2]).as_secs(), 15);
        assert_eq!(share(Duration::from_secs(50), &[3]).as_secs(), 50);
    }

    #[test]
    fn a_pattern_without_a_table_means_all_tables() {
        let only = Some(Glob::new("*"));
        let options = Options { only, ..Options::default() };
        assert_eq!(options.chosen_tables(), Table::all());
    }

    #[test]
    fn table_names() {
        for table in Table::all() {
            assert_eq!(table.name().parse(), Ok(table));
        }
        assert_eq!("nothing".parse::<Table>(), Err(UnknownTable));
    }
}
