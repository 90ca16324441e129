//! What a crate of signatures provides.

use lanecrypt_ciphers::Error;

use super::key::SignatureKey;

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
