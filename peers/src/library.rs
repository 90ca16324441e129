//! Shared libraries, opened at run time and never closed.

use core::error::Error as _;
use core::ffi::{CStr, c_char};
use core::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::{ipsec_mb, libgcrypt, libsodium, nettle, openssl};

/// Where to find peers that are shared libraries, for those that should not come from where the
/// dynamic loader looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerLibraries {
    paths: Vec<(&'static str, PathBuf)>,
}

impl PeerLibraries {
    /// The names that can be given a path. `openssl-newest` is a second build beside `openssl`; one
    /// that `make peers` has built in the running program's target folder needs no path.
    pub const NAMES: [&'static str; 6] =
        ["ipsec-mb", "libgcrypt", "libsodium", "nettle", "openssl", "openssl-newest"];

    /// Every library from where the dynamic loader looks.
    #[must_use]
    pub const fn new() -> Self {
        Self { paths: Vec::new() }
    }

    /// Takes one library from a file, given as `NAME=PATH`; a later path replaces an earlier one.
    ///
    /// Whether it can be opened shows in [`check`](Self::check), or when the peers are listed.
    ///
    /// # Errors
    ///
    /// [`BadLibrary`] when `assignment` has no `=`, an empty path or an unknown name.
    pub fn add(&mut self, assignment: &str) -> Result<(), BadLibrary> {
        let (name, path) = assignment.split_once('=').ok_or(BadLibrary)?;
        let name = Self::NAMES.into_iter().find(|known| *known == name).ok_or(BadLibrary)?;
        if path.is_empty() {
            return Err(BadLibrary);
        }
        self.paths.retain(|(known, _)| *known != name);
        self.paths.push((name, PathBuf::from(path)));
        Ok(())
    }

    /// Opens every library that was given a path.
    ///
    /// # Errors
    ///
    /// [`CannotOpen`] for the first that is no library, or not the one that its name says, or not of
    /// a version that is served.
    pub fn check(&self) -> Result<(), CannotOpen> {
        for (name, _) in &self.paths {
            let opened = match *name {
                "ipsec-mb" => ipsec_mb::library(self).map(drop),
                "libgcrypt" => libgcrypt::library(self).map(drop),
                "libsodium" => libsodium::library(self).map(drop),
                "nettle" => nettle::library(self).map(drop),
                "openssl" => openssl::library(self).map(drop),
                _ => openssl::newest(self).map(drop),
            };
            opened.map_err(|reason| CannotOpen { name, reason })?;
        }
        Ok(())
    }

    /// The file that was given for `name`.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.paths.iter().find(|(known, _)| *known == name).map(|(_, path)| path.as_path())
    }
}

/// An argument that is not `NAME=PATH` with a name of [`PeerLibraries::NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadLibrary;

impl fmt::Display for BadLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected NAME=PATH, where NAME is one of {}", PeerLibraries::NAMES.join(", "))
    }
}

impl core::error::Error for BadLibrary {}

/// A library that was given a path and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CannotOpen {
    /// One of [`PeerLibraries::NAMES`].
    pub name: &'static str,
    /// What is wrong with it, for people.
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
    /// File names for the dynamic loader, the preferred one first.
    pub(crate) files: &'static [&'static str],
    /// What to do when none of them is there.
    pub(crate) hint: &'static str,
}

impl Search {
    /// Opens the library at `path`, or else the first that the dynamic loader finds.
    pub(crate) fn open(&self, path: Option<&Path>) -> Result<Open, String> {
        if let Some(path) = path {
            return Open::at(path);
        }
        self.files
            .iter()
            .find_map(|file| load(Path::new(file)).ok())
            .ok_or_else(|| self.hint.to_owned())
    }
}

fn load(file: &Path) -> Result<Open, libloading::Error> {
    // SAFETY: opening runs the library's initialisers; the files are cryptographic libraries that
    // are made to be loaded, or what the user asked for.
    unsafe { Library::new(file) }.map(Open)
}

/// Refuses what the dynamic loader would wait for, such as a FIFO that nobody writes to. A name
/// without a slash is not a path: the loader looks for it where libraries are.
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

/// An open library. It lives in a [`Slot`], so it is never closed and its symbols stay valid.
pub(crate) struct Open(Library);

impl Open {
    /// Opens the library at `path`.
    pub(crate) fn at(path: &Path) -> Result<Self, String> {
        is_file(path)?;
        load(path).map_err(|error| {
            // The loader's own words, where it has any.
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
        // SAFETY: the caller vouches for the type.
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

    /// What `open` made of the library at `path` the first time.
    pub(crate) fn open(
        &self,
        path: Option<&Path>,
        open: impl FnOnce(Option<&Path>) -> Result<T, String>,
    ) -> Result<&T, String> {
        let opened = self
            .0
            .get_or_init(|| Opened { path: path.map(Path::to_path_buf), library: open(path) });
        if opened.path.as_deref() != path {
            return Err("this process has already looked for it at another path".to_owned());
        }
        opened.library.as_ref().map_err(Clone::clone)
    }

    /// The library, if it was opened.
    pub(crate) fn opened(&self) -> Option<&T> {
        self.0.get()?.library.as_ref().ok()
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
    // SAFETY: not null, and the caller vouches for the rest.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments() {
        let mut libraries = PeerLibraries::new();
        for bad in ["", "openssl", "openssl=", "=x", "OpenSSL=x", "glibc=/x"] {
            assert_eq!(libraries.add(bad), Err(BadLibrary), "{bad}");
        }
        libraries.add("openssl=/a").expect("a known name");
        libraries.add("openssl=/b=c").expect("a known name");
        assert_eq!(libraries.path("openssl"), Some(Path::new("/b=c")));
        assert_eq!(libraries.path("libsodium"), None);
    }

    #[test]
    fn a_slot_opens_once_and_refuses_another_path() {
        let slot = Slot::new();
        assert!(slot.opened().is_none());
        assert_eq!(slot.open(None, |_| Ok(1)), Ok(&1));
        assert_eq!(slot.open(None, |_| Ok(2)), Ok(&1));
        assert!(slot.open(Some(Path::new("/x")), |_| Ok(3)).is_err());
        assert_eq!(slot.opened(), Some(&1));
    }

    #[test]
    fn a_symbol_that_is_not_there_is_an_error() {
        let program = Open::program();
        // SAFETY: the pointer is never used.
        let found = unsafe { program.symbol::<*const u8>(c"lanecrypt_no_such_symbol") };
        assert!(found.is_err());
    }
}
