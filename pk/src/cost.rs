//! How many requests of an operation cost less in lanes than one after another.
//!
//! Lanes cost the same whether they are full or not, or nearly. How many requests by themselves
//! cost as much differs between processors, so it is measured: once in a process for each
//! operation, after the answer has mattered some times. Until then it is what was measured
//! elsewhere.

mod sample;

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::time::Duration;
use std::sync::OnceLock;
use std::time::Instant;

use crate::options::Options;
use crate::process::single;
use crate::{Backend, Operation};

/// How often the answer has to matter before it is measured, which takes about a millisecond.
const UNMEASURED: u32 = 16;

/// Each is timed so many times, and the fastest counts.
const SAMPLES: usize = 3;

/// What is known of the fewest requests that cost less in lanes.
struct Fewest {
    measured: OnceLock<usize>,
    /// How often it has mattered before it was measured.
    asked: AtomicU32,
}

/// Numbers of lanes.
const LANES: [usize; 3] = [1, 4, 8];

/// By the number of lanes, by whether AWS-LC serves single requests, and by operation.
static FEWEST: [[[Fewest; Operation::ALL.len()]; 2]; LANES.len()] = {
    const UNKNOWN: Fewest = Fewest { measured: OnceLock::new(), asked: AtomicU32::new(0) };
    [const { [const { [const { UNKNOWN }; Operation::ALL.len()] }; 2] }; LANES.len()]
};

/// Whether so many requests cost less in lanes, of which there are so many.
pub(crate) fn pays(operation: Operation, count: usize, lanes: usize, options: &Options) -> bool {
    let uses_aws_lc = match options.backend {
        Backend::Lanes => return true,
        Backend::Own => false,
        Backend::Measured => cfg!(feature = "aws-lc"),
        #[cfg(feature = "aws-lc")]
        Backend::AwsLc => return false,
    };
    let usual = usual(operation, lanes, uses_aws_lc);
    let Some(level) = LANES.iter().position(|&number| number == lanes) else { return false };
    let known = &FEWEST[level][usize::from(uses_aws_lc)][operation as usize];
    let fewest = match known.measured.get() {
        Some(fewest) => *fewest,
        // Only counts; what is measured is published by the lock.
        None if known.asked.fetch_add(1, Relaxed) < UNMEASURED => usual,
        None => *known.measured.get_or_init(|| measure(operation, lanes, options)),
    };
    count >= fewest
}

/// What was measured on a processor with AVX-512.
const fn usual(operation: Operation, lanes: usize, uses_aws_lc: bool) -> usize {
    let _ = (operation, uses_aws_lc);
    lanes / 2 + 1
}

fn measure(operation: Operation, lanes: usize, options: &Options) -> usize {
    let options = options.with_signature_checks(false);
    let in_lanes = |count| {
        fastest(operation, count, |requests| {
            let _ = options.with_backend(Backend::Lanes).process(requests);
        })
    };
    let alone = fastest(operation, 1, |requests| {
        for request in requests {
            request.outcome = Some(single(request, &options));
        }
    });
    let (one, all) = (in_lanes(1), in_lanes(lanes));
    // Between one and all, the time grows evenly.
    let steps = lanes.saturating_sub(1).max(1) as u128;
    let cost = |count: usize| {
        let more = all.saturating_sub(one).as_nanos() * (count as u128 - 1) / steps;
        one.as_nanos() + more
    };
    let pays = |&count: &usize| cost(count) <= alone.as_nanos() * count as u128;
    (1..=lanes).find(pays).unwrap_or(lanes + 1)
}

/// The time of so many requests.
fn fastest(
    operation: Operation,
    count: usize,
    serve: impl Fn(&mut [crate::Request<'_>]),
) -> Duration {
    let time = || {
        sample::with(operation, count, |requests| {
            let start = Instant::now();
            serve(requests);
            start.elapsed()
        })
    };
    core::iter::repeat_with(time).take(SAMPLES).min().unwrap_or(Duration::MAX)
}
