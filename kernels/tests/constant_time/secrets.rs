//! Bytes that nothing may depend on.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use crate::target::{memcheck, trace};

/// A source of bytes that memcheck takes as unknown.
pub(crate) struct Secrets {
    /// Marsaglia's xorshift.
    state: u64,
    /// Branches on whether a message is authentic.
    verdicts: usize,
}

impl Secrets {
    /// Other bytes for every `seed` but 0.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, verdicts: 0 }
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Bytes that the caller may look at until it [hides](Self::hide) them.
    pub(crate) fn known<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = self.bytes();
        self.reveal(&mut bytes);
        bytes
    }

    /// Makes bytes secret that were known.
    pub(crate) fn hide(&self, bytes: &mut [u8]) {
        unseen(|| memcheck::hide(bytes));
    }

    /// Allows one branch: everybody learns whether a message is authentic.
    pub(crate) fn judge(&mut self) {
        self.verdicts += usize::from(memcheck::is_here());
    }

    /// The branches that are allowed.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn verdicts(&self) -> usize {
        self.verdicts
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        unseen(|| self.make(bytes));
    }

    fn make(&mut self, bytes: &mut [u8]) {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let mut word = self.state;
        let (words, rest) = bytes.as_chunks_mut::<8>();
        for bytes in words {
            word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *bytes = word.to_le_bytes();
        }
        rest.copy_from_slice(&self.state.to_le_bytes()[..rest.len()]);
        memcheck::hide(bytes);
    }

    /// What a program would send or store is secret no more.
    ///
    /// Panics if a byte of it never was: then nothing has been tested.
    pub(crate) fn reveal(&self, bytes: &mut [u8]) {
        let known = unseen(|| memcheck::reveal(bytes));
        assert!(known, "an output byte does not depend on any secret");
    }
}

/// Runs what is not to be checked, such as the allocation of a buffer: no trace shows it.
pub(crate) fn unseen<T>(work: impl FnOnce() -> T) -> T {
    trace::unseen(work)
}
