//! The null cipher: data stay unchanged.
//!
//! It protects nothing. It serves to measure the cost of a layer alone, and to test a layer.

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::{Isa, Level, Seek, StreamCore};

/// The levels that have a kernel of their own.
pub const KERNELS: &[Level] = &[Level::Portable];

/// A stream whose keystream is zero; it has neither key nor nonce.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl StreamCore for Null {
    type Key = ();
    type Nonce = ();
    const BLOCK: usize = 1;

    fn new(_isa: Isa, (): &(), (): &()) -> Self {
        Self
    }

    fn remaining(&self) -> u64 {
        u64::MAX
    }

    fn keystream(&mut self, out: &mut [u8]) {
        out.fill(0);
    }

    /// Copies; in place there is nothing to do.
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        let _copied = data.into_out_with_copied_in();
    }
}

impl Seek for Null {
    fn seek(&mut self, _block: u64) {}
}

// There is no key to wipe.
impl ZeroizeOnDrop for Null {}
