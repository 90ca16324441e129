//! Errors of requests and of connections.

use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::RejectReason;
use crate::protocol::socket::LONGEST_PATH;

/// The reason for which the daemon did not serve a request, or did not open a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The operation was refused, with the error of the engine's session.
    Refused(lanecrypt_engine::Error),
    /// The daemon refused the session.
    Denied(RejectReason),
    /// The client has no such session, or it was closed.
    UnknownSession,
    /// The key may not be used for this operation.
    NotAllowed,
    /// The daemon makes the nonces of the key: seal with `seal_next`.
    MakesNonces,
    /// The key was removed from the daemon's settings, or is no longer for this user.
    KeyRemoved,
    /// The daemon is shutting down, and the request would take long. It was not served.
    ShuttingDown,
    /// The request is longer than the arena.
    TooLong,
    /// The ring or the arena is full: take completions first.
    Full,
    /// The daemon has ended. The request may have been served: its nonce counts as used.
    Disconnected,
    /// The process is a child of the one that connected.
    Forked,
    /// The daemon could not generate random bytes.
    Entropy,
    /// A message violates the protocol.
    Malformed,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Denied(refusal) => refusal.fmt(f),
            Self::UnknownSession => f.pad("no such session"),
            Self::NotAllowed => f.pad("the key may not be used for this operation"),
            Self::MakesNonces => f.pad("the daemon makes the nonces of this key"),
            Self::KeyRemoved => f.pad("the key was removed from the daemon"),
            Self::ShuttingDown => f.pad("the daemon is shutting down"),
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

/// The reason for which there is no connection to a daemon.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The path has more bytes than the address of a socket.
    PathTooLong(PathBuf),
    /// The path does not exist.
    NoSocket(PathBuf),
    /// No daemon listens on the socket.
    NoDaemon(PathBuf),
    /// The permissions of the path forbid it.
    Forbidden(PathBuf),
    /// The daemon did not answer in time.
    TimedOut(PathBuf),
    /// The program that listens there is no daemon of this protocol.
    NotADaemon(PathBuf),
    /// The daemon refused the client.
    Refused(RejectReason),
    /// This process has no free file descriptors.
    Descriptors,
    /// Another error of the system.
    System(io::Error),
}

impl ConnectError {
    /// The error with the path of the socket in front, which most have anyway.
    #[must_use]
    pub fn with_path(&self, socket: &Path) -> String {
        match self {
            Self::Refused(_) | Self::Descriptors | Self::System(_) => {
                format!("{}: {self}", socket.display())
            }
            _ => self.to_string(),
        }
    }
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
            Self::TimedOut(path) => write!(f, "{}: no answer in time", path.display()),
            Self::NotADaemon(path) => write!(f, "{}: not a lanecrypt daemon", path.display()),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Descriptors => f.pad("this process has no more file descriptors"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConnectError {}
