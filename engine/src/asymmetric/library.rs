//! What a crate of asymmetric keys provides.

use lanecrypt_ciphers::Error;

use super::key::AsymmetricKey;

/// A crate that serves requests with asymmetric keys, many at a time.
pub(crate) trait Library {
    /// An operation.
    type Request<'r>;

    /// What the other side of a key exchange sent, if it had to be parsed. Requests borrow it.
    type Input: Default;

    /// Whether it has the scheme of a key.
    fn has(key: &AsymmetricKey) -> bool;

    /// A request to sign.
    fn signing<'r>(
        key: &'r AsymmetricKey,
        message: &'r [u8],
        signature: &'r mut [u8],
    ) -> Result<Self::Request<'r>, Error>;

    /// A request to check a signature.
    fn verifying<'r>(
        key: &'r AsymmetricKey,
        message: &'r [u8],
        signature: &'r [u8],
    ) -> Result<Self::Request<'r>, Error>;

    /// Parses what the other side sent, if the key requires that, for an output of this length.
    fn input(
        _key: &AsymmetricKey,
        _received: &[u8],
        _output_length: usize,
    ) -> Result<Self::Input, Error> {
        Err(Error::Unsupported)
    }

    /// A request for a shared secret from what the other side sent, as bytes and
    /// [parsed](Self::input).
    fn agreeing<'r>(
        _key: &'r AsymmetricKey,
        _received: &'r [u8],
        _input: &'r Self::Input,
        _output: &'r mut [u8],
    ) -> Result<Self::Request<'r>, Error> {
        Err(Error::Unsupported)
    }

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
