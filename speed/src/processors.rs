//! The processors that the program may use, and pinning threads to them.

#[cfg_attr(not(target_os = "linux"), path = "processors/other_os.rs")]
mod affinity;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use rustix::time::{ClockId, clock_gettime};

pub(crate) use self::affinity::{Pinned, allowed};

/// More than any machine has.
const MOST: usize = 1024;

/// These processors and those that share a core with one of them: their work slows them down.
#[must_use]
pub(crate) fn with_siblings(processors: &[usize]) -> BTreeSet<usize> {
    let siblings = processors.iter().filter_map(|cpu| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        Some(listed(&fs::read_to_string(path).ok()?))
    });
    siblings.flatten().chain(processors.iter().copied()).collect()
}

/// The numbers of a list of the kernel's: `0-2,8`.
fn listed(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok().filter(|&last| last < MOST)?)
    });
    ranges.flatten().collect()
}

/// The processors for this many threads: each in turn, repeated as often as necessary.
#[must_use]
pub(crate) fn shared_out(processors: &[usize], threads: usize) -> Vec<usize> {
    processors.iter().copied().cycle().take(threads).collect()
}

/// How long the calling thread has waited for its processor, in nanoseconds.
///
/// A batch during which this grew was preempted. Without the kernel's statistics it never grows,
/// and only the median guards against preemption.
#[derive(Debug)]
pub(crate) struct WaitingTime(Option<File>);

impl WaitingTime {
    /// The waiting time of the calling thread; other threads must not use it.
    pub(crate) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    pub(crate) fn read(&self) -> u64 {
        let mut text = [0; 64];
        let Some(length) = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()) else {
            return 0;
        };
        // Three numbers: time on the processor, time waiting for it, time slices.
        core::str::from_utf8(&text[..length])
            .ok()
            .and_then(|text| text.split_ascii_whitespace().nth(1))
            .and_then(|waited| waited.parse().ok())
            .unwrap_or(0)
    }
}

/// Nanoseconds of processor time of the calling thread.
pub(crate) fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Measurements of tests take turns: those with two threads need both processors.
#[cfg(test)]
pub(crate) fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_shared_out_evenly() {
        assert_eq!(shared_out(&[3, 1], 4), [3, 1, 3, 1]);
        assert_eq!(shared_out(&[3, 1], 1), [3]);
        assert!(shared_out(&[], 2).is_empty());
    }

    #[test]
    fn lists_of_the_kernel() {
        assert_eq!(listed("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(listed("5"), [5]);
        assert!(listed("").is_empty() && listed("x,0-99999999999").is_empty());
        let all = with_siblings(&allowed());
        assert!(allowed().iter().all(|cpu| all.contains(cpu)));
    }

    #[test]
    fn time_on_a_processor_grows_with_work() {
        let before = processor_time();
        let work = (0..1_000_000_u64).fold(0, |sum, n| core::hint::black_box(sum ^ n));
        assert!(processor_time() > before, "{work}");
    }

    #[test]
    fn pinning_ends() {
        let before = allowed();
        {
            let _pinned = Pinned::to(before[0]);
            assert_eq!(allowed(), before[..1]);
        }
        assert_eq!(allowed(), before);
    }
}
