//! The driver `balanced`: several drivers of an engine, each batch for whom it costs least.
//!
//! Its sessions are open on several drivers. It groups the messages of a batch by algorithm and
//! operation, divides each group by what it costs each driver (`plan`), picks the jobs and calls the
//! drivers, those that work beside the calling thread first (`run`). With migration it keeps the
//! keys (`keys`) and the data that a driver might destroy (`copies`); what a driver has not answered
//! goes through the same steps again, without that driver (`rounds`).

mod copies;
mod divide;
mod group;
mod keys;
mod members;
mod migration;
mod plan;
mod rounds;
mod run;
mod seats;
mod times;

use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lanecrypt_ciphers::{Algorithm, Error};

use self::members::{Mask, Member};
use self::migration::Migration;
use self::seats::{Open, Table};
use self::times::Times;
use crate::class::Class;
use crate::lanes::Lanes;
use crate::session::job::List;
use crate::{Driver, Jobs, SessionId};

/// The most drivers that can share load.
pub(crate) const MOST: usize = 16;

/// Several drivers that share load.
#[derive(Debug)]
pub(crate) struct Balanced {
    members: Box<[Member]>,
    lanes: Lanes,
    times: Times,
    sessions: RwLock<Table>,
    migration: Option<Migration>,
}

impl Balanced {
    pub(crate) const NAME: &str = "balanced";

    /// At most [`MOST`] drivers, each with its name; none is the software.
    pub(crate) fn new(
        members: impl IntoIterator<Item = (String, Option<Arc<dyn Driver>>)>,
        lanes: Lanes,
        migrates: bool,
    ) -> Self {
        let members: Box<[Member]> =
            members.into_iter().map(|(name, driver)| Member::new(name, driver)).collect();
        Self {
            times: Times::new(members.len()),
            members,
            lanes,
            sessions: RwLock::default(),
            migration: migrates.then(Migration::default),
        }
    }

    /// Its members, to make another one of the same.
    pub(crate) fn members(&self) -> impl Iterator<Item = (String, Option<Arc<dyn Driver>>)> {
        self.members.iter().map(|member| (member.name.clone(), member.driver.clone()))
    }

    /// How many messages each member has been given.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (&str, u64)> {
        self.members.iter().map(|member| (&*member.name, member.given()))
    }

    pub(crate) fn migrates(&self) -> bool {
        self.migration.is_some()
    }

    /// The names of the members that have failed.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter(|member| !member.is_live()).map(|member| &*member.name)
    }

    /// The member of this name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == name)
    }

    /// Uses a member again that had failed. Its old sessions are closed, unless messages are still
    /// with it. They are opened anew, when messages come. False if it had not failed.
    pub(crate) fn readmit(&self, at: usize) -> bool {
        let Some(member) = self.members.get(at) else { return false };
        let mut from = 0;
        loop {
            // Nobody seats a session on it meanwhile, or begins to use one.
            let mut table = self.write();
            if member.is_live() {
                return false;
            }
            let old = if member.is_idle() { table.take_opened(at, &mut from) } else { None };
            let Some(id) = old else {
                table.unseat(Mask::of(at));
                member.readmit();
                return true;
            };
            drop(table);
            if let Some(driver) = &member.driver {
                // It had failed before.
                let _ = catch_unwind(AssertUnwindSafe(|| driver.close(id)));
            }
        }
    }

    /// Opens a session on all members that serve the algorithm, or only on one of them.
    pub(crate) fn open_on(
        &self,
        only: Option<usize>,
        algorithm: Algorithm,
        key: &[u8],
    ) -> Result<SessionId, Error> {
        let on = only.map_or(Mask::first(self.members.len()), Mask::of);
        let mut open = Open::new(Class::of(algorithm), algorithm, only);
        let lives = self.lives();
        let opened = self.seat(&mut open, on, key);
        let kept = opened.and_then(|()| match &self.migration {
            Some(migration) => migration.keep(key).map(Some),
            None => Ok(None),
        });
        match kept {
            Ok(key) => {
                open.key = key;
                let mut table = self.write();
                // It may have been opened on members that have failed and come back since.
                let now = self.lives();
                let gone =
                    (0..MOST).filter(|&at| lives[at] != now[at]).fold(Mask::default(), Mask::with);
                open.seated = open.seated.without(gone);
                Ok(table.add(open))
            }
            Err(error) => {
                self.end(&open);
                Err(error)
            }
        }
    }

    /// Opens a session that is being made on these members.
    fn seat(&self, open: &mut Open, on: Mask, key: &[u8]) -> Result<(), Error> {
        let mut refusal = Error::Unsupported;
        for at in on.iter() {
            let Some(member) = self.members.get(at) else { continue };
            if !member.is_live() {
                refusal = Error::DriverFailed;
                continue;
            }
            match self.open_member(member, open.algorithm, key) {
                Ok(id) => open.seat(at, id),
                Err(Error::DriverFailed) => refusal = Error::DriverFailed,
                // If it was named, its error is of interest.
                Err(error) if on == Mask::of(at) => refusal = error,
                Err(_) => open.refused = open.refused.with(at),
            }
        }
        if open.seated.is_empty() { Err(refusal) } else { Ok(()) }
    }

    /// Closes a session on all members on which it was ever open, even if one of them panics. With
    /// migration, a panic only means that the member has failed.
    fn end(&self, open: &Open) {
        let mut panic = None;
        for &(at, id) in &open.opened {
            let Some(member) = self.members.get(at) else { continue };
            let Some(driver) = &member.driver else { continue };
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

    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.sessions.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for Balanced {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        self.open_on(None, algorithm, key)
    }

    fn close(&self, session: SessionId) {
        let removed = self.write().remove(session);
        let Some(mut open) = removed else { return };
        if let (Some(migration), Some(key)) = (&self.migration, open.key.take()) {
            migration.forget(&key);
        }
        self.end(&open);
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        match jobs.into_list() {
            List::Requests(requests) => self.serve(requests),
            List::Waiting(waiting) => self.serve(waiting),
            // It is no member of another one.
            List::Picked(_) => {}
        }
    }
}
