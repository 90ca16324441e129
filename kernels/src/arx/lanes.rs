//! Messages of different keys side by side: each lane of a register takes a block of any message.
//!
//! A short message alone leaves most of a register empty. Here blocks of several messages fill it:
//! a message of 64 bytes is one block, one of 256 bytes four.
//!
//! | level | blocks of a pass |
//! |---|---|
//! | `Portable` | 1 |
//! | `Ssse3` | 4 |
//! | `Neon` | 8 of ChaCha, 4 of Salsa20 |
//! | `Avx2` | 8 |
//! | `Avx512` | 16, or 8 when no more are left |

#[cfg(any(feature = "isa-ssse3", target_arch = "aarch64"))]
#[macro_use]
mod four;
pub mod aarch64;
pub mod x86_64;

use inout::InOutBuf;

use super::Key;
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
use super::wraps;
use crate::{Isa, Level};

/// The cipher: it decides the places of the words of a key in a block.
pub const CHACHA: bool = false;
pub const SALSA: bool = true;

/// A message: its key and nonce, the block of the keystream at which its data begin, its data.
pub struct Parts<'a> {
    pub key: &'a Key,
    /// Counter and nonce of the first block. They lie side by side so that kernels load them
    /// together.
    pub last: [u64; 2],
    /// Whether the counter has 64 bits, else 32.
    pub wide: bool,
    pub data: InOutBuf<'a, 'a, u8>,
}

impl Parts<'_> {
    #[inline(always)]
    pub fn reborrow(&mut self) -> Parts<'_> {
        Parts { key: self.key, last: self.last, wide: self.wide, data: self.data.reborrow() }
    }
}

/// The rounds of all messages of a batch.
#[derive(Clone, Copy)]
pub struct Rounds {
    pub count: usize,
    /// XORs the keystream into one message by the kernel that takes no others.
    pub alone: fn(Isa, Parts<'_>),
}

/// A message of a batch of either cipher.
pub trait StreamLane {
    /// [`CHACHA`] or [`SALSA`].
    const CIPHER: bool;

    fn parts(&self) -> &Parts<'_>;

    fn reborrow(&mut self) -> Parts<'_>;

    #[inline(always)]
    fn data(&mut self) -> InOutBuf<'_, '_, u8> {
        self.reborrow().data
    }
}

/// What the messages of both ciphers have in common, for a `Lane` of [`Parts`] beside `alone`.
#[doc(hidden)]
#[macro_export]
macro_rules! stream_lane {
    ($cipher:ident, $name:ident, $($core:ident)::+) => {
        impl core::fmt::Debug for Lane<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("Lane").field("bytes", &self.0.data.len()).finish_non_exhaustive()
            }
        }

        /// XORs the keystream of each message into its data, with `ROUNDS` rounds, a number that
        #[doc = concat!("[`", stringify!($name), "`](super::", stringify!($name), ") takes.")]
        ///
        /// Constant time in keys, nonces and data; lengths are public.
        #[inline]
        pub fn xor_lanes<const ROUNDS: usize>(isa: Isa, lanes: &mut [Lane<'_>]) {
            xor(isa, $crate::arx::lanes::Rounds { count: ROUNDS, alone: alone::<ROUNDS> }, lanes);
        }

        /// One instance for all numbers of rounds.
        #[inline(never)]
        fn xor(isa: Isa, rounds: $crate::arx::lanes::Rounds, lanes: &mut [Lane<'_>]) {
            use $crate::arx::lanes::sequential;

            if $crate::arx::lanes::are_few(isa, lanes) {
                return sequential::xor_lanes(isa, rounds, lanes);
            }
            $crate::by_isa!($($core)::+, isa, xor_lanes(isa, rounds, lanes):
                Avx512, Avx2, Ssse3, Neon, _ => sequential);
        }

        impl $crate::arx::lanes::StreamLane for Lane<'_> {
            const CIPHER: bool = $cipher;

            #[inline(always)]
            fn parts(&self) -> &Parts<'_> {
                &self.0
            }

            #[inline(always)]
            fn reborrow(&mut self) -> Parts<'_> {
                self.0.reborrow()
            }
        }
    };
}

/// Whether messages of `bytes` bytes go alone at every level.
#[inline]
const fn is_alone(bytes: usize) -> bool {
    matches!(bytes.div_ceil(64), 7..=8 | 14..)
}

/// Whether these messages are done sooner one by one.
#[inline]
pub fn are_few<M: StreamLane>(isa: Isa, lanes: &[M]) -> bool {
    // Three messages of several blocks leave too much of a pass empty.
    let most = if isa.has(Level::Avx2) { 192 } else { 64 };
    match lanes {
        [] | [_] | [_, _] => true,
        [a, b, c] => [a, b, c].iter().any(|lane| lane.parts().data.len() > most),
        _ => lanes.iter().all(|lane| is_alone(lane.parts().data.len())),
    }
}

/// Every message by itself.
pub mod sequential {
    use super::{Isa, Rounds, StreamLane};

    pub fn xor_lanes<M: StreamLane>(isa: Isa, rounds: Rounds, lanes: &mut [M]) {
        for lane in lanes {
            (rounds.alone)(isa, lane.reborrow());
        }
    }
}

/// The starts of the `N` blocks of a pass, at most 16, each with its own key.
///
/// Kernels load keys and last rows from the messages themselves. If these were gathered in memory
/// first, loads wider than the stores before them would wait.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
pub trait Starts<const N: usize> {
    /// [`CHACHA`] or [`SALSA`].
    const CIPHER: bool;

    /// The key of the block in the lane `at`.
    fn key(&self, at: usize) -> &Key;

    /// Counter and nonce of the message of the block in the lane `at`.
    fn last(&self, at: usize) -> &[u64; 2];

    /// By how much the counters of the blocks are ahead of those of their messages: four bits for
    /// each.
    fn ahead(&self) -> u64;

    /// The same for all blocks.
    fn all_ahead(&self) -> u32;

    /// A further eight bits for each, the first half of the blocks first. Two words, because they
    /// are stored one by one: a load of both would wait for the stores.
    #[cfg(feature = "isa-avx512")]
    #[inline(always)]
    fn far_ahead(&self) -> [u64; 2] {
        [0; 2]
    }
}

/// A row of a key, or of the constant before it.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[inline(always)]
fn row_of(key: &Key, row: usize) -> &[u32; 4] {
    &key.words.as_chunks().0[row]
}

/// The words of a state in their order, from its rows: constant, key, counter and nonce.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[inline(always)]
fn state<T>(cipher: bool, rows: [[T; 4]; 4]) -> [T; 16] {
    let [[s0, s1, s2, s3], [k0, k1, k2, k3], [k4, k5, k6, k7], [c0, c1, n0, n1]] = rows;
    if cipher == CHACHA {
        [s0, s1, s2, s3, k0, k1, k2, k3, k4, k5, k6, k7, c0, c1, n0, n1]
    } else {
        [s0, k0, k1, k2, k3, s1, n0, n1, c0, c1, s2, k4, k5, k6, k7, s3]
    }
}

/// The blocks of a pass.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
struct Pass<'p, M, const N: usize> {
    lanes: &'p mut [M],
    /// The message of each block, and its number in the message. Entries after `count` are not
    /// used, but must name a message.
    blocks: [(u32, u32); N],
    count: usize,
    ahead: u64,
}

#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
impl<M: StreamLane, const N: usize> Pass<'_, M, N> {
    /// The data of the block in the lane `at`, at most 64 bytes.
    #[inline(always)]
    fn part(&mut self, at: usize) -> InOutBuf<'_, '_, u8> {
        let (lane, block) = self.blocks[at];
        let data = self.lanes[lane as usize].data();
        let (_, rest) = data.split_at(64 * block as usize);
        let len = rest.len().min(64);
        rest.split_at(len).0
    }

    #[inline(always)]
    fn parts(&self, at: usize) -> &Parts<'_> {
        self.lanes[self.blocks[at].0 as usize].parts()
    }
}

#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
impl<M: StreamLane, const N: usize> Starts<N> for Pass<'_, M, N> {
    const CIPHER: bool = M::CIPHER;

    #[inline(always)]
    fn key(&self, at: usize) -> &Key {
        self.parts(at).key
    }

    #[inline(always)]
    fn last(&self, at: usize) -> &[u64; 2] {
        &self.parts(at).last
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

/// Cuts the messages into blocks, and calls `run` whenever there are enough for a pass, and at the
/// end. A message goes alone if it has so many blocks that it fills registers by itself: `beside`
/// decides that for up to 15 blocks. So does a message that is left alone at the end. `beside` also
/// gets whether there are many messages, so that an incomplete last pass matters little.
#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[inline(always)]
fn fill<M: StreamLane, const N: usize>(
    isa: Isa,
    rounds: Rounds,
    lanes: &mut [M],
    beside: impl Fn(usize, bool) -> bool,
    run: impl Fn(&mut Pass<'_, M, N>),
) {
    const { assert!(N <= 16) };
    let many = lanes.len() > 5;
    let mut pass = Pass { lanes, blocks: [(0, 0); N], count: 0, ahead: 0 };
    for at in 0..pass.lanes.len() {
        let Parts { last, wide, data, .. } = pass.lanes[at].parts();
        let bytes = data.len();
        // Kernels do not carry into the high word of a counter.
        if !beside(bytes.div_ceil(64), many) || *wide && wraps(last[0], bytes) {
            (rounds.alone)(isa, pass.lanes[at].reborrow());
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
    if pass.count == 0 {
        return;
    }
    match (pass.blocks[0], pass.blocks[pass.count - 1]) {
        ((first, 0), (last, _)) if first == last => {
            (rounds.alone)(isa, pass.lanes[first as usize].reborrow());
        }
        _ => run(&mut pass),
    }
}

#[cfg(any(feature = "_vectors", target_arch = "aarch64"))]
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "more messages than 2^32 fit in no memory")]
fn word(number: usize) -> u32 {
    number as u32
}
