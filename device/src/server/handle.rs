//! Control of a running daemon by other threads of its process.

use core::fmt;
use core::time::Duration;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::prepared::Prepared;
use super::worker::CompletionNotifier;
use crate::Statistics;

/// The most commands that wait, before those that only ask are dropped.
const MOST: usize = 64;

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

    /// The number of commands that the daemon has not taken.
    #[cfg(test)]
    fn waiting(&self) -> usize {
        self.0.lock().len()
    }

    pub(super) fn take(&self) -> Vec<Command> {
        core::mem::take(&mut *self.0.lock())
    }

    fn give(&self, command: Command) {
        let mut commands = self.0.lock();
        if commands.len() >= MOST {
            // A daemon that does not answer is asked again and again.
            commands.retain(|command| !matches!(command, Command::Statistics(_)));
        }
        commands.push(command);
        drop(commands);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_does_not_answer_is_not_buried_in_questions() {
        let notifier = Arc::new(CompletionNotifier::new().expect("there are descriptors"));
        let handle = Handle::new(&notifier);
        handle.stop();
        for _ in 0..1000 {
            assert!(handle.statistics(Duration::ZERO).is_none());
            assert!(handle.waiting() <= MOST);
        }
        assert!(handle.take().iter().any(|command| matches!(command, Command::Stop)));
    }
}
