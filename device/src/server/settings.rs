//! Settings of a daemon, and their use.

use core::time::Duration;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use lanecrypt_engine::Engine;
use rustix::event::epoll;

use super::asymmetric::AsymmetricRequests;
use super::background::Background;
use super::control::{Access, Control};
use super::cost::CostTable;
use super::event::{Event, Observer};
use super::keys::{Key, KeyError, Keys};
use super::limits::{Limits, available_memory};
use super::listener::{BindError, Listener};
use super::long::LongMessages;
use super::pass::{BatchPass, Workers};
use super::placement::{Placement, Sharing};
use super::prepared::Prepared;
#[cfg(feature = "rsa")]
use super::rsa_key_workers::RsaKeyWorkers;
use super::users::Users;
use super::worker::CompletionNotifier;
use super::{Daemon, EVENTS, Handle, LISTENER, NEWS};
use crate::Statistics;
use crate::spin::{self, Spin};

/// Settings of a daemon, which [`Prepared::bind`] starts.
///
/// By default it serves the user of its process and root, all algorithms but the null cipher, spins
/// for up to 100 µs before it sleeps, and runs on a processor of the system's choice.
#[derive(Debug, Default)]
#[must_use]
pub struct Server {
    keys: Vec<Key>,
    users: Users,
    allows_null: bool,
    spin: Option<Duration>,
    placement: Placement,
    limits: Limits,
    observer: Observer,
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
    pub fn users(mut self, users: Vec<u32>) -> Self {
        self.users.users = users;
        self
    }

    /// The members of these groups may connect, too, by number.
    pub fn groups(mut self, groups: Vec<u32>) -> Self {
        self.users.groups = groups;
        self
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

    /// Passes all events to `observer`, on the daemon's thread: it must return at once.
    pub fn observer(self, observer: impl FnMut(&Event<'_>) + Send + 'static) -> Self {
        Self { observer: Observer::new(observer), ..self }
    }

    /// Expands the keys, and measures which messages run in lanes, which takes about 30
    /// milliseconds in the first daemon of a process.
    ///
    /// # Errors
    ///
    /// [`KeyError`]
    pub fn prepare(self) -> Result<Prepared, KeyError> {
        let Self { keys, users, allows_null, spin, placement, limits, observer } = self;
        let (mut engine, mut costs) = (Engine::new(), CostTable::new());
        engine.calibrate();
        let keys = Keys::new(&engine, &mut costs, keys)?;
        let spin = spin.unwrap_or(spin::USUAL);
        let access = Access { keys, users, allows_null, limits };
        Ok(Prepared { engine, costs, access, spin, placement, observer })
    }
}

impl Prepared {
    /// Listens at this path. The socket of a dead daemon is replaced. Only the user of the process
    /// may connect, by the permissions of the socket (0600), unless a group is allowed (0660) or
    /// others are (0666). All are identified by their credentials.
    ///
    /// # Errors
    ///
    /// [`BindError`]
    pub fn bind(self, path: impl AsRef<Path>) -> Result<Daemon, BindError> {
        let path = path.as_ref();
        let listener = Listener::bind(path, self.access.audience())?;
        self.with(listener).map_err(|error| BindError::of(path, &error))
    }

    /// Listens at a socket of sequenced packets that is bound and listening already, as a service
    /// manager passes it. Its file stays there at the end.
    ///
    /// # Errors
    ///
    /// [`BindError::NotASocket`] if it is no such socket; [`BindError`].
    pub fn listen(self, socket: impl Into<OwnedFd>) -> Result<Daemon, BindError> {
        let listener = Listener::of(socket.into())?;
        self.with(listener).map_err(|error| BindError::of(Path::new(""), &error))
    }

    fn with(self, listener: Listener) -> io::Result<Daemon> {
        let Self { engine, costs, mut access, spin, placement, observer } = self;
        let notifier = Arc::new(CompletionNotifier::new()?);
        let epoll = epoll(&listener, &notifier)?;
        let memory = available_memory();
        access.limits = access.limits.within_memory(memory);
        let turn = BatchPass::new(&engine, costs.random());
        let workers = Workers {
            asymmetric: AsymmetricRequests::new(access.limits.signatures, &notifier),
            long: LongMessages::new(&notifier),
            is_closed: false,
        };
        #[cfg(feature = "rsa")]
        let rsa_workers = RsaKeyWorkers::new(&notifier);
        let background = Background::new(&notifier);
        let peers = Vec::with_capacity(access.limits.places().min(4096));
        let control = Control::new(
            engine,
            costs,
            access,
            observer,
            #[cfg(feature = "rsa")]
            rsa_workers,
            background,
        );
        Ok(Daemon {
            control,
            turn,
            workers,
            handle: Handle::new(&notifier),
            notifier,
            spin: Spin::new(spin),
            placement,
            sharing: Sharing::new(),
            listener,
            epoll,
            memory,
            events: Vec::with_capacity(EVENTS),
            peers,
            statistics: Statistics::new(),
            processor: None,
            unchecked: 0,
            is_deaf: false,
            has_traces: false,
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
