//! ARC4 (alleged RC4, 1994; test vectors in RFC 6229).
//!
//! **Broken**: its keystream can be distinguished from random bytes, the first bytes leak the key,
//! and RFC 7465 forbids it in TLS. It is here for comparison with old systems, never for new ones.
//!
//! **Not constant time**: table look-ups at secret places, and time that depends on them.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, Level, StreamCore};
use zeroize::ZeroizeOnDrop;

mod table;

use table::Table;

/// The levels that have a kernel of their own, lowest first.
pub const KERNELS: &[Level] = &[Level::Portable];

/// The stream core of ARC4, wiped on drop. Broken, and not constant time.
///
/// There is no nonce, no counter and no block: no byte is dropped between requests. The state takes
/// a little over 1 KiB. Its bytes may all be zero at any moment: such a state still works, and its
/// keystream is zeros.
#[repr(C, align(64))]
pub struct Arc4 {
    table: Table,
    /// Both below 256.
    i: u32,
    j: u32,
}

/// An ARC4 key of 5 to 256 bytes, expanded to the cipher's first table. Wiped on drop.
pub struct Key {
    table: Table,
}

/// A key that is shorter than 5 or longer than 256 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyLength;

impl StreamCore for Arc4 {
    type Key = Key;
    type Nonce = ();
    const BLOCK: usize = 1;

    #[inline]
    fn new(_: Isa, key: &Key, (): &()) -> Self {
        Self { table: key.table.clone(), i: 0, j: 0 }
    }

    /// Always `u64::MAX`: the cipher has no counter.
    #[inline]
    fn remaining(&self) -> u64 {
        u64::MAX
    }

    fn keystream(&mut self, out: &mut [u8]) {
        self.run(|steps| {
            let (chunks, rest) = out.as_chunks_mut();
            for chunk in chunks {
                *chunk = steps.eight();
            }
            for byte in rest {
                *byte = steps.byte();
            }
        });
    }

    fn xor(&mut self, mut data: InOutBuf<'_, '_, u8>) {
        self.run(|steps| {
            while let Some(&text) = data.get_in().first_chunk() {
                let (mut part, rest) = data.split_at(8);
                let sum = u64::from_ne_bytes(text) ^ u64::from_ne_bytes(steps.eight());
                part.get_out().copy_from_slice(&sum.to_ne_bytes());
                data = rest;
            }
            for mut byte in data {
                let sum = byte.get_in() ^ steps.byte();
                *byte.get_out() = sum;
            }
        });
    }
}

impl Arc4 {
    /// Drops the next `bytes` of keystream.
    ///
    /// The first bytes under a key are biased most. Dropping 3072 of them (Mironov, "(Not So)
    /// Random Shuffles of RC4", 2002) leaves the smaller biases that all others have.
    pub fn discard(&mut self, bytes: usize) {
        self.run(|steps| {
            for _ in 0..bytes {
                steps.one();
            }
        });
    }

    /// Lets `work` step the cipher, with the indices in registers meanwhile.
    #[inline(always)]
    fn run(&mut self, work: impl FnOnce(&mut Steps<'_>)) {
        let (i, j) = (self.i, self.j);
        let ahead = self.table.ahead(i);
        let mut steps = Steps { table: &mut self.table, i, j, ahead };
        work(&mut steps);
        (self.i, self.j) = (steps.i, steps.j);
    }
}

/// The cipher between two steps.
struct Steps<'a> {
    table: &'a mut Table,
    i: u32,
    j: u32,
    /// The entries at `i + 1` and `i + 2`.
    ahead: [u32; 2],
}

impl Steps<'_> {
    /// The next byte of keystream, in a word.
    #[inline(always)]
    fn one(&mut self) -> u32 {
        let [x, _] = self.ahead;
        self.i = self.i.wrapping_add(1) & 255;
        self.j = self.j.wrapping_add(x) & 255;
        let y = self.table.swap(self.i, self.j, &mut self.ahead);
        self.table.at(x.wrapping_add(y))
    }

    /// The next byte of keystream.
    #[inline(always)]
    fn byte(&mut self) -> u8 {
        self.one().to_le_bytes()[0]
    }

    /// The next 8 bytes of keystream, gathered to be stored at once.
    #[inline(always)]
    fn eight(&mut self) -> [u8; 8] {
        let mut word = 0;
        for shift in (0..64).step_by(8) {
            word |= u64::from(self.one()) << shift;
        }
        word.to_le_bytes()
    }
}

impl Key {
    /// Expands 5 to 256 bytes; any other number gives `None`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        matches!(bytes.len(), 5..=256).then(|| Self::expand(bytes))
    }

    fn expand(bytes: &[u8]) -> Self {
        let mut key = Self { table: Table::IDENTITY };
        let (mut j, mut ahead) = (0u32, [0, 1]);
        for (i, &byte) in (0..256).zip(bytes.iter().cycle()) {
            j = j.wrapping_add(ahead[0]).wrapping_add(u32::from(byte)) & 255;
            key.table.swap(i, j, &mut ahead);
        }
        key
    }
}

impl TryFrom<&[u8]> for Key {
    type Error = KeyLength;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, KeyLength> {
        Self::new(bytes).ok_or(KeyLength)
    }
}

impl From<&[u8; 32]> for Key {
    #[inline]
    fn from(bytes: &[u8; 32]) -> Self {
        Self::expand(bytes)
    }
}

impl From<&[u8; 16]> for Key {
    #[inline]
    fn from(bytes: &[u8; 16]) -> Self {
        Self::expand(bytes)
    }
}

impl Drop for Key {
    #[inline]
    fn drop(&mut self) {
        self.table.wipe();
    }
}

impl ZeroizeOnDrop for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl fmt::Display for KeyLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ARC4 key has 5 to 256 bytes")
    }
}

impl core::error::Error for KeyLength {}

impl Drop for Arc4 {
    #[inline]
    fn drop(&mut self) {
        self.table.wipe();
        self.i = 0;
        self.j = 0;
    }
}

impl ZeroizeOnDrop for Arc4 {}

impl fmt::Debug for Arc4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arc4").finish_non_exhaustive()
    }
}
