//! Waiting of a client for completions.

use core::time::Duration;
use std::sync::Arc;

use rustix::event::Timespec;
use rustix::thread::futex;

use super::Settings;
use crate::shared::processor::here;
use crate::shared::wakeup::{Wakeup, settle};
use crate::shared::{Mapping, Side};
use crate::spin::Spin;

/// Spins for completions, and sleeps until there are some.
#[derive(Debug)]
pub(super) struct Watch {
    memory: Arc<Mapping>,
    spin: Spin,
    /// The time that it sleeps before it checks whether the daemon is alive.
    max_sleep: Duration,
}

impl Watch {
    pub(super) fn new(memory: Arc<Mapping>, settings: &Settings) -> Self {
        Self { memory, spin: Spin::new(settings.spin), max_sleep: settings.max_sleep }
    }

    pub(super) fn max_sleep(&self) -> Duration {
        self.max_sleep
    }

    /// Spins for a while for completions behind the first `read`.
    pub(super) fn wait_for(&mut self, read: u32) -> bool {
        let Self { memory, spin, .. } = self;
        let is_ready = || memory.completed() != read;
        if is_ready() {
            return true;
        }
        let processor = here();
        // The daemon, if it is awake, yields as well.
        memory.runs_on(Side::Client, processor);
        let same = memory.processor(Side::Daemon) == Some(processor);
        spin.wait_for(same, is_ready)
    }

    /// Sleeps until the daemon wakes this side, or for a while; not if there are completions behind
    /// the first `read`, or if `is_called`. A thread that changes `is_called` must [ring].
    pub(super) fn sleep(&self, read: u32, is_called: impl FnOnce() -> bool) {
        let wakeup = self.memory.wakeup(Side::Client);
        wakeup.falls_asleep();
        settle();
        if self.memory.completed() == read && !is_called() {
            // A time that is too long for the system is unlimited.
            let max_sleep = Timespec::try_from(self.max_sleep).ok();
            // The result is ignored, because the caller checks afterwards. Without the flag for
            // private memory, because the other side has its own mapping.
            let flags = futex::Flags::empty();
            let _ = futex::wait(wakeup.word(), flags, Wakeup::ASLEEP, max_sleep.as_ref());
        }
        wakeup.wakes_up();
    }
}

/// Wakes the thread of this process that sleeps on this memory.
pub(super) fn ring(memory: &Mapping) {
    settle();
    let wakeup = memory.wakeup(Side::Client);
    if wakeup.is_due() {
        // It fails only for other arguments.
        let _ = futex::wake(wakeup.word(), futex::Flags::empty(), 1);
    }
}
