//! How many requests of an operation cost less in lanes than one after another.
//!
//! Lanes cost the same whether they are full or not, or nearly. How many requests by themselves
//! cost as much differs between processors, so it is measured: once in a process for each
//! operation, after the answer has mattered some times. Until then it is what was measured
//! elsewhere.

mod sample;

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use crate::options::Options;
use crate::{Backend, BatchError, Operation, Request};

/// How often the answer has to matter before it is measured, which takes about a millisecond.
const UNMEASURED: u32 = 16;

/// What is known of the fewest requests that cost less in lanes.
struct Fewest {
    measured: OnceLock<usize>,
    /// How often it has mattered before it was measured.
    asked: AtomicU32,
}

impl Fewest {
    const fn unknown() -> Self {
        Self { measured: OnceLock::new(), asked: AtomicU32::new(0) }
    }
}

/// Numbers of lanes.
const LANES: [usize; 3] = [1, 4, 8];

/// By the number of lanes, by whether AWS-LC serves single requests, and by operation.
static FEWEST: [[[Fewest; Operation::ALL.len()]; 2]; LANES.len()] =
    [const { [const { [const { Fewest::unknown() }; Operation::ALL.len()] }; 2] }; LANES.len()];

/// How requests are served.
pub(crate) struct Ways {
    /// Many at once.
    pub(crate) batch: fn(&mut [Request<'_>], &Options) -> Result<(), BatchError>,
    /// One by itself.
    pub(crate) single: fn(&mut Request<'_>, &Options),
}

/// Whether so many requests cost less in lanes, of which there are so many.
pub(crate) fn pays(
    operation: Operation,
    count: usize,
    lanes: usize,
    options: &Options,
    ways: &Ways,
) -> bool {
    let uses_aws_lc = match options.backend {
        Backend::Lanes => return true,
        Backend::Own => false,
        Backend::Measured => cfg!(feature = "aws-lc"),
        // AWS-LC has no keys of seeds.
        #[cfg(feature = "aws-lc")]
        Backend::AwsLc if operation == Operation::MlKem768Generate => false,
        #[cfg(feature = "aws-lc")]
        Backend::AwsLc => return false,
    };
    let usual = usual(operation, lanes, uses_aws_lc);
    let Some(level) = LANES.iter().position(|&number| number == lanes) else { return false };
    let known = &FEWEST[level][usize::from(uses_aws_lc)][operation as usize];
    let fewest = match known.measured.get() {
        Some(fewest) => *fewest,
        // There is no clock.
        None if cfg!(all(target_family = "wasm", target_os = "unknown")) => usual,
        // Only counts; what is measured is published by the lock.
        None if known.asked.fetch_add(1, Relaxed) < UNMEASURED => usual,
        None => *known.measured.get_or_init(|| measure(operation, lanes, options, ways)),
    };
    count >= fewest
}

/// What was measured with eight lanes on an Intel Xeon (2023), with four on an AMD EPYC (2024).
const fn usual(operation: Operation, lanes: usize, uses_aws_lc: bool) -> usize {
    // With four lanes and with eight, each without AWS-LC and with it.
    let [four, eight] = match operation {
        Operation::X25519PublicKey => [[2, 3], [1, 2]],
        Operation::X25519SharedSecret => [[2, 3], [1, 2]],
        Operation::Ed25519Sign => [[2, 3], [2, 2]],
        Operation::Ed25519Verify => [[3, 3], [2, 2]],
        Operation::P256PublicKey => [[2, 4], [1, 2]],
        Operation::P256SharedSecret | Operation::P256Verify => [[2, 4], [1, 2]],
        Operation::P256Sign => [[2, 3], [2, 5]],
        Operation::MlKem768Generate
        | Operation::MlKem768Encapsulate
        | Operation::MlKem768Decapsulate => [[1, 1], [1, 1]],
    };
    match lanes {
        8 => eight[uses_aws_lc as usize],
        4 => four[uses_aws_lc as usize],
        _ => lanes + 1,
    }
}

fn measure(operation: Operation, lanes: usize, options: &Options, ways: &Ways) -> usize {
    let options = options.with_signature_checks(false);
    let in_lanes = |count| {
        sample::time(operation, count, &|requests| {
            let _ = (ways.batch)(requests, &options.with_backend(Backend::Lanes));
        })
    };
    let alone = sample::time(operation, 1, &|requests| {
        for request in requests {
            (ways.single)(request, &options);
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
