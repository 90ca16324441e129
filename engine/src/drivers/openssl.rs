//! The driver `openssl`: OpenSSL's libcrypto, found at run time.

mod contexts;
mod names;
mod open_error;
mod sessions;
#[cfg(feature = "rsa")]
mod signatures;

use core::fmt;

use lanecrypt_ciphers::{Algorithm, Error};
use lanecrypt_libcrypto::Libcrypto;

use self::contexts::Contexts;
pub use self::open_error::OpenSslError;
use self::sessions::Sessions;
#[cfg(feature = "rsa")]
use self::signatures::Signatures;
#[cfg(feature = "rsa")]
use crate::AsymmetricKey;
use crate::{Driver, Job, Jobs, SessionId};

/// Serves requests by OpenSSL's libcrypto, versions 1.1.1 to 4.
///
/// It has AES in CBC, CTR, ECB, GCM and XTS, ChaCha20, and ChaCha20-Poly1305; with the feature
/// `legacy` also DES and triple DES in CBC and ECB, where the library has them. It has no cipher
/// combined with an HMAC. With the feature `rsa` it has RSA keys, with primes and without; before
/// OpenSSL 3.0 it has no private keys without primes.
///
/// Results and errors are those of the software. It also serves messages in a form that libcrypto
/// does not accept: nonces of GCM that do not have 12 bytes, streams that begin at a block, data
/// from 2 GiB on (in XTS more than 16 MiB). The software rechecks signatures that libcrypto
/// rejects, and makes signatures that libcrypto refuses.
///
/// A session has one context of libcrypto for each direction, behind a lock: threads that share a
/// session wait for one another, those with separate sessions do not.
///
/// Whether it is constant time depends on OpenSSL: its AES is on processors with instructions for
/// AES or for byte shuffles, its ChaCha20 everywhere, its DES is not; its RSA is meant to be, and
/// hides its computations. Keys are in memory of libcrypto, which wipes them when a session is
/// closed; residue of its functions on the stack is not wiped.
///
/// If libcrypto fails internally in the middle of a message (no memory), the output is wiped and
/// the outcome is [`Error::Unsupported`]; when opening, [`Error::Authentication`].
pub struct OpenSsl {
    libcrypto: Libcrypto,
    sessions: Sessions,
}

impl OpenSsl {
    /// Finds libcrypto under the names that systems use. It stays loaded until the process ends.
    ///
    /// # Errors
    ///
    /// [`OpenSslError::NotFound`], which lists the files that were tried.
    pub fn open() -> Result<Self, OpenSslError> {
        let libcrypto = Libcrypto::open().map_err(|error| OpenSslError::missing(&error))?;
        Ok(Self { libcrypto, sessions: Sessions::default() })
    }

    /// The version of libcrypto, such as `3.5.0`.
    #[must_use]
    pub fn version(&self) -> &'static str {
        self.libcrypto.version()
    }
}

impl Driver for OpenSsl {
    fn name(&self) -> &'static str {
        "openssl"
    }

    fn open(&self, algorithm: Algorithm, key: &[u8]) -> Result<SessionId, Error> {
        let contexts = Contexts::new(&self.libcrypto, algorithm, key)?;
        Ok(self.sessions.add(Held::Cipher(contexts)))
    }

    #[cfg(feature = "rsa")]
    fn open_asymmetric(&self, key: &AsymmetricKey) -> Result<SessionId, Error> {
        let (key, padding) = key.rsa().ok_or(Error::Unsupported)?;
        let signatures = Signatures::new(&self.libcrypto, key, padding)?;
        Ok(self.sessions.add(Held::Rsa(signatures)))
    }

    fn close(&self, session: SessionId) {
        self.sessions.remove(session);
    }

    fn process(&self, jobs: Jobs<'_, '_>) {
        // Requests of one session are mostly adjacent.
        let mut last = None;
        for job in jobs {
            let id = job.session_id();
            let held = match &last {
                Some((same, held)) if *same == id => held,
                _ => {
                    let Some(found) = self.sessions.find(id) else {
                        job.settle(Err(Error::Unsupported));
                        continue;
                    };
                    &last.insert((id, found)).1
                }
            };
            serve(held, job);
        }
    }
}

/// The libcrypto objects of a session.
enum Held {
    Cipher(Contexts),
    #[cfg(feature = "rsa")]
    Rsa(Signatures),
}

/// Whether libcrypto served a request.
enum Served {
    Yes(Result<(), Error>),
    /// It does not accept it; the output is unchanged.
    No,
}

fn serve(held: &Held, mut job: Job<'_, '_>) {
    let served = match held {
        Held::Cipher(contexts) => contexts.serve(&mut job),
        #[cfg(feature = "rsa")]
        Held::Rsa(signatures) => signatures.serve(&mut job),
    };
    match served {
        Served::Yes(outcome) => job.settle(outcome),
        Served::No => job.serve_by_software(),
    }
}

impl fmt::Debug for OpenSsl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSsl").field("version", &self.version()).finish_non_exhaustive()
    }
}
