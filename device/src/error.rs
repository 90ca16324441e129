//! Why a request was not served, and why there is no connection.

use core::fmt;
use std::io;
use std::path::PathBuf;

use crate::RejectReason;
use crate::protocol::socket::LONGEST_PATH;

/// Why the daemon did not serve a request, or did not open a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The operation was refused, with the error of the engine's session.
    Refused(lanecrypt_engine::Error),
    /// The daemon refused the session.
    Denied(RejectReason),
    /// The client has no such session, or no longer.
    UnknownSession,
    /// The key may not be used for this operation.
    NotAllowed,
    /// The request is longer than the arena.
    TooLong,
    /// The ring or the arena is full: first take completions.
    Full,
    /// The daemon is gone. The request may have been served: its nonce counts as used.
    Disconnected,
    /// The process is a child of the one that made the connection.
    Forked,
    /// The daemon could not make random bytes.
    Entropy,
    /// One side did not understand the other.
    Malformed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Denied(refusal) => refusal.fmt(f),
            Self::UnknownSession => f.pad("no such session"),
            Self::NotAllowed => f.pad("the key may not be used for this operation"),
            Self::TooLong => f.pad("longer than the arena"),
            Self::Full => f.pad("too many requests in flight"),
            Self::Disconnected => f.pad("the daemon is gone"),
            Self::Forked => f.pad("the connection belongs to the parent process"),
            Self::Entropy => f.pad("the daemon has no random bytes"),
            Self::Malformed => f.pad("the daemon and this program do not understand each other"),
        }
    }
}

impl core::error::Error for Error {}

/// Why there is no connection to a daemon.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The path has more bytes than the address of a socket.
    PathTooLong(PathBuf),
    /// Nothing is at the path.
    NoSocket(PathBuf),
    /// There is a socket, but no daemon behind it.
    NoDaemon(PathBuf),
    /// The permissions of the path forbid it.
    Forbidden(PathBuf),
    /// What listens there is no daemon of this protocol.
    NotADaemon(PathBuf),
    /// The daemon refused the client.
    Refused(RejectReason),
    /// This process has no more file descriptors.
    Descriptors,
    /// The system refused something else.
    System(io::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PathTooLong(path) => {
                write!(f, "{}: longer than {LONGEST_PATH} bytes", path.display())
            }
            Self::NoSocket(path) => write!(f, "{}: no such socket", path.display()),
            Self::NoDaemon(path) => write!(f, "{}: no daemon listens there", path.display()),
            Self::Forbidden(path) => write!(f, "{}: permission denied", path.display()),
            Self::NotADaemon(path) => write!(f, "{}: not a lanecrypt daemon", path.display()),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Descriptors => f.pad("this process has no more file descriptors"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError {}
