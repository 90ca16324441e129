//! The state of migration: the keys of sessions, and buffers for copies of messages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use lanecrypt_engine::Error;

use super::keys::{Keys, Place};

/// The state of migration.
#[derive(Debug, Default)]
pub(super) struct Migration {
    keys: Mutex<Keys>,
    /// Empty buffers for copies of messages.
    buffers: Mutex<Vec<Vec<u8>>>,
}

/// The most buffers that are kept.
const BUFFERS: usize = 64;

impl Migration {
    pub(super) fn keep(&self, key: &[u8]) -> Result<Place, Error> {
        lock(&self.keys).keep(key).ok_or(Error::KeyMemory)
    }

    pub(super) fn forget(&self, place: &Place) {
        lock(&self.keys).wipe(place);
    }

    pub(super) fn buffer(&self) -> Vec<u8> {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        let mut buffers = lock(&self.buffers);
        if buffers.len() < BUFFERS {
            buffers.push(buffer);
        }
    }

    /// Copies a key to the stack, and returns its length.
    pub(super) fn read(&self, place: &Place, key: &mut [u8; Place::LONGEST]) -> usize {
        let keys = lock(&self.keys);
        let kept = keys.read(place);
        key.iter_mut().zip(kept).for_each(|(byte, kept)| *byte = *kept);
        kept.len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
