//! The processor that the daemon runs on.
//!
//! With [`Placement::Auto`] the system decides, with one exception. After 16 requests from clients
//! on the daemon's own processor, without sleeps between them, context switches have cost more than
//! a wake-up on another processor. The daemon then moves to a processor without a busy client, for
//! a trial of 64 requests. If these take longer than before, it moves back, and there is no other
//! trial for a hundred times as long. Otherwise it stays there, and needs fewer requests for the
//! next trial, 4 at least. A daemon that sleeps often does not move, because a wake-up on another
//! processor takes several times as long.

use core::time::Duration;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processor on which the daemon runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Chosen by the system, but not for long that of a client that keeps the daemon busy: it moves
    /// to one without such a client, and returns if requests do not arrive sooner there.
    #[default]
    Auto,
    /// On the processor of the client that connected last.
    Same,
    /// On any other than that of the client that connected last.
    Other,
    /// On this one.
    Processor(u32),
}

impl Placement {
    /// Moves the calling thread, after a client connected that runs on this processor. `allowed`
    /// are those that the thread may use. If that is impossible, it does not move.
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

    /// Moves the calling thread when it starts, and returns the processors that it may use.
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

/// Whether a daemon is better off on another processor than its clients.
///
/// Two threads that alternate on a processor pay for a context switch each time, ten times as much
/// as for the transfer of a cache line to another processor. But a wake-up there takes several
/// times as long as here. So the daemon stays while it sleeps often, and moves away from a client
/// when the switches without a sleep have cost as much as a wake-up there.
///
/// Other threads may need the other processors. So it is a trial: if requests take as long as
/// before, the daemon returns, and stays for a hundred times as long as the trial took.
#[derive(Debug)]
pub(super) struct Sharing {
    /// The numbers of waits for requests on the client's processor, and on another.
    together: u32,
    apart: u32,
    /// The number of waits together after which a trial starts.
    needed: u32,
    /// The start of the waits together that are compared with the trial, and their number before.
    begun: Option<(Instant, u32)>,
    trial: Option<Trial>,
    /// The earliest time of the next trial.
    rests: Option<Instant>,
}

/// A trial of this many waits, until this time.
#[derive(Debug)]
struct Trial {
    left: u32,
    begun: Instant,
    until: Instant,
}

/// A move of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Stay,
    Aside,
    Back,
}

impl Sharing {
    /// The number of waits together that are needed at first: they cost slightly more than one
    /// wake-up on another processor.
    const FIRST: u32 = 16;
    /// The number after successful trials, and after unsuccessful ones.
    const FEWEST: u32 = 4;
    const MOST: u32 = 1 << 20;
    /// The number of waits that one sleep cancels.
    const SLEEP: u32 = 8;
    /// The number of waits in a trial. A move takes as long as some of them.
    const TRIAL: u32 = 64;
    /// The pause after an unsuccessful trial, as a multiple of its duration.
    const REST: u32 = 100;

    pub(super) fn new() -> Self {
        let needed = Self::FIRST;
        Self { together: 0, apart: 0, needed, begun: None, trial: None, rests: None }
    }

    /// Counts a wait that has ended with a request.
    #[inline]
    pub(super) fn found(&mut self, together: bool, now: impl FnOnce() -> Instant) -> Move {
        if self.trial.is_some() {
            return self.tried(now());
        }
        if !together {
            self.apart += 1;
            if self.apart >= self.needed {
                (self.together, self.apart, self.begun) = (0, 0, None);
                self.needed = (self.needed / 2).max(Self::FEWEST);
            }
            return Move::Stay;
        }
        self.together = self.together.saturating_add(1);
        let left = self.needed.saturating_sub(self.together);
        if left >= Self::TRIAL {
            return Move::Stay;
        }
        match (self.begun, now()) {
            (None, now) => self.begun = Some((now, self.together)),
            (Some((begun, before)), now) if left == 0 => {
                let took = now.saturating_duration_since(begun);
                let waits = self.together.saturating_sub(before).max(1);
                return self.try_aside(took / waits, now);
            }
            _ => {}
        }
        Move::Stay
    }

    /// `each`: the duration of a wait together.
    fn try_aside(&mut self, each: Duration, now: Instant) -> Move {
        (self.together, self.apart, self.begun) = (0, 0, None);
        if self.rests.is_some_and(|until| now < until) {
            return Move::Stay;
        }
        // If the system moves it back, the next trial is delayed.
        self.needed = (self.needed * 2).min(Self::MOST);
        let until = now + each.saturating_mul(Self::TRIAL);
        self.trial = Some(Trial { left: Self::TRIAL, begun: now, until });
        Move::Aside
    }

    /// Counts a wait of the trial.
    fn tried(&mut self, now: Instant) -> Move {
        let Some(trial) = &mut self.trial else { return Move::Stay };
        trial.left -= 1;
        let is_over = trial.left == 0;
        if now > trial.until {
            return self.was_in_vain(now);
        }
        if is_over {
            self.trial = None;
        }
        Move::Stay
    }

    fn was_in_vain(&mut self, now: Instant) -> Move {
        let took = self.trial.take().map(|trial| now.saturating_duration_since(trial.begun));
        self.rests = took.map(|took| now + took.saturating_mul(Self::REST));
        Move::Back
    }

    /// Counts a wait that ends with sleeping.
    pub(super) fn sleeps(&mut self, now: impl FnOnce() -> Instant) -> Move {
        self.together = self.together.saturating_sub(Self::SLEEP);
        // The compared waits have no sleeps.
        self.begun = None;
        match &self.trial {
            Some(trial) => {
                let now = now();
                if now > trial.until {
                    return self.was_in_vain(now);
                }
                // The client is idle, so the trial has no result.
                self.trial = None;
                Move::Stay
            }
            None => Move::Stay,
        }
    }
}

/// Moves the calling thread to one of the allowed processors that is in use, or is not, from where
/// the system may move it again. If there is none, it stays.
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
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FIRST));
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
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FIRST));
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
        let mut needed = Sharing::FIRST;
        for _ in 0..20 {
            assert_eq!(until_trial(&mut sharing, &mut clock), Some(needed));
            for _ in 0..Sharing::TRIAL {
                assert_eq!(sharing.found(false, || clock), Move::Stay);
            }
            needed = (needed * 2).min(Sharing::MOST);
        }
    }

    /// Waits together that were forgotten meanwhile have no part in what one takes.
    #[test]
    fn waits_apart_begin_the_count_anew() {
        let (mut sharing, mut clock) = (Sharing::new(), Instant::now());
        for _ in 1..Sharing::FIRST {
            clock += Duration::from_secs(1);
            assert_eq!(sharing.found(true, || clock), Move::Stay);
        }
        for _ in 0..Sharing::FIRST {
            assert_eq!(sharing.found(false, || clock), Move::Stay);
        }
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FIRST / 2));
        let until = sharing.trial.as_ref().expect("it has begun").until;
        assert_eq!(until - clock, Duration::from_micros(u64::from(Sharing::TRIAL)));
    }

    /// It may have been away for long when it comes back.
    #[test]
    fn a_pause_in_a_trial_says_nothing() {
        let (mut sharing, mut clock) = (Sharing::new(), Instant::now());
        assert_eq!(until_trial(&mut sharing, &mut clock), Some(Sharing::FIRST));
        assert_eq!(sharing.found(false, || clock), Move::Stay);
        assert_eq!(sharing.sleeps(|| clock), Move::Stay);
        clock += Duration::from_secs(100);
        assert_eq!(sharing.found(false, || clock), Move::Stay);
        let waits = until_trial(&mut sharing, &mut clock).expect("it is tried again");
        assert!(waits <= 4 * Sharing::FIRST, "{waits}");
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
        let here = || crate::shared::processor::here();
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
