//! Messages of different keys side by side: each lane of a register takes a block of any message.
//!
//! A short message alone leaves most of a register empty. Here blocks of as many messages as it
//! takes fill it: a message of 64 bytes is one of them, one of 256 bytes four.
//!
//! | level | blocks of a pass |
//! |---|---|
//! | `Portable` | 1 |
//! | `Ssse3` | 4 |
//! | `Avx2` | 8 |
//! | `Avx512` | 16, or 8 when no more are left |

#[cfg(all(target_arch = "x86_64", feature = "isa-avx2"))]
mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
pub(crate) mod avx512;
#[cfg(all(target_arch = "x86_64", feature = "isa-ssse3"))]
mod ssse3;

use core::fmt;

use inout::InOutBuf;

use super::{Form, Key, State, later};
#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
use crate::arx::wraps;
use crate::{Isa, Level, wipe};

/// One message of a batch: its key and nonce, the block of its keystream that its data begin at,
/// its data.
pub struct Lane<'a> {
    key: &'a Key,
    /// The last four words of the state at the first block: the counter, the nonce. They lie side
    /// by side so that kernels load them at once.
    last: [u64; 2],
    /// Whether the counter has 64 bits, else 32.
    wide: bool,
    data: InOutBuf<'a, 'a, u8>,
}

impl<'a> Lane<'a> {
    /// A message in the form `F`, whose data begin at `block` of the keystream; they may be of any
    /// length and lie in place or go from one buffer to another.
    ///
    /// They must not reach past the last block that the counter can name.
    #[must_use]
    #[inline]
    pub fn new<F: Form>(
        key: &'a Key,
        nonce: &F::Nonce,
        block: u64,
        data: InOutBuf<'a, 'a, u8>,
    ) -> Self {
        let [counter, nonce] = F::last_row(nonce);
        Self { key, last: [later(counter, block, F::WIDE), nonce], wide: F::WIDE, data }
    }
}

impl fmt::Debug for Lane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

/// XORs into the data of each message its keystream of ChaCha with `ROUNDS` rounds: 8, 12 or 20;
/// any other number does not compile.
///
/// Constant time in keys, nonces and data; lengths are public. The lanes stay as they are.
#[inline]
pub fn xor_lanes<const ROUNDS: usize>(isa: Isa, lanes: &mut [Lane<'_>]) {
    const { assert!(matches!(ROUNDS, 8 | 12 | 20), "ChaCha has 8, 12 or 20 rounds") };
    xor(isa, ROUNDS, lanes);
}

/// One for all numbers of rounds, so that callers need no kernel of their own.
#[inline(never)]
fn xor(isa: Isa, rounds: usize, lanes: &mut [Lane<'_>]) {
    // Three messages of several blocks leave too much of a pass empty.
    let most = if isa.has(Level::Avx2) { 192 } else { 64 };
    if lanes.len() < 3 || lanes.len() == 3 && lanes.iter().any(|lane| lane.data.len() > most) {
        return in_turn::xor(isa, rounds, lanes);
    }
    by_isa!(isa, xor(isa, rounds, lanes):
        Avx512 => avx512, Avx2 => avx2, Ssse3 => ssse3, _ => in_turn);
}

/// One message by the kernel for one.
#[inline(never)]
fn alone(isa: Isa, rounds: usize, lane: &mut Lane<'_>) {
    match rounds {
        8 => whole::<8>(isa, lane),
        12 => whole::<12>(isa, lane),
        _ => whole::<20>(isa, lane),
    }
}

#[inline]
fn whole<const ROUNDS: usize>(isa: Isa, lane: &mut Lane<'_>) {
    let [counter, nonce] = lane.last;
    let mut state = State::<ROUNDS> { key: lane.key.words, counter, nonce };
    super::xor(isa, &state, lane.wide, lane.data.reborrow());
    wipe::words(&mut state.key);
}

/// Every message by itself.
mod in_turn {
    use super::{Isa, Lane, alone};

    pub(super) fn xor(isa: Isa, rounds: usize, lanes: &mut [Lane<'_>]) {
        for lane in lanes {
            alone(isa, rounds, lane);
        }
    }
}

/// What the `N` blocks of a pass begin with, at most 16, each with a key of its own.
///
/// Kernels load keys and last rows where the messages have them: what is gathered in memory first
/// would make loads that are wider than the stores before them wait.
#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
pub(crate) trait Starts<const N: usize> {
    /// The key of the block in the lane `at`.
    fn key(&self, at: usize) -> &Key;

    /// The last row of the message of the block in the lane `at`: counter, nonce.
    fn last(&self, at: usize) -> &[u64; 2];

    /// By how much the blocks' counters are ahead of those of their last rows: four bits for each.
    fn ahead(&self) -> u64;

    /// The same for all blocks.
    fn all_ahead(&self) -> u32;
}

/// A row of a key, or of the constant before it.
#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
#[inline(always)]
fn row_of(key: &Key, row: usize) -> &[u32; 4] {
    &key.words.as_chunks().0[row]
}

/// The blocks of a pass.
#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
struct Pass<'p, 'a, const N: usize> {
    lanes: &'p mut [Lane<'a>],
    /// The messages of the blocks and which of their blocks they are. What follows after `count`
    /// is not used, but must be one of the messages.
    blocks: [(u32, u32); N],
    count: usize,
    ahead: u64,
}

#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
impl<'a, const N: usize> Pass<'_, 'a, N> {
    /// The data that the block in the lane `at` goes into, at most as many bytes.
    #[inline(always)]
    fn part(&mut self, at: usize) -> InOutBuf<'_, '_, u8> {
        let (lane, block) = self.blocks[at];
        let data = self.lanes[lane as usize].data.reborrow();
        let (_, rest) = data.split_at(64 * block as usize);
        let len = rest.len().min(64);
        rest.split_at(len).0
    }

    #[inline(always)]
    fn lane(&self, at: usize) -> &Lane<'a> {
        &self.lanes[self.blocks[at].0 as usize]
    }
}

#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
impl<const N: usize> Starts<N> for Pass<'_, '_, N> {
    #[inline(always)]
    fn key(&self, at: usize) -> &Key {
        self.lane(at).key
    }

    #[inline(always)]
    fn last(&self, at: usize) -> &[u64; 2] {
        &self.lane(at).last
    }

    #[inline(always)]
    fn ahead(&self) -> u64 {
        self.ahead
    }

    #[inline(always)]
    fn all_ahead(&self) -> u32 {
        0
    }
}

/// Cuts the messages into blocks and calls `run` whenever there are enough for a pass, and at the
/// end. Those of so many blocks, 15 at most, that they do not go `beside` others, because they fill
/// registers by themselves, are done one by one.
#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
#[inline(always)]
fn fill<'a, const N: usize>(
    isa: Isa,
    rounds: usize,
    lanes: &mut [Lane<'a>],
    beside: impl Fn(usize) -> bool,
    run: impl Fn(&mut Pass<'_, 'a, N>),
) {
    const { assert!(N <= 16) };
    let mut pass = Pass { lanes, blocks: [(0, 0); N], count: 0, ahead: 0 };
    for at in 0..pass.lanes.len() {
        let lane = &mut pass.lanes[at];
        let bytes = lane.data.len();
        // Kernels do not carry into the high word of a counter.
        if !beside(bytes.div_ceil(64)) || lane.wide && wraps(lane.last[0], bytes) {
            alone(isa, rounds, lane);
            continue;
        }
        for block in 0..bytes.div_ceil(64) {
            pass.blocks[pass.count] = (word(at), word(block));
            pass.ahead |= (block as u64) << (4 * pass.count);
            pass.count += 1;
            if pass.count == N {
                run(&mut pass);
                (pass.count, pass.ahead) = (0, 0);
            }
        }
    }
    if pass.count > 0 {
        run(&mut pass);
    }
}

#[cfg(all(
    target_arch = "x86_64",
    any(feature = "isa-ssse3", feature = "isa-avx2", feature = "isa-avx512")
))]
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "more messages than 2^32 fit in no memory")]
fn word(number: usize) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chacha::{Counter64, Ietf, KERNELS};
    use crate::isa::reached::assert_best;

    /// Fewer messages go one after the other, whose last dispatch says nothing of lanes.
    #[test]
    fn every_level_reaches_its_kernel() {
        let (one, two) = (Key::from(&[1; 32]), Key::from(&[2; 16]));
        let mut data = [[0; 50]; 4];
        assert_best(KERNELS, |isa| {
            let [a, b, c, d] = data.each_mut().map(|data| InOutBuf::from(&mut data[..]));
            let mut lanes = [
                Lane::new::<Ietf>(&one, &[3; 12], 4, a),
                Lane::new::<Counter64>(&two, &[5; 8], 6, b),
                Lane::new::<Ietf>(&two, &[7; 12], 8, c),
                Lane::new::<Ietf>(&one, &[9; 12], 1, d),
            ];
            xor_lanes::<12>(isa, &mut lanes);
        });
    }
}
