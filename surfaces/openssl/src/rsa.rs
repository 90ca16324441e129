//! RSA: keys and signatures, switched on by `rsa = yes` in the provider's section.
//!
//! Keys and contexts are those of OpenSSL's default provider, held by ours. It reads, makes, checks
//! and exports keys, and keeps the settings of signatures, so that all of it is as without the
//! module. What is done here is the work: signatures that [`lanecrypt_rsa`] can make or check.
//! Everything else is passed to the default provider: other sizes of keys, more than two primes,
//! other hash functions, other paddings.
//!
//! In an asynchronous job of OpenSSL, signatures wait for each other (`asynchronous`).
//!
//! A key may live in the daemon `lanecrypt serve` (`remote`). Its public half is here, and daemons
//! sign. Programs name it by a file (`pem`, `decoder`) or by its URI (`uri`, `store`).

mod decoder;
mod key;
mod numbers;
mod padding;
mod pem;
mod remote;
mod scheme;
mod signing;
mod store;
mod uri;

use core::ffi::c_void;
use std::path::PathBuf;
use std::sync::Arc;

use crate::abi::Core;
use crate::fallback::{Fallback, Inner, Names};

pub(crate) use self::decoder::{NAMES, PEM};
pub(crate) use self::key::FUNCTIONS as KEYS;
pub(crate) use self::scheme::FUNCTIONS as SIGNATURES;
pub(crate) use self::store::FUNCTIONS as STORE;

/// What RSA needs of the library that loaded the module. Keys and contexts hold it.
pub(crate) struct Rsa {
    fallback: Fallback,
    /// The daemon's socket for keys that name none.
    socket: PathBuf,
}

impl Rsa {
    /// RSA for the library of these functions and this handle, with keys of the daemon at this
    /// socket; none if the library does not have what it takes.
    pub(crate) fn new(
        handle: *const c_void,
        core: Core,
        socket: Option<PathBuf>,
    ) -> Option<Arc<Self>> {
        let names = Names { keys: c"RSA", signatures: Some(c"RSA"), exchanges: None };
        let fallback = Fallback::new(handle, core, names)?;
        Some(Arc::new(Self { fallback, socket: socket.unwrap_or_else(usual_socket) }))
    }

    /// The default provider's RSA.
    fn inner(&self) -> Option<&Inner> {
        self.fallback.inner()
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
