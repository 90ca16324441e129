//! How a client waits for completions.

use core::time::Duration;
use std::sync::Arc;

use rustix::event::Timespec;
use rustix::thread::futex;

use super::Settings;
use crate::shared::bell::{Bell, settle};
use crate::shared::processor::here;
use crate::shared::{Mapping, Side};
use crate::spin::Spin;

/// Looks for completions, and sleeps until there are some.
#[derive(Debug)]
pub(super) struct Watch {
    memory: Arc<Mapping>,
    spin: Spin,
    /// For how long it sleeps before somebody looks whether the daemon lives.
    nap: Duration,
}

impl Watch {
    pub(super) fn new(memory: Arc<Mapping>, settings: &Settings) -> Self {
        Self { memory, spin: Spin::new(settings.spin), nap: settings.nap }
    }

    pub(super) fn longest_nap(&self) -> Duration {
        self.nap
    }

    /// Looks for a while whether there are completions behind the first `read`.
    pub(super) fn finds(&mut self, read: u32) -> bool {
        let Self { memory, spin, .. } = self;
        let is_ready = || memory.completed() != read;
        if is_ready() {
            return true;
        }
        let processor = here();
        // The daemon, if it is awake, gives way as well.
        memory.runs_on(Side::Client, processor);
        let same = memory.processor(Side::Daemon) == Some(processor);
        spin.finds(same, is_ready)
    }

    /// Sleeps until the daemon wakes this side, or for a while; not at all if there are completions
    /// behind the first `read`, or if it `is_called`. Whoever calls it must [ring] then.
    pub(super) fn nap(&self, read: u32, is_called: impl FnOnce() -> bool) {
        let bell = self.memory.bell(Side::Client);
        bell.falls_asleep();
        settle();
        if self.memory.completed() == read && !is_called() {
            // One that is too long for the system has no end.
            let nap = Timespec::try_from(self.nap).ok();
            // Whatever it says, one looks afterwards. Without the flag for private memory, because
            // the other side has a mapping of its own.
            let flags = futex::Flags::empty();
            let _ = futex::wait(bell.word(), flags, Bell::ASLEEP, nap.as_ref());
        }
        bell.wakes_up();
    }
}

/// Wakes whoever naps at this memory, in this process.
pub(super) fn ring(memory: &Mapping) {
    settle();
    let bell = memory.bell(Side::Client);
    if bell.is_to_ring() {
        // It can only fail for other arguments.
        let _ = futex::wake(bell.word(), futex::Flags::empty(), 1);
    }
}
