//! Authentication of a message of an AEAD (RFC 8439, section 2.8), inlined into the kernel that
//! encrypts it, so that key and state do not go through memory.

use core::arch::x86_64::*;
use core::slice::from_mut;

use super::{Factor, Powers, absorb_groups, added_up, after_two, in_lanes, squared};
use crate::poly1305::{PartialHash, State, padded, portable};
use crate::wipe;

/// Poly1305 under one key, with the sum of the blocks so far.
pub(crate) struct MessageHash {
    state: State,
    /// Added at the end.
    pad: u128,
}

/// The factors for blocks side by side, made of the key alone.
pub(crate) struct Wide(Powers);

impl MessageHash {
    /// Takes a one-time key.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn new(key: __m256i) -> Self {
        let r = portable::point(&number(_mm256_castsi256_si128(key)).to_le_bytes());
        Self { state: State { r, h: [0; 3] }, pad: number(_mm256_extracti128_si256::<1>(key)) }
    }

    /// Takes a point and a pad, the parts of a key.
    #[inline]
    pub(crate) fn under(r: [u64; 2], pad: u128) -> Self {
        Self { state: State { r, h: [0; 3] }, pad }
    }

    /// The parts of the key.
    #[inline]
    pub(crate) fn key(&self) -> ([u64; 2], u128) {
        (self.state.r, self.pad)
    }

    /// The argument of [`absorb_groups`](Self::absorb_groups) and [`absorb_end`](Self::absorb_end).
    #[inline]
    #[target_feature(enable = "avx512f,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn wide(&self) -> Wide {
        Wide(Powers::of(self.state.r))
    }

    /// Absorbs bytes, one block after the other, and zeros that fill the last.
    #[inline(always)]
    pub(crate) fn absorb_few(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        portable::absorb(&mut self.state, blocks);
        if !rest.is_empty() {
            self.absorb_number(padded(rest));
        }
    }

    /// Absorbs a block that is a number already.
    #[inline(always)]
    pub(crate) fn absorb_number(&mut self, block: u128) {
        portable::absorb_one(&mut self.state, block, 1);
    }

    /// The tag of a message, before any of it has been absorbed.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn finish(
        self,
        aad: &[u8],
        data: &[u8],
        place: Option<&mut PartialHash>,
    ) -> [u8; 16] {
        let mut message = self;
        let wide = message.wide();
        message.absorb_few(aad);
        message.absorb_end(&wide, data, [aad.len() as u64, data.len() as u64]);
        message.tag(place)
    }

    /// Absorbs the end of the message: at least [`END`] bytes, zeros that fill the last block, and
    /// one block more, the message's lengths.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn absorb_end(&mut self, wide: &Wide, bytes: &[u8], lengths: [u64; 2]) {
        let head = super::head(bytes.len().div_ceil(16) + 1);
        let (head, rest) = bytes.split_at(16 * head);
        // It does not depend on the powers, nor they on it.
        portable::absorb(&mut self.state, head.as_chunks().0);
        absorb_groups::<true>(&mut self.state, &wide.0, None, rest, lengths);
    }

    /// The tag of all that has been absorbed.
    #[inline(always)]
    pub(crate) fn tag(self, place: Option<&mut PartialHash>) -> [u8; 16] {
        if let Some(partial) = place {
            partial.set(self.state.r, self.state.h, self.pad);
        }
        portable::tag(self.state.h, &self.pad.to_le_bytes())
    }
}

/// The lanes between calls.
#[derive(Clone, Copy)]
pub(crate) struct Sum([__m512i; 3]);

/// Poly1305 of a message that is too long for one piece: in memory, wiped on drop.
pub(crate) struct LongMessageHash {
    state: State,
    pad: u128,
    powers: Powers,
    sixteenth: Factor,
}

impl LongMessageHash {
    /// Takes the parts of a one-time key.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn under(r: [u64; 2], pad: u128) -> Self {
        let powers = Powers::of(r);
        let sixteenth = squared(&powers.eighth);
        Self { state: State { r, h: [0; 3] }, pad, powers, sixteenth }
    }

    /// [`absorb`](Self::absorb) for bytes that are few, without a call.
    #[inline(always)]
    pub(crate) fn absorb_few(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        portable::absorb(&mut self.state, blocks);
        if !rest.is_empty() {
            portable::absorb_one(&mut self.state, padded(rest), 1);
        }
    }

    /// Absorbs bytes and zeros that fill the last block.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn absorb(&mut self, bytes: &[u8]) {
        let Self { state, powers, sixteenth, .. } = self;
        let (blocks, rest) = bytes.as_chunks();
        let (head, blocks) = blocks.split_at(super::head(blocks.len()));
        portable::absorb(state, head);
        if !blocks.is_empty() {
            absorb_groups::<false>(state, powers, Some(sixteenth), blocks.as_flattened(), [0; 2]);
        }
        if !rest.is_empty() {
            portable::absorb_one(state, padded(rest), 1);
        }
    }

    /// Absorbs whole blocks, eight or more, up to the last group of eight, which is in the sum.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn begin(&self, bytes: &[u8]) -> Sum {
        let Self { state, powers, sixteenth, .. } = self;
        Sum(in_lanes::<false>(state, &powers.eighth, Some(sixteenth), bytes, [0; 2]))
    }

    /// Absorbs sixteen blocks more.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn go_on(&self, Sum(sum): Sum, [one, two]: &[[[u8; 64]; 2]; 2]) -> Sum {
        Sum(after_two(sum, &self.powers.eighth, &self.sixteenth, [one, two]))
    }

    /// Ends the pass that [`begin`](Self::begin) began.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx512ifma,bmi2")]
    pub(crate) fn end(&mut self, Sum(sum): Sum) {
        self.state.h = added_up(sum, &self.powers);
    }

    /// The tag: the last block is the numbers of bytes.
    ///
    /// Not by value, which would be copied.
    #[inline]
    pub(crate) fn tag(&mut self, lengths: [u64; 2], place: Option<&mut PartialHash>) -> [u8; 16] {
        portable::absorb_one(&mut self.state, portable::joined(lengths), 1);
        if let Some(partial) = place {
            partial.set(self.state.r, self.state.h, self.pad);
        }
        portable::tag(self.state.h, &self.pad.to_le_bytes())
    }
}

impl Drop for LongMessageHash {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.state.r);
        wipe::words(&mut self.state.h);
        wipe::words(from_mut(&mut self.pad));
        self.powers.wipe();
        self.sixteenth.wipe();
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn number(v: __m128i) -> u128 {
    let low = _mm_cvtsi128_si64(v).cast_unsigned();
    let high = _mm_extract_epi64::<1>(v).cast_unsigned();
    u128::from(low) | u128::from(high) << 64
}
