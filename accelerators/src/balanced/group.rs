//! Messages with the same cost on the same members.

use lanecrypt_engine::{Algorithm, Operation};

use super::mask::Mask;

/// Messages of one algorithm and operation that the same members serve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) algorithm: Algorithm,
    /// The position of the algorithm among [all](Algorithm::ALL).
    pub(super) row: usize,
    pub(super) operation: Operation,
    pub(super) by: Mask,
    pub(super) messages: usize,
    /// The length of all of them, with their associated data.
    pub(super) bytes: usize,
}

impl Group {
    /// The mean length.
    pub(super) fn mean(&self) -> usize {
        self.bytes / self.messages.max(1)
    }
}
