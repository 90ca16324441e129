//! Has the drivers serve what a plan gives them.

use core::any::Any;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::time::Instant;

use super::Balanced;
use super::group::Group;
use super::members::{Mask, Member};
use super::plan::{Plan, Run};
use crate::drivers::serve_class;
use crate::session::entry::Entry;
use crate::session::job::Job;
use crate::{Driver, Jobs, scheduler};

/// How the drivers have ended.
#[derive(Default)]
pub(super) struct Ended {
    /// The members that have panicked.
    pub(super) panicked: Mask,
    /// The first of their panics.
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl Balanced {
    /// Has all runs of a plan served. It does not panic. `None` if a member has been readmitted
    /// since the plan was made; then nothing was served.
    pub(super) fn run<'a, E: Entry<'a>, const N: usize>(
        &self,
        plan: &Plan<N>,
        batch: &mut [E],
    ) -> Option<Ended> {
        let mut places = [0; N];
        let mut first = 0;
        for (place, run) in places.iter_mut().zip(&plan.runs) {
            *place = first;
            first += run.messages;
        }
        let mut picked = [const { None }; N];
        let table = self.read();
        if table.version != plan.version {
            return None;
        }
        let members = || plan.runs.iter().filter_map(|run| self.members.get(run.member));
        if self.migrates() {
            members().for_each(Member::enter);
        }
        for (at, entry) in batch.iter_mut().enumerate() {
            let Some(run) = plan.run_of(at) else { continue };
            let Some(member) = plan.member_of(at) else { continue };
            let id = table.find(entry.session().id()).map(|open| open.id(member));
            picked[places[run]] = Some(Job::with_id(entry, id.unwrap_or_default()));
            places[run] += 1;
        }
        drop(table);
        let mut ended = Ended::default();
        self.call(&plan.groups, &plan.runs, &mut picked[..first], &mut ended);
        if self.migrates() {
            members().for_each(Member::leave);
        }
        Some(ended)
    }

    /// Serves runs, whose jobs come one after another.
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
        match &member.driver {
            None => self.by_software(run, group, own),
            Some(driver) if run.beside => {
                let mut panics = Ended::default();
                let mut meanwhile = || {
                    if let Some(rest) = rest.take() {
                        self.call(groups, others, rest, &mut panics);
                    }
                };
                let jobs = Jobs::picked(own);
                let served = catch_unwind(AssertUnwindSafe(|| {
                    driver.process_beside(jobs, &mut meanwhile);
                }));
                ended.note(run.member, served);
                ended.join(panics);
            }
            Some(driver) => self.by_driver(run, group, driver.as_ref(), own, ended),
        }
        Member::end(member, run.estimate);
        // A driver may have failed to call what is to be done meanwhile.
        if let Some(rest) = rest.take() {
            self.call(groups, others, rest, ended);
        }
    }

    fn by_driver<'j>(
        &self,
        run: &Run,
        group: &Group,
        driver: &dyn Driver,
        own: &'j mut [Option<Job<'j, '_>>],
        ended: &mut Ended,
    ) {
        let begun = run.timed.then(Instant::now);
        let jobs = Jobs::picked(own);
        let served = catch_unwind(AssertUnwindSafe(|| driver.process(jobs)));
        if let (Some(begun), Ok(())) = (begun, &served) {
            self.times.note(run.member, group, run.messages, begun.elapsed());
        }
        ended.note(run.member, served);
    }

    fn by_software(&self, run: &Run, group: &Group, own: &mut [Option<Job<'_, '_>>]) {
        let begun = run.timed.then(Instant::now);
        let members = own.iter().flatten();
        let lengths = scheduler::side_by_side(&self.lanes, group.class, own.len(), members);
        serve_class(group.class, lengths, own.iter_mut().flatten());
        if let Some(begun) = begun {
            self.times.note(run.member, group, run.messages, begun.elapsed());
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
