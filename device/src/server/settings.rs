//! Settings of a daemon, and their use.

use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use lanecrypt_engine::Engine;
use rustix::event::epoll;

use super::control::{Control, Limits};
use super::keys::{Key, KeyError, Keys};
use super::listener::{BindError, Listener};
use super::pass::BatchPass;
use super::placement::{Placement, Sharing};
use super::signatures::Signatures;
use super::worker::CompletionNotifier;
use super::{Daemon, EVENTS, LISTENER, NEWS};
use crate::Statistics;
use crate::spin::{self, Spin};

/// Settings of a daemon, which [`Prepared::bind`] starts.
///
/// By default it serves the user of its process, all algorithms but the null cipher, spins for up
/// to 100 µs before it sleeps, and runs on a processor of the system's choice.
#[derive(Debug, Default)]
#[must_use]
pub struct Server {
    keys: Vec<Key>,
    users: Vec<u32>,
    allows_null: bool,
    spin: Option<Duration>,
    placement: Placement,
    limits: Limits,
}

impl Server {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these named keys.
    pub fn keys(self, keys: Vec<Key>) -> Self {
        Self { keys, ..self }
    }

    /// These users may connect, too, by number.
    pub fn users(self, users: Vec<u32>) -> Self {
        Self { users, ..self }
    }

    /// Clients may open sessions of the null cipher, which protects nothing.
    pub fn allow_null(self) -> Self {
        Self { allows_null: true, ..self }
    }

    /// The time to spin for requests before sleeping. After each unsuccessful spin it is shorter,
    /// down to zero. On the processor of a client it yields between two checks.
    pub fn spin(self, longest: Duration) -> Self {
        Self { spin: Some(longest), ..self }
    }

    /// The processor on which to run.
    pub fn placement(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// The limits of clients.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Expands the keys.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub fn prepare(self) -> Result<Prepared, KeyError> {
        let Self { keys, users, allows_null, spin, placement, limits } = self;
        let engine = Engine::new();
        let keys = Keys::new(&engine, keys)?;
        let spin = spin.unwrap_or(spin::USUAL);
        Ok(Prepared { engine, keys, users, allows_null, spin, placement, limits })
    }
}

/// A daemon that has its keys, but no socket yet.
#[derive(Debug)]
pub struct Prepared {
    engine: Engine,
    keys: Keys,
    users: Vec<u32>,
    allows_null: bool,
    spin: Duration,
    placement: Placement,
    limits: Limits,
}

impl Prepared {
    /// Listens at this path. The socket of a dead daemon is replaced. Only the user of the process
    /// may connect, by the permissions of the socket (0600), unless others are allowed (0666),
    /// which are identified by their credentials.
    ///
    /// # Errors
    ///
    /// [`BindError`]
    pub fn bind(self, path: impl AsRef<Path>) -> Result<Daemon, BindError> {
        let Self { engine, keys, users, allows_null, spin, placement, limits } = self;
        let notifier = Arc::new(
            CompletionNotifier::new().map_err(|error| BindError::of(path.as_ref(), &error))?,
        );
        let turn = BatchPass::new(&engine);
        let signatures = Signatures::new(limits.signatures, &notifier);
        let control = Control::new(engine, keys, users, allows_null, limits, &notifier);
        let listener = Listener::bind(path.as_ref(), control.serves_others())?;
        let epoll =
            epoll(&listener, &notifier).map_err(|error| BindError::of(path.as_ref(), &error))?;
        Ok(Daemon {
            control,
            turn,
            signatures,
            notifier,
            spin: Spin::new(spin),
            placement,
            sharing: Sharing::new(),
            listener,
            epoll,
            events: Vec::with_capacity(EVENTS),
            peers: Vec::new(),
            statistics: Statistics::new(),
            processor: None,
            is_deaf: false,
        })
    }
}

/// Where the daemon waits.
fn epoll(listener: &Listener, notifier: &CompletionNotifier) -> io::Result<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let (data, flags) = (epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN);
    epoll::add(&epoll, &listener.socket, data, flags)?;
    // Edges, so that nothing has to be read.
    let (data, flags) = (epoll::EventData::new_u64(NEWS), flags | epoll::EventFlags::ET);
    epoll::add(&epoll, notifier, data, flags)?;
    Ok(epoll)
}
