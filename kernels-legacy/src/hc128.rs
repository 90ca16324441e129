//! HC-128 (Wu, "The Stream Cipher HC-128", 2004; eSTREAM portfolio, profile 1).
//!
//! **Not constant time**: each word of keystream adds two table words that secret bytes choose, so
//! a program that shares the cache of this processor learns of them. This cipher is never a
//! default.
//!
//! Two tables of 512 words take turns: 512 steps change the one and draw on the other, then the
//! other way round. A key and nonce cost over a thousand steps to set up; words cost little then.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, Level, StreamCore, wipe};
use zeroize::ZeroizeOnDrop;

mod table;
pub(crate) mod x86_64;

use table::Table;

/// The levels that have a kernel of their own, lowest first.
pub const KERNELS: &[Level] = &[Level::Portable];

/// Words in a block.
const BLOCK_WORDS: u64 = 16;

/// Words that may be taken under one key and nonce: 2^64 bits.
const MOST: u64 = 1 << 59;

/// The stream core of HC-128; its words become bytes in little-endian order. Not constant time.
///
/// Requests of any length go through [`StreamCore`], single words through
/// [`next_word`](Self::next_word); both continue one stream. A block is 16 words, counted from the
/// start of the stream. A request begins at the very next word, and drops the rest of the block in
/// which it ends.
///
/// The state takes a little over 4 KiB and is wiped on drop. Its bytes may all be zero at any
/// moment: such a state still works, and its keystream is zeros.
#[repr(C, align(64))]
pub struct Hc128 {
    p: Table<false>,
    q: Table<true>,
    /// Words taken since set-up; the low 10 bits say which word of which table comes next.
    position: u64,
}

impl StreamCore for Hc128 {
    type Key = [u8; 16];
    type Nonce = [u8; 16];
    const BLOCK: usize = 64;

    #[inline]
    fn new(_: Isa, key: &[u8; 16], nonce: &[u8; 16]) -> Self {
        let mut core = Self { p: Table::ZERO, q: Table::ZERO, position: 0 };
        core.set_up(key, nonce);
        core
    }

    /// Whole blocks left of the 2^64 bits that the designer allows under one key and nonce.
    ///
    /// The keystream does not repeat after them.
    #[inline]
    fn remaining(&self) -> u64 {
        MOST.saturating_sub(self.position) / BLOCK_WORDS
    }

    fn keystream(&mut self, out: &mut [u8]) {
        self.apply::<false>(out.into());
    }

    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        self.apply::<true>(data);
    }
}

impl Hc128 {
    /// Words taken so far under this key and nonce.
    #[inline(always)]
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next word of keystream: one step, inlined into the caller, without a buffer.
    ///
    /// Not constant time, as all of this cipher.
    #[inline(always)]
    pub fn next_word(&mut self) -> u32 {
        let at = index(self.position);
        let first = in_first(self.position);
        self.position = self.position.wrapping_add(1);
        if first { self.p.step(at, &self.q) } else { self.q.step(at, &self.p) }
    }

    /// Fills both tables in place, then runs 1024 steps whose words replace the tables' own.
    fn set_up(&mut self, key: &[u8; 16], nonce: &[u8; 16]) {
        let mut words = [0; 16];
        let bytes = [key, key, nonce, nonce];
        let bytes = bytes.into_iter().flat_map(|bytes| bytes.as_chunks().0);
        for (word, &bytes) in words.iter_mut().zip(bytes) {
            *word = u32::from_le_bytes(bytes);
        }
        // The tables begin at word 256 of the expansion.
        for number in 1..16 {
            expand(&mut words, 16 * number);
        }
        for (number, part) in (16..).zip(self.p.parts().chain(self.q.parts())) {
            expand(&mut words, 16 * number);
            *part = words;
        }
        wipe::words(&mut words);

        for at in 0..512 {
            self.p.replace(at, &self.q);
        }
        for at in 0..512 {
            self.q.replace(at, &self.p);
        }
    }

    /// Writes keystream over `data`, or XORs it in.
    #[inline]
    fn apply<const XOR: bool>(&mut self, mut data: InOutBuf<'_, '_, u8>) {
        if data.is_empty() {
            return;
        }
        if !self.position.is_multiple_of(BLOCK_WORDS) {
            data = self.finish_block::<XOR>(data);
        }
        while data.len() >= 64 {
            let at = index(self.position);
            let words = (512 - at).min(data.len() / 64 * 16);
            let (part, rest) = data.split_at(4 * words);
            if in_first(self.position) {
                blocks::<_, _, XOR>(&mut self.p, at, &self.q, part);
            } else {
                blocks::<_, _, XOR>(&mut self.q, at, &self.p, part);
            }
            self.position = self.position.wrapping_add(words as u64);
            data = rest;
        }
        if !data.is_empty() {
            let mut block = [0; 64];
            self.apply::<false>((&mut block[..]).into());
            put::<XOR>(&block, data);
        }
    }

    /// Single steps to the end of a block that [`Hc128::next_word`] has begun; returns the rest of
    /// `data`.
    #[cold]
    fn finish_block<'i, 'o, const XOR: bool>(
        &mut self,
        mut data: InOutBuf<'i, 'o, u8>,
    ) -> InOutBuf<'i, 'o, u8> {
        while !self.position.is_multiple_of(BLOCK_WORDS) {
            let word = self.next_word();
            data = put::<XOR>(&word.to_le_bytes(), data);
        }
        data
    }
}

/// Sixteen steps of `table` for each 64 bytes of `data`, from the word `at` on, a multiple of 16:
/// writes keystream there, or XORs it in. `data` is whole blocks; they end where the table does, or
/// before.
#[inline]
fn blocks<const SECOND: bool, const OTHER: bool, const XOR: bool>(
    table: &mut Table<SECOND>,
    at: usize,
    other: &Table<OTHER>,
    data: InOutBuf<'_, '_, u8>,
) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has SSE2.
    unsafe {
        x86_64::sse2::blocks::<SECOND, OTHER, XOR>(table, at, other, data);
    }
    #[cfg(not(target_arch = "x86_64"))]
    table.blocks::<OTHER, XOR>(at, other, data);
}

/// The place in its table of the word at `position`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "only the low 9 bits are meant")]
fn index(position: u64) -> usize {
    position as usize % 512
}

/// Whether the word at `position` is one of the first table.
#[inline(always)]
fn in_first(position: u64) -> bool {
    position & 512 == 0
}

/// The next 16 words of the key expansion, from the 16 before them; `number` is the first's.
#[inline]
fn expand(words: &mut [u32; 16], number: u32) {
    // All places are known when compiled; computing them here would cost as much as the words.
    expand_four::<0>(words, number);
    expand_four::<4>(words, number + 4);
    expand_four::<8>(words, number + 8);
    expand_four::<12>(words, number + 12);
}

/// Four of them, from the place `AT` on; `number` is the first's.
#[inline(always)]
fn expand_four<const AT: usize>(words: &mut [u32; 16], number: u32) {
    for (k, number) in (AT..AT + 4).zip(number..) {
        let [near, far] = [words[(k + 14) % 16], words[(k + 1) % 16]];
        let f1 = far.rotate_right(7) ^ far.rotate_right(18) ^ (far >> 3);
        let f2 = near.rotate_right(17) ^ near.rotate_right(19) ^ (near >> 10);
        let sum = words[k].wrapping_add(words[(k + 9) % 16]).wrapping_add(number);
        words[k] = sum.wrapping_add(f1).wrapping_add(f2);
    }
}

/// Writes keystream over the front of `data`, or XORs it in. Returns the rest of `data`.
#[inline]
fn put<'i, 'o, const XOR: bool>(stream: &[u8], data: InOutBuf<'i, 'o, u8>) -> InOutBuf<'i, 'o, u8> {
    let len = data.len().min(stream.len());
    let (mut part, rest) = data.split_at(len);
    if XOR {
        part.xor_in2out(&stream[..len]);
    } else {
        part.get_out().copy_from_slice(&stream[..len]);
    }
    rest
}

impl Drop for Hc128 {
    #[inline]
    fn drop(&mut self) {
        self.p.wipe();
        self.q.wipe();
        self.position = 0;
    }
}

impl ZeroizeOnDrop for Hc128 {}

impl fmt::Debug for Hc128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hc128").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_counts_whole_blocks_to_the_end() {
        let mut core = Hc128::new(Isa::PORTABLE, &[1; 16], &[2; 16]);
        assert_eq!(core.remaining(), 1 << 55);
        core.position = MOST - 33;
        assert_eq!(core.remaining(), 2);
        core.next_word();
        core.next_word();
        assert_eq!(core.remaining(), 1);
        core.keystream(&mut [0; 60]);
        assert_eq!(core.remaining(), 1);
        core.keystream(&mut [0; 1]);
        assert_eq!(core.remaining(), 0);
        core.next_word();
        assert_eq!(core.remaining(), 0);
    }
}
