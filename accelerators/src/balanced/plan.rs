//! The assignment of a batch's messages to members.

use arrayvec::ArrayVec;
use lanecrypt_engine::Operation;

use super::cost_model::Cost;
use super::drivers::Drivers;
use super::group::Group;
use super::mask::{MOST, Mask};
use super::session_map::Open;
use super::slot::{Place, Slot};
use super::split::{Candidate, split};

/// The most groups of a plan, and its most runs. Messages that do not fit wait for another plan.
const GROUPS: usize = 16;
const RUNS: usize = 64;
/// The most messages for measuring a driver that may not be the fastest: as many as benefit from
/// lanes.
const PROBE: usize = 64;

/// Messages of a group that one member serves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) member: usize,
    pub(super) group: usize,
    pub(super) messages: usize,
    /// Whether the calling thread continues meanwhile.
    pub(super) is_asynchronous: bool,
    /// Whether its time is measured.
    pub(super) timed: bool,
    /// The nanoseconds that it should take.
    pub(super) estimate: u64,
}

/// A plan for a batch.
pub(super) struct Plan {
    pub(super) groups: ArrayVec<Group, GROUPS>,
    /// Asynchronous ones are first.
    pub(super) runs: ArrayVec<Run, RUNS>,
    /// The version of the sessions for which it was made.
    pub(super) version: u64,
}

impl Plan {
    /// The run of a message, with its number.
    pub(super) fn run_of(&self, slot: &Slot<'_, '_>) -> Option<(usize, &Run)> {
        match slot.place {
            Place::At(at) => Some((at, self.runs.get(at)?)),
            Place::Later | Place::Lost => None,
        }
    }

    /// Adds a message to its group, unless there are too many groups.
    fn group(&mut self, open: &Open, operation: Operation, by: Mask, bytes: usize) -> Place {
        let &Open { algorithm, row, .. } = open;
        let same = |it: &Group| (it.row, it.operation, it.by) == (row, operation, by);
        let at = self.groups.iter().position(same).unwrap_or(self.groups.len());
        if at == self.groups.len() {
            let new = Group { algorithm, row, operation, by, messages: 0, bytes: 0 };
            if self.groups.try_push(new).is_err() {
                return Place::Later;
            }
        }
        let group = &mut self.groups[at];
        group.messages += 1;
        group.bytes = group.bytes.saturating_add(bytes);
        Place::At(at)
    }

    /// Assigns each message of a group to one of the group's runs.
    fn assign(&self, slots: &mut [Slot<'_, '_>]) {
        let mut left: ArrayVec<usize, RUNS> = self.runs.iter().map(|run| run.messages).collect();
        for slot in slots {
            let Place::At(group) = slot.place else { continue };
            let mut each = self.runs.iter().zip(&mut left).enumerate();
            let found = each.find(|(_, (run, left))| run.group == group && **left > 0);
            slot.place = match found {
                Some((at, (_, left))) => {
                    *left -= 1;
                    Place::At(at)
                }
                None => Place::Later,
            };
        }
    }
}

impl Drivers {
    /// A plan for messages, without the members in `out`.
    pub(super) fn plan(&self, slots: &mut [Slot<'_, '_>], out: Mask) -> Plan {
        let live = self.live().without(out);
        let sessions = self.read();
        let version = sessions.version;
        let mut plan = Plan { groups: ArrayVec::new(), runs: ArrayVec::new(), version };
        for slot in &mut *slots {
            let open = sessions.find(slot.job.session_id());
            slot.place = match open.map(|open| (open, open.served_by(live))) {
                Some((open, by)) if !by.is_empty() => {
                    plan.group(open, slot.job.operation(), by, slot.job.bytes())
                }
                // A member has been readmitted since the sessions were opened.
                Some((open, _)) if self.migrates() && !open.lacks(live).is_empty() => Place::Later,
                _ => Place::Lost,
            };
        }
        drop(sessions);
        let mut load = [0.0; MOST];
        for at in 0..plan.groups.len() {
            if plan.runs.remaining_capacity() < MOST {
                break;
            }
            self.split(at, plan.groups[at], &mut plan.runs, &mut load);
        }
        plan.runs.sort_by_key(|run| !run.is_asynchronous);
        plan.assign(slots);
        plan
    }

    /// Splits a group into runs. `load` is the members' load by other groups.
    fn split(
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
            is_asynchronous: false,
            timed: false,
            estimate: 0,
        };
        let choices: ArrayVec<usize, MOST> = group.by.iter().collect();
        if let &[one] = &*choices {
            // There is no choice, and nothing to measure.
            runs.push(run(one));
            return;
        }
        let costs: ArrayVec<(usize, Cost), MOST> = choices
            .iter()
            .filter_map(|&at| Some((at, self.costs.of(at, self.members.get(at)?, &group))))
            .collect();

        // Members that were not measured receive some of them.
        let mut left = group.messages;
        let from = runs.len();
        for &(member, cost) in &costs {
            if matches!(cost, Cost::Unknown) && left > 0 {
                let messages = left.min(PROBE);
                left -= messages;
                runs.push(Run { messages, timed: true, ..run(member) });
            }
        }
        // All others share the rest in proportion to their costs.
        let known: ArrayVec<_, MOST> = costs
            .iter()
            .filter_map(|&(member, cost)| {
                let said = matches!(cost, Cost::Said(_));
                Some((member, said, self.candidate(member, cost, load)?))
            })
            .collect();
        let candidates: ArrayVec<Candidate, MOST> = known.iter().map(|known| known.2).collect();
        let mut shares = split(left, &candidates);
        if known.is_empty() {
            if let Some(first) = runs.get_mut(from) {
                first.messages += left;
            }
            return;
        }
        self.probe(&group, &known, &mut shares);
        for (&messages, &(member, said, Candidate { is_asynchronous, line, .. })) in
            shares.iter().zip(&known)
        {
            if messages > 0 {
                let time = line.time(messages);
                load[member] += time;
                let estimate = nanoseconds(time);
                let timed = !said;
                runs.push(Run { messages, is_asynchronous, timed, estimate, ..run(member) });
            }
        }
    }

    /// A member whose cost is known.
    fn candidate(&self, at: usize, cost: Cost, load: &[f64; MOST]) -> Option<Candidate> {
        let line = cost.line()?;
        let member = self.members.get(at)?;
        // A measured time is that of a waiting caller.
        let is_asynchronous = member.is_asynchronous && matches!(cost, Cost::Said(_));
        let on_thread = self.members.iter().zip(load).filter(|(it, _)| !it.is_asynchronous);
        let start = match is_asynchronous {
            true => member.busy() + load[at],
            false => on_thread.map(|(_, load)| load).sum(),
        };
        Some(Candidate { is_asynchronous, start, line })
    }

    /// Assigns some messages to a member whose last measurement is old.
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
            if said || shares[at] > 0 || !self.costs.is_overdue(member, group, time, probe) {
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
