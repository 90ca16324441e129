//! The daemon's socket, of which there is one at a path.

use core::fmt;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::net::{SocketFlags, bind, connect, listen};

use crate::protocol::socket::{self, LONGEST_PATH};

/// Why a daemon has no socket.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// The path has more bytes than the address of a socket.
    PathTooLong(PathBuf),
    /// Another daemon serves this path, or another program listens there.
    Taken(PathBuf),
    /// At the path is something that is no socket.
    NotASocket(PathBuf),
    /// The directory of the path is missing.
    NoDirectory(PathBuf),
    /// The permissions of the path's directory forbid it.
    Forbidden(PathBuf),
    /// This process has no more file descriptors.
    Descriptors,
    /// The system refused something else.
    System(io::Error),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PathTooLong(path) => {
                write!(f, "{}: longer than {LONGEST_PATH} bytes", path.display())
            }
            Self::Taken(path) => write!(f, "{}: another daemon listens there", path.display()),
            Self::NotASocket(path) => write!(f, "{}: exists and is no socket", path.display()),
            Self::NoDirectory(path) => write!(f, "{}: no such directory", path.display()),
            Self::Forbidden(path) => write!(f, "{}: permission denied", path.display()),
            Self::Descriptors => f.pad("this process has no more file descriptors"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BindError {}

impl BindError {
    /// What an error of the system means for a daemon at this path.
    pub(super) fn of(path: &Path, error: &io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::MFILE | Errno::NFILE) => Self::Descriptors,
            Some(Errno::ADDRINUSE) => Self::Taken(path.to_owned()),
            Some(Errno::NOENT | Errno::NOTDIR) => {
                Self::NoDirectory(path.parent().unwrap_or(path).to_owned())
            }
            Some(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::LOOP) => {
                Self::Forbidden(path.to_owned())
            }
            _ => Self::System(error.kind().into()),
        }
    }
}

/// A socket that listens, and its path as long as it does.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: OwnedFd,
    path: PathBuf,
    /// Locked as long as the daemon lives, so that two that begin at once do not take each other's
    /// path.
    _lock: OwnedFd,
}

impl Listener {
    /// Listens at a path, for the user of the process, or for all users. A socket that a dead daemon
    /// has left there is replaced.
    pub(super) fn bind(path: &Path, for_all: bool) -> Result<Self, BindError> {
        let address = socket::address(path).ok_or_else(|| BindError::PathTooLong(path.into()))?;
        let lock = lock(path)?;
        clear(path)?;
        let socket =
            socket::new(SocketFlags::NONBLOCK).map_err(|error| BindError::of(path, &error))?;
        bind(&socket, &address).map_err(|error| BindError::of(path, &error.into()))?;
        // Whoever has connected before is judged by its user, as everybody is.
        let mode = if for_all { 0o666 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
            .map_err(|error| BindError::of(path, &error))?;
        listen(&socket, 128).map_err(|error| BindError::of(path, &error.into()))?;
        Ok(Self { socket, path: path.to_owned(), _lock: lock })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The lock file stays: one that another daemon has just opened must not vanish.
        let _ = fs::remove_file(&self.path);
    }
}

/// Locks the path, by a file beside it.
fn lock(path: &Path) -> Result<OwnedFd, BindError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(Path::new(&name), flags, Mode::RUSR | Mode::WUSR);
    let file = file.map_err(|error| BindError::of(path, &error.into()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(BindError::Taken(path.to_owned())),
        Err(error) => Err(BindError::of(path, &error.into())),
    }
}

/// Removes a socket behind which nobody is.
fn clear(path: &Path) -> Result<(), BindError> {
    let Ok(there) = fs::symlink_metadata(path) else { return Ok(()) };
    if !there.file_type().is_socket() {
        return Err(BindError::NotASocket(path.to_owned()));
    }
    let address = socket::address(path).ok_or_else(|| BindError::PathTooLong(path.into()))?;
    let probe = socket::new(SocketFlags::NONBLOCK).map_err(|error| BindError::of(path, &error))?;
    match connect(&probe, &address) {
        Err(Errno::CONNREFUSED) => {
            fs::remove_file(path).map_err(|error| BindError::of(path, &error))
        }
        Err(Errno::NOENT) => Ok(()),
        // Somebody listens, whatever it says.
        _ => Err(BindError::Taken(path.to_owned())),
    }
}
