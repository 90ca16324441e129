//! The sessions of the driver, by number.

use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use super::Held;
use crate::SessionId;

/// Open sessions. The number of a closed session is reused.
#[derive(Default)]
pub(super) struct Sessions(RwLock<Slots>);

#[derive(Default)]
struct Slots {
    slots: Vec<Option<Arc<Held>>>,
    free: Vec<usize>,
}

impl Sessions {
    /// Adds a session.
    pub(super) fn add(&self, held: Held) -> SessionId {
        let mut sessions = self.write();
        let held = Some(Arc::new(held));
        let at = match sessions.free.pop() {
            Some(at) => at,
            None => {
                sessions.slots.push(None);
                sessions.slots.len() - 1
            }
        };
        if let Some(slot) = sessions.slots.get_mut(at) {
            *slot = held;
        }
        SessionId(at as u64)
    }

    /// Removes a session. libcrypto wipes its keys when their last user is done.
    pub(super) fn remove(&self, session: SessionId) {
        let Ok(at) = usize::try_from(session.0) else { return };
        let mut sessions = self.write();
        let removed = sessions.slots.get_mut(at).and_then(Option::take);
        if removed.is_some() {
            sessions.free.push(at);
        }
        drop(sessions);
        // The contexts are freed here, after the lock has been released.
        drop(removed);
    }

    /// Finds a session. Requests borrow theirs, so that it cannot be closed meanwhile.
    pub(super) fn find(&self, session: SessionId) -> Option<Arc<Held>> {
        let sessions = self.0.read().unwrap_or_else(PoisonError::into_inner);
        sessions.slots.get(usize::try_from(session.0).ok()?)?.clone()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Slots> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
