//! On which processor the daemon runs.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// On which processor the daemon runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Where the system puts it, but not for long on the processor of a client that keeps it busy:
    /// it steps aside to another one, if there is one without such a client.
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

/// How often a daemon has shared its processor with clients that keep it busy, so that it would
/// rather be beside them.
///
/// Two that take turns on a processor pay for a switch each time, ten times as much as for a cache line
/// that goes to another processor. But to be woken there takes several times as long as here. So the
/// daemon stays while it sleeps often, and steps aside from a client that never lets it sleep.
///
/// It is the system that decides in the end: it may have put the daemon here because others need the
/// other processors. Each time that it does so again, the daemon waits for twice as long.
#[derive(Debug)]
pub(super) struct Sharing {
    /// How many requests in a row were waited for together, and apart.
    together: u32,
    apart: u32,
    /// How many are needed to step aside.
    needed: u32,
}

impl Sharing {
    const FEWEST: u32 = 64;
    const MOST: u32 = 1 << 20;
    /// How many waits on one processor cost as much more than apart as one wake-up costs less.
    const SLEEP: u32 = 8;

    pub(super) fn new() -> Self {
        Self { together: 0, apart: 0, needed: Self::FEWEST }
    }

    /// Counts a wait that has ended with a request. Whether it is time to step aside.
    #[inline]
    pub(super) fn found(&mut self, together: bool) -> bool {
        if !together {
            self.apart += 1;
            if self.apart >= self.needed {
                (self.together, self.apart) = (0, 0);
                self.needed = (self.needed / 2).max(Self::FEWEST);
            }
            return false;
        }
        self.together += 1;
        if self.together < self.needed {
            return false;
        }
        (self.together, self.apart) = (0, 0);
        self.needed = (self.needed * 2).min(Self::MOST);
        true
    }

    /// Counts a sleep.
    pub(super) fn slept(&mut self) {
        self.together = self.together.saturating_sub(Self::SLEEP);
    }
}

/// Moves the calling thread to one of the allowed processors that is not in use, and leaves it to the
/// system from there on. If there is none, it stays.
pub(super) fn step_aside(allowed: &CpuSet, used: impl IntoIterator<Item = u32>) {
    let mut others = *allowed;
    for processor in used {
        if is_set(&others, processor as usize) {
            others.unset(processor as usize);
        }
    }
    // The first moves it; the second does not.
    if others.count() > 0 && sched_setaffinity(None, &others).is_ok() {
        let _ = sched_setaffinity(None, allowed);
    }
}

fn is_set(set: &CpuSet, processor: usize) -> bool {
    processor < CpuSet::MAX_CPU && set.is_set(processor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_shares_for_long_steps_aside() {
        let mut sharing = Sharing::new();
        let mut waits = |sharing: &mut Sharing| (1..).find(|_| sharing.found(true));
        assert_eq!(waits(&mut sharing), Some(Sharing::FEWEST));
        // It was put back: it waits for longer, up to a bound.
        assert_eq!(waits(&mut sharing), Some(2 * Sharing::FEWEST));
        for _ in 0..40 {
            waits(&mut sharing);
        }
        assert_eq!(waits(&mut sharing), Some(Sharing::MOST));
        // It stayed there for long.
        for _ in 0..2 * Sharing::MOST {
            assert!(!sharing.found(false));
        }
        assert_eq!(waits(&mut sharing), Some(Sharing::FEWEST));
    }

    #[test]
    fn who_sleeps_often_stays() {
        let mut sharing = Sharing::new();
        for _ in 0..10_000 {
            assert!((0..Sharing::SLEEP).all(|_| !sharing.found(true)));
            sharing.slept();
        }
    }

    #[test]
    fn stepping_aside_keeps_all_processors_allowed() {
        let allowed = sched_getaffinity(None).expect("it is known");
        let all = (0..CpuSet::MAX_CPU).filter(|&at| allowed.is_set(at));
        let all: Vec<u32> = all.map(|at| u32::try_from(at).expect("it is small")).collect();
        let here = || u32::try_from(rustix::thread::sched_getcpu()).expect("it is small");
        // Nowhere to go, and numbers that no processor has.
        step_aside(&allowed, all.iter().copied().chain([u32::MAX]));
        assert_eq!(sched_getaffinity(None).expect("it is known"), allowed);
        if let [_, last] = [all.first(), all.last()]
            && all.len() > 1
        {
            let last = *last.expect("there are two");
            let others = all.iter().copied().filter(|&at| at != last);
            // The system may move it at once.
            assert!((0..1000).any(|_| {
                step_aside(&allowed, others.clone());
                here() == last
            }));
            assert_eq!(sched_getaffinity(None).expect("it is known"), allowed);
        }
    }
}
