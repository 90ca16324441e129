//! Many requests at once.
//!
//! Requests are grouped by operation. A group that fills lanes runs there; what is left over runs
//! there too if it is as many as pay, and otherwise one after another. Nothing is allocated: a
//! group is a list on the stack.

use lanecrypt_kernels::Isa;

use crate::cost::{self, Ways};
use crate::lanes::{self, Group};
use crate::options::Options;
use crate::{BatchError, Operation, Request, library};

/// Serves requests of any operations, under any keys. Each has its own
/// [`outcome`](Request::outcome).
///
/// With AVX-512, eight requests of one operation run side by side, with AVX2 four. A request alone
/// costs what a call costs.
///
/// Allocates nothing, except in AWS-LC.
///
/// # Errors
///
/// [`BatchError`] if a request failed. All others have been served.
pub fn process(requests: &mut [Request<'_>]) -> Result<(), BatchError> {
    serve(requests, &Options::new())
}

impl Options {
    /// Serves requests as [`process`] does, with these options.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a request failed. All others have been served.
    pub fn process(&self, requests: &mut [Request<'_>]) -> Result<(), BatchError> {
        serve(requests, self)
    }
}

/// What tells how many requests cost less in lanes.
const WAYS: Ways = Ways { batch: serve, single };

fn serve(requests: &mut [Request<'_>], options: &Options) -> Result<(), BatchError> {
    let mut counts = [0; Operation::ALL.len()];
    for request in requests.iter().filter(|request| request.outcome.is_none()) {
        counts[request.operation() as usize] += 1;
    }
    for (&operation, count) in Operation::ALL.iter().zip(counts) {
        if count > 0 {
            serve_operation(requests, operation, count, options);
        }
    }
    let failed = requests.iter().filter(|request| matches!(request.outcome, Some(Err(_)))).count();
    if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
}

/// Serves the requests of an operation, of which there are so many.
fn serve_operation(
    requests: &mut [Request<'_>],
    operation: Operation,
    count: usize,
    options: &Options,
) {
    let lanes = lanes::lanes(options.isa, operation);
    let rest = count % lanes;
    let pays = |count| cost::pays(operation, count, lanes, options, &WAYS);
    let mut in_lanes = if !pays(lanes) {
        0
    } else if rest == 0 || pays(rest) {
        count
    } else {
        count - rest
    };
    let is_due =
        |request: &&mut Request<'_>| request.outcome.is_none() && request.operation() == operation;
    let mut due = requests.iter_mut().filter(is_due);
    while in_lanes > 0 {
        let group: Group<'_, '_> = due.by_ref().take(lanes::MOST.min(in_lanes)).collect();
        in_lanes -= group.len();
        lanes::serve(group, operation, options);
    }
    for request in due {
        single(request, options);
    }
}

/// Serves one request by itself: by AWS-LC or by dalek's crates, and otherwise by the kernel that
/// has one lane.
fn single(request: &mut Request<'_>, options: &Options) {
    let operation = request.operation();
    #[cfg(feature = "aws-lc")]
    let served = crate::aws_lc::serve(&mut request.work, options);
    #[cfg(not(feature = "aws-lc"))]
    let served = None;
    request.outcome = served.or_else(|| library::serve(&mut request.work, options));
    if request.outcome.is_none() {
        let group = [request].into_iter().collect();
        lanes::serve(group, operation, &options.with_isa(Isa::PORTABLE));
    }
}
