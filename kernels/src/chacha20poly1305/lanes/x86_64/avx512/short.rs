//! Groups of messages of at most one block. Poly1305 reads copies of the ciphertext, behind the
//! associated data of each message, so that all lie at the same distances.

use core::arch::x86_64::*;

use super::{GROUP, Lane, MOST_AAD, SEAL, halves};
use crate::arx::lanes::{CHACHA, Starts};
use crate::chacha::Key;
use crate::chacha::x86_64::avx512::{eight_blocks, sixteen_blocks};
use crate::poly1305::x86_64::avx512::lanes::Eight;
use crate::simd::{first_bytes, load512, load512_part, load512_short, store512, store512_short};
use crate::wipe;

/// Bytes of a slot: room for associated data and for data, and so for the store of a block.
const SLOT: usize = MOST_AAD + 64;

/// Messages side by side.
struct Group<'l, 'a> {
    lanes: &'l mut [Lane<'a>],
    /// The input of Poly1305 for each message.
    slots: [[u8; SLOT]; GROUP],
    /// Block 0 of each message.
    keys: [[u8; 64]; GROUP],
    /// Bytes of associated data and of data of each message.
    aads: [u64; GROUP],
    sizes: [u64; GROUP],
    /// The blocks of the next pass: their messages and the slots of these. Entries after `count`
    /// are not used.
    blocks: [(u8, u8); 16],
    count: usize,
    /// The number of each block after block 0: four bits each, and one number for all.
    ahead: u64,
    all_ahead: u32,
}

/// The messages whose indices are `order`, the longest first.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
pub(super) fn side_by_side<const MODE: bool>(lanes: &mut [Lane<'_>], order: &[u8]) {
    let mut group = Group {
        lanes,
        slots: [[0; SLOT]; GROUP],
        keys: [[0; 64]; GROUP],
        aads: [0; GROUP],
        sizes: [0; GROUP],
        blocks: [(order[0], 0); 16],
        count: 0,
        ahead: 0,
        all_ahead: 0,
    };
    for (slot, &at) in order.iter().enumerate() {
        let lane = &group.lanes[usize::from(at)];
        group.sizes[slot] = lane.data.len() as u64;
        group.aads[slot] = lane.aad.len() as u64;
        // A load of no bytes, from an address that may not be mapped, would fault and take long.
        if let Some(place) = group.slots[slot].first_chunk_mut()
            && !lane.aad.is_empty()
        {
            store512(place, load512_part(lane.aad));
        }
    }
    match order.first_chunk() {
        Some(order) => group.encrypt_ones::<MODE>(order),
        _ => group.encrypt::<MODE>(order),
    }
    let mut eights = group.eights();
    group.absorb(&mut eights, order.len());
    group.tags(&mut eights, order);
    eights.iter_mut().for_each(Eight::wipe);
    wipe::memory(group.keys.as_flattened_mut());
}

impl Group<'_, '_> {
    /// Makes block 0 of each message, encrypts or decrypts the data, and copies the ciphertext into
    /// the slots.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn encrypt<const MODE: bool>(&mut self, order: &[u8]) {
        for (slot, &at) in (0..).zip(order) {
            let blocks = self.lanes[usize::from(at)].data.len().div_ceil(64);
            for ahead in 0..=blocks {
                self.blocks[self.count] = (at, slot);
                self.ahead |= (ahead as u64) << (4 * self.count);
                self.count += 1;
                if self.count == 16 {
                    self.pass::<MODE>();
                }
            }
        }
        if self.count > 0 {
            self.pass::<MODE>();
        }
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn pass<const MODE: bool>(&mut self) {
        if self.count <= 8 {
            let stream = eight_blocks(self);
            for (at, &[front, back]) in stream.iter().enumerate().take(self.count) {
                let stream = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back);
                self.put::<MODE>(at, stream);
            }
        } else {
            let stream = sixteen_blocks(self);
            for (at, stream) in stream.iter().enumerate().take(self.count) {
                self.put::<MODE>(at, *stream);
            }
        }
        (self.count, self.ahead) = (0, 0);
    }

    /// [`encrypt`](Self::encrypt) of sixteen messages of at most one block: first their keys, then
    /// their data, and no list of blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn encrypt_ones<const MODE: bool>(&mut self, order: &[u8; GROUP]) {
        for (slot, (block, &at)) in (0..).zip(self.blocks.iter_mut().zip(order)) {
            *block = (at, slot);
        }
        let stream = sixteen_blocks(self);
        for (key, stream) in self.keys.iter_mut().zip(&stream) {
            store512(key, *stream);
        }
        // They are ordered: the first is the longest.
        if self.sizes[0] > 0 {
            self.all_ahead = 1;
            let stream = sixteen_blocks(self);
            for (slot, (stream, &at)) in stream.iter().zip(order).enumerate() {
                self.put_data::<MODE>(at, slot, 0, *stream);
            }
        }
    }

    /// XORs a block of keystream into its data, or keeps it if it is block 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn put<const MODE: bool>(&mut self, at: usize, stream: __m512i) {
        let (lane, slot) = self.blocks[at];
        let slot = usize::from(slot);
        match (self.ahead >> (4 * at)).to_le_bytes()[0] & 15 {
            0 => store512(&mut self.keys[slot], stream),
            ahead => self.put_data::<MODE>(lane, slot, usize::from(ahead) - 1, stream),
        }
    }

    /// XORs a block of keystream into a block of data, and copies the ciphertext.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn put_data<const MODE: bool>(&mut self, lane: u8, slot: usize, block: usize, stream: __m512i) {
        let place = self.front(slot) + 64 * block;
        let data = self.lanes[usize::from(lane)].data.reborrow();
        let (_, mut data) = data.split_at(64 * block);
        let Some(copy) = self.slots[slot][place..].first_chunk_mut() else { return };
        if let Some(text) = data.get_in().first_chunk() {
            let text = load512(text);
            let other = _mm512_xor_si512(text, stream);
            if let Some(out) = data.get_out().first_chunk_mut() {
                store512(out, other);
            }
            store512(copy, if MODE == SEAL { other } else { text });
        } else {
            let text = load512_short(data.get_in());
            let other = _mm512_xor_si512(text, stream);
            store512_short(data.get_out(), other);
            // Bytes past the end are zero, as in Poly1305.
            let sealed = _mm512_maskz_mov_epi8(first_bytes(data.len()), other);
            store512(copy, if MODE == SEAL { sealed } else { text });
        }
    }

    /// Bytes that the associated data take in a slot.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "associated data are few")]
    fn front(&self, slot: usize) -> usize {
        (self.aads[slot] as usize).next_multiple_of(16)
    }

    /// Poly1305 of all messages.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn eights(&self) -> [Eight; 2] {
        let (front, back) = halves(&self.keys);
        [Eight::new(pairs(front, 0)), Eight::new(pairs(back, 0))]
    }

    /// Absorbs the slots of the messages.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn absorb(&self, [low, high]: &mut [Eight; 2], all: usize) {
        let mut counts = [0; GROUP];
        for (count, (&aad, &size)) in counts.iter_mut().zip(self.aads.iter().zip(&self.sizes)) {
            *count = aad.div_ceil(16) + size.div_ceil(16);
        }
        let (mut least, mut most) = (usize::MAX, 0);
        for count in counts.iter().take(all).map(|&count| usize::from(count.to_le_bytes()[0])) {
            (least, most) = (least.min(count), most.max(count));
        }
        let (front, back) = halves(&self.slots);
        // Lanes without a message have no effect.
        let common = least / 2;
        for at in 0..common {
            low.absorb(pairs(front, at));
            if all > 8 {
                high.absorb(pairs(back, at));
            }
        }
        let (low_counts, high_counts) = halves(&counts);
        for at in common..most.div_ceil(2) {
            let masks = |counts| [above(counts, 2 * at), above(counts, 2 * at + 1)];
            low.absorb_in(masks(low_counts), pairs(front, at));
            if all > 8 {
                high.absorb_in(masks(high_counts), pairs(back, at));
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn tags(&mut self, eights: &mut [Eight; 2], order: &[u8]) {
        let (aads, sizes) = (self.aads.as_chunks().0, self.sizes.as_chunks().0);
        for (half, (eight, order)) in eights.iter_mut().zip(order.chunks(8)).enumerate() {
            eight.absorb_lengths(&aads[half], &sizes[half]);
            for (&at, tag) in order.iter().zip(eight.tags()) {
                *self.lanes[usize::from(at)].tag = tag;
            }
        }
    }
}

impl Starts<16> for Group<'_, '_> {
    const CIPHER: bool = CHACHA;

    #[inline(always)]
    fn key(&self, at: usize) -> &Key {
        self.lanes[usize::from(self.blocks[at].0)].key
    }

    #[inline(always)]
    fn last(&self, at: usize) -> &[u64; 2] {
        &self.lanes[usize::from(self.blocks[at].0)].last
    }

    #[inline(always)]
    fn ahead(&self) -> u64 {
        self.ahead
    }

    #[inline(always)]
    fn all_ahead(&self) -> u32 {
        self.all_ahead
    }
}

/// The pair of blocks `at` of each slot.
#[inline(always)]
fn pairs<const BYTES: usize>(slots: &[[u8; BYTES]; 8], at: usize) -> [&[u8; 32]; 8] {
    slots.each_ref().map(|slot| &slot.as_chunks().0[at])
}

/// The lanes whose count is above `than`.
#[inline(always)]
fn above(counts: &[u64; 8], than: usize) -> u8 {
    counts.iter().rev().fold(0, |lanes, &count| lanes << 1 | u8::from(count > than as u64))
}
