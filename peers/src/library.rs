//! Shared libraries, opened at run time and never closed.

use core::error::Error as _;
use core::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lanecrypt_kernels::Level;
use libloading::Library;

/// How peers that are shared libraries are opened: the paths of those that should not come from the
/// dynamic loader's usual places, and the level that they are held to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerLibraries {
    pub(crate) paths: Vec<(&'static str, PathBuf)>,
    pub(crate) level: Option<Level>,
}

impl PeerLibraries {
    /// Every library from the dynamic loader's usual places, held to no level.
    #[must_use]
    pub const fn new() -> Self {
        Self { paths: Vec::new(), level: None }
    }

    /// The file that was given for `name`.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.paths.iter().find(|(known, _)| *known == name).map(|(_, path)| path.as_path())
    }
}

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
pub(crate) fn check_file(path: &Path) -> Result<(), String> {
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
        check_file(path)?;
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

    #[test]
    fn a_slot_opens_once_and_refuses_another_path() {
        let (slot, none, mut other) = (Slot::new(), PeerLibraries::new(), PeerLibraries::new());
        other.paths.push(("openssl", PathBuf::from("/x")));
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
