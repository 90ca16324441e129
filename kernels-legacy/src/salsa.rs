//! Salsa20/8, Salsa20/12 and Salsa20/20 (Bernstein, "The Salsa20 family of stream ciphers", 2007;
//! eSTREAM).
//!
//! Constant time in key, nonce and data on every instruction set: additions, XORs, rotations and
//! fixed shuffles only; branches and addresses depend on lengths and counters alone.
//!
//! | level | whole width | narrower forms for the rest |
//! |---|---|---|
//! | `Portable` | 1 block | |
//! | `Ssse3`, `Neon` | 4 blocks, one a lane | 1, 2 or 3 blocks, a diagonal a register |
//! | `Avx2` | 8 blocks, one a lane | 2, 4 or 6 blocks, two diagonals a register |
//! | `Avx512` | 16 blocks, one a lane | 2 blocks; 4 or 8 blocks, four diagonals a register |

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::arx::{State, halves};
use lanecrypt_kernels::isa::{Mode, WRITE, XOR};
use lanecrypt_kernels::{Isa, Level, Seek, StreamCore};
use zeroize::ZeroizeOnDrop;

#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[macro_use]
mod rounds;
pub(crate) mod aarch64;
mod lanes;
mod portable;
pub(crate) mod x86_64;

pub use lanecrypt_kernels::arx::{Key, NUMBERS_OF_ROUNDS};

pub use lanes::{Lane, xor_lanes};

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::salsa, $($call)+: Avx512, Avx2, Ssse3, Neon, _ => portable)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// The stream core of Salsa20 with `ROUNDS` rounds, one of [`NUMBERS_OF_ROUNDS`]; no other number
/// compiles.
///
/// The nonce has 8 bytes, the block counter 64 bits: 2^70 bytes a nonce. The key is wiped on drop.
/// After the last block that [`remaining`](StreamCore::remaining) counts, the keystream starts
/// again; the checked layers refuse such requests.
pub struct Salsa<const ROUNDS: usize> {
    state: State,
    /// The last block has been used and the counter in `state` has wrapped.
    spent: bool,
    isa: Isa,
}

impl<const ROUNDS: usize> StreamCore for Salsa<ROUNDS> {
    type Key = Key;
    type Nonce = [u8; 8];
    const BLOCK: usize = 64;

    #[inline]
    fn new(isa: Isa, key: &Key, nonce: &[u8; 8]) -> Self {
        let state = State::new::<ROUNDS>(key, [0, u64::from_le_bytes(*nonce)]);
        Self { state, spent: false, isa }
    }

    #[inline]
    fn remaining(&self) -> u64 {
        if self.spent { 0 } else { (u64::MAX - self.state.counter).saturating_add(1) }
    }

    #[inline]
    fn keystream(&mut self, out: &mut [u8]) {
        let blocks = out.len().div_ceil(64);
        apply(self.isa, &self.state, out.into(), WRITE);
        self.advance(blocks);
    }

    #[inline]
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        let blocks = data.len().div_ceil(64);
        apply(self.isa, &self.state, data, XOR);
        self.advance(blocks);
    }
}

impl<const ROUNDS: usize> Seek for Salsa<ROUNDS> {
    #[inline]
    fn seek(&mut self, block: u64) {
        self.spent = false;
        self.state.counter = block;
    }
}

impl<const ROUNDS: usize> Salsa<ROUNDS> {
    #[inline]
    fn advance(&mut self, blocks: usize) {
        let (counter, wrapped) = self.state.counter.overflowing_add(blocks as u64);
        self.state.counter = counter;
        self.spent |= wrapped;
    }
}

// The state wipes itself.
impl<const ROUNDS: usize> ZeroizeOnDrop for Salsa<ROUNDS> {}

impl<const ROUNDS: usize> fmt::Debug for Salsa<ROUNDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Salsa")
            .field("rounds", &ROUNDS)
            .field("isa", &self.isa)
            .finish_non_exhaustive()
    }
}

#[inline(always)]
fn apply<const XOR: bool>(isa: Isa, state: &State, data: InOutBuf<'_, '_, u8>, mode: Mode<XOR>) {
    let wide = true;
    best!(isa, apply(state, wide, data, mode));
}

/// The words of the state with another counter; the words of the constant are on the diagonal.
#[inline]
fn words(state: &State, counter: u64) -> [u32; 16] {
    let [s0, s1, s2, s3, k0, k1, k2, k3, k4, k5, k6, k7] = state.key;
    let ([c0, c1], [n0, n1]) = (halves(counter), halves(state.nonce));
    [s0, k0, k1, k2, k3, s1, n0, n1, c0, c1, s2, k4, k5, k6, k7, s3]
}

/// One quarter-round on four words.
#[inline]
fn quarter_round([mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
    b ^= a.wrapping_add(d).rotate_left(7);
    c ^= b.wrapping_add(a).rotate_left(9);
    d ^= c.wrapping_add(b).rotate_left(13);
    a ^= d.wrapping_add(c).rotate_left(18);
    [a, b, c, d]
}

/// The parts of the first double round that do not depend on the low word of the counter, and so
/// are the same in all blocks of a pass over lanes: the round of columns 1 to 3, and the round of
/// rows except for what column 0 adds. Words 0, 8 and 12 are as before, 4 to 7 as after both
/// rounds, the others as after the first.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[inline]
fn once(words: &[u32; 16]) -> [u32; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = *words;
    let [_, x4, _, _] = quarter_round([x0, x4, x8, x12]);
    let [x5, x9, x13, x1] = quarter_round([x5, x9, x13, x1]);
    let [x10, x14, x2, x6] = quarter_round([x10, x14, x2, x6]);
    let [x15, x3, x7, x11] = quarter_round([x15, x3, x7, x11]);
    let [x5, x6, x7, x4] = quarter_round([x5, x6, x7, x4]);
    [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanecrypt_kernels::isa::reached::assert_best;

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [0; 100];
        let core = |isa| Salsa::<20>::new(isa, &Key::from([1; 32]), &[2; 8]);
        assert_best(KERNELS, |isa| core(isa).keystream(&mut data));
        assert_best(KERNELS, |isa| core(isa).xor((&mut data[..]).into()));
    }
}
