//! What authenticates a message of an AEAD (RFC 8439, section 2.8), inlined into the kernel that
//! encrypts it: key and state stay in registers.

use core::arch::x86_64::*;
use core::slice::from_mut;

use super::{Powers, absorb_groups};
use crate::poly1305::{State, halves, padded, portable};
use crate::wipe;

/// Poly1305 under one key, with what it has absorbed so far.
pub(crate) struct Message {
    state: State,
    /// What is added at the end.
    pad: u128,
}

/// What absorbs blocks side by side, made of the key alone.
pub(crate) struct Wide(Powers);

impl Message {
    /// Takes a one-time key.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,bmi2")]
    pub(crate) fn new(key: __m256i) -> Self {
        let r = portable::point(&number(_mm256_castsi256_si128(key)).to_le_bytes());
        Self { state: State { r, h: [0; 3] }, pad: number(_mm256_extracti128_si256::<1>(key)) }
    }

    /// What [`absorb_groups`](Self::absorb_groups) and [`absorb_end`](Self::absorb_end) need.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,bmi2")]
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

    /// The tag of a message of which nothing has been absorbed yet.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512ifma,bmi2")]
    pub(crate) fn finish(self, aad: &[u8], data: &[u8]) -> [u8; 16] {
        let [r0, r1] = self.state.r;
        tag(r0, r1, self.pad, aad, data)
    }

    /// Absorbs the end of the message: at least [`END`] bytes, zeros that fill the last block, and
    /// one block more, the message's lengths.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512ifma,bmi2")]
    pub(crate) fn absorb_end(&mut self, wide: &Wide, bytes: &[u8], lengths: [u64; 2]) {
        let head = super::head(bytes.len().div_ceil(16) + 1);
        let (head, rest) = bytes.split_at(16 * head);
        // It does not wait for the powers, nor they for it.
        portable::absorb(&mut self.state, head.as_chunks().0);
        absorb_groups::<true>(&mut self.state, &wide.0, rest, lengths);
    }

    /// The tag of all that has been absorbed.
    #[inline(always)]
    pub(crate) fn tag(self) -> [u8; 16] {
        portable::tag(self.state.h, &self.pad.to_le_bytes())
    }
}

/// Poly1305 of a message that is too long for one piece: in memory, wiped on drop.
pub(crate) struct LongMessage {
    state: State,
    pad: u128,
    powers: Powers,
}

impl LongMessage {
    /// Takes a one-time key and absorbs associated data.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512ifma,bmi2")]
    pub(crate) fn new(key: &[u8; 32], aad: &[u8]) -> Self {
        let [r, pad] = halves(key);
        let r = portable::point(r);
        let state = State { r, h: [0; 3] };
        let mut message = Self { state, pad: u128::from_le_bytes(*pad), powers: Powers::of(r) };
        message.absorb(aad);
        message
    }

    /// Absorbs bytes and zeros that fill the last block.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512ifma,bmi2")]
    pub(crate) fn absorb(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        let (head, blocks) = blocks.split_at(super::head(blocks.len()));
        portable::absorb(&mut self.state, head);
        if !blocks.is_empty() {
            absorb_groups::<false>(&mut self.state, &self.powers, blocks.as_flattened(), [0; 2]);
        }
        if !rest.is_empty() {
            portable::absorb_one(&mut self.state, padded(rest), 1);
        }
    }

    /// The tag: the last block are the numbers of bytes.
    #[inline]
    pub(crate) fn tag(mut self, lengths: [u64; 2]) -> [u8; 16] {
        portable::absorb_one(&mut self.state, portable::joined(lengths), 1);
        portable::tag(self.state.h, &self.pad.to_le_bytes())
    }
}

impl Drop for LongMessage {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.state.r);
        wipe::words(&mut self.state.h);
        wipe::words(from_mut(&mut self.pad));
        self.powers.wipe();
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn number(v: __m128i) -> u128 {
    let low = _mm_cvtsi128_si64(v).cast_unsigned();
    let high = _mm_extract_epi64::<1>(v).cast_unsigned();
    u128::from(low) | u128::from(high) << 64
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,bmi2")]
fn tag(r0: u64, r1: u64, pad: u128, aad: &[u8], data: &[u8]) -> [u8; 16] {
    let mut message = Message { state: State { r: [r0, r1], h: [0; 3] }, pad };
    let wide = message.wide();
    message.absorb_few(aad);
    message.absorb_end(&wide, data, [aad.len() as u64, data.len() as u64]);
    message.tag()
}
