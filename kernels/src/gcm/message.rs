//! A message in pieces, and the counter that wraps in 32 bits. Constant time in key and data.

use core::fmt;
use core::slice::from_mut;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::{OPEN, PART, SEAL, lengths};
use crate::aes::RoundKeys;
use crate::{Isa, aes, ghash, wipe};

/// A message in progress: counter, hash, lengths, the incomplete block.
///
/// It holds secrets and wipes them on drop. Plaintext that a program reads before it has compared
/// the tag may be forged.
#[derive(Clone)]
pub struct Message {
    /// The counter blocks of the tag and of the next block of data, as numbers. Secret if a nonce
    /// was hashed to them: block and nonce together reveal the hash key.
    first: u128,
    next: u128,
    sum: [u8; 16],
    /// Keystream of the incomplete block of data.
    stream: [u8; 16],
    /// The part of a block of associated data or ciphertext that is still to be hashed.
    block: [u8; 16],
    /// Bytes so far.
    aad: u64,
    data: u64,
}

impl Message {
    #[inline]
    pub(super) fn new(first: u128) -> Self {
        Self::in_progress(first, counted(first, 1), [0; 16], [0, 0])
    }

    /// A message after whole blocks of data, if any: `sizes` are the bytes of associated data and
    /// of data.
    #[inline]
    pub(super) fn in_progress(
        first: u128,
        next: u128,
        sum: [u8; 16],
        [aad, data]: [u64; 2],
    ) -> Self {
        Self { first, next, sum, stream: [0; 16], block: [0; 16], aad, data }
    }

    pub(super) fn absorb(&mut self, hash: &ghash::Key, aad: &[u8]) {
        debug_assert!(self.data == 0, "associated data come before data");
        let at = begun(self.aad);
        self.aad += aad.len() as u64;
        let mut aad = aad;
        if at > 0 {
            let (now, rest) = aad.split_at(aad.len().min(16 - at));
            aad = rest;
            self.block[at..at + now.len()].copy_from_slice(now);
            if at + now.len() < 16 {
                return;
            }
            hash.absorb(&mut self.sum, &[self.block]);
        }
        let (whole, rest) = aad.as_chunks();
        hash.absorb(&mut self.sum, whole);
        self.block = padded(rest);
    }

    pub(super) fn crypt<const MODE: bool>(
        &mut self,
        hash: &ghash::Key,
        keys: &RoundKeys,
        data: InOutBuf<'_, '_, u8>,
    ) {
        if data.is_empty() {
            return;
        }
        if self.data == 0 && begun(self.aad) > 0 {
            hash.absorb(&mut self.sum, &[self.block]);
        }
        let at = begun(self.data);
        self.data += data.len() as u64;
        let mut data = data;
        if at > 0 {
            let length = data.len().min(16 - at);
            let (now, rest) = data.split_at(length);
            data = rest;
            self.crypt_part::<MODE>(at, now);
            if at + length < 16 {
                return;
            }
            hash.absorb(&mut self.sum, &[self.block]);
        }
        let whole = data.len() / 16 * 16;
        let (mut whole, rest) = data.split_at(whole);
        while !whole.is_empty() {
            let length = whole.len().min(PART);
            let (mut part, after) = whole.split_at(length);
            whole = after;
            if MODE == OPEN {
                hash.absorb(&mut self.sum, part.get_in().as_chunks().0);
            }
            self.next = ctr::<ANY>(hash.isa(), keys, self.next, part.reborrow());
            if MODE == SEAL {
                hash.absorb(&mut self.sum, part.get_out().as_chunks().0);
            }
        }
        if !rest.is_empty() {
            self.stream = [0; 16];
            self.next = ctr::<ANY>(hash.isa(), keys, self.next, (&mut self.stream[..]).into());
            self.block = [0; 16];
            self.crypt_part::<MODE>(0, rest);
        }
    }

    /// Bytes from `at` on of the incomplete block, and none past its end.
    fn crypt_part<const MODE: bool>(&mut self, at: usize, mut data: InOutBuf<'_, '_, u8>) {
        let places = at..at + data.len();
        if MODE == OPEN {
            self.block[places.clone()].copy_from_slice(data.get_in());
        }
        data.xor_in2out(&self.stream[places.clone()]);
        if MODE == SEAL {
            self.block[places].copy_from_slice(data.get_out());
        }
    }

    pub(super) fn finish(mut self, hash: &ghash::Key, keys: &RoundKeys) -> [u8; 16] {
        let lengths = lengths(self.aad, self.data).to_be_bytes();
        // If there are no data yet, only associated data can be incomplete.
        if begun(if self.data == 0 { self.aad } else { self.data }) > 0 {
            hash.absorb(&mut self.sum, &[self.block, lengths]);
        } else {
            hash.absorb(&mut self.sum, &[lengths]);
        }
        let mut tag = self.sum;
        let _next = ctr::<ANY>(hash.isa(), keys, self.first, (&mut tag[..]).into());
        tag
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Message");
        f.field("aad", &self.aad).field("data", &self.data).finish_non_exhaustive()
    }
}

impl Message {
    fn wipe(&mut self) {
        wipe::words(from_mut(&mut self.first));
        wipe::words(from_mut(&mut self.next));
        wipe::memory(&mut self.sum);
        wipe::memory(&mut self.stream);
        wipe::memory(&mut self.block);
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for Message {}

/// Bytes of the incomplete block.
#[inline]
fn begun(bytes: u64) -> usize {
    (bytes % 16) as usize
}

/// Fewer than 16 bytes, and zeros behind them.
#[inline]
fn padded(bytes: &[u8]) -> [u8; 16] {
    let mut block = [0; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

/// Whole blocks, and the rest with zeros behind it.
pub(super) fn absorb(hash: &ghash::Key, sum: &mut [u8; 16], data: &[u8]) {
    let (blocks, rest) = data.as_chunks();
    hash.absorb(sum, blocks);
    if !rest.is_empty() {
        hash.absorb(sum, &[padded(rest)]);
    }
}

/// The first counter block for a nonce that is not of 96 bits (section 7.1).
pub(super) fn hashed(hash: &ghash::Key, nonce: &[u8]) -> [u8; 16] {
    let mut sum = [0; 16];
    absorb(hash, &mut sum, nonce);
    hash.absorb(&mut sum, &[lengths(0, nonce.len() as u64).to_be_bytes()]);
    sum
}

/// The counter block `blocks` blocks later: the lower 32 bits count, and wrap (section 6.2).
#[inline]
pub(super) fn counted(counter: u128, blocks: u64) -> u128 {
    let next = low(u128::from(low(counter)) + u128::from(blocks));
    counter - u128::from(low(counter)) + u128::from(next)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower 32 bits are meant")]
fn low(counter: u128) -> u32 {
    counter as u32
}

/// Blocks from `counter` until the 32 bits are zero again, at least one.
#[inline]
pub(super) fn until_wrap(counter: u128) -> u64 {
    (1 << 32) - u64::from(low(counter))
}

/// Whether the counter wraps in a message of `bytes` bytes; `first` is the counter block of the
/// tag.
#[inline]
pub(super) fn wraps(first: u128, bytes: usize) -> bool {
    bytes.div_ceil(16) as u64 + 1 > until_wrap(first)
}

/// The levels whose kernels of AES run: all, or those without AES instructions, for a program that
/// has one pass for the others.
pub(super) const ANY: bool = false;
pub(super) const LOW: bool = true;

/// XORs keystream from `counter` on into `data`, and returns the next counter block. The rest of a
/// last part block is dropped.
#[expect(clippy::cast_possible_truncation, reason = "no more blocks than the message has")]
pub(super) fn ctr<const LEVELS: bool>(
    isa: Isa,
    keys: &RoundKeys,
    counter: u128,
    data: InOutBuf<'_, '_, u8>,
) -> u128 {
    let (mut counter, mut data) = (counter, data);
    loop {
        let blocks = until_wrap(counter).min(data.len().div_ceil(16) as u64);
        let length = data.len().min((blocks as usize).saturating_mul(16));
        let (part, rest) = data.split_at(length);
        // Not even 32 bits wrap before the end of the part.
        aes::ctr::xor_from::<LEVELS>(isa, keys, counter, part);
        counter = counted(counter, blocks);
        if rest.is_empty() {
            return counter;
        }
        data = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcm::AesGcm;
    use crate::{Aead, Incremental};

    /// For a hashed nonce, the counter blocks too.
    #[test]
    fn nothing_is_left_but_lengths() {
        let gcm = AesGcm::<128>::new(Isa::PORTABLE, &[1; 16]);
        let mut message = gcm.begin_from(&gcm.counter_block(&[2; 20]));
        message.associate(&gcm, &[3; 5]);
        message.encrypt(&gcm, (&mut [4; 20][..]).into());
        assert!(message.first != 0 && message.next != 0);
        message.wipe();
        assert_eq!((message.first, message.next), (0, 0));
        assert_eq!([message.sum, message.stream, message.block], [[0; 16]; 3]);
    }
}
