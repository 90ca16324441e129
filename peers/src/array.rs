//! Bytes of a known length.

use crate::Failed;

/// The bytes as an array, if there are as many.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Failed> {
    bytes.try_into().or(Err(Failed))
}
