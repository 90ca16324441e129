//! On which processor the daemon runs.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// On which processor the daemon runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Where the system puts it.
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

fn is_set(set: &CpuSet, processor: usize) -> bool {
    processor < CpuSet::MAX_CPU && set.is_set(processor)
}
