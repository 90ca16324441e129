//! On which processor the daemon runs.

use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// On which processor the daemon runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Where the system puts it, but not for long on the processor of a client that keeps it busy:
    /// it steps aside to one without such a client, and comes back if it is not served sooner
    /// there.
    #[default]
    Auto,
    /// On the processor of the client that came last.
    Same,
    /// On any other than that of the client that came last.
    Other,
    /// On this one.
    Processor(u32),
}

impl Placement {
    /// Moves the calling thread, because a client has come that runs on this processor. `allowed` are
    /// those that the thread may use. What is not possible is left as it is.
    pub(super) fn welcome(self, processor: u32, allowed: &CpuSet) {
        let processor = processor as usize;
        let mut set = CpuSet::new();
        match self {
            Self::Same if is_set(allowed, processor) => set.set(processor),
            Self::Other => {
                set = *allowed;
                if is_set(&set, processor) {
                    set.unset(processor);
                }
            }
            Self::Same | Self::Auto | Self::Processor(_) => return,
        }
        if set.count() > 0 {
            let _ = sched_setaffinity(None, &set);
        }
    }

    /// Moves the calling thread when it begins, and returns the processors that it may use.
    ///
    /// # Errors
    ///
    /// There is no such processor.
    pub(super) fn begin(self) -> std::io::Result<CpuSet> {
        let allowed = sched_getaffinity(None)?;
        if let Self::Processor(processor) = self {
            if !is_set(&allowed, processor as usize) {
                return Err(std::io::ErrorKind::NotFound.into());
            }
            let mut set = CpuSet::new();
            set.set(processor as usize);
            sched_setaffinity(None, &set)?;
        }
        Ok(allowed)
    }
}

/// Whether a daemon had better be on another processor than its clients.
///
/// Two that take turns on a processor pay for a switch each time, ten times as much as for a cache
/// line that goes to another processor. But to be woken there takes several times as long as here.
/// So the daemon stays while it sleeps often, and steps aside from a client that never lets it
/// sleep.
///
/// Others may need the other processors. So it is a trial: if as many requests take as long as
/// before, the daemon comes back, and stays for a hundred times as long as that took.
#[derive(Debug)]
pub(super) struct Sharing {
    /// How many requests were waited for together, and apart.
    together: u32,
    apart: u32,
    /// How many together are needed for a trial.
    needed: u32,
    /// When the last of them began that are compared with the trial.
    begun: Option<Instant>,
    trial: Option<Trial>,
    /// There is no trial before.
    rests: Option<Instant>,
}

/// So many requests are to be waited for until then.
#[derive(Debug)]
struct Trial {
    left: u32,
    begun: Instant,
    until: Instant,
}

/// Where the daemon is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Stay,
    Aside,
    Back,
}

impl Sharing {
    const FEWEST: u32 = 64;
    const MOST: u32 = 1 << 20;
    /// How many waits on one processor cost as much more than apart as one wake-up costs less.
    const SLEEP: u32 = 8;
    /// For how many times as long as a trial in vain has taken there is no other.
    const REST: u32 = 100;

    pub(super) fn new() -> Self {
        let needed = Self::FEWEST;
        Self { together: 0, apart: 0, needed, begun: None, trial: None, rests: None }
    }

    /// Counts a wait that has ended with a request.
    #[inline]
    pub(super) fn found(&mut self, together: bool, now: impl FnOnce() -> Instant) -> Move {
        if self.trial.is_some() {
            return self.tried(1, now());
        }
        if !together {
            self.apart += 1;
            if self.apart >= self.needed {
                (self.together, self.apart) = (0, 0);
                self.needed = (self.needed / 2).max(Self::FEWEST);
            }
            return Move::Stay;
        }
        self.together += 1;
        match self.needed.saturating_sub(self.together) {
            0 => self.try_aside(now()),
            Self::FEWEST.. => Move::Stay,
            _ => {
                self.begun.get_or_insert_with(now);
                Move::Stay
            }
        }
    }

    fn try_aside(&mut self, now: Instant) -> Move {
        (self.together, self.apart) = (0, 0);
        let Some(before) = self.begun.take() else { return Move::Stay };
        if self.rests.is_some_and(|until| now < until) {
            return Move::Stay;
        }
        // If the system moves it back, it is not tried again soon.
        self.needed = (self.needed * 2).min(Self::MOST);
        let until = now + now.saturating_duration_since(before);
        self.trial = Some(Trial { left: Self::FEWEST, begun: now, until });
        Move::Aside
    }

    fn tried(&mut self, waits: u32, now: Instant) -> Move {
        let Some(trial) = &mut self.trial else { return Move::Stay };
        trial.left = trial.left.saturating_sub(waits);
        let (is_over, is_late) = (trial.left == 0, now > trial.until);
        if is_late {
            self.rests = Some(now + now.saturating_duration_since(trial.begun) * Self::REST);
        }
        if is_over || is_late {
            self.trial = None;
        }
        if is_late { Move::Back } else { Move::Stay }
    }

    /// Counts a wait that ends with sleeping.
    pub(super) fn sleeps(&mut self, now: impl FnOnce() -> Instant) -> Move {
        self.together = self.together.saturating_sub(Self::SLEEP);
        // What is compared has no sleeps.
        self.begun = None;
        if self.trial.is_some() { self.tried(0, now()) } else { Move::Stay }
    }
}

/// Moves the calling thread to one of the allowed processors that is in use, or is not, and leaves
/// it to the system from there on. If there is none, it stays.
pub(super) fn step(allowed: &CpuSet, used: impl IntoIterator<Item = u32>, aside: bool) {
    let (mut others, mut these) = (*allowed, CpuSet::new());
    for processor in used {
        if is_set(allowed, processor as usize) {
            others.unset(processor as usize);
            these.set(processor as usize);
        }
    }
    let to = if aside { others } else { these };
    // The first moves it; the second does not.
    if to.count() > 0 && sched_setaffinity(None, &to).is_ok() {
        let _ = sched_setaffinity(None, allowed);
    }
}

fn is_set(set: &CpuSet, processor: usize) -> bool {
    processor < CpuSet::MAX_CPU && set.is_set(processor)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    /// How many waits together it takes until a trial, each of a microsecond.
    fn until_trial(sharing: &mut Sharing, clock: &mut Instant) -> Option<u32> {
        (1..=2 * Sharing::MOST).find(|_| {
            *clock += Duration::from_micros(1);
            sharing.found(true, || *clock) == Move::Aside
        })
    }

    #[test]
    fn who_is_never_let_sleep_steps_aside() {
        let (mut sharing, mut clock) = (Sharing::new(), Instant::now());
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FEWEST));
        // The trial ends well, and it stays there for long until the system moves it.
        for _ in 0..1000 {
            clock += Duration::from_nanos(100);
            assert_eq!(sharing.found(false, || clock), Move::Stay);
        }
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FEWEST));
    }

    #[test]
    fn trials_in_vain_are_rare() {
        let (mut sharing, mut clock) = (Sharing::new(), Instant::now());
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FEWEST));
        for round in 0..20 {
            let begun = clock;
            // Some come soon, and one late: others need the processor.
            for _ in 0..round {
                assert_eq!(sharing.found(false, || clock), Move::Stay);
            }
            clock += Duration::from_millis(3);
            let late = match round % 2 {
                0 => sharing.found(false, || clock),
                _ => sharing.sleeps(|| clock),
            };
            assert_eq!(late, Move::Back);
            until_trial(&mut sharing, &mut clock).expect("it is tried again");
            assert!(clock - begun >= Duration::from_millis(300));
        }
    }

    #[test]
    fn who_is_put_back_waits_for_longer() {
        let (mut sharing, mut clock) = (Sharing::new(), Instant::now());
        let mut needed = Sharing::FEWEST;
        for _ in 0..20 {
            assert_eq!(until_trial(&mut sharing, &mut clock), Some(needed));
            for _ in 0..Sharing::FEWEST {
                assert_eq!(sharing.found(false, || clock), Move::Stay);
            }
            needed = (needed * 2).min(Sharing::MOST);
        }
    }

    #[test]
    fn who_sleeps_often_stays() {
        let (mut sharing, clock) = (Sharing::new(), Instant::now());
        for _ in 0..10_000 {
            for _ in 0..Sharing::SLEEP {
                assert_eq!(sharing.found(true, || clock), Move::Stay);
            }
            assert_eq!(sharing.sleeps(|| clock), Move::Stay);
        }
    }

    #[test]
    fn a_step_keeps_all_processors_allowed() {
        let allowed = sched_getaffinity(None).expect("it is known");
        let all = (0..CpuSet::MAX_CPU).filter(|&at| allowed.is_set(at));
        let all: Vec<u32> = all.map(|at| u32::try_from(at).expect("it is small")).collect();
        let here = || u32::try_from(rustix::thread::sched_getcpu()).expect("it is small");
        // Nowhere to go, and a number that no processor has.
        step(&allowed, all.iter().copied().chain([u32::MAX]), true);
        step(&allowed, [u32::MAX], false);
        assert_eq!(sched_getaffinity(None).expect("it is known"), allowed);
        let &last = all.last().expect("there is one");
        let others = all.iter().copied().filter(|&at| at != last);
        for (used, aside) in [(others.collect(), true), (vec![last], false)] {
            // The system may move it at once.
            assert!((0..1000).any(|_| {
                step(&allowed, used.iter().copied(), aside);
                here() == last
            }));
            assert_eq!(sched_getaffinity(None).expect("it is known"), allowed);
        }
    }
}
