//! The interface of stream cores, at the granularity of a request.

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::Isa;

/// A keyed generator of keystream.
///
/// The key is wiped when the core is dropped. Every method works on whole requests: one dispatch
/// on the instruction set per call, never per block.
pub trait StreamCore: Sized + ZeroizeOnDrop {
    /// The key, parsed from bytes once.
    type Key;
    /// The nonce; an array, so that its length cannot be wrong.
    type Nonce;
    /// Bytes of keystream that one step of the block counter yields.
    const BLOCK: usize;

    /// Expands `key` for the kernels of `isa`; the block counter starts at zero.
    fn new(isa: Isa, key: &Self::Key, nonce: &Self::Nonce) -> Self;

    /// Blocks left before the counter would repeat, saturating at `u64::MAX`.
    ///
    /// Callers must not request more: past this point the keystream would start again. The checked
    /// layer refuses such requests.
    fn remaining(&self) -> u64;

    /// Writes the next keystream bytes over `out`, which is never read.
    ///
    /// The rest of an incomplete last block is dropped: the next call starts at a fresh block.
    fn keystream(&mut self, out: &mut [u8]);

    /// XORs the next keystream bytes into `data`, in place or from one buffer to another.
    ///
    /// The rest of an incomplete last block is dropped: the next call starts at a fresh block.
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>);
}

/// A stream core that can jump to any block of its keystream.
pub trait Seek: StreamCore {
    /// Sets the block counter, so that the next keystream byte is the first of `block`.
    fn seek(&mut self, block: u64);
}
