//! What a daemon reports: connections, sessions, refusals.

use core::fmt;

use lanecrypt_engine::Operation;

use crate::RejectReason;

/// An event of a daemon, for an audit log. No event contains key material.
///
/// Text that a client sent (`asked`) is unchecked: it may have any characters and up to 16 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A client has connected.
    Connected {
        /// Its number, which is never reused.
        client: u64,
        /// The user and the process that have opened the connection.
        user: u32,
        /// The process.
        process: u32,
    },
    /// A connection was refused.
    Refused {
        /// Its user, if that is known.
        user: Option<u32>,
        /// The reason.
        reason: RejectReason,
    },
    /// A client is gone, and its sessions with it.
    Disconnected {
        /// Its number.
        client: u64,
        /// Its user.
        user: u32,
    },
    /// A client has opened a session.
    SessionOpened {
        /// The number of the client.
        client: u64,
        /// Its user.
        user: u32,
        /// The number of the session, unique among the open ones of the client.
        session: u32,
        /// The name of the key, if the daemon has it.
        key: Option<&'a str>,
        /// The algorithm of a cipher; empty for an asymmetric key.
        algorithm: &'a str,
    },
    /// A session was refused.
    SessionRefused {
        /// The number of the client.
        client: u64,
        /// Its user.
        user: u32,
        /// The name of the key or algorithm, as sent by the client.
        asked: &'a str,
        /// The reason.
        reason: RejectReason,
    },
    /// A session was closed, or its client is gone.
    SessionClosed {
        /// The number of the client.
        client: u64,
        /// Its user.
        user: u32,
        /// The number of the session.
        session: u32,
        /// The name of the key, if the daemon has it.
        key: Option<&'a str>,
        /// The numbers of its requests, with failed ones.
        requests: Requests,
    },
    /// Keys, users and limits were replaced.
    Reloaded {
        /// The number of named keys.
        keys: u32,
        /// The number of sessions whose key was removed.
        ended_sessions: u32,
    },
}

/// The numbers of requests of a session, by operation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Requests([u64; Operation::ALL.len()]);

impl Requests {
    /// The number of requests with this operation.
    #[must_use]
    pub fn of(&self, operation: Operation) -> u64 {
        let at = Operation::ALL.iter().position(|&other| other == operation);
        at.and_then(|at| self.0.get(at)).copied().unwrap_or(0)
    }

    /// The numbers in the order of [`Operation::ALL`].
    pub(super) fn new(numbers: [u64; Operation::ALL.len()]) -> Self {
        Self(numbers)
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(Operation::ALL.iter().map(|operation| (operation.name(), self.of(*operation))))
            .finish()
    }
}

/// Receives the events.
#[derive(Default)]
pub(super) struct Observer(Option<Box<Receiver>>);

type Receiver = dyn FnMut(&Event<'_>) + Send;

impl Observer {
    pub(super) fn new(observer: impl FnMut(&Event<'_>) + Send + 'static) -> Self {
        Self(Some(Box::new(observer)))
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) {
        if let Some(observer) = &mut self.0 {
            observer(event);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}
