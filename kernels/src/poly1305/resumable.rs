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

/// The hash of a message so far.
#[derive(Clone)]
pub(crate) struct PartialHash {
    hash: Poly1305,
    /// Whether the lengths are in.
    closed: bool,
}

impl PartialHash {
    /// A place for what a kernel keeps.
    pub(crate) fn empty(isa: Isa) -> Self {
        Self { hash: Poly1305::new(isa, &[0; 32]), closed: false }
    }

    /// Takes point, value and pad of a hash that has ended.
    #[inline(always)]
    pub(crate) fn set(&mut self, r: [u64; 2], h: [u64; 3], pad: u128) {
        self.hash.state.r = r;
        self.hash.state.h = h;
        self.hash.pad = pad.to_le_bytes();
        self.closed = true;
    }

    /// The tag of the message so far, which has these lengths.
    pub(crate) fn tag(&self, lengths: [u64; 2]) -> [u8; 16] {
        let mut value = self.hash.state.h;
        if !self.closed {
            value = portable::plus(value, self.times_point(portable::joined(lengths), 1));
        }
        portable::tag(value, &self.hash.pad)
    }

    /// Takes the lengths back out: the value that is left is multiplied by the point once more than
    /// a hash in progress is.
    pub(crate) fn reopen(&mut self, lengths: [u64; 2]) {
        if self.closed {
            let lengths = self.times_point(portable::joined(lengths), 1);
            self.hash.state.h = portable::minus(self.hash.state.h, lengths);
            self.closed = false;
        }
    }

    /// Adds bytes to a block of which `at` bytes, fewer than 16, have been absorbed with zeros
    /// behind them.
    pub(crate) fn complete(&mut self, at: usize, bytes: &[u8]) {
        let rest = self.times_point(padded(bytes) << (8 * at), 0);
        let rest = portable::step(rest, 0, 0, self.hash.state.r);
        self.hash.state.h = portable::plus(self.hash.state.h, rest);
    }

    /// The hash in progress after the next block, which may be incomplete if it is the last.
    pub(crate) fn go_on(&mut self, block: &[u8]) -> &mut Poly1305 {
        let block = match block.try_into() {
            Ok(block) => u128::from_le_bytes(block),
            Err(_) => padded(block),
        };
        let first = self.times_point(block, 1);
        self.hash.state.h = portable::plus(self.hash.state.h, first);
        &mut self.hash
    }

    /// Ends what [`go_on`](Self::go_on) began: one multiplication more again.
    pub(crate) fn pause(&mut self) {
        portable::absorb_one(&mut self.hash.state, 0, 0);
    }

    /// A block, with `top` past its highest bit, times the point.
    fn times_point(&self, block: u128, top: u64) -> [u64; 3] {
        portable::step([0; 3], block, top, self.hash.state.r)
    }
}
