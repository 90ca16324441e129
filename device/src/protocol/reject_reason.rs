//! The reasons for which the daemon refuses a request on the socket.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::{NEWEST, OLDEST};

/// The reason for which the daemon refuses a client or a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RejectReason {
    /// The daemon speaks other versions of the protocol: these.
    Version {
        /// The lowest.
        oldest: u32,
        /// The highest.
        newest: u32,
    },
    /// The daemon does not serve this user.
    User(u32),
    /// The daemon has no free file descriptors.
    Descriptors,
    /// The daemon has no free memory.
    Memory,
    /// The daemon has the most clients that it accepts.
    Clients,
    /// The client has the most sessions that are allowed.
    Sessions,
    /// The daemon has no such algorithm.
    Algorithm,
    /// The algorithm has no keys of this length.
    KeyLength,
    /// The two halves of the key are the same.
    WeakKey,
    /// The RSA key is malformed, or its numbers are inconsistent.
    Key,
    /// The daemon serves the null cipher only if it was started with `--allow-null`.
    Null,
    /// There is no key of this name for this user.
    Name,
    /// The client has no such session.
    Session,
    /// The daemon could not generate random bytes.
    Entropy,
    /// The request violates the protocol, or is not allowed at this time.
    Malformed,
    /// The named RSA key does not make signatures with this hash function and padding.
    Padding,
    /// The user has the most clients that are allowed.
    UserClients,
    /// The clients of the user have the most sessions that are allowed.
    UserSessions,
    /// The clients of the user have the most shared memory that is allowed.
    UserMemory,
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { oldest, newest } => write!(
                f,
                "the daemon speaks {} of the protocol, this program {}",
                Versions(*oldest, *newest),
                Versions(OLDEST, NEWEST)
            ),
            Self::User(user) => write!(f, "the daemon does not serve user {user}"),
            Self::Descriptors => f.pad("the daemon has no more file descriptors"),
            Self::Memory => f.pad("the daemon has no more memory"),
            Self::Clients => f.pad("the daemon has as many clients as it takes"),
            Self::Sessions => f.pad("the client has as many sessions as it may have"),
            Self::Algorithm => f.pad("the daemon does not have the algorithm"),
            Self::KeyLength => f.pad("wrong key length"),
            Self::WeakKey => f.pad("weak key"),
            Self::Key => f.pad("malformed or inconsistent key"),
            Self::Null => f.pad("the daemon does not allow the null cipher"),
            Self::Name => f.pad("no key of this name for this user"),
            Self::Session => f.pad("no such session"),
            Self::Entropy => f.pad("the daemon has no random bytes"),
            Self::Malformed => f.pad("the daemon does not understand what was asked"),
            Self::Padding => f.pad("the key is not for this hash function and padding"),
            Self::UserClients => f.pad("the user has as many clients as it may have"),
            Self::UserSessions => f.pad("the user has as many sessions as it may have"),
            Self::UserMemory => f.pad("the user has as much memory as it may have"),
        }
    }
}

impl core::error::Error for RejectReason {}

/// The lowest and the highest of some versions.
struct Versions(u32, u32);

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(oldest, newest) = *self;
        match oldest >= newest {
            true => write!(f, "version {newest}"),
            false => write!(f, "versions {oldest} to {newest}"),
        }
    }
}
