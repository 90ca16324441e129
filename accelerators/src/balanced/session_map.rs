//! The sessions of a balanced driver, by number.
//!
//! When a member is readmitted, its old sessions are closed, unless another thread still uses some
//! of them: those are closed with the session. A plan that was made before is made again.

use lanecrypt_engine::{Algorithm, SessionId};

use super::keys::Place;
use super::mask::Mask;

/// One session.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) algorithm: Algorithm,
    /// The position of the algorithm among [all](Algorithm::ALL).
    pub(super) row: usize,
    /// The member on which it was opened by name, which serves it unless it has failed.
    only: Option<usize>,
    /// The members on which it is open.
    pub(super) on: Mask,
    /// The members that refused it.
    pub(super) refused: Mask,
    /// Its identifiers on members, which are closed with the session. Those of an earlier life of a
    /// member are included only if other threads used them at its readmission.
    pub(super) opened: Vec<(usize, SessionId)>,
    /// The place of its key, with migration.
    pub(super) key: Option<Place>,
}

impl Open {
    pub(super) fn new(algorithm: Algorithm, only: Option<usize>) -> Self {
        let row = Algorithm::ALL.iter().position(|&it| it == algorithm);
        let (row, on, refused) = (row.unwrap_or_default(), Mask::default(), Mask::default());
        Self { algorithm, row, only, on, refused, opened: Vec::new(), key: None }
    }

    /// Records that it is open on a member.
    pub(super) fn add(&mut self, at: usize, id: SessionId) {
        self.on = self.on.with(at);
        self.opened.push((at, id));
    }

    /// Its identifier on a member.
    pub(super) fn id(&self, member: usize) -> SessionId {
        // The last is of the member's current life.
        let last = self.opened.iter().rev().find(|&&(at, _)| at == member);
        last.map_or_else(SessionId::default, |&(_, id)| id)
    }

    /// Those of these members that may serve it, even if it is not open there.
    fn allowed(&self, live: Mask) -> Mask {
        match self.only {
            Some(only) if live.has(only) && !self.refused.has(only) => Mask::of(only),
            _ => live.without(self.refused),
        }
    }

    /// Those of these members that serve it.
    pub(super) fn served_by(&self, live: Mask) -> Mask {
        self.allowed(live).and(self.on)
    }

    /// Those of these members on which it should be opened.
    pub(super) fn lacks(&self, live: Mask) -> Mask {
        self.allowed(live).without(self.on)
    }
}

/// Open sessions. The number of a closed session is reused.
#[derive(Debug, Default)]
pub(super) struct SessionMap {
    slots: Vec<Option<Open>>,
    free: Vec<usize>,
    /// The number of times sessions were removed from members. An older plan may be invalid.
    pub(super) version: u64,
}

impl SessionMap {
    pub(super) fn add(&mut self, open: Open) -> SessionId {
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Some(open);
        }
        SessionId(at as u64)
    }

    pub(super) fn remove(&mut self, session: SessionId) -> Option<Open> {
        let at = usize::try_from(session.0).ok()?;
        let removed = self.slots.get_mut(at)?.take()?;
        self.free.push(at);
        Some(removed)
    }

    #[inline]
    pub(super) fn find(&self, session: SessionId) -> Option<&Open> {
        self.slots.get(usize::try_from(session.0).ok()?)?.as_ref()
    }

    pub(super) fn find_mut(&mut self, session: SessionId) -> Option<&mut Open> {
        self.slots.get_mut(usize::try_from(session.0).ok()?)?.as_mut()
    }

    /// Takes an identifier on a member from a session, which is then not open there. It starts at
    /// the slot `from`, and sets it to where the next call continues.
    pub(super) fn take_opened(&mut self, member: usize, from: &mut usize) -> Option<SessionId> {
        while let Some(slot) = self.slots.get_mut(*from) {
            if let Some(open) = slot
                && let Some(at) = open.opened.iter().position(|&(on, _)| on == member)
            {
                open.on = open.on.without(Mask::of(member));
                self.version += 1;
                return Some(open.opened.remove(at).1);
            }
            *from += 1;
        }
        None
    }

    /// Clears for all sessions that they are open on these members, or were refused there.
    pub(super) fn forget(&mut self, members: Mask) {
        self.version += 1;
        for open in self.slots.iter_mut().flatten() {
            open.on = open.on.without(members);
            open.refused = open.refused.without(members);
        }
    }
}
