//! Memory for a moment.

use lanecrypt_kernels::wipe;

/// Zeros of a length that is known at run time: on the stack up to `N` bytes, otherwise on the
/// heap. What was written there is wiped on drop.
pub(crate) struct Scratch<const N: usize> {
    short: [u8; N],
    long: Vec<u8>,
    length: usize,
}

impl<const N: usize> Scratch<N> {
    #[inline]
    pub(crate) fn new(length: usize) -> Self {
        let long = if length > N { vec![0; length] } else { Vec::new() };
        Self { short: [0; N], long, length }
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.short.get_mut(..self.length).unwrap_or(&mut self.long)
    }
}

impl<const N: usize> Drop for Scratch<N> {
    fn drop(&mut self) {
        wipe::memory(self.bytes());
    }
}
