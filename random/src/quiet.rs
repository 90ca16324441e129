//! Runs of a core that no signal may look into.
//!
//! For a handler the kernel saves all registers on the thread's stack or on an alternate one, and
//! they stay there when it returns: round keys, key words, keystream. Wiping cannot reach an
//! alternate stack. So a run is *watched*: a handler that interrupts it may see the keys that it
//! used. These keys and all that was made with them are then thrown away, and the run is made
//! again, under a key that is not in the frame and with signals *blocked*.
//!
//! Watching costs three plain instructions, blocking two system calls. What watches is the kernel:
//! it forgets a restartable sequence ([`crate::rseq`]) that a thread has named when the thread is
//! interrupted outside of it. A preemption looks the same and costs a run, too. Where the C library
//! registers no area for that, signals are blocked at once.

use core::ptr::null;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::rseq;

/// The most bytes that are made with signals blocked at a time: 15 microseconds of the fastest
/// core, a millisecond of the slowest.
pub(crate) const PIECE: usize = 1 << 18;

/// How a core runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Signals may come; afterwards it is known whether one did.
    Watched(rseq::Area),
    /// No signal comes.
    Blocked,
}

impl Manner {
    /// The cheapest that there is in this thread.
    #[inline]
    pub(crate) fn cheapest() -> Self {
        rseq::Area::here().map_or(Self::Blocked, Self::Watched)
    }

    /// Runs `work`; false if what it had in registers may have been saved for a signal handler.
    ///
    /// `work` leaves nothing in registers. It makes no system call and does not come here again.
    #[inline(always)]
    pub(crate) fn run(self, work: impl FnOnce()) -> bool {
        match self {
            Self::Watched(area) => {
                let sequence = area.watch();
                compiler_fence(Ordering::SeqCst);
                work();
                compiler_fence(Ordering::SeqCst);
                area.was_undisturbed(sequence)
            }
            Self::Blocked => {
                let _blocked = Blocked::new();
                work();
                true
            }
        }
    }
}

/// Room for the kernel's set of signals: 64 of them, on MIPS 128.
type Signals = [u64; 2];
const SIGNALS_SIZE: usize =
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 16 } else { 8 };

/// All signals of this thread are blocked, with those that the C library keeps for itself, until
/// this is dropped.
pub(crate) struct Blocked {
    /// Those that were blocked before; `None` if the kernel refused.
    before: Option<Signals>,
}

impl Blocked {
    pub(crate) fn new() -> Self {
        let mut before = [0; 2];
        let blocked = set_mask(&[!0; 2], &raw mut before);
        Self { before: blocked.then_some(before) }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            set_mask(before, null::<Signals>().cast_mut());
        }
    }
}

/// Sets which signals are blocked; false if a filter of system calls forbids it.
fn set_mask(signals: &Signals, before: *mut Signals) -> bool {
    // SAFETY: both sets have room for what the kernel reads and writes, or the second is null.
    let result = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            signals.as_ptr(),
            before,
            SIGNALS_SIZE,
        )
    };
    result == 0
}
