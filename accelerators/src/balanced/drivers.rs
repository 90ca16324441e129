//! The members of a balanced driver, and its sessions.

use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lanecrypt_engine::{Algorithm, Error, SessionId};

use super::cost_model::CostModel;
use super::mask::{MOST, Mask};
use super::members::{Member, Server};
use super::members_error::MembersError;
use super::migration::Migration;
use super::session_map::{Open, SessionMap};

/// Several drivers that share load.
#[derive(Debug)]
pub(super) struct Drivers {
    pub(super) members: Box<[Member]>,
    pub(super) costs: CostModel,
    sessions: RwLock<SessionMap>,
    pub(super) migration: Option<Migration>,
}

impl Drivers {
    pub(super) fn new(
        members: impl IntoIterator<Item = Member>,
        migrates: bool,
    ) -> Result<Self, MembersError> {
        let members: Box<[Member]> = members.into_iter().take(MOST + 1).collect();
        if members.len() > MOST {
            return Err(MembersError::TooMany);
        }
        let is_taken = |at: usize| members[..at].iter().any(|it| it.name() == members[at].name());
        if (0..members.len()).any(is_taken) {
            return Err(MembersError::Taken);
        }
        Ok(Self {
            costs: CostModel::new(members.len()),
            members,
            sessions: RwLock::default(),
            migration: migrates.then(Migration::default),
        })
    }

    /// The number of messages that each member has received.
    pub(super) fn shares(&self) -> impl Iterator<Item = (&str, u64)> {
        self.members.iter().map(|member| (member.name(), member.given()))
    }

    pub(super) fn migrates(&self) -> bool {
        self.migration.is_some()
    }

    /// The names of the members that have failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter(|member| !member.is_live()).map(Member::name)
    }

    /// The member of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name() == name)
    }

    /// The name of a member.
    pub(super) fn name(&self, at: usize) -> &str {
        self.members.get(at).map_or("", Member::name)
    }

    /// The members that have not failed.
    pub(super) fn live(&self) -> Mask {
        if !self.migrates() {
            return Mask::first(self.members.len());
        }
        let each = self.members.iter().enumerate();
        let live = each.filter(|(_, member)| member.is_live());
        live.fold(Mask::default(), |mask, (at, _)| mask.with(at))
    }

    /// The lives of all members.
    fn lives(&self) -> [u32; MOST] {
        let mut lives = [0; MOST];
        lives.iter_mut().zip(&self.members).for_each(|(life, member)| *life = member.life());
        lives
    }

    /// Readmits a member that had failed. Its old sessions are closed, unless it still has
    /// messages. They are reopened when there are messages. False if it had not failed.
    pub(super) fn readmit(&self, at: usize) -> bool {
        let Some(member) = self.members.get(at) else { return false };
        let mut from = 0;
        loop {
            // Meanwhile no thread opens a session on it, or begins to use one.
            let mut sessions = self.write();
            if member.is_live() {
                return false;
            }
            let old = if member.is_idle() { sessions.take_opened(at, &mut from) } else { None };
            let Some(id) = old else {
                sessions.forget(Mask::of(at));
                member.readmit();
                return true;
            };
            drop(sessions);
            if let Server::Driver(driver) = &member.server {
                // It had failed before.
                let _ = catch_unwind(AssertUnwindSafe(|| driver.close(id)));
            }
        }
    }

    /// Opens a session on all members that serve the algorithm, or only on one of them.
    pub(super) fn open_on(
        &self,
        only: Option<usize>,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<SessionId, Error> {
        let on = only.map_or(Mask::first(self.members.len()), Mask::of);
        let mut open = Open::new(algorithm, only);
        let lives = self.lives();
        let opened = self.open_each(&mut open, on, key);
        let kept = opened.and_then(|()| match &self.migration {
            Some(migration) => migration.keep(key).map(Some),
            None => Ok(None),
        });
        match kept {
            Ok(key) => {
                open.key = key;
                let mut sessions = self.write();
                // It may have been opened on members that have failed and been readmitted since.
                let now = self.lives();
                let gone =
                    (0..MOST).filter(|&at| lives[at] != now[at]).fold(Mask::default(), Mask::with);
                open.on = open.on.without(gone);
                Ok(sessions.add(open))
            }
            Err(error) => {
                self.end(&open);
                Err(error)
            }
        }
    }

    /// Opens a new session on these members.
    fn open_each(&self, open: &mut Open, on: Mask, key: &[u8]) -> Result<(), Error> {
        let mut refusal = Error::Unsupported;
        for at in on.iter() {
            let Some(member) = self.members.get(at) else { continue };
            if !member.is_live() {
                refusal = Error::DriverFailed;
                continue;
            }
            match self.open_member(member, open.algorithm, key) {
                Ok(id) => open.add(at, id),
                Err(Error::DriverFailed) => refusal = Error::DriverFailed,
                // If it was named, its error is returned.
                Err(error) if on == Mask::of(at) => refusal = error,
                Err(_) => open.refused = open.refused.with(at),
            }
        }
        if open.on.is_empty() { Err(refusal) } else { Ok(()) }
    }

    /// Opens a session on a member. With migration, a member that panics has failed.
    pub(super) fn open_member(
        &self,
        member: &Member,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<SessionId, Error> {
        let Server::Driver(driver) = &member.server else { return Ok(SessionId::default()) };
        if !self.migrates() {
            return driver.open(algorithm, key);
        }
        let opened = catch_unwind(AssertUnwindSafe(|| driver.open(algorithm, key)));
        let opened = opened.unwrap_or(Err(Error::DriverFailed));
        if opened == Err(Error::DriverFailed) {
            member.fail();
        }
        opened
    }

    pub(super) fn close(&self, session: SessionId) {
        let removed = self.write().remove(session);
        let Some(mut open) = removed else { return };
        if let (Some(migration), Some(key)) = (&self.migration, open.key.take()) {
            migration.forget(&key);
        }
        self.end(&open);
    }

    /// Closes a session on all members on which it was ever open, even if one of them panics. With
    /// migration, a panic only marks the member as failed.
    fn end(&self, open: &Open) {
        let mut panic = None;
        for &(at, id) in &open.opened {
            let Some(member) = self.members.get(at) else { continue };
            let Server::Driver(driver) = &member.server else { continue };
            if let Err(first) = catch_unwind(AssertUnwindSafe(|| driver.close(id))) {
                panic.get_or_insert(first);
                if self.migrates() {
                    member.fail();
                }
            }
        }
        if let Some(panic) = panic.filter(|_| !self.migrates()) {
            resume_unwind(panic);
        }
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, SessionMap> {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, SessionMap> {
        self.sessions.write().unwrap_or_else(PoisonError::into_inner)
    }
}
