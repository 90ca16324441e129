//! A stream core whose keystream says which key made it and where in its stream it lies, so that
//! every byte that a generator loses, repeats or makes past its interval is seen.

use core::sync::atomic::{AtomicU32, Ordering};

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, StreamCore};
use lanecrypt_random::SeedCore;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Keys made so far in this process; their numbers begin at one.
static KEYS: AtomicU32 = AtomicU32::new(0);

/// The core: keystream in blocks of `B` bytes, made of words of eight bytes that hold the number of
/// the key and the position.
#[repr(C)]
pub(crate) struct Numbered<const B: usize> {
    key: u32,
    position: u64,
}

/// The word of `key` at byte `position`, a multiple of eight: the low half is the word's number,
/// which is zero for the first.
pub(crate) fn word(key: u32, position: u64) -> u64 {
    (u64::from(key) << 32) | (position / 8)
}

/// The key and the byte position that made a word.
pub(crate) fn origin(word: u64) -> (u32, u64) {
    let key = u32::try_from(word >> 32).expect("half of it");
    (key, (word & u64::from(u32::MAX)) * 8)
}

/// The number of keys made so far.
pub(crate) fn keys() -> u32 {
    KEYS.load(Ordering::Relaxed)
}

impl<const B: usize> Numbered<B> {
    /// Continues at a byte of the stream.
    pub(crate) fn go_to(&mut self, position: u64) {
        self.position = position;
    }

    fn byte(&self, position: u64) -> u8 {
        let at = usize::try_from(position % 8).expect("less than eight");
        word(self.key, position - position % 8).to_le_bytes()[at]
    }
}

impl<const B: usize> StreamCore for Numbered<B> {
    type Key = u32;
    type Nonce = ();
    const BLOCK: usize = B;

    fn new(_: Isa, key: &u32, (): &()) -> Self {
        Self { key: *key, position: 0 }
    }

    fn remaining(&self) -> u64 {
        u64::MAX
    }

    fn keystream(&mut self, out: &mut [u8]) {
        let mut rest = out;
        while !rest.is_empty() {
            let (words, _) = rest.as_chunks_mut::<8>();
            let now = if self.position.is_multiple_of(8) && !words.is_empty() {
                for (i, place) in (0_u64..).zip(&mut *words) {
                    *place = word(self.key, self.position + 8 * i).to_le_bytes();
                }
                8 * words.len()
            } else {
                rest[0] = self.byte(self.position);
                1
            };
            self.position += now as u64;
            rest = &mut rest[now..];
        }
        self.position = self.position.next_multiple_of(B as u64);
    }

    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        for mut byte in data {
            let stream = self.byte(self.position);
            self.position += 1;
            *byte.get_out() = *byte.get_in() ^ stream;
        }
        self.position = self.position.next_multiple_of(B as u64);
    }
}

// SAFETY: numbers only, which are used as numbers only.
unsafe impl<const B: usize> SeedCore for Numbered<B> {
    fn stack(_isa: Isa) -> usize {
        2048
    }

    fn from_seed(isa: Isa, seed: &[u8; 32]) -> Self {
        assert_ne!(*seed, [0; 32], "the seed comes from the kernel");
        Self::new(isa, &(KEYS.fetch_add(1, Ordering::Relaxed) + 1), &())
    }
}

impl<const B: usize> Drop for Numbered<B> {
    fn drop(&mut self) {
        self.key.zeroize();
        self.position.zeroize();
    }
}

impl<const B: usize> ZeroizeOnDrop for Numbered<B> {}
