//! A hash that has ended with the lengths of its message, and continues as if it had not.
//!
//! Kernels hash a message and its lengths in one go, and some take the lengths into the last group
//! of blocks. The value before them cannot be had back, since that takes a division by the point.
//! It is not needed: that value times the point is what the lengths are added to, and the next
//! block is added in the same place. With `h` the value before the lengths `l`, and `x` the next
//! block,
//!
//! ```text
//! (h + l) r = h r + l r        so h r is the kept value less l r,
//! (h + x) r = h r + x r        and the hash continues from there.
//! ```
//!
//! Bytes that complete a block that was absorbed with zeros behind it are added in the same way.

use super::{Poly1305, padded, portable};
use crate::Isa;

/// What kernels leave of a hash, beside the tag. By value, so that nothing is passed where nothing
/// is kept.
pub(crate) trait Keep {
    /// Takes point, value and pad of a hash that has ended.
    fn keep(self, r: [u64; 2], h: [u64; 3], pad: u128);
}

/// Nothing is kept.
impl Keep for () {
    #[inline(always)]
    fn keep(self, _: [u64; 2], _: [u64; 3], _: u128) {}
}

/// The hash of a message so far, with its lengths.
#[derive(Clone)]
pub(crate) struct PartialHash(Poly1305);

impl Keep for &mut PartialHash {
    #[inline(always)]
    fn keep(self, r: [u64; 2], h: [u64; 3], pad: u128) {
        self.0.state.r = r;
        self.0.state.h = h;
        self.0.pad = pad.to_le_bytes();
    }
}

impl PartialHash {
    /// A place for what a kernel keeps.
    pub(crate) fn empty(isa: Isa) -> Self {
        Self(Poly1305::new(isa, &[0; 32]))
    }

    /// The tag of the message so far.
    pub(crate) fn tag(&self) -> [u8; 16] {
        portable::tag(self.0.state.h, &self.0.pad)
    }

    /// Takes the lengths back out: the value that is left is multiplied by the point once more than
    /// a hash in progress is.
    pub(crate) fn reopen(&mut self, lengths: [u64; 2]) {
        let lengths = self.times_point(portable::joined(lengths), 1);
        self.0.state.h = portable::minus(self.0.state.h, lengths);
    }

    /// Absorbs bytes where `at` bytes of a block, fewer than 16, have been absorbed with zeros
    /// behind them. Zeros fill the last block.
    pub(crate) fn append(&mut self, at: usize, bytes: &[u8]) {
        let (rest, blocks) = bytes.split_at(if at == 0 { 0 } else { bytes.len().min(16 - at) });
        if !rest.is_empty() {
            let rest = self.squared(padded(rest) << (8 * at));
            self.0.state.h = portable::plus(self.0.state.h, rest);
        }
        if blocks.is_empty() {
            return;
        }
        let (first, others) = blocks.split_at(blocks.len().min(16));
        let block = match first.try_into() {
            Ok(block) => u128::from_le_bytes(block),
            Err(_) => padded(first),
        };
        let first = self.times_point(block, 1);
        self.0.state.h = portable::plus(self.0.state.h, first);
        self.0.absorb_padded(others);
        // One multiplication more again.
        portable::absorb_one(&mut self.0.state, 0, 0);
    }

    /// Puts the lengths in.
    pub(crate) fn close(&mut self, lengths: [u64; 2]) {
        let lengths = self.times_point(portable::joined(lengths), 1);
        self.0.state.h = portable::plus(self.0.state.h, lengths);
    }

    /// A block, with `top` past its highest bit, times the point.
    fn times_point(&self, block: u128, top: u64) -> [u64; 3] {
        portable::step([0; 3], block, top, self.0.state.r)
    }

    /// A number times the point twice.
    fn squared(&self, number: u128) -> [u64; 3] {
        portable::step(self.times_point(number, 0), 0, 0, self.0.state.r)
    }
}
