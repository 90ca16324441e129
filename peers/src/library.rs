//! Shared libraries, opened at run time and never closed.

use core::error::Error as _;
use core::ffi::{CStr, c_char};
use core::fmt;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::PROJECTS;
use crate::peer::NamedLibrary;

/// Paths of peers that are shared libraries, for those that should not come from the dynamic
/// loader's usual places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerLibraries {
    paths: Vec<(&'static str, PathBuf)>,
}

impl PeerLibraries {
    /// Every library from the dynamic loader's usual places.
    #[must_use]
    pub const fn new() -> Self {
        Self { paths: Vec::new() }
    }

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

    /// The file that was given for `name`.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.paths.iter().find(|(known, _)| *known == name).map(|(_, path)| path.as_path())
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

/// How to find one library and how to get it.
pub(crate) struct Search {
    name: &'static str,
    files: &'static [&'static str],
    hint: &'static str,
}

impl Search {
    /// The library with the user's name `name`: its file names for the dynamic loader, in order of
    /// preference, and a hint for the case that none is found.
    ///
    /// # Safety
    ///
    /// All files that the loader finds under these names may be loaded: they are builds of that
    /// library.
    pub(crate) const unsafe fn new(
        name: &'static str,
        files: &'static [&'static str],
        hint: &'static str,
    ) -> Self {
        Self { name, files, hint }
    }

    /// Opens the library that the user has named, otherwise the first that the dynamic loader
    /// finds.
    pub(crate) fn open(&self, libraries: &PeerLibraries) -> Result<Open, String> {
        if let Some(path) = libraries.path(self.name) {
            // SAFETY: the code that added the path has guaranteed the file.
            return unsafe { Open::at(path) };
        }
        // SAFETY: the constructor's caller guarantees the files.
        let load = |file: &&str| unsafe { Library::new(*file) }.map(Open).ok();
        self.files.iter().find_map(load).ok_or_else(|| self.hint.to_owned())
    }
}

/// Refuses files that the dynamic loader would wait for, such as a FIFO without a writer. A name
/// without a slash is not a path: the loader searches for it in its usual places.
pub(crate) fn is_file(path: &Path) -> Result<(), String> {
    if !path.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Ok(());
    }
    let reason = match path.metadata() {
        Ok(found) if found.is_file() => return Ok(()),
        Ok(_) => "not a file".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("cannot open {}: {reason}", path.display()))
}

/// An open library. It is in a [`Slot`], so it is never closed and its symbols stay valid.
pub(crate) struct Open(Library);

impl Open {
    /// Opens the library at `path`.
    ///
    /// # Safety
    ///
    /// The library's initialisers can run.
    pub(crate) unsafe fn at(path: &Path) -> Result<Self, String> {
        is_file(path)?;
        // SAFETY: the caller guarantees the file.
        unsafe { Library::new(path) }.map(Self).map_err(|error| {
            // The loader's own message, if there is one.
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            format!("cannot open {}: {reason}", path.display())
        })
    }

    /// The program itself and the libraries that it was linked with.
    pub(crate) fn program() -> Self {
        Self(libloading::os::unix::Library::this().into())
    }

    /// The function or the address of the variable called `name`.
    ///
    /// # Safety
    ///
    /// `T` is a function pointer of the type that `name` has in C or, for a variable, a raw
    /// pointer to its type, and is not used after this library is closed.
    pub(crate) unsafe fn symbol<T: Copy>(&self, name: &CStr) -> Result<T, String> {
        // SAFETY: the caller guarantees the type.
        match unsafe { self.0.get::<T>(name) } {
            Ok(symbol) => Ok(*symbol),
            Err(_) => {
                Err(format!("the library has no {}: another version", name.to_string_lossy()))
            }
        }
    }
}

/// The place of one peer's library: opened once, kept until the process ends.
pub(crate) struct Slot<T>(OnceLock<Opened<T>>);

struct Opened<T> {
    path: Option<PathBuf>,
    library: Result<T, String>,
}

impl<T> Slot<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The result of the first `open` of the library, with the file that the user has given for
    /// `name`, if there is one.
    pub(crate) fn open(
        &self,
        libraries: &PeerLibraries,
        name: &str,
        open: impl FnOnce(Option<&Path>) -> Result<T, String>,
    ) -> Result<&T, String> {
        let path = libraries.path(name);
        let opened = self
            .0
            .get_or_init(|| Opened { path: path.map(Path::to_path_buf), library: open(path) });
        if opened.path.as_deref() != path {
            return Err("this process has already looked for it at another path".to_owned());
        }
        opened.library.as_ref().map_err(Clone::clone)
    }
}

/// The text that a library's version function returned.
///
/// # Safety
///
/// `text` is null or points to a string that ends in a zero byte and outlives the call.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return "unknown".to_owned();
    }
    // SAFETY: it is not null, and the caller guarantees the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_slot_opens_once_and_refuses_another_path() {
        let (slot, none, mut other) = (Slot::new(), PeerLibraries::new(), PeerLibraries::new());
        add(&mut other, "openssl=/x").expect("a known name");
        assert_eq!(slot.open(&none, "openssl", |_| Ok(1)), Ok(&1));
        assert_eq!(slot.open(&none, "openssl", |_| Ok(2)), Ok(&1));
        assert!(slot.open(&other, "openssl", |_| Ok(3)).is_err());
        assert_eq!(slot.open(&other, "nettle", |_| Ok(3)), Ok(&1), "another's path");
    }

    #[test]
    fn a_symbol_that_is_not_there_is_an_error() {
        let program = Open::program();
        // SAFETY: the pointer is never used.
        let found = unsafe { program.symbol::<*const u8>(c"lanecrypt_no_such_symbol") };
        assert!(found.is_err());
    }
}
