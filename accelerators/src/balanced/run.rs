//! Calls the drivers to serve the runs of a plan.

use core::any::Any;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::time::Instant;

use lanecrypt_engine::{Job, Jobs};

use super::drivers::Drivers;
use super::group::Group;
use super::mask::Mask;
use super::members::{Member, Server};
use super::plan::{Plan, Run};
use super::slot::Slot;

/// The results of the drivers.
#[derive(Default)]
pub(super) struct Ended {
    /// The members that have panicked.
    pub(super) panicked: Mask,
    /// The first of their panics.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl Drivers {
    /// Serves all runs of a plan, of at most `N` messages. It does not panic. `None` if a member
    /// has been readmitted since the plan was made; then nothing was served.
    pub(super) fn run<const N: usize>(
        &self,
        plan: &Plan,
        slots: &mut [Slot<'_, '_>],
    ) -> Option<Ended> {
        let mut places = [0; N];
        let mut first = 0;
        for (place, run) in places.iter_mut().zip(&plan.runs) {
            *place = first;
            first += run.messages;
        }
        let mut lent = [const { None }; N];
        let sessions = self.read();
        if sessions.version != plan.version {
            return None;
        }
        let members = || plan.runs.iter().filter_map(|run| self.members.get(run.member));
        if self.migrates() {
            members().for_each(Member::enter);
        }
        for slot in slots {
            let Some((at, run)) = plan.run_of(slot) else { continue };
            let open = sessions.find(slot.job.session_id());
            let id = open.map(|open| open.id(run.member)).unwrap_or_default();
            lent[places[at]] = Some(slot.job.lend(id));
            places[at] += 1;
        }
        drop(sessions);
        let mut ended = Ended::default();
        self.call(&plan.groups, &plan.runs, &mut lent[..first], &mut ended);
        if self.migrates() {
            members().for_each(Member::leave);
        }
        Some(ended)
    }

    /// Serves runs, whose jobs are consecutive.
    fn call<'j>(
        &self,
        groups: &[Group],
        runs: &[Run],
        jobs: &'j mut [Option<Job<'j, '_>>],
        ended: &mut Ended,
    ) {
        let Some((run, others)) = runs.split_first() else { return };
        let (own, rest) = jobs.split_at_mut(run.messages.min(jobs.len()));
        let (Some(member), Some(group)) = (self.members.get(run.member), groups.get(run.group))
        else {
            return;
        };
        member.begin(run.messages, run.estimate);
        let mut rest = Some(rest);
        match &member.server {
            Server::Driver(driver) if run.is_asynchronous => {
                let mut panics = Ended::default();
                let mut meanwhile = || {
                    if let Some(rest) = rest.take() {
                        self.call(groups, others, rest, &mut panics);
                    }
                };
                let jobs = Jobs::from(own);
                let served = catch_unwind(AssertUnwindSafe(|| {
                    driver.process_async(jobs, &mut meanwhile);
                }));
                ended.note(run.member, served);
                ended.join(panics);
            }
            server => {
                let begun = run.timed.then(Instant::now);
                let jobs = Jobs::from(own);
                let served = catch_unwind(AssertUnwindSafe(|| match server {
                    Server::Driver(driver) => driver.process(jobs),
                    Server::Software(lanes) => jobs.serve_by_software(lanes),
                }));
                if let (Some(begun), Ok(())) = (begun, &served) {
                    self.costs.note(run.member, group, run.messages, begun.elapsed());
                }
                ended.note(run.member, served);
            }
        }
        member.end(run.estimate);
        // A driver may have failed to call `meanwhile`.
        if let Some(rest) = rest.take() {
            self.call(groups, others, rest, ended);
        }
    }
}

impl Ended {
    fn note(&mut self, member: usize, served: Result<(), Box<dyn Any + Send>>) {
        if let Err(panic) = served {
            self.panicked = self.panicked.with(member);
            self.panic.get_or_insert(panic);
        }
    }

    fn join(&mut self, other: Self) {
        self.panicked = self.panicked.or(other.panicked);
        self.panic = self.panic.take().or(other.panic);
    }
}
