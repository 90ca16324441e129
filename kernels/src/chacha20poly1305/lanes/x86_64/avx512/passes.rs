//! The keystream of a group of messages, sixteen blocks at a time.

use core::arch::x86_64::*;

use super::{GROUP, Lane};
use crate::arx::lanes::{CHACHA, Starts};
use crate::chacha::Key;
use crate::chacha::x86_64::avx512::{Lanes, double_round, eight_blocks, sixteen_blocks};
use crate::simd::{load512, load512_part, opaque_count, store512, store512_part};
use crate::{into_blocks, opaque};

/// Blocks of a pass.
const PASS: usize = 16;

/// The blocks of keystream of a pass.
pub(super) type Stream = [__m512i; PASS];

/// The messages of a group, their progress, and the blocks of the next pass.
pub(super) struct Passes<'g, 'l, 'a> {
    pub(super) group: &'g mut [Option<&'l mut Lane<'a>>],
    keys: [&'a Key; GROUP],
    /// Counter and nonce of block 0 of each message. They are not written between passes, whose
    /// loads would wait for it.
    last: [[u64; 2]; GROUP],
    /// Blocks of data of each message that are done, and that are left.
    done: [u8; GROUP],
    left: [u8; GROUP],
    /// The first message that has some left.
    first: usize,
    /// The message of each block of the pass. Entries after `count` are not used; there is room
    /// behind them for a pass of one message.
    members: [u8; 2 * PASS],
    count: usize,
    /// The number of each block in its message: a byte each.
    numbers: u128,
}

impl<'g, 'l, 'a> Passes<'g, 'l, 'a> {
    /// The group has at least one message and at most sixteen.
    #[inline]
    pub(super) fn new(group: &'g mut [Option<&'l mut Lane<'a>>]) -> Option<Self> {
        let key = group.first()?.as_ref()?.key;
        let mut passes = Self {
            keys: [key; GROUP],
            last: [[0; 2]; GROUP],
            done: [0; GROUP],
            left: [0; GROUP],
            first: 0,
            members: [0; 2 * PASS],
            count: 0,
            numbers: 0,
            group,
        };
        for (at, lane) in passes.group.iter().flatten().enumerate() {
            passes.keys[at] = lane.key;
            passes.last[at] = lane.last;
            passes.left[at] = byte(lane.data.len().div_ceil(64));
        }
        Some(passes)
    }

    /// Takes block 0 of each message into the pass, and as many blocks of data as there is room for
    /// behind them. Stores block 0 of each, and returns all blocks for [`put`](Self::put); those of
    /// data begin after one for each message.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    pub(super) fn begin(&mut self, keys: &mut [[u8; 64]; GROUP]) -> Stream {
        let all = self.group.len();
        self.members[..PASS]
            .copy_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        self.count = all;
        self.fill();
        let stream = self.stream();
        for (key, block) in keys.iter_mut().zip(&stream).take(all) {
            store512(key, *block);
        }
        stream
    }

    /// XORs the keystream into all data that are left.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    pub(super) fn finish(&mut self) {
        for at in self.first..self.group.len() {
            if usize::from(self.left[at]) >= PASS {
                self.whole_passes(at);
            }
        }
        loop {
            self.fill();
            if self.count == 0 {
                return;
            }
            let stream = self.stream();
            self.put(0, &stream);
        }
    }

    /// XORs the keystream into as much data of one message as fills whole passes.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn whole_passes(&mut self, member: usize) {
        let Some(lane) = &mut self.group[member] else { return };
        let (_, data) = lane.data.reborrow().split_at(64 * usize::from(self.done[member]));
        for mut bytes in into_blocks::<1024>(data).0 {
            let [counter, nonce] = self.last[member];
            let counter = counter + 1 + u64::from(self.done[member]);
            let lanes = Lanes::of(&self.keys[member].words, counter, nonce);
            let counters = lanes.counters();
            let mut x = lanes.double_round::<false>(counters);
            for _ in 1..opaque_count(10) {
                x = double_round(x);
            }
            for (at, block) in lanes.blocks::<false>(x, counters).into_iter().enumerate() {
                let other = _mm512_xor_si512(load512(&bytes.get_in().as_chunks().0[at]), block);
                store512(&mut bytes.get_out().as_chunks_mut().0[at], other);
            }
            self.done[member] += byte(PASS);
            self.left[member] -= byte(PASS);
        }
    }

    /// Adds blocks until the pass is full or none are left.
    #[inline]
    fn fill(&mut self) {
        while self.count < PASS && self.first < self.group.len() {
            let at = self.first & (GROUP - 1);
            let count = usize::from(self.left[at]).min(PASS - self.count);
            if let Some(members) = self.members[self.count..].first_chunk_mut() {
                *members = [byte(at); PASS];
            }
            let numbers = u128::from(1 + self.done[at]) * EACH + IN_A_ROW;
            // A message may have none left: its entries are shifted out.
            let kept = numbers.checked_shl(bits(PASS - count)).unwrap_or(0);
            self.numbers |= kept.checked_shr(bits(PASS - count - self.count)).unwrap_or(0);
            self.count += count;
            self.done[at] += byte(count);
            self.left[at] -= byte(count);
            self.first += usize::from(self.left[at] == 0);
        }
    }

    /// The keystream of the pass.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn stream(&self) -> Stream {
        if self.count > PASS / 2 {
            return sixteen_blocks(self);
        }
        let mut stream = [_mm512_setzero_si512(); PASS];
        for (block, [front, back]) in stream.iter_mut().zip(eight_blocks(self)) {
            *block = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back);
        }
        stream
    }

    /// XORs the keystream of the pass into its data, from the block `from` on. The next pass is
    /// then empty.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    pub(super) fn put(&mut self, from: usize, stream: &Stream) {
        let numbers = self.numbers.to_le_bytes();
        for at in from..self.count {
            let member = usize::from(self.members[at]);
            let Some(Some(lane)) = self.group.get_mut(member) else { continue };
            let ahead = 64 * usize::from(numbers[at] - 1);
            let (_, mut data) = lane.data.reborrow().split_at(ahead);
            if let Some(text) = data.get_in().first_chunk() {
                let other = _mm512_xor_si512(load512(text), stream[at]);
                if let Some(out) = data.get_out().first_chunk_mut() {
                    store512(out, other);
                }
            } else {
                let other = _mm512_xor_si512(load512_part(data.get_in()), stream[at]);
                store512_part(data.get_out(), other);
            }
        }
        (self.count, self.numbers) = (0, 0);
    }
}

/// A number in each of sixteen bytes, and the numbers from 0 on.
const EACH: u128 = u128::MAX / 255;
const IN_A_ROW: u128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100;

impl Starts<PASS> for Passes<'_, '_, '_> {
    const CIPHER: bool = CHACHA;

    #[inline(always)]
    fn key(&self, at: usize) -> &Key {
        self.keys[usize::from(self.members[at] & 15)]
    }

    #[inline(always)]
    fn last(&self, at: usize) -> &[u64; 2] {
        &self.last[usize::from(self.members[at] & 15)]
    }

    #[inline(always)]
    fn ahead(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn all_ahead(&self) -> u32 {
        0
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
    fn far_ahead(&self) -> [u64; 2] {
        [opaque::word(self.numbers as u64), opaque::word((self.numbers >> 64) as u64)]
    }
}

/// So many bytes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "they are sixteen at most")]
const fn bits(bytes: usize) -> u32 {
    8 * bytes as u32
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "messages have fewer blocks than 256")]
const fn byte(number: usize) -> u8 {
    number as u8
}
