//! Control of a running daemon by other threads of its process.

use core::fmt;
use core::time::Duration;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::settings::Prepared;
use super::worker::CompletionNotifier;
use crate::Statistics;

/// Controls a running daemon from any thread of its process.
#[derive(Clone)]
pub struct Handle(Arc<Mailbox>);

/// Commands that the daemon has not taken.
pub(super) struct Mailbox {
    commands: Mutex<Vec<Command>>,
    notifier: Arc<CompletionNotifier>,
}

pub(super) enum Command {
    Stop,
    Reload(Box<Prepared>),
    Statistics(SyncSender<Statistics>),
}

impl Handle {
    pub(super) fn new(notifier: &Arc<CompletionNotifier>) -> Self {
        let notifier = notifier.clone();
        Self(Arc::new(Mailbox { commands: Mutex::default(), notifier }))
    }

    /// Ends the daemon within a second, whatever is queued: it answers the submitted requests,
    /// except those that take long, which fail with [`ShuttingDown`](crate::Error::ShuttingDown).
    pub fn stop(&self) {
        self.give(Command::Stop);
    }

    /// Replaces keys, users and limits by those of `prepared`; spinning and placement stay as they
    /// are. Sessions with a named key continue with the key that has the name now. If there is none
    /// for their user, their requests fail with [`KeyRemoved`](crate::Error::KeyRemoved). Clients
    /// stay connected if their users may still connect.
    pub fn reload(&self, prepared: Prepared) {
        self.give(Command::Reload(Box::new(prepared)));
    }

    /// The daemon's statistics; `None` if it does not answer within this time.
    #[must_use]
    pub fn statistics(&self, within: Duration) -> Option<Statistics> {
        let (sender, receiver) = sync_channel(1);
        self.give(Command::Statistics(sender));
        receiver.recv_timeout(within).ok()
    }

    pub(super) fn take(&self) -> Vec<Command> {
        core::mem::take(&mut *self.0.lock())
    }

    fn give(&self, command: Command) {
        self.0.lock().push(command);
        self.0.notifier.tell();
    }
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Vec<Command>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
