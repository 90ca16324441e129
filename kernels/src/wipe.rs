//! Wiping of the traces of a computation: memory, stack and vector registers.
//!
//! Keyed states wipe themselves when they are dropped. Callers wipe what kernels leave on the stack
//! and in registers, once a batch and not once a call, with [`stack`] and [`registers`].

mod aarch64;
mod x86_64;

use core::mem::MaybeUninit;

#[cfg(target_arch = "aarch64")]
use self::aarch64 as processor;
#[cfg(target_arch = "x86_64")]
use self::x86_64 as processor;
use crate::opaque::observe;

/// Overwrites `bytes` with zeros, even when nothing reads them again.
///
/// As fast as `memset`: wiping a key schedule byte by byte would cost more than expanding it.
#[inline]
pub fn memory(bytes: &mut [u8]) {
    words(bytes);
}

/// Overwrites plain integers with zeros, even when nothing reads them again.
#[inline]
pub fn words<T: Copy + Default>(words: &mut [T]) {
    // The C library's function for AVX-512 stores under a mask even if there is nothing to store.
    // The address of an empty list is no memory, and such a store costs hundreds of cycles there.
    if words.is_empty() {
        return;
    }
    words.fill(T::default());
    observe(words);
}

/// The most bytes of stack that a call of any kernel of this build uses, together with the layers
/// above it.
///
/// The lists of batches need most of it.
pub const DEPTH: usize = 44 << 10;

/// Overwrites the `N` bytes of stack below the caller's frame with zeros.
///
/// This removes all data that functions left there, down to that depth, before they returned.
#[inline(never)]
pub fn stack<const N: usize>() {
    let mut frame = [const { MaybeUninit::<u8>::uninit() }; N];
    frame.fill(MaybeUninit::new(0));
    observe(&mut frame);
}

/// The most bytes of stack that the set-up of a key uses with AES instructions, or if the key is
/// kept as it comes. Unoptimised code takes more.
pub const SHALLOW: usize = if cfg!(debug_assertions) { DEEP } else { 192 };

/// The same for all other set-ups: bitsliced kernels, Serpent, DES.
pub const DEEP: usize = 4 << 10;

/// Clears the traces of the set-up of a key: `N` bytes of stack below the caller's frame, all
/// vector registers, and the general purpose registers that a call need not preserve.
///
/// The caller has called the function that set up the key, and its own frame holds nothing of the
/// key.
#[inline(always)]
pub fn set_up<const N: usize>() {
    processor::clear_set_up::<N>();
}

/// Calls [`set_up`] when it is dropped, for a caller that returns the value that was set up. If the
/// caller kept that value in a variable until the stack was cleared, it would be moved from there
/// and leave a copy.
#[derive(Debug)]
#[must_use = "it clears when it is dropped"]
pub struct SetUp<const SHALLOW: usize, const DEEP: usize> {
    shallow: bool,
}

impl<const SHALLOW: usize, const DEEP: usize> SetUp<SHALLOW, DEEP> {
    /// Clears `SHALLOW` bytes of stack if the set-up is a shallow one, else `DEEP`.
    #[inline(always)]
    pub const fn new(shallow: bool) -> Self {
        Self { shallow }
    }
}

impl<const SHALLOW: usize, const DEEP: usize> Drop for SetUp<SHALLOW, DEEP> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.shallow { set_up::<SHALLOW>() } else { set_up::<DEEP>() }
    }
}

/// The bytes of stack to clear after a set-up that uses `depth` bytes and returns a value of
/// `value` bytes.
#[must_use]
pub const fn below(value: usize, depth: usize) -> usize {
    (value + depth).next_multiple_of(64)
}

/// Clears every vector register of this processor, and the general purpose registers that a call
/// may change.
///
/// The kernels that ran are not the only users: the C library copies memory with the widest
/// registers of the processor.
#[inline]
pub fn registers() {
    processor::clear();
    processor::clear_general();
}

/// Processors whose registers nothing clears.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod processor {
    pub(super) use super::stack as clear_set_up;

    pub(super) const fn clear() {}

    pub(super) const fn clear_general() {}
}
