//! Statistics of a daemon.

use core::time::Duration;

use serde::{Deserialize, Serialize};

/// The number of classes by powers of two.
const CLASSES: usize = 40;

/// Statistics of a daemon since its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Statistics {
    /// The number of connected clients.
    pub clients: u32,
    /// The number of their open sessions.
    pub sessions: u32,
    /// The number of named keys.
    pub named_keys: u32,
    /// The memory that clients take, in bytes, about: shared memory and sessions.
    pub memory: u64,
    /// The most memory that they may take, in bytes.
    pub memory_limit: u64,
    /// The number of requests served, except those of asymmetric keys.
    pub requests: u64,
    /// The number of signatures made and checked, and of key exchanges.
    pub signatures: u64,
    /// The number of batches of signatures and key exchanges.
    pub signature_batches: u64,
    /// The number of requests of either kind that were refused or not authentic.
    pub failed: u64,
    /// The number of batches of requests.
    pub batches: u64,
    /// The number of sleeps.
    pub sleeps: u64,
    /// The numbers of batches with 1, 2 to 3, 4 to 7, ... requests.
    pub batch_sizes: Vec<u64>,
    /// The numbers of requests that took less than 1, 2, 4, ... ns, from when the daemon found them
    /// until their batch was completed, in timed batches.
    pub(crate) latencies: Vec<u64>,
}

impl Statistics {
    pub(crate) fn new() -> Self {
        Self {
            clients: 0,
            sessions: 0,
            named_keys: 0,
            memory: 0,
            memory_limit: 0,
            requests: 0,
            signatures: 0,
            signature_batches: 0,
            failed: 0,
            batches: 0,
            sleeps: 0,
            batch_sizes: vec![0; 16],
            latencies: vec![0; CLASSES],
        }
    }

    /// Counts a batch of at least one request. `took` is its time, if it was timed.
    #[inline]
    pub(crate) fn count(&mut self, requests: usize, failed: usize, took: Option<Duration>) {
        self.failed += failed as u64;
        self.requests += requests as u64;
        self.batches += 1;
        if let Some(class) = self.batch_sizes.get_mut(requests.max(1).ilog2() as usize) {
            *class += 1;
        }
        let Some(took) = took else { return };
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let class = (u64::BITS - nanoseconds.leading_zeros()) as usize;
        if let Some(class) = self.latencies.get_mut(class.min(CLASSES - 1)) {
            *class += requests as u64;
        }
    }

    /// The mean number of requests in a batch, which share lanes.
    #[must_use]
    pub fn lane_utilization(&self) -> f64 {
        self.requests as f64 / self.batches.max(1) as f64
    }

    /// The time within which this part of requests was completed, from when the daemon found them:
    /// an upper bound within a factor of two. `part` is between 0 and 1. Timed are all batches that
    /// ended a sleep, and one in eight of the others.
    #[must_use]
    pub fn latency(&self, part: f64) -> Option<Duration> {
        let all: u64 = self.latencies.iter().sum();
        if all == 0 {
            return None;
        }
        let mut left = part.clamp(0.0, 1.0) * all as f64;
        for (class, &count) in self.latencies.iter().enumerate() {
            left -= count as f64;
            if left <= 0.0 && count > 0 {
                return Some(Duration::from_nanos(1 << class));
            }
        }
        Some(Duration::from_nanos(1 << (CLASSES - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_upper_bounds() {
        let mut statistics = Statistics::new();
        assert_eq!(statistics.latency(0.5), None);
        for _ in 0..99 {
            statistics.count(1, 0, Some(Duration::from_nanos(700)));
        }
        statistics.count(1, 1, Some(Duration::from_micros(70)));
        assert_eq!(statistics.latency(0.5), Some(Duration::from_nanos(1024)));
        assert_eq!(statistics.latency(0.99), Some(Duration::from_nanos(1024)));
        assert_eq!(statistics.latency(0.999), Some(Duration::from_nanos(131_072)));
        statistics.count(300, 0, Some(Duration::MAX));
        statistics.count(1, 0, None);
        assert_eq!((statistics.requests, statistics.batches), (401, 102));
        assert_eq!((statistics.batch_sizes[0], statistics.batch_sizes[8]), (101, 1));
        assert!(statistics.latency(1.0) > Some(Duration::from_secs(400)));
        assert!((statistics.lane_utilization() - 401.0 / 102.0).abs() < 1e-9);
    }
}
