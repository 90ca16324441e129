//! The names of libraries that a user may give a path.

use core::fmt;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::project::NamedLibrary;
use crate::{PROJECTS, PeerLibraries};

impl PeerLibraries {
    /// The names that can be given a path, in alphabetical order. `openssl-newest` is a second
    /// build beside `openssl`. It needs no path if `make peers` has built it in the running
    /// program's target folder.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<_> = named().map(|library| library.name).collect();
        names.sort_unstable();
        names
    }

    /// Takes one library from a file, given as `NAME=PATH`; a later path replaces an earlier one.
    ///
    /// [`check`](Self::check), or listing the peers, shows whether it can be opened.
    ///
    /// # Errors
    ///
    /// [`BadLibrary`] if `assignment` has no `=`, an empty path or an unknown name.
    ///
    /// # Safety
    ///
    /// Loading the file runs code, and its functions are called as those of the named library. So
    /// it must be a build of that library, or no library at all.
    pub unsafe fn add(&mut self, assignment: &str) -> Result<(), BadLibrary> {
        let (name, path) = assignment.split_once('=').ok_or(BadLibrary)?;
        let named = named().find(|known| known.name == name).ok_or(BadLibrary)?;
        if path.is_empty() {
            return Err(BadLibrary);
        }
        self.paths.retain(|(known, _)| *known != named.name);
        self.paths.push((named.name, PathBuf::from(path)));
        Ok(())
    }

    /// Same as [`add`](Self::add) for a file that the user has named: `assignment` is one of the
    /// arguments of this program, or the end of one.
    ///
    /// # Errors
    ///
    /// [`BadLibrary`] in the cases of [`add`](Self::add), and if no argument of this program
    /// matches.
    pub fn add_argument(&mut self, assignment: &str) -> Result<(), BadLibrary> {
        let is_it =
            |argument: OsString| argument.as_encoded_bytes().ends_with(assignment.as_bytes());
        if !std::env::args_os().skip(1).any(is_it) {
            return Err(BadLibrary);
        }
        // SAFETY: the user chose the file, and could also run any other program.
        unsafe { self.add(assignment) }
    }

    /// Opens every library that was given a path.
    ///
    /// # Errors
    ///
    /// [`CannotOpen`] for the first file that is no library, not the named library, or of an
    /// unsupported version.
    pub fn check(&self) -> Result<(), CannotOpen> {
        for (name, _) in &self.paths {
            for library in named().filter(|library| library.name == *name) {
                (library.open)(self).map_err(|reason| CannotOpen { name, reason })?;
            }
        }
        Ok(())
    }
}

/// The libraries of all peers.
fn named() -> impl Iterator<Item = &'static NamedLibrary> {
    PROJECTS.iter().flat_map(|project| project.libraries())
}

/// An argument that is not `NAME=PATH` with a name of [`PeerLibraries::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLibrary;

impl fmt::Display for BadLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected NAME=PATH, where NAME is one of {}", PeerLibraries::names().join(", "))
    }
}

impl core::error::Error for BadLibrary {}

/// A library that was given a path and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotOpen {
    /// One of [`PeerLibraries::names`].
    pub name: &'static str,
    /// The reason, for people.
    pub reason: String,
}

impl fmt::Display for CannotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl core::error::Error for CannotOpen {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Adds a path to a file that is no library.
    fn add(libraries: &mut PeerLibraries, assignment: &str) -> Result<(), BadLibrary> {
        // SAFETY: there are no such files.
        unsafe { libraries.add(assignment) }
    }

    #[test]
    fn assignments() {
        let mut libraries = PeerLibraries::new();
        for bad in ["", "openssl", "openssl=", "=x", "OpenSSL=x", "glibc=/x"] {
            assert_eq!(add(&mut libraries, bad), Err(BadLibrary), "{bad}");
        }
        add(&mut libraries, "openssl=/a").expect("a known name");
        add(&mut libraries, "openssl=/b=c").expect("a known name");
        assert_eq!(libraries.path("openssl"), Some(Path::new("/b=c")));
        assert_eq!(libraries.path("libsodium"), None);
    }

    #[test]
    fn only_the_user_names_files_without_further_ado() {
        let mut libraries = PeerLibraries::new();
        assert_eq!(libraries.add_argument("openssl=/not/an/argument"), Err(BadLibrary));
        assert_eq!(libraries, PeerLibraries::new());
    }

    #[test]
    fn names_are_different_and_sorted() {
        let names = PeerLibraries::names();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        assert!(names.contains(&"openssl-newest"));
    }
}
