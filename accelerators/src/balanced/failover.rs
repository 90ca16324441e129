//! Serves batches, repeatedly if drivers fail.

use std::panic::resume_unwind;

use arrayvec::ArrayVec;
use lanecrypt_engine::{Algorithm, Error, Jobs, SessionId};
use zeroize::Zeroizing;

use super::drivers::Drivers;
use super::keys::Place as Key;
use super::mask::Mask;
use super::members::Server;
use super::migration::Migration;
use super::plan::Plan;
use super::slot::{Place, Slot};
use super::snapshots::Snapshots;

/// The most messages that are served at once.
const AT_ONCE: usize = 256;
/// Small batches have small lists.
const FEW: usize = 16;

impl Drivers {
    /// Serves each message of a batch.
    pub(super) fn serve(&self, jobs: Jobs<'_, '_>) {
        let mut jobs = jobs.into_iter();
        let mut slots = ArrayVec::<_, AT_ONCE>::new();
        loop {
            slots.extend(jobs.by_ref().take(AT_ONCE).map(Slot::new));
            if slots.is_empty() {
                return;
            }
            self.serve_all(&mut slots);
        }
    }

    /// Serves messages, and removes the completed ones, until none is left.
    fn serve_all(&self, slots: &mut ArrayVec<Slot<'_, '_>, AT_ONCE>) {
        let mut snapshots = self.migration.as_ref().map(Snapshots::new);
        // A member that fails is not used again for this batch, and each plan has runs unless a
        // member was readmitted meanwhile. So this terminates.
        let mut out = Mask::default();
        while !slots.is_empty() {
            if let Some(migration) = &self.migration {
                self.open_missing(migration, slots, out);
            }
            let plan = self.plan(slots, out);
            // They are unchanged.
            slots.retain(|slot| match slot.place {
                Place::Lost => {
                    slot.refuse(Error::DriverFailed);
                    false
                }
                _ => true,
            });
            if let Some(snapshots) = &mut snapshots {
                self.copy(&plan, slots, snapshots);
            }
            let ended = match slots.len() {
                ..=FEW => self.run::<FEW>(&plan, slots),
                _ => self.run::<AT_ONCE>(&plan, slots),
            };
            let Some(ended) = ended else { continue };
            let Some(snapshots) = &snapshots else {
                if let Some(panic) = ended.panic {
                    resume_unwind(panic);
                }
                slots.retain(|slot| plan.run_of(slot).is_none());
                continue;
            };
            let mut failed = ended.panicked;
            slots.retain(|slot| {
                let Some((_, run)) = plan.run_of(slot) else { return true };
                let answered = slot.is_answered();
                if !answered {
                    snapshots.restore(slot);
                    failed = failed.with(run.member);
                }
                !answered
            });
            failed.iter().filter_map(|at| self.members.get(at)).for_each(|it| it.fail());
            out = out.or(failed);
        }
    }

    /// Copies the data that drivers may destroy. The software does not fail.
    fn copy(&self, plan: &Plan, slots: &mut [Slot<'_, '_>], snapshots: &mut Snapshots<'_>) {
        for slot in slots {
            let member = plan.run_of(slot).and_then(|(_, run)| self.members.get(run.member));
            if member.is_some_and(|member| matches!(member.server, Server::Driver(_))) {
                snapshots.keep(slot);
            }
        }
    }

    /// Opens the sessions of messages on members that should serve them but do not have them yet:
    /// after another member has failed, or after their readmission.
    fn open_missing(&self, migration: &Migration, slots: &[Slot<'_, '_>], out: Mask) {
        let mut rest = slots;
        loop {
            let live = self.live().without(out);
            let sessions = self.read();
            let missing = rest.iter().enumerate().find_map(|(at, slot)| {
                let open = sessions.find(slot.job.session_id())?;
                let on = open.lacks(live);
                (!on.is_empty()).then_some((at, open, on))
            });
            let Some((at, open, on)) = missing else { return };
            let (id, algorithm) = (rest[at].job.session_id(), open.algorithm);
            let mut key = Zeroizing::new([0; Key::LONGEST]);
            let length = open.key.as_ref().map_or(0, |place| migration.read(place, &mut key));
            drop(sessions);
            rest = &rest[at..];
            for member in on.iter() {
                self.open_again(member, id, algorithm, key.get(..length).unwrap_or_default());
            }
        }
    }

    /// Opens an existing session on one more member.
    fn open_again(&self, at: usize, id: SessionId, algorithm: Algorithm, key: &[u8]) {
        let Some(member) = self.members.get(at) else { return };
        let life = member.life();
        let opened = self.open_member(member, algorithm, key);
        let mut sessions = self.write();
        let Some(open) = sessions.find_mut(id) else { return };
        match opened {
            Ok(id) if member.life() == life => open.add(at, id),
            // The member has failed and been readmitted meanwhile. It is stored only to be closed.
            Ok(id) => open.opened.insert(0, (at, id)),
            Err(Error::DriverFailed) => {}
            Err(_) => open.refused = open.refused.with(at),
        }
    }
}
