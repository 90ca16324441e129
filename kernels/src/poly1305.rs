//! Poly1305, the one-time authenticator (RFC 8439, section 2.5; Bernstein, "The Poly1305-AES
//! message-authentication code", 2005).
//!
//! Blocks of 16 bytes are the coefficients of a polynomial over the integers modulo 2^130 − 5. Its
//! value at a secret point, plus a secret number, is the tag.
//!
//! Constant time in key and data at every level: multiplications, additions, shifts and masks
//! only; branches depend on lengths alone.
//!
//! | level | form | blocks side by side |
//! |---|---|---|
//! | `Portable`, `Neon` | words of 64 bits, products of 128 bits | 1 |
//! | `Avx2` | five limbs of 26 bits | 4, or 8 of long data |
//! | `Avx512` | three limbs of 44 bits, products of 52-bit halves (IFMA) | 8, or 16 of long data |
//!
//! Requests of fewer than 20 blocks (`Avx512`) or 28 (`Avx2`) take the portable kernel: blocks side
//! by side need powers of the point, which would cost more than they save.

pub(crate) mod aarch64;
#[cfg(any(feature = "isa-avx2", feature = "isa-avx512"))]
mod limbs;
mod portable;
mod resumable;
pub(crate) mod x86_64;

use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::{Isa, Level, wipe};

pub(crate) use resumable::PartialHash;

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::poly1305, $($call)+: Avx512, Avx2, Neon, _ => portable) };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// The fewest blocks in one request for which the kernel of the level is faster.
#[inline]
const fn many(isa: Isa) -> usize {
    match isa.level() {
        Level::Avx512 => 20,
        level if level.includes(Level::Neon) => 1,
        _ => 28,
    }
}

/// Poly1305 under one key, with the sum of the blocks so far.
///
/// A key authenticates one message only: two tags under the same key reveal it. It is wiped on
/// drop, with the state.
#[derive(Clone)]
pub struct Poly1305 {
    state: State,
    /// Added at the end: the second half of the key.
    pad: [u8; 16],
    isa: Isa,
}

/// The state of kernels, in words of 64 bits, lowest first.
#[derive(Clone)]
pub(crate) struct State {
    /// The secret point.
    r: [u64; 2],
    /// The polynomial's value so far; the highest word may have 63 bits.
    h: [u64; 3],
}

impl Poly1305 {
    /// Takes a one-time key: the point, of which 22 bits are ignored, and the number that is added
    /// at the end.
    #[must_use]
    #[inline]
    pub fn new(isa: Isa, key: &[u8; 32]) -> Self {
        let [r, pad] = halves(key);
        Self { state: State { r: portable::point(r), h: [0; 3] }, pad: *pad, isa }
    }

    /// Absorbs whole blocks.
    #[inline]
    pub fn absorb(&mut self, blocks: &[[u8; 16]]) {
        let isa = if blocks.len() < many(self.isa) { Isa::PORTABLE } else { self.isa };
        let state = &mut self.state;
        best!(isa, absorb(state, blocks));
    }

    /// Absorbs `bytes` and as many zeros as fill the last block, none if it is full: each part of
    /// an AEAD's message (RFC 8439, section 2.8).
    #[inline]
    pub fn absorb_padded(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        self.absorb(blocks);
        if !rest.is_empty() {
            portable::absorb_one(&mut self.state, padded(rest), 1);
        }
    }

    /// Absorbs the end of a message of any length: whole blocks, and a last one that may be
    /// shorter. A shorter one differs from one with zeros at its end (RFC 8439, section 2.5).
    ///
    /// After a shorter block only [`tag`](Self::tag) may follow: later bytes would begin a new
    /// block, and the tag would not be that of Poly1305.
    #[inline]
    pub fn absorb_last(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        self.absorb(blocks);
        if !rest.is_empty() {
            // The bit past its highest lies within the block.
            let block = padded(rest) | 1 << (8 * rest.len());
            portable::absorb_one(&mut self.state, block, 0);
        }
    }

    /// Absorbs a whole block that is a little-endian number already. No dispatch: the next block
    /// waits for this one in every kernel.
    #[inline(always)]
    pub(crate) fn absorb_number(&mut self, block: u128) {
        portable::absorb_one(&mut self.state, block, 1);
    }

    /// Absorbs `bytes` as [`absorb_padded`](Self::absorb_padded) does, for bytes that are too few
    /// for a kernel with blocks side by side. No dispatch.
    #[inline(always)]
    pub(crate) fn absorb_few(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        portable::absorb(&mut self.state, blocks);
        if !rest.is_empty() {
            self.absorb_number(padded(rest));
        }
    }

    /// The secret point, and the words of the value so far, for kernels that hash beside a cipher.
    #[cfg(any(feature = "isa-avx2", target_arch = "aarch64"))]
    #[inline(always)]
    pub(crate) fn point_and_value(&mut self) -> ([u64; 2], &mut [u64; 3]) {
        (self.state.r, &mut self.state.h)
    }

    /// The state, for calls of a kernel without dispatch.
    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    pub(crate) fn state(&mut self) -> &mut State {
        &mut self.state
    }

    /// Copies the hash, which has ended, into the place for it, if there is one.
    #[inline(always)]
    pub(crate) fn keep(&self, place: Option<&mut PartialHash>) {
        if let Some(partial) = place {
            partial.set(self.state.r, self.state.h, u128::from_le_bytes(self.pad));
        }
    }

    /// The tag of all that has been absorbed.
    ///
    /// The layers above compare tags, in constant time.
    #[must_use]
    #[inline]
    pub fn tag(self) -> [u8; 16] {
        portable::tag(self.state.h, &self.pad)
    }
}

/// The two halves of a key.
#[inline]
fn halves(key: &[u8; 32]) -> [&[u8; 16]; 2] {
    match key.as_chunks().0 {
        [front, back] => [front, back],
        _ => unreachable!("32 bytes are two blocks"),
    }
}

/// A block of fewer than 16 bytes with zeros after them, as a little-endian number.
///
/// Two loads that may overlap. A copy of unknown length would be a call, and the load after it
/// would wait until the bytes are in the cache.
#[inline]
pub(crate) fn padded(rest: &[u8]) -> u128 {
    let end = 8 * rest.len();
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        let [first, last] = [first, last].map(|&bytes| u128::from(u64::from_le_bytes(bytes)));
        return first | last << (end - 64);
    }
    if let (Some(first), Some(last)) = (rest.first_chunk(), rest.last_chunk()) {
        let [first, last] = [first, last].map(|&bytes| u128::from(u32::from_le_bytes(bytes)));
        return first | last << (end - 32);
    }
    rest.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

impl Drop for Poly1305 {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.state.r);
        wipe::words(&mut self.state.h);
        wipe::memory(&mut self.pad);
    }
}

impl ZeroizeOnDrop for Poly1305 {}

impl fmt::Debug for Poly1305 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poly1305").field("isa", &self.isa).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::assert_best;

    /// Enough for every kernel.
    const MANY: usize = 28;

    #[test]
    fn many_blocks_reach_the_best_kernel() {
        assert_best(KERNELS, |isa| Poly1305::new(isa, &[1; 32]).absorb(&[[2; 16]; MANY]));
        assert_best(KERNELS, |isa| Poly1305::new(isa, &[1; 32]).absorb_padded(&[2; 16 * MANY]));
        assert_best(KERNELS, |isa| Poly1305::new(isa, &[1; 32]).absorb_last(&[2; 16 * MANY + 1]));
    }

    #[test]
    fn few_blocks_take_a_kernel_of_one_block() {
        let few = [[2; 16]; 19];
        assert_best(&[Level::Portable, Level::Neon], |isa| {
            Poly1305::new(isa, &[1; 32]).absorb(&few);
        });
    }
}
