//! Who serves which messages of a batch.

use arrayvec::ArrayVec;
use lanecrypt_ciphers::Algorithm;

use super::divide::{Candidate, divide};
use super::group::Group;
use super::members::Mask;
use super::times::Cost;
use super::{Balanced, MOST};
use crate::class::Class;
use crate::session::entry::Entry;

/// The most groups of a plan, and its most runs. What does not fit waits for another plan.
const GROUPS: usize = 16;
const RUNS: usize = 64;
/// The most messages with which a driver is measured that may not be the fastest: as many as gain
/// from company.
const PROBE: usize = 64;

/// Messages of a group that one member serves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) member: usize,
    pub(super) group: usize,
    pub(super) messages: usize,
    /// Whether the calling thread goes on meanwhile.
    pub(super) beside: bool,
    /// Whether its time is measured.
    pub(super) timed: bool,
    /// The nanoseconds that it should take.
    pub(super) estimate: u64,
}

/// A plan for at most `N` messages.
pub(super) struct Plan<const N: usize> {
    pub(super) groups: ArrayVec<Group, GROUPS>,
    /// Those beside the calling thread come first.
    pub(super) runs: ArrayVec<Run, RUNS>,
    /// For each message its run, or one of the following.
    run_of: [u8; N],
    /// Whether messages wait for another plan.
    pub(super) more: bool,
    /// Of the table of sessions by which it was made.
    pub(super) version: u64,
}

/// The message is not in this plan.
const NONE: u8 = u8::MAX;
/// Nobody can serve the message.
const LOST: u8 = u8::MAX - 1;

impl<const N: usize> Plan<N> {
    /// The run of a message.
    pub(super) fn run_of(&self, index: usize) -> Option<usize> {
        let run = *self.run_of.get(index)?;
        (run < LOST).then_some(usize::from(run))
    }

    /// The member that serves a message.
    pub(super) fn member_of(&self, index: usize) -> Option<usize> {
        self.runs.get(self.run_of(index)?).map(|run| run.member)
    }

    /// Whether nobody can serve a message.
    pub(super) fn is_lost(&self, index: usize) -> bool {
        self.run_of.get(index) == Some(&LOST)
    }

    /// Adds a message to its group; none if there are too many groups.
    fn group(&mut self, class: Class, algorithm: Algorithm, by: Mask, bytes: usize) -> Option<u8> {
        let same = |group: &Group| group.class == class && group.by == by;
        let at = match self.groups.iter().position(same) {
            Some(at) => at,
            None => {
                let new = Group { class, algorithm, by, messages: 0, bytes: 0 };
                self.groups.try_push(new).ok()?;
                self.groups.len() - 1
            }
        };
        let group = self.groups.get_mut(at)?;
        group.messages += 1;
        group.bytes = group.bytes.saturating_add(bytes);
        u8::try_from(at).ok()
    }

    /// Gives each message of a group to one of the group's runs.
    fn assign(&mut self) {
        let mut left: ArrayVec<usize, RUNS> = self.runs.iter().map(|run| run.messages).collect();
        for place in &mut self.run_of {
            if *place >= LOST {
                continue;
            }
            let group = usize::from(*place);
            let mut each = self.runs.iter().zip(&mut left).zip(0..LOST);
            let found = each.find(|((run, left), _)| run.group == group && **left > 0);
            *place = match found {
                Some(((_, left), at)) => {
                    *left -= 1;
                    at
                }
                None => NONE,
            };
        }
    }
}

impl Balanced {
    /// A plan for the messages that have no outcome, without the members in `out`.
    pub(super) fn plan<'a, E: Entry<'a>, const N: usize>(&self, batch: &[E], out: Mask) -> Plan<N> {
        let live = self.live().without(out);
        let table = self.read();
        let mut plan = Plan {
            groups: ArrayVec::new(),
            runs: ArrayVec::new(),
            run_of: [NONE; N],
            more: false,
            version: table.version,
        };
        for (at, entry) in batch.iter().enumerate().take(N) {
            if entry.state().outcome.is_some() {
                continue;
            }
            let open = table.find(entry.session().id());
            let served = open.map(|open| (open, open.served_by(live)));
            plan.run_of[at] = match served {
                Some((open, by)) if !by.is_empty() => {
                    let class = open.class.with(entry.state().class.operation());
                    let work = entry.work();
                    let bytes = work.bytes().saturating_add(work.aad.len());
                    plan.group(class, open.algorithm, by, bytes).unwrap_or_else(|| {
                        plan.more = true;
                        NONE
                    })
                }
                // A member has been readmitted since the sessions were opened.
                Some((open, _)) if self.migrates() && !open.wants(live).is_empty() => {
                    plan.more = true;
                    NONE
                }
                _ => LOST,
            };
        }
        drop(table);
        let mut load = [0.0; MOST];
        for at in 0..plan.groups.len() {
            if plan.runs.remaining_capacity() < MOST {
                plan.more = true;
                break;
            }
            self.divide(at, plan.groups[at], &mut plan.runs, &mut load);
        }
        plan.runs.sort_by_key(|run| !run.beside);
        plan.assign();
        plan
    }

    /// Divides a group into runs. `load` is what the members have of other groups already.
    fn divide(
        &self,
        at: usize,
        group: Group,
        runs: &mut ArrayVec<Run, RUNS>,
        load: &mut [f64; MOST],
    ) {
        let run = |member| Run {
            member,
            group: at,
            messages: group.messages,
            beside: false,
            timed: false,
            estimate: 0,
        };
        let choices: ArrayVec<usize, MOST> = group.by.iter().collect();
        if let &[one] = &*choices {
            // Nothing to decide, and nothing to measure.
            runs.push(run(one));
            return;
        }
        let costs: ArrayVec<(usize, Cost), MOST> =
            choices.iter().map(|&member| (member, self.cost(member, &group))).collect();

        // Who has not been measured gets some of them.
        let mut left = group.messages;
        let from = runs.len();
        for &(member, cost) in &costs {
            if matches!(cost, Cost::Unknown) && left > 0 {
                let messages = left.min(PROBE);
                left -= messages;
                runs.push(Run { messages, timed: true, ..run(member) });
            }
        }
        // All others take what is left in proportion to their costs.
        let known: ArrayVec<_, MOST> = costs
            .iter()
            .filter_map(|&(member, cost)| {
                let said = matches!(cost, Cost::Said(_));
                Some((member, said, self.candidate(member, cost, load)?))
            })
            .collect();
        let candidates: ArrayVec<Candidate, MOST> = known.iter().map(|known| known.2).collect();
        let mut shares = divide(left, &candidates);
        if known.is_empty() {
            if let Some(first) = runs.get_mut(from) {
                first.messages += left;
            }
            return;
        }
        self.probe(&group, &known, &mut shares);
        for (&messages, &(member, said, Candidate { beside, line, .. })) in
            shares.iter().zip(&known)
        {
            if messages > 0 {
                let time = line.time(messages);
                load[member] += time;
                let estimate = nanoseconds(time);
                runs.push(Run { messages, beside, timed: !said, estimate, ..run(member) });
            }
        }
    }

    /// A member whose cost is known.
    fn candidate(&self, at: usize, cost: Cost, load: &[f64; MOST]) -> Option<Candidate> {
        let line = cost.line()?;
        let member = self.members.get(at)?;
        // A time that is measured is that of a caller who waits.
        let beside = member.beside && matches!(cost, Cost::Said(_));
        let on_thread = self.members.iter().zip(load).filter(|(member, _)| !member.beside);
        let start = match beside {
            true => member.busy() + load[at],
            false => on_thread.map(|(_, load)| load).sum(),
        };
        Some(Candidate { beside, start, line })
    }

    /// Gives some messages to a member that has not been measured for long.
    fn probe(
        &self,
        group: &Group,
        known: &[(usize, bool, Candidate)],
        shares: &mut ArrayVec<usize, MOST>,
    ) {
        let time = |(share, known): (&usize, &(usize, bool, Candidate))| match share {
            0 => 0.0,
            &share => known.2.line.time(share),
        };
        let time = shares.iter().zip(known).map(time).fold(0.0, f64::max);
        for (at, &(member, said, Candidate { line, .. })) in known.iter().enumerate() {
            let probe = line.time(group.messages.min(PROBE));
            if said || shares[at] > 0 || !self.times.is_overdue(member, group, time, probe) {
                continue;
            }
            if let Some(largest) = shares.iter_mut().max() {
                let messages = PROBE.min(*largest);
                *largest -= messages;
                shares[at] = messages;
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn nanoseconds(time: f64) -> u64 {
    // Sums of estimates must not overflow.
    (time as u64).min(1 << 40)
}
