//! The driver `aws-lc`: RSA signatures by AWS-LC, which is compiled in.

use lanecrypt_ciphers::{Algorithm, Error};
use lanecrypt_rsa::{Backend, PrivateKey};

use crate::asymmetric::{self, Rsa};
use crate::session::job::List;
use crate::{AsymmetricKey, Driver, Jobs, SessionId};

/// Serves only RSA signatures, by AWS-LC: see [`Backend::AwsLc`](lanecrypt_rsa::Backend::AwsLc) for
/// the keys and paddings that it accepts.
///
/// The software uses AWS-LC only where that costs less. This driver always uses it, one signature
/// at a time.
///
/// Results and errors are those of the software, which also serves requests that AWS-LC refuses.
/// AWS-LC stores its form of a key with the key, and wipes it.
///
/// ```
/// use lanecrypt_engine::{AwsLc, Engine};
/// use lanecrypt_rsa::{Hash, Padding, PrivateKey};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let pem = include_str!("../../../rsa/tests/key.pem");
/// let engine = Engine::new().with_driver(AwsLc::new())?;
/// let key = PrivateKey::from_pem(pem)?;
/// let session = engine.asymmetric_session_on("aws-lc", (key, Padding::pss(Hash::SHA256)))?;
/// let mut signature = vec![0; session.signature_length()];
/// session.sign(b"message", &mut signature)?;
/// session.verify(b"message", &signature)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AwsLc;

impl AwsLc {
    /// The driver.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Driver for AwsLc {
    fn name(&self) -> &'static str {
        "aws-lc"
    }

    fn open(&self, _algorithm: Algorithm, _key: &[u8]) -> Result<SessionId, Error> {
        Err(Error::Unsupported)
    }

    /// [`Error::Unsupported`] for keys of other signatures, keys below 2048 bits, private keys
    /// without primes, other hash functions, and PSS with a salt that is not as long as a digest.
    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Error> {
        let (key, padding) = key.rsa().ok_or(Error::Unsupported)?;
        let has_primes = key.private_key().is_none_or(PrivateKey::has_primes);
        match has_primes && Backend::AwsLc.supports(key.public_key(), padding) {
            true => Ok(SessionId::default()),
            false => Err(Error::Unsupported),
        }
    }

    /// Keys belong to sessions, so there is nothing to close.
    fn close(&self, _session: SessionId) {}

    fn process(&self, jobs: Jobs<'_, '_>) {
        let library = Rsa(Backend::AwsLc);
        match jobs.into_list() {
            List::Requests(requests) => asymmetric::serve(requests, &library),
            List::Waiting(waiting) => asymmetric::serve(waiting, &library),
            List::Lent(picked) => {
                asymmetric::serve(picked.iter_mut().filter_map(Option::as_mut), &library);
            }
        }
    }
}
