//! Many requests at once.
//!
//! Requests are grouped by operation. Nothing is allocated: a group is a list on the stack.

use crate::options::Options;
use crate::{BatchError, Error, Request, library};

/// Serves requests of any operations, under any keys. Each has its own
/// [`outcome`](Request::outcome).
///
/// # Errors
///
/// [`BatchError`] if a request failed. All others have been served.
pub fn process(requests: &mut [Request<'_>]) -> Result<(), BatchError> {
    serve(requests, &Options::new())
}

pub(crate) fn serve(requests: &mut [Request<'_>], options: &Options) -> Result<(), BatchError> {
    for request in &mut *requests {
        if request.outcome.is_none() {
            request.outcome = Some(single(request, options));
        }
    }
    let failed = requests.iter().filter(|request| matches!(request.outcome, Some(Err(_)))).count();
    if failed == 0 { Ok(()) } else { Err(BatchError { failed }) }
}

/// Serves one request.
pub(crate) fn one(mut request: Request<'_>) -> Result<(), Error> {
    single(&mut request, &Options::new())
}

/// Serves one request by itself.
fn single(request: &mut Request<'_>, options: &Options) -> Result<(), Error> {
    #[cfg(feature = "aws-lc")]
    {
        let operation = request.operation();
        if let Some(outcome) = crate::aws_lc::serve(&mut request.work, operation, options) {
            return outcome;
        }
    }
    library::serve(&mut request.work, options)
}
