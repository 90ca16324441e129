//! Memory for exponentiations.

use alloc::vec::Vec;
use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::{Lanes, Quad};
use crate::wipe;

/// Memory that operations need besides their operands: tables of powers, and products.
///
/// It grows when an operation needs more than any before, and is kept for the next one. Every
/// operation wipes what it used before it returns.
#[derive(Default)]
pub struct Workspace {
    limbs: Vec<u64>,
    lanes: Vec<Lanes>,
    quads: Vec<Quad>,
}

impl Workspace {
    /// Empty memory, which grows with the first operation.
    #[must_use]
    pub const fn new() -> Self {
        Self { limbs: Vec::new(), lanes: Vec::new(), quads: Vec::new() }
    }

    /// So many limbs, which hold anything.
    pub(super) fn limbs(&mut self, count: usize) -> &mut [u64] {
        grown(&mut self.limbs, count)
    }

    /// So many digits of eight numbers, which hold anything.
    #[cfg(feature = "isa-avx512")]
    pub(super) fn lanes(&mut self, count: usize) -> &mut [Lanes] {
        grown(&mut self.lanes, count)
    }

    /// So many digits of four numbers, which hold anything.
    #[cfg(feature = "isa-avx2")]
    pub(super) fn quads(&mut self, count: usize) -> &mut [Quad] {
        grown(&mut self.quads, count)
    }
}

/// The first `count` elements. What is there is wiped already, so growing leaves no copy.
fn grown<T: Copy + Default>(memory: &mut Vec<T>, count: usize) -> &mut [T] {
    if memory.len() < count {
        memory.resize(count, T::default());
    }
    &mut memory[..count]
}

impl Drop for Workspace {
    fn drop(&mut self) {
        wipe::words(&mut self.limbs);
        wipe::words(&mut self.lanes);
        wipe::words(&mut self.quads);
    }
}

impl ZeroizeOnDrop for Workspace {}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}
