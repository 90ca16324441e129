//! When requests are done: the host, the bus and the engines in the course of time.
//!
//! The model leaves out: checks of signatures, transfers that overlap with computation within one
//! request, engines that differ by algorithm and work at the same time, and processes that wake one
//! by one.

use std::collections::VecDeque;

use super::demand::{Demand, Pool};

/// The state of a card and its host, in nanoseconds of one clock. Each resource serves requests in
/// the order of arrival; a request passes them one after the other: host, bus, engine, interrupt.
///
/// A half-duplex bus carries a request's data of both directions in one transfer: the sum is the
/// same, and so are the time of a single request and the throughput of a full card.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// When the host's processor is free.
    host: f64,
    /// When the bus is free.
    bus: f64,
    /// When each engine is free.
    engines: Vec<f64>,
    /// When each unit of RSA is free.
    rsa: Vec<f64>,
    /// The times at which the requests that the card holds leave; at most `queue_depth` of them.
    held: VecDeque<f64>,
    queue_depth: usize,
    /// When the last interrupt's handler begins and ends.
    handler: (f64, f64),
}

impl Schedule {
    /// An idle card with this many engines and units of RSA, which holds `queue_depth` requests.
    pub(super) fn new(engines: usize, rsa_units: usize, queue_depth: usize) -> Self {
        Self {
            host: 0.0,
            bus: 0.0,
            engines: vec![0.0; engines],
            rsa: vec![0.0; rsa_units],
            held: VecDeque::new(),
            queue_depth,
            handler: (0.0, 0.0),
        }
    }

    /// Takes a request at this time, and returns when its caller has it back.
    pub(super) fn take(&mut self, now: f64, demand: &Demand) -> f64 {
        self.host = self.host.max(now) + demand.host + demand.copies;
        let mut ready = self.host;
        if self.held.len() >= self.queue_depth
            && let Some(leaves) = self.held.pop_front()
        {
            ready = ready.max(leaves);
        }
        self.bus = self.bus.max(ready) + demand.transactions + demand.bus;
        let engines = match demand.pool {
            Pool::Cipher => &mut self.engines[..],
            Pool::Rsa { units } => {
                let units = units.min(self.rsa.len());
                &mut self.rsa[..units]
            }
        };
        let mut computed = self.bus;
        if let Some(first_free) = engines.iter_mut().min_by(|a, b| a.total_cmp(b)) {
            *first_free = first_free.max(self.bus) + demand.setup + demand.engine;
            computed = *first_free;
        }
        let left = computed + demand.latency + demand.way_back;
        self.held.push_back(left);
        self.interrupted(left, demand.interrupt) + demand.wake
    }

    /// When the handler has processed a request that leaves at `left`. One interrupt serves all
    /// requests that are done when its handler begins.
    fn interrupted(&mut self, left: f64, interrupt: f64) -> f64 {
        if interrupt == 0.0 {
            return left;
        }
        let (begins, ends) = self.handler;
        if left > begins {
            let begins = left.max(ends);
            self.handler = (begins, begins + interrupt);
        }
        self.handler.1
    }
}
