//! Many messages under one key, side by side.
//!
//! The chains of CMAC are serial in themselves and independent of each other. So are the blocks of
//! CTR. A step takes the next block of each chain and encrypts them all at once, by the kernel of
//! AES for independent blocks: as many are in flight as that has room for. Chains that end leave
//! the step. Short messages share the blocks of CTR in the same way; longer ones fill registers
//! alone.
//!
//! That kernel is there at every level, so lanes are, too. Bitsliced AES takes as long for eight
//! blocks as for one, and gains most. With 512-bit registers, messages of at most four blocks have
//! a kernel in which nothing passes through memory.

pub(crate) mod x86_64;

use core::fmt;

use inout::InOutBuf;

use super::cmac::{Blocks, doubled, put_short, short};
use super::{AesSiv, Strings, counter};
use crate::aes::ctr;
use crate::isa::Mode;
use crate::{Aead, BlockEncrypt, Isa, Level, wipe};

/// Messages that go side by side.
const GROUP: usize = 32;
/// Fewer messages go one by one.
const FEWEST: usize = 4;
/// Fewer short messages go one by one, even if they have a kernel.
const FEWEST_SHORT: usize = 6;
/// The mean length in bytes from which on messages go side by side with AES instructions.
const LONGEST_ALONE: usize = 96;
/// The most blocks of a message that shares those of CTR.
const SHARED: usize = 4;
/// Blocks of CTR that are encrypted at once.
const STREAM: usize = 64;

/// The direction.
const SEAL: bool = true;
const OPEN: bool = false;

/// One message of a batch.
pub struct Lane<'a> {
    strings: &'a Strings,
    more: [Option<&'a [u8]>; 2],
    data: InOutBuf<'a, 'a, u8>,
    v: &'a mut [u8; 16],
}

impl<'a> Lane<'a> {
    /// A message, in place or from one buffer to another, after strings that have been hashed under
    /// its key and up to two more. `v` is where its V is written; that of a message to open is
    /// there, and the one that it should have takes its place.
    #[must_use]
    #[inline]
    pub fn new(
        strings: &'a Strings,
        more: [Option<&'a [u8]>; 2],
        data: InOutBuf<'a, 'a, u8>,
        v: &'a mut [u8; 16],
    ) -> Self {
        Self { strings, more, data, v }
    }

    /// The output.
    #[inline]
    pub fn output(&mut self) -> &mut [u8] {
        self.data.get_out()
    }

    /// What the last call wrote.
    #[must_use]
    #[inline]
    pub fn v(&self) -> &[u8; 16] {
        self.v
    }
}

impl fmt::Debug for Lane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("bytes", &self.data.len()).finish_non_exhaustive()
    }
}

macro_rules! key_size {
    ($bits:literal) => {
        impl AesSiv<$bits> {
            /// Encrypts each message and writes its V: the same as [`seal_after`](Self::seal_after)
            /// one by one.
            ///
            /// Any number of messages of any lengths. Constant time in key, strings and data;
            /// lengths are public.
            pub fn seal_lanes(&self, lanes: &mut [Lane<'_>]) {
                self.by_groups::<SEAL>(lanes);
            }

            /// Decrypts each message and replaces the V that came with it by the one that it should
            /// have: the same as [`open_after`](Self::open_after) one by one.
            ///
            /// The caller compares both, in constant time, and wipes the plaintext if they differ.
            pub fn open_lanes(&self, lanes: &mut [Lane<'_>]) {
                self.by_groups::<OPEN>(lanes);
            }

            fn by_groups<const MODE: bool>(&self, lanes: &mut [Lane<'_>]) {
                for lanes in lanes.chunks_mut(GROUP) {
                    if is_alone(self.isa(), lanes) {
                        lanes.iter_mut().for_each(|lane| self.alone::<MODE>(lane));
                    } else {
                        run::<_, MODE>(self, lanes);
                    }
                }
            }

            #[inline(never)]
            fn alone<const MODE: bool>(&self, lane: &mut Lane<'_>) {
                let strings = match lane.more {
                    [Some(first), Some(second)] => &[first, second][..],
                    [Some(one), None] | [None, Some(one)] => &[one],
                    [None, None] => &[],
                };
                let data = lane.data.reborrow();
                *lane.v = match MODE {
                    SEAL => self.seal_after(lane.strings, strings, data),
                    OPEN => self.open_after(lane.strings, strings, lane.v, data),
                };
            }
        }

        impl Ciphers for AesSiv<$bits> {
            #[inline]
            fn plain<'a>(&self, string: &'a [u8]) -> Blocks<'a> {
                self.cmac.plain(string)
            }

            #[inline]
            fn last<'a>(&self, sum: u128, string: &'a [u8]) -> Blocks<'a> {
                self.cmac.last(sum, string)
            }

            #[inline]
            fn mac(&self, blocks: &mut [[u8; 16]]) {
                self.mac.encrypt(blocks.into());
            }

            #[inline]
            fn cipher(&self, blocks: &mut [[u8; 16]]) {
                self.cipher.encrypt(blocks.into());
            }

            #[inline]
            fn short<const MODE: bool>(
                &self,
                sums: &mut [u128; GROUP],
                lanes: &mut [Lane<'_>],
            ) -> bool {
                let (keys, mode) = (&self.keys(), Mode::<MODE>);
                by_isa!(crate::siv::lanes, keys.isa, short(keys, sums, lanes, mode):
                    Avx512, _ => no_kernel)
            }

            #[inline]
            fn ctr(&self, counter: u128, data: InOutBuf<'_, '_, u8>) {
                let (isa, keys) = (self.cipher.isa(), self.cipher.forward());
                ctr::xor_from::<false>(isa, keys, counter, data);
            }
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);

/// Below 512-bit registers.
mod no_kernel {
    use super::{GROUP, Lane, Mode};
    use crate::siv::Keys;

    pub(super) fn short<const MODE: bool>(
        _keys: &Keys<'_>,
        _sums: &mut [u128; GROUP],
        _lanes: &mut [Lane<'_>],
        _: Mode<MODE>,
    ) -> bool {
        false
    }
}

/// What lanes need of a key of any size.
trait Ciphers {
    fn plain<'a>(&self, string: &'a [u8]) -> Blocks<'a>;

    fn last<'a>(&self, sum: u128, string: &'a [u8]) -> Blocks<'a>;

    /// Encrypts blocks by themselves, under the key of CMAC.
    fn mac(&self, blocks: &mut [[u8; 16]]);

    /// The same under the key of CTR.
    fn cipher(&self, blocks: &mut [[u8; 16]]);

    /// Serves short messages, if there is a kernel for them; `sums` is what their strings make.
    fn short<const MODE: bool>(&self, sums: &mut [u128; GROUP], lanes: &mut [Lane<'_>]) -> bool;

    /// XORs keystream from a counter block on, as a number, into the data.
    fn ctr(&self, counter: u128, data: InOutBuf<'_, '_, u8>);
}

/// Whether messages gain nothing from each other: few, or short ones where there are AES
/// instructions but no kernel for them, for the processor overlaps these by itself.
#[inline]
fn is_alone(isa: Isa, lanes: &[Lane<'_>]) -> bool {
    if Level::Avx512.is_built() && isa.has(Level::Avx512) && are_short(lanes) {
        return lanes.len() < FEWEST_SHORT;
    }
    let overlap = || {
        let bytes: usize = lanes.iter().map(|lane| lane.data.len()).sum();
        bytes < LONGEST_ALONE * lanes.len()
    };
    lanes.len() < FEWEST || isa.has(Level::AesNi) && overlap()
}

/// Whether all messages share the blocks of CTR.
#[inline]
fn are_short(lanes: &[Lane<'_>]) -> bool {
    lanes.iter().all(|lane| lane.data.len() <= 16 * SHARED)
}

/// At most [`GROUP`] messages.
#[inline(always)]
fn run<K: Ciphers, const MODE: bool>(keys: &K, lanes: &mut [Lane<'_>]) {
    let mut sums = [0; GROUP];
    for (sum, lane) in sums.iter_mut().zip(&*lanes) {
        *sum = lane.strings.sum;
    }
    for place in 0..2 {
        if lanes.iter().any(|lane| lane.more[place].is_some()) {
            associate(keys, &mut sums, lanes, |lane| lane.more[place]);
        }
    }
    if are_short(lanes) && keys.short::<MODE>(&mut sums, lanes) {
        wipe::words(&mut sums);
        return;
    }
    if MODE == OPEN {
        crypt(keys, lanes);
    }
    let mut chains = Chains::EMPTY;
    for (at, (sum, lane)) in sums.iter().zip(&mut *lanes).enumerate() {
        let string = if MODE == SEAL { lane.data.get_in() } else { lane.data.get_out() };
        chains.add(at, keys.last(*sum, string));
    }
    chains.run(keys, |at, v| sums[at] = u128::from_le_bytes(v));
    for (sum, lane) in sums.iter().zip(&mut *lanes) {
        *lane.v = sum.to_le_bytes();
    }
    if MODE == SEAL {
        crypt(keys, lanes);
    }
    wipe::words(&mut sums);
}

/// Adds one more string of each message that has one.
#[inline(always)]
fn associate<'a>(
    keys: &impl Ciphers,
    sums: &mut [u128; GROUP],
    lanes: &[Lane<'a>],
    string: impl Fn(&Lane<'a>) -> Option<&'a [u8]>,
) {
    let mut chains = Chains::EMPTY;
    for (at, lane) in lanes.iter().enumerate() {
        if let Some(string) = string(lane) {
            chains.add(at, keys.plain(string));
        }
    }
    chains.run(keys, |at, mac| sums[at] = doubled(sums[at]) ^ u128::from_le_bytes(mac));
}

/// Chains of CMAC side by side.
struct Chains<'a> {
    count: usize,
    /// The next block of each, with the result of the one before.
    state: [[u8; 16]; GROUP],
    strings: [Blocks<'a>; GROUP],
    /// The message that each belongs to.
    owner: [usize; GROUP],
}

impl<'a> Chains<'a> {
    const EMPTY: Self = Self {
        count: 0,
        state: [[0; 16]; GROUP],
        strings: [const { Blocks { body: &[], next: None, last: 0 } }; GROUP],
        owner: [0; GROUP],
    };

    #[inline(always)]
    fn add(&mut self, owner: usize, string: Blocks<'a>) {
        let at = self.count;
        if let Some(block) = string.get(0) {
            self.state[at] = block.to_le_bytes();
        }
        self.strings[at] = string;
        self.owner[at] = owner;
        self.count += 1;
    }

    /// Gives each result with the number of its message.
    #[inline(always)]
    fn run(mut self, keys: &impl Ciphers, mut done: impl FnMut(usize, [u8; 16])) {
        // In `order` are the chains at work, whose states lie at the front.
        let mut order: [usize; GROUP] = core::array::from_fn(|at| at);
        let mut block = 0;
        while self.count > 0 {
            keys.mac(&mut self.state[..self.count]);
            block += 1;
            let mut left = 0;
            for at in 0..self.count {
                let (chain, state) = (order[at], self.state[at]);
                if let Some(next) = self.strings[chain].get(block) {
                    self.state[left] = (u128::from_le_bytes(state) ^ next).to_le_bytes();
                    order[left] = chain;
                    left += 1;
                } else {
                    done(self.owner[chain], state);
                }
            }
            self.count = left;
        }
        wipe::memory(self.state.as_flattened_mut());
    }
}

/// CTR of all messages, each from its V on.
#[inline(always)]
fn crypt(keys: &impl Ciphers, lanes: &mut [Lane<'_>]) {
    let mut stream = [[0; 16]; STREAM];
    let mut first = 0;
    while first < lanes.len() {
        let (mut end, mut count) = (first, 0);
        while let Some(lane) = lanes.get_mut(end) {
            let counter = counter(u128::from_le_bytes(*lane.v));
            let blocks = lane.data.len().div_ceil(16);
            if blocks > SHARED {
                keys.ctr(counter, lane.data.reborrow());
            } else if count + blocks > STREAM {
                break;
            } else {
                for (block, number) in stream[count..].iter_mut().zip(0..blocks as u128) {
                    *block = counter.wrapping_add(number).to_be_bytes();
                }
                count += blocks;
            }
            end += 1;
        }
        keys.cipher(&mut stream[..count]);
        let mut stream = &stream[..];
        for lane in &mut lanes[first..end] {
            let blocks = lane.data.len().div_ceil(16);
            if let Some((own, rest)) = stream.split_at_checked(blocks)
                && blocks <= SHARED
            {
                add(own, lane.data.reborrow());
                stream = rest;
            }
        }
        first = end;
    }
    wipe::memory(stream.as_flattened_mut());
}

/// XORs blocks into data.
#[inline(always)]
fn add(stream: &[[u8; 16]], data: InOutBuf<'_, '_, u8>) {
    let (blocks, mut rest) = crate::into_blocks(data);
    let whole = blocks.len();
    for (mut block, key) in blocks.into_iter().zip(stream) {
        let sum = u128::from_le_bytes(*block.get_in()) ^ u128::from_le_bytes(*key);
        *block.get_out() = sum.to_le_bytes();
    }
    if let Some(key) = stream.get(whole) {
        let sum = short(rest.get_in()) ^ u128::from_le_bytes(*key);
        put_short(rest.get_out(), sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aead;
    use crate::isa::reached::{assert_best, forget};

    #[test]
    fn every_level_reaches_its_kernel() {
        let kernels = crate::aes::KERNELS;
        let mut data = [[0; 140]; 7];
        let mut tags = [[0; 16]; 7];
        for run in [AesSiv::<256>::seal_lanes, AesSiv::<256>::open_lanes] {
            assert_best(kernels, |isa| {
                let siv = AesSiv::<256>::new(isa, &[1; 64]);
                let strings = siv.strings().clone();
                let places = data.iter_mut().zip(&mut tags);
                let mut lanes: Vec<_> = places
                    .map(|(data, v)| Lane::new(&strings, [None; 2], (&mut data[..]).into(), v))
                    .collect();
                forget();
                run(&siv, &mut lanes);
            });
        }
    }
}
