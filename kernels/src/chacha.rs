//! ChaCha8, ChaCha12 and ChaCha20 (Bernstein, "ChaCha, a variant of Salsa20", 2008; RFC 8439).
//!
//! Constant time in key, nonce and data on every instruction set: additions, XORs, rotations and
//! fixed shuffles only; branches and addresses depend on lengths and counters alone.
//!
//! | level | whole width | narrower forms for the rest |
//! |---|---|---|
//! | `Portable` | 1 block | |
//! | `Ssse3` | 4 blocks, one a lane | 1, 2 or 3 blocks, one a register row |
//! | `Avx2` | 8 blocks, one a lane | 2, 4 or 6 blocks, two a register row |
//! | `Avx512` | 16 blocks, one a lane | 2 blocks; 4, 8, 12, four a register row; 24, mixed |
//! | `Neon` | 8 blocks, 4 a register | 1, 2 or 3 blocks, one a register row; 4 to 7, mixed |

use core::fmt;
use core::marker::PhantomData;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::arx::{LOW, State, halves, later};
use crate::isa::{Mode, WRITE, XOR};
use crate::{Isa, Level, Seek, StreamCore};

pub use crate::arx::{Key, NUMBERS_OF_ROUNDS};
pub use header_masks::header_masks;
pub(crate) use lanes::subkeys;
pub use lanes::{Lane, xor_lanes};

#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[macro_use]
mod rounds;
pub(crate) mod aarch64;
mod header_masks;
mod lanes;
mod portable;
pub(crate) mod x86_64;

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => {
        by_isa!(crate::chacha, $($call)+: Avx512, Avx2, Ssse3, Neon, _ => portable)
    };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// The stream core of ChaCha with `ROUNDS` rounds, one of [`NUMBERS_OF_ROUNDS`]; no other number
/// compiles.
///
/// The key is wiped on drop. After the last block that [`remaining`](StreamCore::remaining) counts,
/// the keystream starts again; the checked layers refuse such requests.
pub struct ChaCha<const ROUNDS: usize, F: Form = Counter64> {
    state: State,
    /// The last block has been used and the counter in `state` has wrapped.
    spent: bool,
    isa: Isa,
    form: PhantomData<F>,
}

/// The division of the last four words of the state into block counter and nonce: [`Counter64`] or
/// [`Ietf`].
pub trait Form: sealed::Layout {}

/// The original form: a block counter of 64 bits, a nonce of 8 bytes; 2^70 bytes a nonce.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Counter64;

/// The form of RFC 8439: a block counter of 32 bits, a nonce of 12 bytes; 2^38 bytes a nonce.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Ietf;

impl Form for Counter64 {}
impl Form for Ietf {}

mod sealed {
    /// The layout of a form.
    #[expect(unnameable_types, reason = "no form can be added from outside")]
    pub trait Layout {
        /// The nonce's bytes.
        type Nonce;
        /// Whether the counter has 64 bits, else 32.
        const WIDE: bool;
        /// The last four words of the state for block 0, as two little-endian numbers.
        fn last_row(nonce: &Self::Nonce) -> [u64; 2];
    }
}

impl sealed::Layout for Counter64 {
    type Nonce = [u8; 8];
    const WIDE: bool = true;

    #[inline]
    fn last_row(nonce: &[u8; 8]) -> [u64; 2] {
        [0, u64::from_le_bytes(*nonce)]
    }
}

impl sealed::Layout for Ietf {
    type Nonce = [u8; 12];
    const WIDE: bool = false;

    #[inline]
    fn last_row(nonce: &[u8; 12]) -> [u64; 2] {
        last_row(nonce)
    }
}

impl<const ROUNDS: usize, F: Form> StreamCore for ChaCha<ROUNDS, F> {
    type Key = Key;
    type Nonce = F::Nonce;
    const BLOCK: usize = 64;

    #[inline]
    fn new(isa: Isa, key: &Key, nonce: &F::Nonce) -> Self {
        let state = State::new::<ROUNDS>(key, F::last_row(nonce));
        Self { state, spent: false, isa, form: PhantomData }
    }

    #[inline]
    fn remaining(&self) -> u64 {
        if self.spent {
            0
        } else if F::WIDE {
            (u64::MAX - self.state.counter).saturating_add(1)
        } else {
            (1 << 32) - (self.state.counter & LOW)
        }
    }

    #[inline]
    fn keystream(&mut self, out: &mut [u8]) {
        let blocks = out.len().div_ceil(64);
        apply(self.isa, &self.state, F::WIDE, out.into(), WRITE);
        self.advance(blocks);
    }

    #[inline]
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        let blocks = data.len().div_ceil(64);
        apply(self.isa, &self.state, F::WIDE, data, XOR);
        self.advance(blocks);
    }
}

impl<const ROUNDS: usize, F: Form> Seek for ChaCha<ROUNDS, F> {
    /// Sets the block counter. In the form of RFC 8439 a block from 2^32 on leaves nothing
    /// [`remaining`](StreamCore::remaining).
    #[inline]
    fn seek(&mut self, block: u64) {
        self.spent = !F::WIDE && block > LOW;
        self.state.counter =
            if F::WIDE { block } else { (self.state.counter & !LOW) | (block & LOW) };
    }
}

impl<const ROUNDS: usize, F: Form> ChaCha<ROUNDS, F> {
    #[inline]
    fn advance(&mut self, blocks: usize) {
        let blocks = blocks as u64;
        self.spent |= self.wraps_within(blocks);
        self.state.counter = later(self.state.counter, blocks, F::WIDE);
    }

    /// Whether the counter wraps when it moves on by `blocks`.
    #[inline]
    fn wraps_within(&self, blocks: u64) -> bool {
        if F::WIDE {
            self.state.counter.checked_add(blocks).is_none()
        } else {
            (self.state.counter & LOW).saturating_add(blocks) > LOW
        }
    }
}

// The state wipes itself.
impl<const ROUNDS: usize, F: Form> ZeroizeOnDrop for ChaCha<ROUNDS, F> {}

impl<const ROUNDS: usize, F: Form> fmt::Debug for ChaCha<ROUNDS, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChaCha")
            .field("rounds", &ROUNDS)
            .field("isa", &self.isa)
            .finish_non_exhaustive()
    }
}

/// The start of ChaCha20 in the form of RFC 8439, at block 0.
#[inline]
pub(crate) fn ietf(key: &Key, nonce: &[u8; 12]) -> State {
    State::new::<20>(key, last_row(nonce))
}

/// The last row of block 0 in the form of RFC 8439.
#[inline]
pub(crate) fn last_row(&[a, b, c, d, ref rest @ ..]: &[u8; 12]) -> [u64; 2] {
    [u64::from(u32::from_le_bytes([a, b, c, d])) << 32, u64::from_le_bytes(*rest)]
}

/// Continues the keystream of a state of the form of RFC 8439, as the mode says.
#[inline(always)]
pub(crate) fn continue_ietf<const XOR: bool>(
    isa: Isa,
    state: &mut State,
    data: InOutBuf<'_, '_, u8>,
    mode: Mode<XOR>,
) {
    let blocks = data.len().div_ceil(64) as u64;
    apply(isa, state, false, data, mode);
    state.counter = later(state.counter, blocks, false);
}

#[inline(always)]
fn apply<const XOR: bool>(
    isa: Isa,
    state: &State,
    wide: bool,
    data: InOutBuf<'_, '_, u8>,
    mode: Mode<XOR>,
) {
    best!(isa, apply(state, wide, data, mode));
}

/// HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2): a key derived from another one of 32 bytes
/// and a nonce, by the rounds of ChaCha20 without the final addition.
#[inline]
pub(crate) fn hchacha20(isa: Isa, key: &Key, nonce: &[u8; 16]) -> Key {
    by_isa!(crate::chacha, isa, hchacha20(key, nonce): Avx512, Ssse3, Neon, _ => portable)
}

/// The first 8 bytes, as a little-endian number, of the block of ChaCha20 with the last row `last`:
/// block counter and nonce in either form, little-endian as in the state.
///
/// Protocols mask headers with them (RFC 9001, section 5.4.4; RFC 9147, section 4.2.3). They stay
/// in registers, and the rest of the block is not made.
#[inline]
#[must_use]
pub fn front(isa: Isa, key: &Key, last: &[u8; 16]) -> u64 {
    by_isa!(crate::chacha, isa, front(key, last): Avx512, Ssse3, Neon, _ => portable)
}

/// The words of the state with another counter.
#[inline]
pub(crate) fn words(state: &State, counter: u64) -> [u32; 16] {
    let [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11] = state.key;
    let ([c0, c1], [n0, n1]) = (halves(counter), halves(state.nonce));
    [k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, c0, c1, n0, n1]
}

/// One quarter-round on four words.
#[inline]
fn quarter_round([mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
    a = a.wrapping_add(b);
    d = (d ^ a).rotate_left(16);
    c = c.wrapping_add(d);
    b = (b ^ c).rotate_left(12);
    a = a.wrapping_add(b);
    d = (d ^ a).rotate_left(8);
    c = c.wrapping_add(d);
    b = (b ^ c).rotate_left(7);
    [a, b, c, d]
}

/// The first round of columns 1 to 3. These do not contain the low word of the counter, so they are
/// the same in all blocks of a pass over lanes.
#[cfg(any(feature = "isa-ssse3", feature = "isa-avx2", target_arch = "aarch64"))]
#[inline]
pub(crate) fn first_columns(words: &[u32; 16]) -> [u32; 16] {
    let mut x = *words;
    for column in 1..4 {
        let [a, b, c, d] = [column, 4 + column, 8 + column, 12 + column];
        [x[a], x[b], x[c], x[d]] = quarter_round([x[a], x[b], x[c], x[d]]);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::assert_best;

    /// Messages of up to 58 blocks, whole and in part, which have forms of their own. The counter
    /// reaches `wrap` within some of them.
    fn every_message<F: Form>(nonce: &F::Nonce, wrap: u64) {
        let start = |isa, before| {
            let mut core = ChaCha::<8, F>::new(isa, &Key::from(&[7; 32]), nonce);
            core.seek(wrap - before);
            core
        };
        for blocks in 0..=58_u32 {
            let len = 64 * blocks as usize;
            for before in [0, u64::from(blocks) / 2, 15, 17, 23, 31, 1000] {
                let mut keystream = vec![0; len + 64];
                start(Isa::PORTABLE, before).keystream(&mut keystream);
                for &level in Level::built() {
                    let isa = Isa::of_processor().at_most(level);
                    for len in [len, len + 1, len + 37, len + 63] {
                        let mut data = vec![0xa5; len];
                        start(isa, before).xor((&mut data[..]).into());
                        let right = data.iter().zip(&keystream).all(|(x, k)| x ^ k == 0xa5);
                        assert!(right, "{len} bytes, {before} before the wrap, {level}");
                    }
                }
            }
        }
    }

    #[test]
    fn messages_of_every_number_of_blocks() {
        every_message::<Counter64>(&[3; 8], 5 << 32);
        every_message::<Ietf>(&[3; 12], 1 << 31);
    }

    #[test]
    fn a_narrow_counter_leaves_the_nonce_alone() {
        every_message::<Ietf>(&[3; 12], 1 << 32);
    }

    /// draft-irtf-cfrg-xchacha-03, section 2.2.1.
    #[test]
    fn hchacha20_makes_the_published_key() {
        let key: [u8; 32] = core::array::from_fn(|i| u8::try_from(i).expect("below 32"));
        let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0, 0x31, 0x41, 0x59, 0x27];
        let expected = [
            0x423b_4182,
            0xfe7b_b227,
            0x5042_0ed3,
            0x737d_878a,
            0xd5e4_f9a0,
            0x53a8_748a,
            0x13c4_2ec1,
            0xdcec_d326,
        ];
        for &level in Level::built() {
            let isa = Isa::of_processor().at_most(level);
            let computed = hchacha20(isa, &Key::from(&key), &nonce);
            assert_eq!(computed.words[..4], Key::from(&key).words[..4], "{level}");
            assert_eq!(computed.words[4..], expected, "{level}");
        }
    }

    #[test]
    fn fronts_are_those_of_the_blocks_that_they_name() {
        let key =
            Key::from(&core::array::from_fn::<u8, 32, _>(|i| 7 * u8::try_from(i).expect("32")));
        for last in
            [[0; 16], [255; 16], core::array::from_fn(|i| 17 * u8::try_from(i).expect("16"))]
        {
            let (counter, nonce) = last.split_first_chunk().expect("16 bytes");
            let nonce = nonce.try_into().expect("12 bytes");
            let mut core = ChaCha::<20, Ietf>::new(Isa::PORTABLE, &key, nonce);
            core.seek(u32::from_le_bytes(*counter).into());
            let mut block = [0; 64];
            core.keystream(&mut block);
            for &level in Level::built() {
                let front = front(Isa::of_processor().at_most(level), &key, &last);
                assert_eq!(front.to_le_bytes(), block[..8], "{level}");
            }
        }
    }

    #[test]
    fn every_level_reaches_its_kernel() {
        let mut data = [0; 100];
        let core = |isa| ChaCha::<20>::new(isa, &Key::from(&[1; 32]), &[2; 8]);
        assert_best(KERNELS, |isa| core(isa).keystream(&mut data));
        assert_best(KERNELS, |isa| core(isa).xor((&mut data[..]).into()));
    }
}
