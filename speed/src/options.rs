//! The options of a run.

use core::fmt;
use core::time::Duration;
use std::ffi::OsString;

use lanecrypt_peers::{CannotOpen, PeerLibraries};

use crate::depth::Depth;
use crate::device::DeviceOptions;
use crate::glob::Glob;

/// The points to measure, and the time for them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The tables; none stands for the headline rows.
    pub tables: Vec<Table>,
    /// Time for the whole run; by default [`usual_times`](crate::usual_times), and unlimited for
    /// the document's tests at [`Depth::Full`]. A run ends earlier if its figures are steady
    /// earlier.
    pub budget: Option<Duration>,
    /// The number of points.
    pub depth: Depth,
    /// Only points whose id matches; without tables, points of all tables. In the table `packets`
    /// the pattern selects from all batches and sizes, unless fewer points are asked for.
    pub only: Option<Glob>,
    /// Which parts of long tables to show.
    pub shown: Shown,
    /// Which peers to measure beside ours.
    pub peers: Peers,
    /// Where to find peers that are shared libraries.
    pub libraries: PeerLibraries,
    /// What the table `device` needs.
    pub device: DeviceOptions,
    /// A command that calls [`work`](crate::work) with these options: processes that share the
    /// passes of a table. Without it all passes are of this process.
    pub worker: Vec<OsString>,
}

/// A table, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table(pub(crate) &'static str);

impl Table {
    /// The name on the command line and in [`crate::Point::table`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// Which parts of long tables are measured and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown {
    /// The rows of the first screen, or everything if [`Options::only`] selects points. At
    /// [`Depth::Full`] everything is measured.
    #[default]
    Usual,
    /// Everything.
    All,
    /// Everything is measured, and shown are the parts whose title has this text, in any case of
    /// letters.
    Titled(String),
}

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
    NothingMatches {
        /// The pattern.
        only: Glob,
        /// An id that there is; one that has the pattern in it, if there is one.
        example: Option<String>,
    },
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
            Self::NothingMatches { only, example } => {
                write!(f, "no point's id fits \"{only}\"")?;
                match example {
                    Some(id) => write!(f, "; an id is {id}, and * stands for any part of it"),
                    None => Ok(()),
                }
            }
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
}
