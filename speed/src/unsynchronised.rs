//! One ARC4 state that all threads change without a lock, as in NetBSD before 2012: **wrong by
//! design**.
//!
//! Concurrent threads read the same indices and overwrite each other's swaps. So words occur twice,
//! and the table, which should stay a permutation, loses values until few are left. Relaxed atomics
//! let the language allow the hardware's behaviour: loads and stores that lose each other's
//! changes. They pair with nothing. In one thread it is plain ARC4.

use core::array;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

/// Bytes that are dropped under a new key, as our [`Arc4`](lanecrypt_random::Arc4) generators do.
const DROPPED: usize = 3072;

/// The badly shared state.
pub(crate) struct Unsynchronised {
    table: [AtomicU8; 256],
    i: AtomicU8,
    j: AtomicU8,
}

impl Unsynchronised {
    /// A state with a key of 32 bytes.
    pub(crate) fn new(seed: &[u8; 32]) -> Self {
        let state = Self {
            table: array::from_fn(|_| AtomicU8::new(0)),
            i: AtomicU8::new(0),
            j: AtomicU8::new(0),
        };
        state.rekey(seed);
        state
    }

    /// Sets another key; a thread that draws meanwhile gets output of a mixed state.
    pub(crate) fn rekey(&self, seed: &[u8; 32]) {
        for (entry, value) in self.table.iter().zip(0..=255) {
            put(entry, value);
        }
        let mut j = 0u8;
        for (entry, &byte) in self.table.iter().zip(seed.iter().cycle()) {
            let x = take(entry);
            j = j.wrapping_add(x).wrapping_add(byte);
            put(entry, take(self.at(j)));
            put(self.at(j), x);
        }
        put(&self.i, 0);
        put(&self.j, 0);
        for _ in 0..DROPPED {
            self.step();
        }
    }

    /// The next four bytes of keystream.
    #[inline]
    pub(crate) fn word(&self) -> u32 {
        u32::from_ne_bytes([self.step(), self.step(), self.step(), self.step()])
    }

    /// Writes the next bytes of keystream over `out`.
    #[inline]
    pub(crate) fn fill(&self, out: &mut [u8]) {
        for byte in out {
            *byte = self.step();
        }
    }

    #[inline]
    fn step(&self) -> u8 {
        let i = take(&self.i).wrapping_add(1);
        put(&self.i, i);
        let x = take(self.at(i));
        let j = take(&self.j).wrapping_add(x);
        put(&self.j, j);
        let y = take(self.at(j));
        put(self.at(i), y);
        put(self.at(j), x);
        take(self.at(x.wrapping_add(y)))
    }

    #[inline]
    fn at(&self, index: u8) -> &AtomicU8 {
        &self.table[usize::from(index)]
    }
}

#[inline]
fn take(place: &AtomicU8) -> u8 {
    place.load(Ordering::Relaxed)
}

#[inline]
fn put(place: &AtomicU8, value: u8) {
    place.store(value, Ordering::Relaxed);
}

impl Drop for Unsynchronised {
    fn drop(&mut self) {
        for entry in &self.table {
            put(entry, 0);
        }
    }
}

impl fmt::Debug for Unsynchronised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsynchronised").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::StreamCore;
    use lanecrypt_kernels_legacy::arc4::Arc4;
    use lanecrypt_random::{Isa, SeedCore};

    use super::*;

    #[test]
    fn one_thread_gets_arc4() {
        for _ in 0..20 {
            let seed = lanecrypt_random::bytes();
            let state = Unsynchronised::new(&lanecrypt_random::bytes());
            state.rekey(&seed);
            let (mut out, mut expected) = ([0; 5004], [0; 5004]);
            state.fill(&mut out[..5000]);
            out[5000..].copy_from_slice(&state.word().to_ne_bytes());
            Arc4::from_seed(Isa::PORTABLE, &seed).keystream(&mut expected);
            assert_eq!(out, expected);
        }
    }
}
