//! How a queue with a worker runs.

use core::time::Duration;

/// How a queue with a worker runs.
#[derive(Clone, Debug)]
#[must_use]
pub struct Settings {
    pub(crate) depth: usize,
    pub(crate) in_order: bool,
    pub(crate) spin: Duration,
}

impl Settings {
    /// For up to `depth` messages in flight, at least one. Completions come as messages are served,
    /// and a worker that has nothing to do looks for messages for up to 20 µs before it sleeps.
    pub fn new(depth: usize) -> Self {
        Self { depth: depth.max(1), in_order: false, spin: Duration::from_micros(20) }
    }

    /// Completions of a class come in the order of submission.
    pub fn in_order(self) -> Self {
        Self { in_order: true, ..self }
    }

    /// For how long a worker looks for messages before it sleeps. If it looks in vain, the next
    /// time is shorter, down to a sixteenth. Waking a worker that sleeps takes 5 to 40 µs;
    /// [`Duration::MAX`] keeps it awake, and a processor busy.
    pub fn spin(self, longest: Duration) -> Self {
        Self { spin: longest, ..self }
    }
}
