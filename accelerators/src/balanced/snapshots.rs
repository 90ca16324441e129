//! Snapshots of data that a driver may write to, until it has completed: messages in place,
//! outputs, tags.

use lanecrypt_kernels::wipe;

use super::migration::Migration;
use super::slot::Slot;

/// Buffers that are longer are not kept for the next batch.
const KEPT: usize = 1 << 20;

/// The snapshots of a batch. They are wiped on drop.
pub(super) struct Snapshots<'m> {
    migration: &'m Migration,
    bytes: Vec<u8>,
}

impl<'m> Snapshots<'m> {
    pub(super) fn new(migration: &'m Migration) -> Self {
        Self { migration, bytes: migration.buffer() }
    }

    /// Takes one of a message, if there is none.
    pub(super) fn keep(&mut self, slot: &mut Slot<'_, '_>) {
        if slot.snapshot.is_none() {
            slot.snapshot = Some(self.bytes.len());
            slot.job.outputs().iter().for_each(|output| self.extend(output));
        }
    }

    /// Restores a message.
    pub(super) fn restore(&self, slot: &mut Slot<'_, '_>) {
        let Some(at) = slot.snapshot else { return };
        let mut bytes = self.bytes.get(at..).unwrap_or_default();
        for output in slot.job.outputs() {
            if let Some(snapshot) = bytes.split_off(..output.len()) {
                output.copy_from_slice(snapshot);
            }
        }
    }

    /// Appends to the buffer, which leaves no residue when it moves.
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

impl Drop for Snapshots<'_> {
    fn drop(&mut self) {
        wipe::memory(&mut self.bytes);
        self.bytes.clear();
        if self.bytes.capacity() <= KEPT {
            self.migration.give_back(core::mem::take(&mut self.bytes));
        }
    }
}
