//! The processor's counter of cycles, by `perf_event_open(2)`: of the calling thread, outside of
//! the kernel.
//!
//! It stands still while the thread waits or is in the kernel, so it cannot be the clock. It finds
//! how long the chain takes, from which the clock has the core's rate.

use core::hint::black_box;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{FromRawFd as _, RawFd};

use super::{as_f64, chain};

/// `struct perf_event_attr` in its first version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

/// `PERF_TYPE_HARDWARE`, `PERF_COUNT_HW_CPU_CYCLES`.
const CYCLES: (u32, u64) = (0, 0);
/// The bits `pinned`, so that the event is never one that is counted in turns; `exclude_kernel` and
/// `exclude_hv`.
const FLAGS: u64 = 1 << 2 | 1 << 5 | 1 << 6;

struct Counter(File);

impl Counter {
    /// Counts for the calling thread; `None` if the kernel refuses, as in most containers.
    #[expect(unsafe_code, reason = "no crate here has this system call")]
    fn open((kind, config): (u32, u64)) -> Option<Self> {
        const SIZE: u32 = 64;
        const { assert!(size_of::<Attributes>() == SIZE as usize) };
        let attributes = Attributes { kind, size: SIZE, config, flags: FLAGS, ..<_>::default() };
        // `PERF_FLAG_FD_CLOEXEC`; this thread, any processor, no group.
        let (thread, any, none, flags) = (0, -1, -1, 8_usize);
        // SAFETY: the kernel reads as many bytes of the structure as its field `size` says.
        let file = unsafe {
            let call = libc::SYS_perf_event_open;
            libc::syscall(call, &raw const attributes, thread, any, none, flags)
        };
        let file = RawFd::try_from(file).ok().filter(|&file| file >= 0)?;
        // SAFETY: the descriptor is new and has no other owner.
        Some(Self(unsafe { File::from_raw_fd(file) }))
    }

    /// The count. An event that got no counter gives no bytes.
    fn read(&mut self) -> Option<u64> {
        let mut count = [0; 8];
        self.0.read_exact(&mut count).ok()?;
        Some(u64::from_ne_bytes(count))
    }
}

/// Core cycles of a link of the chain, as the processor counts them.
pub(super) fn link() -> Option<f64> {
    link_by(CYCLES)
}

fn link_by(event: (u32, u64)) -> Option<f64> {
    const LINKS: u32 = 8_000;
    let mut counter = Counter::open(event)?;
    let mut count = || {
        let before = counter.read()?;
        black_box(chain(black_box(LINKS)));
        counter.read()?.checked_sub(before)
    };
    let mut counts = (0..21).map(|_| count()).collect::<Option<Vec<u64>>>()?;
    counts.sort_unstable();
    let cycles = as_f64(counts[10]) / f64::from(LINKS);
    // Virtual machines may have a counter that stands still, and so does that of one kind of cores
    // on another.
    (8.0..64.0).contains(&cycles).then_some(cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PERF_TYPE_SOFTWARE`, `PERF_COUNT_SW_TASK_CLOCK`: nanoseconds, which most kernels count even
    /// where they have no counter of cycles.
    const TIME: (u32, u64) = (1, 1);
    /// `PERF_COUNT_SW_DUMMY`, which stands still.
    const NOTHING: (u32, u64) = (1, 9);

    #[test]
    fn an_event_counts() {
        let Some(mut counter) = Counter::open(TIME) else {
            let error = std::io::Error::last_os_error();
            assert_ne!(error.raw_os_error(), Some(libc::EINVAL));
            return println!("SKIPPED perf-event: sysctl kernel.perf_event_paranoid=2 ({error})");
        };
        let before = counter.read().expect("it counts");
        black_box(chain(black_box(1_000_000)));
        assert!(counter.read().expect("it counts") > before);
        assert_eq!(link_by(NOTHING), None);
        println!("cycles of a link: {:?}", link());
    }
}
