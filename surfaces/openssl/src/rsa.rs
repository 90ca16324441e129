//! RSA: keys and signatures, switched on by `rsa = yes` in the provider's section.
//!
//! Keys and contexts are those of OpenSSL's default provider, held by ours. It reads, makes, checks
//! and exports keys, and keeps the settings of signatures, so that all of it is as without the
//! module. What is done here is the work: signatures that [`lanecrypt_rsa`] can make or check.
//! Everything else is passed to the default provider: other sizes of keys, more than two primes,
//! other hash functions, other paddings.
//!
//! In an asynchronous job of OpenSSL, signatures wait for each other (`queue`).
//!
//! A key may live in the daemon `lanecrypt serve` (`remote`). Its public half is here, and daemons
//! sign. Programs name it by a file (`pem`, `decoder`) or by its URI (`uri`, `store`).

mod decoder;
mod hasher;
mod inner;
mod job;
mod key;
mod numbers;
mod padding;
mod pem;
mod queue;
mod remote;
mod signature;
mod store;
mod uri;

use core::ffi::c_void;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use self::inner::Inner;
use self::job::Jobs;
use crate::abi::Core;
use crate::errors::{Failure, Reporter};
use crate::library::Library;

pub(crate) use self::decoder::{NAMES, PEM};
pub(crate) use self::key::FUNCTIONS as KEYS;
pub(crate) use self::signature::FUNCTIONS as SIGNATURES;
pub(crate) use self::store::FUNCTIONS as STORE;

/// What RSA needs of the library that loaded the module. Keys and contexts hold it.
pub(crate) struct Rsa {
    reporter: Reporter,
    library: inner::Functions,
    jobs: Option<Jobs>,
    /// The daemon's socket for keys that name none.
    socket: PathBuf,
    /// Found with the first key: providers may not look for others while they are loaded.
    inner: OnceLock<Inner>,
}

// SAFETY: handles and functions of libcrypto may be used by many threads.
unsafe impl Send for Rsa {}
// SAFETY: the same.
unsafe impl Sync for Rsa {}

impl Rsa {
    /// RSA for the library of these functions and this handle, with keys of the daemon at this
    /// socket; none if the library does not have what it takes.
    pub(crate) fn new(
        handle: *const c_void,
        core: Core,
        socket: Option<PathBuf>,
    ) -> Option<Arc<Self>> {
        let library = Library::of(&core)?;
        Some(Arc::new(Self {
            reporter: Reporter { handle, core },
            library: inner::Functions::find(&library)?,
            jobs: Jobs::find(&library),
            socket: socket.unwrap_or_else(usual_socket),
            inner: OnceLock::new(),
        }))
    }

    /// The default provider's RSA.
    fn inner(&self) -> Option<&Inner> {
        if let Some(inner) = self.inner.get() {
            return Some(inner);
        }
        let found = self.reporter.core.context.and_then(|context| {
            // SAFETY: the handle belongs to the function.
            let context = unsafe { context(self.reporter.handle) };
            Inner::find(&self.library, context)
        });
        match found {
            Some(inner) => Some(self.inner.get_or_init(|| inner)),
            None => {
                self.reporter.fail(Failure::NoDefaultProvider);
                None
            }
        }
    }
}

/// The daemon's usual socket. The environment has no say in a program that has more rights than its
/// user.
fn usual_socket() -> PathBuf {
    // SAFETY: any number may be asked for.
    match unsafe { libc::getauxval(libc::AT_SECURE) } {
        0 => lanecrypt_device::default_path(),
        _ => PathBuf::from("/run/lanecrypt.sock"),
    }
}
