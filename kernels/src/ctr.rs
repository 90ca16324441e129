//! Counter mode of any block cipher, as a stream core.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::{BlockEncrypt, Isa, Seek, StreamCore};

/// The block cipher `C` in counter mode (NIST SP 800-38A, section 6.5).
///
/// The nonce is the first counter block, a big-endian number. Each block adds one to the whole of
/// it, and it wraps. As constant time as `C` is; counter and length are public.
pub struct Ctr<C, const N: usize> {
    cipher: C,
    /// The first counter block.
    nonce: [u8; N],
    /// The next one.
    counter: [u8; N],
    /// Blocks generated since the first, or the block of the last [`Seek::seek`]; 2^64 at most.
    position: u128,
}

impl<C: BlockEncrypt<N>, const N: usize> StreamCore for Ctr<C, N> {
    type Key = C::Key;
    type Nonce = [u8; N];
    const BLOCK: usize = N;

    #[inline]
    fn new(isa: Isa, key: &Self::Key, nonce: &Self::Nonce) -> Self {
        Self { cipher: C::new(isa, key), nonce: *nonce, counter: *nonce, position: 0 }
    }

    /// Blocks of eight bytes repeat after 2^64; larger ones later, but no stream is as long.
    fn remaining(&self) -> u64 {
        u64::try_from((1 << 64) - self.position).unwrap_or(u64::MAX)
    }

    fn keystream(&mut self, out: &mut [u8]) {
        self.position += out.len().div_ceil(N) as u128;
        self.cipher.ctr_keystream(&mut self.counter, out);
    }

    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        self.position += data.len().div_ceil(N) as u128;
        self.cipher.ctr(&mut self.counter, data);
    }
}

impl<C: BlockEncrypt<N>, const N: usize> Seek for Ctr<C, N> {
    fn seek(&mut self, block: u64) {
        self.position = u128::from(block);
        self.counter = self.nonce;
        add_to_counter(&mut self.counter, block);
    }
}

/// Adds to a counter block, a big-endian number of any length, which wraps as a whole.
pub fn add_to_counter(counter: &mut [u8], mut number: u64) {
    let mut carry = 0;
    for byte in counter.iter_mut().rev() {
        let [low, ..] = number.to_le_bytes();
        let sum = u16::from(*byte) + u16::from(low) + carry;
        [*byte, _] = sum.to_le_bytes();
        carry = sum >> 8;
        number >>= 8;
    }
}

impl<C, const N: usize> fmt::Debug for Ctr<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctr").finish_non_exhaustive()
    }
}

// The cipher wipes itself; counters are public.
impl<C: ZeroizeOnDrop, const N: usize> ZeroizeOnDrop for Ctr<C, N> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_with_carries_and_wrap() {
        let mut counter = [0xff; 8];
        add_to_counter(&mut counter, 1);
        assert_eq!(counter, [0; 8]);
        let mut counter = [0; 16];
        add_to_counter(&mut counter, u64::MAX);
        add_to_counter(&mut counter, 1);
        assert_eq!(u128::from_be_bytes(counter), 1 << 64);
        let mut counter = (u128::MAX - 5).to_be_bytes();
        add_to_counter(&mut counter, 0x0102_0304_0506_0708);
        assert_eq!(u128::from_be_bytes(counter), 0x0102_0304_0506_0708 - 6);
    }
}
