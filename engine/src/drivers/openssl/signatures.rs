//! RSA keys in libcrypto: a context to sign and one to verify.

use core::ffi::CStr;
use std::sync::{Mutex, PoisonError};

use lanecrypt_ciphers::Error;
use lanecrypt_libcrypto::{Libcrypto, RsaContext, RsaNumbers, RsaPadding, Side};
use lanecrypt_rsa::{Hash, MAX_BITS, Padding};

use super::Served;
use crate::{Job, Operation, RsaKey};

/// The most bytes of a signature.
const LONGEST: usize = MAX_BITS / 8;

/// A key in libcrypto, and its padding.
pub(super) struct Signatures {
    hash: Hash,
    /// The length of signatures in bytes.
    length: usize,
    sign: Option<Mutex<RsaContext>>,
    verify: Mutex<RsaContext>,
}

impl Signatures {
    /// Contexts with this key.
    pub(super) fn new(
        libcrypto: &Libcrypto,
        key: &RsaKey,
        padding: Padding,
    ) -> Result<Self, Error> {
        let hash = padding.hash();
        let made_of = RsaPadding { digest: name(hash)?, salt_length: padding.salt_length() };
        let public = key.public_key();
        let (n, e) = (public.n(), public.e().to_be_bytes());
        let numbers = RsaNumbers { n: &n, e: &e, d: &[], crt: None };
        let verify = libcrypto.rsa(&numbers, &made_of, Side::Verify);
        let sign = key.private_key().map(|key| {
            key.with_components(|all| {
                let crt = all.crt.as_ref().map(|crt| [crt.p, crt.q, crt.dp, crt.dq, crt.qinv]);
                let numbers = RsaNumbers { n: all.n, e: all.e, d: all.d, crt };
                libcrypto.rsa(&numbers, &made_of, Side::Sign)
            })
        });
        // The caller does not distinguish between unavailable and refused.
        let (sign, verify) = match (sign.transpose(), verify) {
            (Ok(sign), Ok(verify)) => (sign.map(Mutex::new), Mutex::new(verify)),
            _ => return Err(Error::Unsupported),
        };
        Ok(Self { hash, length: key.signature_length(), sign, verify })
    }

    /// Serves a request, if libcrypto accepts it. The software serves the others, or returns their
    /// error: libcrypto does not distinguish an invalid signature from other failures.
    pub(super) fn serve(&self, job: &mut Job<'_, '_>) -> Served {
        let length = job.signature().map_or(job.output_length(), <[u8]>::len);
        if length != self.length {
            return Served::No;
        }
        let digest = self.hash.digest(&[job.aad()]);
        match (job.operation(), &self.sign, job.signature()) {
            (Operation::Sign, Some(context), _) => {
                let mut room = [0; LONGEST];
                let Some(made) = room.get_mut(..self.length) else { return Served::No };
                match with(context, |context| context.sign(digest.bytes(), made)) {
                    Ok(()) => Served::Yes(job.put_output(made)),
                    Err(_) => Served::No,
                }
            }
            (Operation::Verify, _, Some(signature)) => {
                match with(&self.verify, |context| context.verify(digest.bytes(), signature)) {
                    Ok(()) => Served::Yes(Ok(())),
                    Err(_) => Served::No,
                }
            }
            _ => Served::No,
        }
    }
}

/// A call that panicked does not affect the next message.
fn with<T>(context: &Mutex<RsaContext>, run: impl FnOnce(&mut RsaContext) -> T) -> T {
    run(&mut context.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The name of a hash function in libcrypto.
fn name(hash: Hash) -> Result<&'static CStr, Error> {
    match hash.name() {
        "sha1" => Ok(c"sha1"),
        "sha256" => Ok(c"sha256"),
        "sha384" => Ok(c"sha384"),
        "sha512" => Ok(c"sha512"),
        _ => Err(Error::Unsupported),
    }
}
