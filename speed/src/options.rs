//! What a run measures.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use lanecrypt_peers::{CannotOpen, PeerLibraries};

use crate::depth::Depth;
use crate::glob::Glob;
use crate::tables::{calls, packets, random, urandom};

/// What to measure, and for how long.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tables; none stands for the headline rows.
    pub tables: Vec<Table>,
    /// Time for the whole run; by default 150 s for the headline rows, 60 s for each table, less
    /// for fewer points ([`Depth::Quick`]: 30 s and 20 s), 15 minutes for all of
    /// [`Table::Packets`] and no end for the document's tests at [`Depth::Full`]. A run whose
    /// figures are steady earlier ends earlier.
    pub budget: Option<Duration>,
    /// How many points.
    pub depth: Depth,
    /// Only points whose id fits; without tables, those of all tables. Of [`Table::Packets`] these
    /// are found among all batches and sizes, unless fewer points are asked for.
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
        let asked: &[Table] = match (&self.tables[..], &self.only) {
            ([], Some(_)) => &Table::ALL,
            (asked, _) => asked,
        };
        for table in asked {
            if !tables.contains(table) {
                tables.push(*table);
            }
        }
        tables
    }

    /// Time for the whole run.
    pub(crate) fn total(&self) -> Duration {
        let headline = if self.depth == Depth::Quick { 30 } else { 150 };
        let of = |table: Table| match (self.depth, table) {
            (Depth::Quick, _) => 20,
            (Depth::Full, Table::Packets) => 900,
            (Depth::Normal | Depth::Full, _) => 60,
        };
        self.budget.unwrap_or_else(|| match &self.chosen_tables()[..] {
            [] => Duration::from_secs(headline),
            tables => Duration::from_secs(tables.iter().copied().map(of).sum()),
        })
    }
}

/// The part of `left` that the next of those with `shares` may take: what earlier ones saved is
/// shared.
pub(crate) fn share(left: Duration, shares: &[u32]) -> Duration {
    let first = shares.first().copied().unwrap_or(1);
    left * first / shares.iter().sum::<u32>().max(1)
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Table {
    /// What a random request costs: NetBSD's benchmark of `cprng_fast`, then by size and threads.
    Random,
    /// The kernel message's test of /dev/urandom.
    Urandom,
    /// What the calls of a cipher library cost beside the cipher.
    Calls,
    /// What small messages cost, one at a time and in batches, and sectors.
    Packets,
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 4] = [Self::Random, Self::Urandom, Self::Calls, Self::Packets];

    /// The name on the command line and in [`crate::Point::table`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => random::NAME,
            Self::Urandom => urandom::NAME,
            Self::Calls => calls::NAME,
            Self::Packets => packets::NAME,
        }
    }
}

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(name: &str) -> Result<Self, UnknownTable> {
        Self::ALL.into_iter().find(|table| table.name() == name).ok_or(UnknownTable)
    }
}

/// A string that names no [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTable;

impl fmt::Display for UnknownTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown table; known are {}", Table::ALL.map(Table::name).join(", "))
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
    /// Those of these projects, by [`crate::Point::source`].
    Only(Vec<String>),
}

impl Peers {
    /// Reads `none`, `all` or a list with commas; which names exist shows in [`crate::run`].
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

    /// Finds a chosen name that is none of `known`.
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

/// Options that ask for nothing that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A library that was given a path cannot be used.
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
        options.tables = vec![Table::Random];
        assert_eq!(options.total().as_secs(), 60);
        options.tables = vec![Table::Random, Table::Urandom, Table::Random];
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
        assert_eq!(options.chosen_tables(), Table::ALL);
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
        for table in Table::ALL {
            assert_eq!(table.name().parse(), Ok(table));
        }
        assert_eq!("rsa".parse::<Table>(), Err(UnknownTable));
    }
}
