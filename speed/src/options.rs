//! The options of a run.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use lanecrypt_peers::{CannotOpen, PeerLibraries};

use crate::depth::Depth;
use crate::glob::Glob;
use crate::tables::headline::Headline;
use crate::tables::{self, Table as _};

/// The points to measure, and the time for them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tables; none stands for the headline rows.
    pub tables: Vec<Table>,
    /// Time for the whole run; by default [`usual_times`], and unlimited for the document's tests
    /// at [`Depth::Full`]. A run ends earlier if its figures are steady earlier.
    pub budget: Option<Duration>,
    /// The number of points.
    pub depth: Depth,
    /// Only points whose id matches; without tables, points of all tables. In the table `packets`
    /// the pattern selects from all batches and sizes, unless fewer points are asked for.
    pub only: Option<Glob>,
    /// Which peers to measure beside ours.
    pub peers: Peers,
    /// Where to find peers that are shared libraries.
    pub libraries: PeerLibraries,
}

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
            [] => Duration::from_secs(Headline.seconds(self.depth)),
            tables => tables.iter().map(|table| table.time(self.depth)).sum(),
        })
    }
}

/// The default times of runs, as text for people.
#[must_use]
pub fn usual_times() -> String {
    let each = |depth| {
        let times = Table::all().into_iter().map(|table| table.time(depth).as_secs());
        (Headline.seconds(depth), times.min().unwrap_or(0))
    };
    let ((screen, table), (quick, few)) = (each(Depth::Normal), each(Depth::Quick));
    let mut text = format!(
        "{screen}s, or {table}s for each table; with --quick {quick}s, or {few}s for each table"
    );
    for table in Table::all() {
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

/// A table, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(&'static str);

impl Table {
    /// Every table.
    #[must_use]
    pub fn all() -> Vec<Self> {
        tables::names().into_iter().map(Self).collect()
    }

    /// The name on the command line and in [`crate::Point::table`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The time that it takes by default.
    fn time(self, depth: Depth) -> Duration {
        let seconds = tables::parts(self.0).map(|part| part.seconds(depth));
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

/// Which peers are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peers {
    /// All that are found.
    #[default]
    All,
    /// None.
    None,
    /// The peers of these projects, by [`crate::Point::source`].
    Only(Vec<String>),
}

impl Peers {
    /// Parses `none`, `all` or a list with commas; [`crate::run`] checks the names.
    #[must_use]
    pub fn from_list(list: &str) -> Self {
        match list.trim() {
            "none" => Self::None,
            "all" => Self::All,
            list => Self::Only(list.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }

    /// Whether peers of this project are chosen.
    pub(crate) fn include(&self, source: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(names) => names.iter().any(|name| name == source),
        }
    }

    /// Finds a chosen name that is not in `known`.
    pub(crate) fn check(&self, known: &[&str]) -> Result<(), Error> {
        let Self::Only(names) = self else { return Ok(()) };
        let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let mut different: Vec<&str> = Vec::new();
        for &name in known {
            if !different.contains(&name) {
                different.push(name);
            }
        }
        Err(Error::UnknownPeer { name: name.clone(), known: different.join(", ") })
    }
}

/// Options that match nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A library that was given as a path cannot be used.
    Library(CannotOpen),
    /// No point's id fits the pattern.
    NothingMatches(Glob),
    /// No peer has this name.
    UnknownPeer {
        /// The name that was asked for.
        name: String,
        /// The names that exist, with commas.
        known: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => error.fmt(f),
            Self::NothingMatches(glob) => write!(f, "no point's id fits \"{glob}\""),
            Self::UnknownPeer { name, known } => {
                write!(f, "unknown peer {name:?}; known are {known}, or all, or none")
            }
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets() {
        let mut options = Options::default();
        assert_eq!(options.total().as_secs(), 150);
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
    fn peers_are_chosen_by_name() {
        let known = ["kernel", "rand", "rand", "openssl"];
        assert_eq!(Peers::from_list("none"), Peers::None);
        assert_eq!(Peers::from_list("all"), Peers::All);
        assert!(Peers::All.include("kernel") && !Peers::None.include("kernel"));
        let two = Peers::from_list("kernel, rand");
        assert_eq!(two.check(&known), Ok(()));
        assert!(two.include("kernel") && two.include("rand") && !two.include("openssl"));
        let error = Peers::from_list("kernel,nosuch").check(&known).expect_err("one is unknown");
        assert!(error.to_string().contains("\"nosuch\"; known are kernel, rand, openssl, or"));
    }

    #[test]
    fn table_names() {
        for table in Table::all() {
            assert_eq!(table.name().parse(), Ok(table));
        }
        assert_eq!("rsa".parse::<Table>(), Err(UnknownTable));
    }
}
