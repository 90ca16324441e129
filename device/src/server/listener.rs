//! The daemon's socket, of which there is one at a path.
//!
//! A lock on a file beside the socket decides, so that two daemons that start at once do not remove
//! each other's socket. The socket has its permissions before it has a path. At the end, only this
//! socket is removed, not a file that has taken its place.

use core::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Gid, Mode, OFlags, chmod, chownat, fchmod, flock, fstat,
    lstat,
};
use rustix::io::{Errno, FdFlags};
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen};

use crate::protocol::socket::{self, LONGEST_PATH};
use crate::shared::rights::refuse_descriptors;

/// The reason for which a daemon cannot listen.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// The path has more bytes than the address of a socket.
    PathTooLong(PathBuf),
    /// Another daemon serves this path, or another program listens there.
    Taken(PathBuf),
    /// The path is not a socket.
    NotASocket(PathBuf),
    /// The directory of the path is missing.
    NoDirectory(PathBuf),
    /// The permissions of the path's directory forbid it.
    Forbidden(PathBuf),
    /// This process has no free file descriptors.
    Descriptors,
    /// Another error of the system.
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
    /// Converts an error of the system, for a daemon at this path.
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

/// Those that may connect by the permissions of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// The user of the process, and root.
    Own,
    /// The members of this group as well.
    Group(u32),
    All,
}

/// A socket that listens, and its file, which exists as long as it does.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: OwnedFd,
    /// Whether the kernel refuses descriptors that are sent to it.
    pub(super) refuses_descriptors: bool,
    /// None if another process has made it.
    _file: Option<SocketFile>,
}

/// The file of a socket. It is removed at the end.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// The device and the number of the file.
    place: (u64, u64),
    /// Locked as long as the daemon runs, so that two daemons that start together do not replace
    /// each other's socket.
    _lock: OwnedFd,
}

impl Listener {
    /// A socket that another process has bound, and that listens.
    pub(super) fn of(socket: OwnedFd) -> Result<Self, BindError> {
        let is_right = socket_type(&socket) == Ok(SocketType::SEQPACKET)
            && socket_acceptconn(&socket) == Ok(true);
        if !is_right {
            return Err(BindError::NotASocket(PathBuf::from("the given descriptor")));
        }
        let made = rustix::fs::fcntl_setfl(&socket, OFlags::NONBLOCK)
            .and_then(|()| rustix::io::fcntl_setfd(&socket, FdFlags::CLOEXEC));
        made.map_err(|error| BindError::System(error.into()))?;
        let refuses_descriptors = refuse_descriptors(&socket);
        Ok(Self { socket, refuses_descriptors, _file: None })
    }

    /// Listens at a path. The socket of a dead daemon is replaced.
    pub(super) fn bind(path: &Path, audience: Audience) -> Result<Self, BindError> {
        let address = socket::address(path).ok_or_else(|| BindError::PathTooLong(path.into()))?;
        let lock = lock(path)?;
        clear(path)?;
        let mode = Mode::from_raw_mode(match audience {
            Audience::Own => 0o600,
            Audience::Group(_) => 0o660,
            Audience::All => 0o666,
        });
        let (socket, place) =
            at(path, &address, mode).map_err(|error| BindError::of(path, &error))?;
        // From here on it can be removed.
        let file = SocketFile { path: path.to_owned(), place, _lock: lock };
        // Before a client can send one. Older kernels close them after receipt.
        let refuses_descriptors = refuse_descriptors(&socket);
        let listener = Self { socket, refuses_descriptors, _file: Some(file) };
        // Restores permissions that the mask removed. No client can have connected before, and each
        // is checked by its user.
        permit(path, mode, audience).map_err(|error| BindError::of(path, &error))?;
        listen(&listener.socket, 1024).map_err(|error| BindError::of(path, &error.into()))?;
        Ok(listener)
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Only the own socket. The lock file remains: another daemon may have just opened it.
        if lstat(&self.path).is_ok_and(|there| (there.st_dev, there.st_ino) == self.place) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A socket at this address, whose file has these permissions from its creation on, less the mask
/// of the process; and the file's device and number.
fn at(path: &Path, address: &SocketAddrUnix, mode: Mode) -> io::Result<(OwnedFd, (u64, u64))> {
    let socket = socket::new(SocketFlags::NONBLOCK)?;
    // The file inherits them from the socket.
    fchmod(&socket, mode)?;
    bind(&socket, address)?;
    let there = lstat(path)?;
    Ok((socket, (there.st_dev, there.st_ino)))
}

/// Sets these permissions of a socket's file. A user that may write to the directory may have
/// replaced it meanwhile, such as by a link to another user's file: that is not changed.
fn permit(path: &Path, mode: Mode, audience: Audience) -> io::Result<()> {
    let file =
        rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let there = fstat(&file)?;
    if FileType::from_raw_mode(there.st_mode) != FileType::Socket {
        return Err(Errno::LOOP.into());
    }
    let mut mode = mode;
    if let Audience::Group(group) = audience {
        let group = Gid::from_raw(group);
        if chownat(&file, "", None, Some(group), AtFlags::EMPTY_PATH).is_err() {
            // The user is not among the members of the group. The credentials decide.
            mode = Mode::from_raw_mode(0o666);
        }
    }
    if Mode::from_raw_mode(there.st_mode) == mode {
        return Ok(());
    }
    // There is no other way for such a descriptor.
    chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode)?;
    Ok(())
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

/// Removes a socket on which no program listens.
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
        // A program listens, with any result.
        _ => Err(BindError::Taken(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// A directory that is removed in the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let name = format!("lanecrypt-listener-{test}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).expect("it is new");
            Self(path)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn a_socket_is_never_open_to_others() {
        let folder = Folder::new("mode");
        let path = folder.path("socket");
        let address = socket::address(&path).expect("it is short");
        let (_socket, _) = at(&path, &address, Mode::RUSR | Mode::WUSR).expect("it is free");
        assert_eq!(mode(&path), 0o600, "before anything else has been done");
        // Whatever the mask of the process is.
        permit(&path, Mode::from_raw_mode(0o666), Audience::All).expect("it is a socket");
        assert_eq!(mode(&path), 0o666);
    }

    #[test]
    fn what_is_put_in_the_place_of_a_socket_stays_as_it_is() {
        let folder = Folder::new("place");
        let (path, other) = (folder.path("socket"), folder.path("other"));
        fs::write(&other, "precious").expect("it can be written");
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let listener = Listener::bind(&path, Audience::All).expect("it is free");
        fs::remove_file(&path).expect("it is there");
        symlink(&other, &path).expect("it is free");
        assert!(permit(&path, Mode::from_raw_mode(0o666), Audience::All).is_err());
        assert_eq!(mode(&other), 0o600);
        drop(listener);
        assert!(fs::symlink_metadata(&path).is_ok(), "it is not the daemon's");
        fs::remove_file(&path).expect("it is there");
        drop(Listener::bind(&path, Audience::All).expect("it is free"));
        assert!(fs::symlink_metadata(&path).is_err(), "its own it removes");
    }
}
