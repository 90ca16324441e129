//! Nonces that the daemon makes for named keys.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lanecrypt_engine::{Algorithm, Error, Nonce, NonceSequence as _, RandomNonces};
use lanecrypt_random::Rng;

/// Who makes the nonces of a named key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NonceSource {
    /// The daemon, at random: up to 2^32 of 96 bits while it runs, 2^48 of 128 bits, and any number
    /// of 192 bits and more (SP 800-38D, section 8.3).
    #[default]
    Random,
    /// The clients. If a nonce is used twice, most algorithms lose secrecy and authenticity, and a
    /// client can open a packet by sealing it again.
    Client,
}

/// The nonces of one key. All of its sessions share them.
#[derive(Debug)]
pub(super) struct SharedNonces(Mutex<Counted>);

#[derive(Debug)]
struct Counted {
    nonces: RandomNonces<Rng>,
    used: u64,
}

impl SharedNonces {
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm does not authenticate.
    pub(super) fn new(algorithm: Algorithm) -> Result<Self, Error> {
        let nonces = RandomNonces::new(algorithm, lanecrypt_random::rng())?;
        Ok(Self(Mutex::new(Counted { nonces, used: 0 })))
    }

    /// The length of each in bytes.
    pub(super) fn length(&self) -> usize {
        self.lock().nonces.nonce_length()
    }

    /// The next one.
    pub(super) fn fresh(&self) -> Result<Nonce, Error> {
        let mut counted = self.lock();
        let nonce = counted.nonces.fresh()?;
        counted.used += 1;
        Ok(nonce)
    }

    /// The number of nonces that were made.
    pub(super) fn used(&self) -> u64 {
        self.lock().used
    }

    /// Counts those of keys of the same name before: they may be the same key.
    pub(super) fn follows(&self, algorithm: Algorithm, used: u64) -> Result<(), Error> {
        let nonces = RandomNonces::new(algorithm, lanecrypt_random::rng())?.already_used(used);
        *self.lock() = Counted { nonces, used };
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
