//! Lanes: messages of different keys, side by side.
//!
//! If a mode is serial within one message, a register holds one block of each of several messages.
//! When a lane ends, the next message takes it. No lane reads or writes the bytes of another.

use core::fmt;

use inout::InOutBuf;

/// One message of a batch: its key, its initialization vector or first counter block, its data.
#[expect(clippy::exhaustive_structs, reason = "whoever has a batch makes it, field by field")]
#[repr(C)]
pub struct Lane<'a, C, const N: usize> {
    /// The expanded key; several lanes may share it.
    pub key: &'a C,
    /// The initialization vector. It stays as it is.
    pub iv: &'a [u8; N],
    /// Whole blocks, in place or from one buffer to another; may be empty.
    pub blocks: InOutBuf<'a, 'a, [u8; N]>,
}

// The key's own `Debug` hides the key; data are left out.
impl<C: fmt::Debug, const N: usize> fmt::Debug for Lane<'_, C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("key", self.key).finish_non_exhaustive()
    }
}
