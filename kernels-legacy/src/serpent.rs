//! Serpent (Anderson, Biham, Knudsen, "Serpent: A Proposal for the Advanced Encryption Standard",
//! 1998), with keys of 128, 192 or 256 bits.
//!
//! Bytes are in the order of the NESSIE test vectors, as in other libraries: each four make a
//! little-endian word, lowest word first. The files of the AES submission print the same numbers
//! with all bytes reversed.
//!
//! Constant time in key and data at every level: S-boxes are computed, not looked up. Kernels hold
//! one block in four words (`Portable`), or work on 8, 16 or 32 blocks at a time in registers of
//! 128, 256 and 512 bits.

#[macro_use]
mod circuit;
#[macro_use]
mod lanes;
#[macro_use]
#[cfg(feature = "_vectors")]
mod modes;
mod portable;
pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::isa::lowest;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::{BlockCipher, BlockEncrypt, Isa, Level, wipe};
use zeroize::ZeroizeOnDrop;

use self::lanes::sequential;

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::serpent, $($call)+: Avx512, Avx2, Ssse3, _ => portable) };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// A key of 16, 24 or 32 bytes. Wiped on drop.
///
/// Shorter keys are padded to 256 bits as the designers say, with one bit that is set and zeros;
/// all are equally fast.
pub struct Key {
    words: [u32; 8],
}

impl Key {
    #[inline]
    fn padded<const N: usize>(bytes: &[u8; N]) -> Self {
        const { assert!(N <= 32 && N.is_multiple_of(4)) };
        let mut words = [0; 8];
        for (word, &bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(bytes);
        }
        if let Some(next) = words.get_mut(N / 4) {
            *next = 1;
        }
        Self { words }
    }
}

impl From<&[u8; 16]> for Key {
    #[inline]
    fn from(bytes: &[u8; 16]) -> Self {
        Self::padded(bytes)
    }
}

impl From<&[u8; 24]> for Key {
    #[inline]
    fn from(bytes: &[u8; 24]) -> Self {
        Self::padded(bytes)
    }
}

impl From<&[u8; 32]> for Key {
    #[inline]
    fn from(bytes: &[u8; 32]) -> Self {
        Self::padded(bytes)
    }
}

impl Drop for Key {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.words);
    }
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

/// Serpent, keyed.
///
/// The key schedule is 33 round keys, 528 bytes, for every key size; it is wiped on drop. Constant
/// time in key and data; lengths and counters are public.
pub struct Serpent {
    keys: [[u32; 4]; 33],
    isa: Isa,
}

impl BlockEncrypt<16> for Serpent {
    type Key = Key;

    #[inline]
    fn empty(isa: Isa) -> Self {
        Self { keys: [[0; 4]; 33], isa }
    }

    #[inline]
    fn set_key(&mut self, key: &Key) {
        portable::expand(&key.words, &mut self.keys);
    }

    fn encrypt(&self, blocks: InOutBuf<'_, '_, [u8; 16]>) {
        let keys = &self.keys;
        best!(self.isa, encrypt(keys, blocks));
    }

    fn cbc_encrypt(&self, iv: &mut [u8; 16], blocks: InOutBuf<'_, '_, [u8; 16]>) {
        let keys = &self.keys;
        by_isa!(crate::serpent, self.isa, cbc_encrypt(keys, iv, blocks): Avx512, _ => portable);
    }

    fn ctr(&self, counter: &mut [u8; 16], data: InOutBuf<'_, '_, u8>) {
        let mut data = data;
        while !data.is_empty() {
            let (first, bytes) = advance(counter, data.len());
            let (part, rest) = data.split_at(bytes);
            self.xor_part(&first, part);
            data = rest;
        }
    }

    fn ctr_keystream(&self, counter: &mut [u8; 16], mut out: &mut [u8]) {
        while !out.is_empty() {
            let (first, bytes) = advance(counter, out.len());
            let (part, rest) = out.split_at_mut(bytes);
            self.write_part(&first, part);
            out = rest;
        }
    }
}

impl BlockCipher<16> for Serpent {
    fn decrypt(&self, blocks: InOutBuf<'_, '_, [u8; 16]>) {
        let keys = &self.keys;
        best!(self.isa, decrypt(keys, blocks));
    }

    fn cbc_decrypt(&self, iv: &mut [u8; 16], blocks: InOutBuf<'_, '_, [u8; 16]>) {
        let keys = &self.keys;
        best!(self.isa, cbc_decrypt(keys, iv, blocks));
    }
}

impl Serpent {
    /// Encrypts many messages (CBC; NIST SP 800-38A, section 6.2) side by side, each with its own
    /// key and initialization vector.
    ///
    /// Any number of messages of any lengths, none included. The result of each is that of
    /// [`cbc_encrypt`](BlockEncrypt::cbc_encrypt), and so is the cost of a single message. If the
    /// keys were expanded for different instruction sets, the lowest of them is used. Constant time
    /// in keys and data; lengths are public. Copies of round keys stay on the stack until
    /// [`wipe::stack`] clears it.
    pub fn cbc_encrypt_lanes(lanes: &mut [Lane<'_, Self, 16>]) {
        let Some(isa) = lowest(lanes.iter().map(|lane| lane.key.isa)) else { return };
        by_isa!(crate::serpent, isa, cbc_encrypt_lanes(lanes):
            Avx512, Avx2, Ssse3, _ => sequential);
    }

    /// Adds keystream to the data. The last word of the counter does not wrap within the request.
    #[inline]
    fn xor_part(&self, counter: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
        let keys = &self.keys;
        best!(self.isa, xor_stream(keys, counter, data));
    }

    /// Writes keystream. The last word of the counter does not wrap within the request.
    #[inline]
    fn write_part(&self, counter: &[u8; 16], out: &mut [u8]) {
        let keys = &self.keys;
        best!(self.isa, write_stream(keys, counter, out));
    }
}

/// Reserves the counter blocks of the next `bytes`. Returns the first counter, and the number of
/// bytes until its last word wraps, or all.
///
/// So kernels may add to the last word alone.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the last word of the counter is meant")]
fn advance(counter: &mut [u8; 16], bytes: usize) -> ([u8; 16], usize) {
    let first = *counter;
    let number = u128::from_be_bytes(first);
    let room = (1 << 32) - u64::from(number as u32);
    let blocks = (bytes.div_ceil(16) as u64).min(room);
    *counter = number.wrapping_add(u128::from(blocks)).to_be_bytes();
    (first, bytes.min((blocks as usize).saturating_mul(16)))
}

/// The words of a block.
#[inline]
fn words(block: &[u8; 16]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, &bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(bytes);
    }
    words
}

/// The block of these words.
#[inline]
fn bytes(words: [u32; 4]) -> [u8; 16] {
    let mut block = [0; 16];
    for (bytes, word) in block.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    block
}

impl fmt::Debug for Serpent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serpent").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl Drop for Serpent {
    #[inline]
    fn drop(&mut self) {
        wipe::words(self.keys.as_flattened_mut());
    }
}

impl ZeroizeOnDrop for Serpent {}

/// The S-boxes as the paper prints them.
#[cfg(test)]
mod published {
    const TABLES: [[i32; 16]; 8] = [
        [3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12],
        [15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4],
        [8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2],
        [0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14],
        [1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13],
        [15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1],
        [7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0],
        [1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6],
    ];

    /// The four words of a state whose column `i` holds the number `i`, in 16 columns.
    pub(super) const INPUTS: [i32; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];

    /// Asserts that these are what the eight S-boxes and their inverses make of the inputs.
    pub(super) fn check(results: [[i32; 4]; 16]) {
        let (forward, inverse) = results.split_at(8);
        for (number, table) in TABLES.iter().enumerate() {
            for (input, &output) in (0..16).zip(table) {
                let column = |words: &[i32; 4], at: i32| -> i32 {
                    (0..4).map(|i| (words[i] >> at & 1) << i).sum()
                };
                assert_eq!(column(&forward[number], input), output, "S{number} of {input}");
                assert_eq!(column(&inverse[number], output), input, "inverse of S{number}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecrypt_kernels::isa::reached::{self, assert_best};

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [[0; 16]; 3];
        let mut iv = [0; 16];
        let serpent = |isa| Serpent::new(isa, &Key::from(&[1; 24]));
        assert_best(KERNELS, |isa| serpent(isa).encrypt((&mut data[..]).into()));
        assert_best(KERNELS, |isa| serpent(isa).decrypt((&mut data[..]).into()));
        assert_best(KERNELS, |isa| serpent(isa).cbc_decrypt(&mut iv, (&mut data[..]).into()));
        let chains = &[Level::Portable, Level::Avx512];
        assert_best(chains, |isa| serpent(isa).cbc_encrypt(&mut iv, (&mut data[..]).into()));
        let data = data.as_flattened_mut();
        assert_best(KERNELS, |isa| serpent(isa).ctr(&mut iv, (&mut data[..]).into()));
        assert_best(KERNELS, |isa| serpent(isa).ctr_keystream(&mut iv, data));
    }

    #[test]
    fn every_level_reaches_its_lanes() {
        let mut data = [[[0; 16]; 3]; 40];
        assert_best(KERNELS, |isa| {
            let keys = [3, 4].map(|byte| Serpent::new(isa, &Key::from(&[byte; 32])));
            let lane = |(n, blocks)| Lane { key: &keys[n % 2], iv: &[7; 16], blocks };
            let blocks = data.iter_mut().map(|data| (&mut data[..]).into());
            let mut lanes: Vec<_> = blocks.enumerate().map(lane).collect();
            reached::forget();
            Serpent::cbc_encrypt_lanes(&mut lanes);
        });
    }

    #[test]
    fn requests_end_where_the_last_word_wraps() {
        let mut counter = [0xff; 16];
        assert_eq!(advance(&mut counter, 100), ([0xff; 16], 16));
        assert_eq!(counter, [0; 16]);
        assert_eq!(advance(&mut counter, 100), ([0; 16], 100));
        assert_eq!(counter[15], 7);
        counter[12..].copy_from_slice(&[0xff, 0xff, 0xff, 0xfd]);
        assert_eq!(advance(&mut counter, 48).1, 48);
        assert_eq!(counter[11..], [1, 0, 0, 0, 0]);
    }
}
