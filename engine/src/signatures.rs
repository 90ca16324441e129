//! Signatures by the software of this processor: many at a time in its lanes.

pub(crate) mod key;
#[cfg(feature = "pk")]
mod pk;
#[cfg(feature = "rsa")]
pub(crate) mod rsa;
#[cfg(feature = "rsa")]
pub(crate) mod rsa_key;

use arrayvec::ArrayVec;
use lanecrypt_ciphers::Error;

use self::key::SignatureKey;
#[cfg(feature = "pk")]
pub(crate) use self::pk::Pk;
#[cfg(feature = "rsa")]
pub(crate) use self::rsa::Rsa;
use crate::session::entry::Entry;
use crate::session::work::State;

/// The most signatures that are served together: as many as a library takes at once.
pub(crate) const AT_ONCE: usize = 32;

/// A crate that makes and checks signatures, many at a time.
pub(crate) trait Library {
    /// A signature to make or to check.
    type Request<'r>;

    /// Whether it has the scheme of a key.
    fn has(key: &SignatureKey) -> bool;

    /// A request to sign.
    fn signing<'r>(
        key: &'r SignatureKey,
        message: &'r [u8],
        signature: &'r mut [u8],
    ) -> Result<Self::Request<'r>, Error>;

    /// A request to check a signature.
    fn verifying<'r>(
        key: &'r SignatureKey,
        message: &'r [u8],
        signature: &'r [u8],
    ) -> Result<Self::Request<'r>, Error>;

    /// Serves requests. Each has its own outcome.
    fn process(&self, requests: &mut [Self::Request<'_>]);

    /// The outcome of a request.
    fn outcome(request: &Self::Request<'_>) -> Option<Result<(), Error>>;

    /// Serves one request.
    fn serve(&self, request: Result<Self::Request<'_>, Error>) -> Result<(), Error> {
        let mut requests = [request?];
        self.process(&mut requests);
        let [request] = &requests;
        Self::outcome(request).unwrap_or(Err(Error::Unsupported))
    }
}

/// Serves the unserved signatures of a batch whose keys a library has. They are served together,
/// even if other messages are between them, so that they fill lanes.
#[cold]
#[inline(never)]
pub(crate) fn serve<'b, 'a: 'b, E: Entry<'a> + 'b, L: Library>(
    batch: impl IntoIterator<Item = &'b mut E>,
    library: &L,
) {
    let awaits = |entry: &&mut E| {
        let State { class, outcome } = entry.state();
        class.is_signature()
            && outcome.is_none()
            && entry.session().signature_key().is_some_and(L::has)
    };
    let mut waiting = batch.into_iter().filter(awaits).peekable();
    while waiting.peek().is_some() {
        let mut requests = ArrayVec::<_, AT_ONCE>::new();
        let mut states = ArrayVec::<_, AT_ONCE>::new();
        for entry in waiting.by_ref().take(AT_ONCE) {
            let (session, _, work) = entry.parts();
            let (request, state) = work.signature::<L>(session);
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
