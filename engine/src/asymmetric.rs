//! Signatures and key exchange by the software of this processor: many at a time in its lanes.

mod encoding;
pub(crate) mod key;
pub(crate) mod library;
#[cfg(feature = "pk")]
mod pk;
#[cfg(feature = "rsa")]
pub(crate) mod rsa;
#[cfg(feature = "rsa")]
pub(crate) mod rsa_key;
pub(crate) mod single;

use arrayvec::ArrayVec;

use self::library::Library;
#[cfg(feature = "pk")]
pub(crate) use self::pk::Pk;
#[cfg(feature = "rsa")]
pub(crate) use self::rsa::Rsa;
use crate::session::entry::Entry;
use crate::session::work::State;

/// The most requests that are served together: as many as a library takes at once.
pub(crate) const AT_ONCE: usize = 32;

/// Serves the unserved requests of a batch whose asymmetric keys a library has. They are served
/// together, even if other messages are between them, so that they fill lanes.
#[cold]
#[inline(never)]
pub(crate) fn serve<'b, 'a: 'b, E: Entry<'a> + 'b, L: Library>(
    batch: impl IntoIterator<Item = &'b mut E>,
    library: &L,
) {
    let awaits = |entry: &&mut E| {
        let State { class, outcome } = entry.state();
        class.is_asymmetric()
            && outcome.is_none()
            && entry.session().asymmetric_key().is_some_and(L::has)
    };
    let mut waiting = batch.into_iter().filter(awaits).peekable();
    while waiting.peek().is_some() {
        let mut entries = ArrayVec::<_, AT_ONCE>::new();
        let mut inputs = ArrayVec::<_, AT_ONCE>::new();
        for entry in waiting.by_ref().take(AT_ONCE) {
            let (session, _, work) = entry.parts();
            inputs.push(work.input::<L>(session));
            entries.push((session, work));
        }
        let mut requests = ArrayVec::<_, AT_ONCE>::new();
        let mut states = ArrayVec::<_, AT_ONCE>::new();
        for ((session, work), input) in entries.into_iter().zip(&inputs) {
            let (request, state) = work.asymmetric::<L>(session, input);
            match request {
                Ok(request) => {
                    requests.push(request);
                    states.push(state);
                }
                Err(error) => state.outcome = Some(Err(error)),
            }
        }
        library.process(&mut requests);
        for (state, request) in states.into_iter().zip(&requests) {
            state.outcome = L::outcome(request);
        }
    }
}
