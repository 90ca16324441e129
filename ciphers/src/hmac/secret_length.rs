//! The code of a message whose length is secret.

use core::slice;

use lanecrypt_kernels::wipe;

use super::{Code, Hash, Key, Message};
use crate::masks;

impl<H: Hash<BLOCK>, const BLOCK: usize> Key<H, BLOCK> {
    /// The code of `message` and the first `length` bytes of `data`: at least `shortest`, and at
    /// most all of them.
    ///
    /// Constant time in `length`: every block in which the message may end is compressed, and the
    /// hash is taken from the one in which it does. The length of `data` and `shortest` are public,
    /// as is the length of `message`.
    pub(crate) fn finish_secret(
        &self,
        mut message: Message<H, BLOCK>,
        data: &[u8],
        shortest: usize,
        length: usize,
    ) -> Code {
        let (certain, rest) = data.split_at(shortest);
        message.update(certain);
        let length = length.wrapping_sub(shortest);
        let filled = message.filled;
        let bits = 8 * (message.hashed + (filled + length) as u64);
        // Behind the message come a byte and its length.
        let blocks = (filled + rest.len() + 1 + H::LENGTH_FIELD).div_ceil(BLOCK);
        let last = (filled + length + H::LENGTH_FIELD) / BLOCK;
        let mut inner = [0; BLOCK];
        let mut hash = [0; BLOCK];
        let mut block = message.block;
        for number in 0..blocks {
            let begin = if number == 0 { filled } else { 0 };
            let first = number * BLOCK + begin - filled;
            fill(&mut block[begin..], rest.get(first..).unwrap_or_default(), first, length);
            let is_last = masks::byte(masks::equal(number, last));
            for (to, from) in block[BLOCK - 8..].iter_mut().zip(bits.to_be_bytes()) {
                *to |= from & is_last;
            }
            H::compress(&mut message.state, slice::from_ref(&block));
            H::put(&message.state, &mut hash[..H::OUTPUT]);
            inner.iter_mut().zip(hash).for_each(|(to, from)| *to |= from & is_last);
        }
        wipe::memory(&mut hash);
        wipe::memory(&mut block);
        self.enclose_hash(&mut inner)
    }
}

/// Fills a part of a block with the data from position `first` on, as far as they are before
/// `length`; then the byte that ends the message, and zeros.
#[inline(always)]
fn fill(block: &mut [u8], data: &[u8], first: usize, length: usize) {
    for (at, to) in block.iter_mut().enumerate() {
        let byte = data.get(at).copied().unwrap_or(0);
        let is_data = masks::byte(masks::less(first + at, length));
        let is_end = masks::byte(masks::equal(first + at, length));
        *to = byte & is_data | 0x80 & is_end;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sha1, Sha256, Sha384};
    use super::*;

    fn check<H: Hash<BLOCK>, const BLOCK: usize>() {
        let mut key = Key::<H, BLOCK>::empty();
        key.set(b"a key of some bytes");
        let data: Vec<u8> = (0..=255).cycle().take(700).collect();
        for begun in [0, 1, 13, BLOCK - 1, BLOCK] {
            for (shortest, longest) in [(0, 0), (0, 300), (200, 455), (445, 700), (700, 700)] {
                for length in shortest..=longest {
                    let start = || {
                        let mut message = key.begin();
                        message.update(&data[..begun]);
                        message
                    };
                    let mut plain = start();
                    plain.update(&data[..length]);
                    let (expected, mut made) = (key.finish(plain), [0; 48]);
                    expected.put(&mut made);
                    let code = key.finish_secret(start(), &data[..longest], shortest, length);
                    assert_eq!(code.0, made, "{length} of {shortest} to {longest} after {begun}");
                }
            }
        }
    }

    #[test]
    fn a_secret_length_gives_the_same_code() {
        check::<Sha1, 64>();
        check::<Sha256, 64>();
        check::<Sha384, 128>();
    }
}
