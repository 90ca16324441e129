//! The common parts of ChaCha and Salsa20: keys, the counter, and blocks of sixteen words of 32
//! bits. Kernels keep a block in one lane of sixteen registers, or as four rows.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

#[cfg(feature = "isa-avx512")]
use crate::opaque;
use crate::wipe;

#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[macro_use]
mod words;
pub mod aarch64;
pub mod lanes;
pub mod x86_64;

/// A key of ChaCha or Salsa20, of 32 bytes or of 16 (every core takes both). Wiped on drop.
pub struct Key {
    /// The constant that tells the key sizes apart, then the key.
    pub words: [u32; 12],
}

impl From<&[u8; 32]> for Key {
    #[inline]
    fn from(bytes: &[u8; 32]) -> Self {
        Self { words: words(b"expand 32-byte k", bytes) }
    }
}

impl From<&[u8; 16]> for Key {
    #[inline]
    fn from(bytes: &[u8; 16]) -> Self {
        let mut twice = [0; 32];
        twice[..16].copy_from_slice(bytes);
        twice[16..].copy_from_slice(bytes);
        let key = Self { words: words(b"expand 16-byte k", &twice) };
        wipe::memory(&mut twice);
        key
    }
}

impl From<[u8; 32]> for Key {
    #[inline]
    fn from(mut bytes: [u8; 32]) -> Self {
        let key = Self::from(&bytes);
        wipe::memory(&mut bytes);
        key
    }
}

impl From<[u8; 16]> for Key {
    #[inline]
    fn from(mut bytes: [u8; 16]) -> Self {
        let key = Self::from(&bytes);
        wipe::memory(&mut bytes);
        key
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

/// The numbers of rounds that the cores are tested with; no other number compiles.
pub const NUMBERS_OF_ROUNDS: [usize; 3] = [8, 12, 20];

const fn is_listed(rounds: usize) -> bool {
    let mut at = 0;
    while at < NUMBERS_OF_ROUNDS.len() {
        if NUMBERS_OF_ROUNDS[at] == rounds {
            return true;
        }
        at += 1;
    }
    false
}

/// The start of a keystream, or the position where it continues. Wiped on drop.
///
/// Counter and nonce are numbers of 64 bits, so that a kernel reads a new counter as it was
/// written. A vector load across two recent stores would wait until both are in the cache.
pub struct State {
    /// The constant and the key.
    pub key: [u32; 12],
    /// The counter, or a counter of 32 bits in the low half and the nonce's first word.
    pub counter: u64,
    /// The nonce, or its last two words.
    pub nonce: u64,
    /// Half the number of rounds.
    pub double_rounds: usize,
}

impl State {
    /// The state for a key and the last row, counter and nonce.
    #[inline]
    pub fn new<const ROUNDS: usize>(key: &Key, [counter, nonce]: [u64; 2]) -> Self {
        const { assert!(is_listed(ROUNDS), "a number of NUMBERS_OF_ROUNDS") };
        Self { key: key.words, counter, nonce, double_rounds: ROUNDS / 2 }
    }
}

impl Drop for State {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.key);
    }
}

/// The counter's bits in [`State::counter`], when it has 32.
pub const LOW: u64 = u32::MAX as u64;

/// The first number of the last row, `blocks` later; the counter has 64 bits when `wide`, else 32.
#[inline]
pub fn later(counter: u64, blocks: u64, wide: bool) -> u64 {
    let sum = counter.wrapping_add(blocks);
    if wide { sum } else { (counter & !LOW) | (sum & LOW) }
}

/// The low and the high word.
#[inline]
pub fn halves(number: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// The constant and the key as little-endian words.
#[inline]
fn words(constant: &[u8; 16], key: &[u8; 32]) -> [u32; 12] {
    let mut words = [0; 12];
    let bytes = constant.as_chunks().0.iter().chain(key.as_chunks().0);
    for (word, &bytes) in words.iter_mut().zip(bytes) {
        *word = u32::from_le_bytes(bytes);
    }
    words
}

/// A block of keystream: the result `x` of the rounds, added to the state.
#[inline]
pub fn block(x: [u32; 16], state: &[u32; 16]) -> [u8; 64] {
    let mut block = [0; 64];
    for ((out, x), start) in block.as_chunks_mut().0.iter_mut().zip(x).zip(state) {
        *out = x.wrapping_add(*start).to_le_bytes();
    }
    block
}

/// Writes a block over the front of `data`, or XORs it in. Returns the rest of `data`.
#[inline]
pub fn put<'i, 'o, const XOR: bool>(
    block: &[u8; 64],
    data: InOutBuf<'i, 'o, u8>,
) -> InOutBuf<'i, 'o, u8> {
    let len = data.len().min(64);
    let (mut part, rest) = data.split_at(len);
    if XOR {
        part.xor_in2out(&block[..len]);
    } else {
        part.get_out().copy_from_slice(&block[..len]);
    }
    rest
}

/// The same data, with their two addresses in separate registers.
///
/// The compiler would otherwise load both together into a vector register. Such a load waits when
/// its halves have just been stored one by one, as arguments are.
#[cfg(feature = "isa-avx512")]
#[inline]
pub fn taken<'i, 'o>(data: InOutBuf<'i, 'o, u8>) -> InOutBuf<'i, 'o, u8> {
    let len = data.len();
    let (input, output) = data.into_raw();
    let input = opaque::pointer(input);
    // SAFETY: pointers and length are those of the buffer that came in.
    unsafe { InOutBuf::from_raw(input, output, len) }
}

/// Whether the low word of the counter wraps within `bytes` of keystream, made in passes over at
/// most 16 lanes.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[inline]
pub fn wraps(counter: u64, bytes: usize) -> bool {
    let blocks = (bytes / 64) as u64 + 16;
    (counter & LOW) + blocks > 1 << 32
}
