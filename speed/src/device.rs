//! What the table `device` needs of the program that measures.

use std::ffi::OsString;
use std::path::PathBuf;

/// What the table `device` needs of the program that measures.
///
/// Without a command and without a socket, only what needs no daemon is measured.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// A daemon that runs already, instead of those that the table starts.
    pub socket: Option<PathBuf>,
    /// The command of a process that calls [`child`](crate::child), program first. The table starts
    /// daemons and clients with it.
    pub command: Vec<OsString>,
}

impl DeviceOptions {
    /// With daemons and clients that are started with this command.
    #[must_use]
    pub fn started_by(command: Vec<OsString>) -> Self {
        Self { socket: None, command }
    }

    /// The same with a daemon that runs already.
    #[must_use]
    pub fn at(self, socket: Option<PathBuf>) -> Self {
        Self { socket, ..self }
    }
}
