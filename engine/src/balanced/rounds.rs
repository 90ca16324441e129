//! Serves batches, again and again if drivers fail.

use std::panic::resume_unwind;

use lanecrypt_ciphers::{Algorithm, Error};
use zeroize::Zeroizing;

use super::copies::Copies;
use super::keys::Place;
use super::members::Mask;
use super::migration::Migration;
use super::plan::Plan;
use super::{Balanced, MOST};
use crate::SessionId;
use crate::session::entry::Entry;

/// The most messages that are served at once.
const AT_ONCE: usize = 256;
/// Small batches have small lists.
const FEW: usize = 16;

impl Balanced {
    /// Serves each message of a batch that has no outcome.
    pub(super) fn serve<'a, E: Entry<'a>>(&self, batch: &mut [E]) {
        for part in batch.chunks_mut(AT_ONCE) {
            match part.len() {
                ..=FEW => self.serve_part::<E, FEW>(part),
                _ => self.serve_part::<E, AT_ONCE>(part),
            }
        }
    }

    fn serve_part<'a, E: Entry<'a>, const N: usize>(&self, batch: &mut [E]) {
        let mut copies = self.migration.as_ref().map(Copies::<'_, N>::new);
        // A member that fails does not come in again before the batch is served, and each plan has
        // runs unless a member was readmitted meanwhile. So this ends.
        let mut out = Mask::default();
        loop {
            if let Some(migration) = &self.migration {
                self.seat_all(migration, batch, out);
            }
            let plan = self.plan::<E, N>(batch, out);
            self.refuse_lost(&plan, batch);
            if plan.runs.is_empty() && !plan.more {
                return;
            }
            if let Some(copies) = &mut copies {
                self.copy(&plan, batch, copies);
            }
            let Some(ended) = self.run(&plan, batch) else { continue };
            match &copies {
                None => {
                    if let Some(panic) = ended.panic {
                        resume_unwind(panic);
                    }
                    settle_unanswered(&plan, batch);
                }
                Some(copies) => {
                    let failed = ended.panicked.or(take_back(&plan, batch, copies));
                    failed.iter().filter_map(|at| self.members.get(at)).for_each(|m| m.fail());
                    out = out.or(failed);
                }
            }
            if out.is_empty() && !plan.more {
                return;
            }
        }
    }

    /// Copies what drivers may destroy. The software does not fail.
    fn copy<'a, E: Entry<'a>, const N: usize>(
        &self,
        plan: &Plan<N>,
        batch: &mut [E],
        copies: &mut Copies<'_, N>,
    ) {
        for (at, entry) in batch.iter_mut().enumerate() {
            let member = plan.member_of(at).and_then(|member| self.members.get(member));
            if member.is_some_and(|member| member.driver.is_some()) {
                copies.keep(at, entry);
            }
        }
    }

    /// Settles the messages that nobody can serve. They are as they came.
    fn refuse_lost<'a, E: Entry<'a>, const N: usize>(&self, plan: &Plan<N>, batch: &mut [E]) {
        let each = batch.iter_mut().enumerate();
        for (_, entry) in each.filter(|(at, _)| plan.is_lost(*at)) {
            entry.parts().2.state.outcome = Some(Err(Error::DriverFailed));
        }
    }

    /// Opens the sessions of messages on members that should serve them and do not have them yet:
    /// because another member has failed, or because they have been readmitted.
    fn seat_all<'a, E: Entry<'a>>(&self, migration: &Migration, batch: &[E], out: Mask) {
        let mut rest = batch;
        loop {
            let live = self.live().without(out);
            let table = self.read();
            let wanted = rest.iter().enumerate().find_map(|(at, entry)| {
                let open = table.find(entry.session().id())?;
                let waits = entry.state().outcome.is_none();
                (waits && !open.wants(live).is_empty()).then_some((at, open, open.wants(live)))
            });
            let Some((at, open, on)) = wanted else { return };
            let (id, algorithm) = (rest[at].session().id(), open.algorithm);
            let mut key = Zeroizing::new([0; Place::LONGEST]);
            let length = open.key.as_ref().map_or(0, |place| migration.read(place, &mut key));
            drop(table);
            rest = &rest[at..];
            for member in on.iter() {
                self.seat_on(member, id, algorithm, key.get(..length).unwrap_or_default());
            }
        }
    }

    /// Opens a session that exists on one more member.
    fn seat_on(&self, at: usize, id: SessionId, algorithm: Algorithm, key: &[u8]) {
        let Some(member) = self.members.get(at) else { return };
        let life = member.life();
        let opened = self.open_member(member, algorithm, key);
        let mut table = self.write();
        let Some(open) = table.find_mut(id) else { return };
        match opened {
            Ok(id) if member.life() == life => open.seat(at, id),
            // The member has failed and come back meanwhile. It is only kept to be closed.
            Ok(id) => open.opened.insert(0, (at, id)),
            Err(Error::DriverFailed) => {}
            Err(_) => open.refused = open.refused.with(at),
        }
    }

    /// The lives of all members.
    pub(super) fn lives(&self) -> [u32; MOST] {
        let mut lives = [0; MOST];
        lives.iter_mut().zip(&self.members).for_each(|(life, member)| *life = member.life());
        lives
    }
}

/// A message without an outcome counts as refused.
fn settle_unanswered<'a, E: Entry<'a>, const N: usize>(plan: &Plan<N>, batch: &mut [E]) {
    for (at, entry) in batch.iter_mut().enumerate() {
        if plan.run_of(at).is_some() {
            entry.parts().2.state.outcome.get_or_insert(Err(Error::Unsupported));
        }
    }
}

/// Takes messages back from drivers that have not answered them, as they were. Returns the members
/// that have failed.
fn take_back<'a, E: Entry<'a>, const N: usize>(
    plan: &Plan<N>,
    batch: &mut [E],
    copies: &Copies<'_, N>,
) -> Mask {
    let mut failed = Mask::default();
    for (at, entry) in batch.iter_mut().enumerate() {
        let Some(member) = plan.member_of(at) else { continue };
        if matches!(entry.state().outcome, None | Some(Err(Error::DriverFailed))) {
            copies.restore(at, entry);
            failed = failed.with(member);
        }
    }
    failed
}
