//! Signatures of a batch by the software of this processor: many at a time in its lanes.

use arrayvec::ArrayVec;
use lanecrypt_ciphers::Error;
use lanecrypt_rsa::{self as rsa, Backend};

use crate::session::entry::Entry;
use crate::session::work::State;
use crate::signature_key::{error, with_workspace};

/// The most signatures that are served together: as many as [`rsa::process`] takes at once.
pub(crate) const AT_ONCE: usize = 32;

/// Serves the unserved signatures of a batch together, even if other messages are between them, so
/// that they fill lanes.
#[cold]
#[inline(never)]
pub(crate) fn serve_signatures<'b, 'a: 'b, E: Entry<'a> + 'b>(
    batch: impl IntoIterator<Item = &'b mut E>,
    backend: Backend,
) {
    let awaits = |entry: &&mut E| {
        let State { class, outcome } = entry.state();
        class.is_signature() && outcome.is_none()
    };
    let mut waiting = batch.into_iter().filter(awaits).peekable();
    while waiting.peek().is_some() {
        let mut requests = ArrayVec::<_, AT_ONCE>::new();
        let mut states = ArrayVec::<_, AT_ONCE>::new();
        for entry in waiting.by_ref().take(AT_ONCE) {
            let (session, _, work) = entry.parts();
            let (request, state) = work.signature(session);
            match request {
                Some(request) => {
                    requests.push(request);
                    states.push(state);
                }
                None => state.outcome = Some(Err(Error::Unsupported)),
            }
        }
        // Each request has its own outcome.
        let _failed = with_workspace(backend, |workspace| rsa::process(&mut requests, workspace));
        for (state, request) in states.into_iter().zip(&requests) {
            state.outcome = request.outcome().map(|outcome| outcome.map_err(error));
        }
    }
}
