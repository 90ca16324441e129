//! Runs of a core that must not be exposed to signals.
//!
//! For a handler the kernel saves all registers on the thread's stack or on an alternate one, and
//! they remain there after it returns: round keys, key words, keystream. An alternate stack cannot
//! be wiped. So a run is *watched*. The frame of a handler that interrupts it may contain its keys.
//! Then these keys and all their output are discarded, and the run is repeated under a key that is
//! not in the frame, with signals *blocked*.
//!
//! Watching costs three plain instructions, and blocking costs two system calls. The kernel does
//! the watching: it clears a restartable sequence ([`Area`]) that a thread has registered when the
//! thread is interrupted outside of it. A preemption looks the same and also costs a run. If the C
//! library registers no area for that, signals are blocked at once.

use core::ptr::null;
use core::sync::atomic::{Ordering, compiler_fence};

use crate::linux::rseq_area::Area;

/// The most bytes that are generated with signals blocked at a time: 15 microseconds of the fastest
/// core, a millisecond of the slowest.
pub(crate) const PIECE: usize = 1 << 18;

/// The way in which a core runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Signals may arrive, which is detected afterwards.
    Watched(Area),
    /// No signal arrives.
    Blocked,
}

impl Manner {
    /// The cheapest way that this thread has.
    #[inline]
    pub(crate) fn cheapest() -> Self {
        Area::here().map_or(Self::Blocked, Self::Watched)
    }

    /// Runs `work`. Returns false if a signal handler's frame may contain its registers.
    ///
    /// `work` leaves no residue in registers, makes no system call, and does not call this
    /// function.
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

/// Room for the kernel's set of signals: 64 of them, or 128 on MIPS.
type Signals = [u64; 2];
const SIGNALS_SIZE: usize =
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 16 } else { 8 };

/// Blocks all signals of this thread, including those that the C library reserves, until this is
/// dropped.
pub(crate) struct Blocked {
    /// The signals that were blocked before; `None` if the kernel refused.
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

/// Sets which signals are blocked. Returns false if a filter of system calls forbids it.
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
