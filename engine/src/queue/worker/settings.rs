//! Settings of a queue with a worker.

use core::time::Duration;

/// Settings of a queue with a worker.
#[derive(Clone, Debug)]
#[must_use]
pub struct Settings {
    pub(crate) depth: usize,
    pub(crate) in_order: bool,
    pub(crate) spin: Duration,
}

impl Settings {
    /// For up to `depth` messages in flight, at least one. Completions arrive as messages are
    /// served, and an idle worker spins for up to 20 µs before it sleeps.
    pub fn new(depth: usize) -> Self {
        Self { depth: depth.max(1), in_order: false, spin: Duration::from_micros(20) }
    }

    /// Completions of a class arrive in the order of submission.
    pub fn in_order(self) -> Self {
        Self { in_order: true, ..self }
    }

    /// The time for which an idle worker spins before it sleeps. After each unsuccessful spin it is
    /// shorter, down to a sixteenth. Waking a worker that sleeps takes 5 to 40 µs;
    /// [`Duration::MAX`] keeps it awake and a processor busy.
    pub fn spin(self, longest: Duration) -> Self {
        Self { spin: longest, ..self }
    }
}
