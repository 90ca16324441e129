//! The error of a batch.

use core::fmt;

/// At least one request of a batch failed. The [`outcome`](crate::Request::outcome) of each request
/// shows which ones failed, and why. All others were served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchError {
    /// The number of requests that failed.
    pub failed: usize,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.failed == 1 { "" } else { "s" };
        write!(f, "{} request{s} of the batch failed", self.failed)
    }
}

impl core::error::Error for BatchError {}
