//! Copies of what a driver may write to, until it has answered: messages in place, outputs, tags.

use lanecrypt_kernels::wipe;

use super::migration::Migration;
use crate::session::entry::Entry;

/// Buffers that are longer are not kept for the next batch.
const KEPT: usize = 1 << 20;

/// The copies of a batch of at most `N` messages. They are wiped on drop.
pub(super) struct Copies<'m, const N: usize> {
    migration: &'m Migration,
    bytes: Vec<u8>,
    /// Where the copy of each message begins.
    at: [Option<usize>; N],
}

impl<'m, const N: usize> Copies<'m, N> {
    pub(super) fn new(migration: &'m Migration) -> Self {
        Self { migration, bytes: migration.buffer(), at: [None; N] }
    }

    /// Copies a message, if it has not been copied.
    pub(super) fn keep<'a>(&mut self, index: usize, entry: &mut impl Entry<'a>) {
        let (_, _, work) = entry.parts();
        if let Some(at) = self.at.get_mut(index)
            && at.is_none()
        {
            *at = Some(self.bytes.len());
            self.extend(work.data.out());
            self.extend(work.put.as_deref().unwrap_or_default());
        }
    }

    /// Gives a message back as it was, without an outcome.
    pub(super) fn restore<'a>(&self, index: usize, entry: &mut impl Entry<'a>) {
        let (_, _, work) = entry.parts();
        work.state.outcome = None;
        let Some(&Some(at)) = self.at.get(index) else { return };
        let (out, tag) = (work.data.out(), work.put.as_deref_mut().unwrap_or_default());
        let mut copies = self.bytes.get(at..).unwrap_or_default();
        for place in [out, tag] {
            if let Some(copy) = copies.split_off(..place.len()) {
                place.copy_from_slice(copy);
            }
        }
    }

    /// Appends to the buffer, of which nothing stays behind when it moves.
    fn extend(&mut self, message: &[u8]) {
        let length = self.bytes.len() + message.len();
        if length > self.bytes.capacity() {
            let mut larger = Vec::with_capacity(length.next_power_of_two());
            larger.extend_from_slice(&self.bytes);
            wipe::memory(&mut self.bytes);
            self.bytes = larger;
        }
        self.bytes.extend_from_slice(message);
    }
}

impl<const N: usize> Drop for Copies<'_, N> {
    fn drop(&mut self) {
        wipe::memory(&mut self.bytes);
        self.bytes.clear();
        if self.bytes.capacity() <= KEPT {
            self.migration.give_back(core::mem::take(&mut self.bytes));
        }
    }
}
