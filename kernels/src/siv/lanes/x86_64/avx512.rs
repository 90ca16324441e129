//! Messages of at most four blocks side by side, 16 at a time, four in each 512-bit register.
//!
//! A message is one register, in which S2V changes its end. Registers of four messages are then
//! transposed, so that each holds a block of every message. Constant time in keys, strings and
//! data.

use core::arch::x86_64::*;

use crate::aes::RoundKeys;
use crate::aes::lanes::x86_64::avx512::transpose;
use crate::aes::x86_64::avx512::broadcast;
use crate::isa::Mode;
use crate::simd::{first_bytes, load128, load512, load512_part, store512, store512_part};
use crate::siv::cmac::{Subkeys, doubled};
use crate::siv::lanes::{GROUP, Lane, SEAL};
use crate::siv::x86_64::aesni::block;
use crate::siv::{Keys, counter};
use crate::{Level, wipe};

pub(crate) const NEEDS: Level = Level::Avx512;

/// Messages that run side by side: enough to keep the units for AES busy.
const LANES: usize = 16;

/// Serves messages of at most 64 bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,vaes")]
pub(crate) fn short<const MODE: bool>(
    keys: &Keys<'_>,
    sums: &mut [u128; GROUP],
    lanes: &mut [Lane<'_>],
    _: Mode<MODE>,
) -> bool {
    for (lanes, sums) in lanes.chunks_mut(LANES).zip(sums.chunks(LANES)) {
        let longest = lanes.iter().map(|lane| lane.data.len()).max().unwrap_or_default();
        match longest {
            0..=16 => sixteen::<MODE, 1>(keys, sums, lanes),
            17..=32 => sixteen::<MODE, 2>(keys, sums, lanes),
            33..=48 => sixteen::<MODE, 3>(keys, sums, lanes),
            _ => sixteen::<MODE, 4>(keys, sums, lanes),
        }
    }
    true
}

/// Up to 16 messages of at most `B` blocks.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,vaes")]
fn sixteen<const MODE: bool, const B: usize>(
    keys: &Keys<'_>,
    sums: &[u128],
    lanes: &mut [Lane<'_>],
) {
    let mut rows = [[_mm512_setzero_si512(); 4]; 4];
    // Masks of nothing are slow where there is no memory, as behind an empty slice.
    for (at, lane) in lanes.iter().enumerate().filter(|(_, lane)| !lane.data.is_empty()) {
        rows[at / 4][at % 4] = load512_part(lane.data.get_in());
    }
    if MODE != SEAL {
        let mut vs = [[0; 64]; 4];
        for (at, lane) in lanes.iter().enumerate() {
            vs[at / 4].as_chunks_mut().0[at % 4] = *lane.v;
        }
        let stream = stream::<B>(keys.cipher, vs.each_ref().map(|four| load512(four)));
        for (at, lane) in lanes.iter_mut().enumerate() {
            let row = &mut rows[at / 4][at % 4];
            *row = _mm512_xor_si512(*row, stream[at / 4][at % 4]);
            // What is behind the message is keystream there.
            *row = _mm512_maskz_mov_epi8(first_bytes(lane.data.len()), *row);
            if !lane.data.is_empty() {
                store512_part(lane.data.get_out(), *row);
            }
        }
    }
    let mut text = rows;
    let mut live = [[0_u8; 4]; 4];
    for ((at, lane), sum) in lanes.iter().enumerate().zip(sums) {
        let length = lane.data.len();
        let row = &mut text[at / 4][at % 4];
        *row = ended(*row, length, *sum, keys.cmac);
        for (number, live) in live.iter_mut().enumerate() {
            // Two words of 64 bits for each block.
            live[at / 4] |= if 16 * number < length { 3 << (2 * (at % 4)) } else { 0 };
        }
    }
    let vs = chains::<B>(keys.mac, text.map(|four| transpose(four)), live);
    let mut bytes = [[0; 64]; 4];
    for (bytes, four) in bytes.iter_mut().zip(vs) {
        store512(bytes, four);
    }
    if MODE == SEAL {
        let stream = stream::<B>(keys.cipher, vs);
        for (at, lane) in lanes.iter_mut().enumerate() {
            let row = _mm512_xor_si512(rows[at / 4][at % 4], stream[at / 4][at % 4]);
            if !lane.data.is_empty() {
                store512_part(lane.data.get_out(), row);
            }
        }
    }
    for (lane, v) in lanes.iter_mut().zip(bytes.as_flattened().as_chunks().0) {
        *lane.v = *v;
    }
    wipe::memory(bytes.as_flattened_mut());
}

/// A message of `length` bytes, zeros behind it, as S2V and CMAC take it: see
/// [`Subkeys::last`](crate::siv::cmac::Subkeys).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn ended(row: __m512i, length: usize, sum: u128, cmac: &Subkeys) -> __m512i {
    /// The number of each byte.
    static PLACES: [u8; 64] = {
        let mut places = [0; 64];
        let mut at = 0;
        while at < 64 {
            places[at] = at.to_le_bytes()[0];
            at += 1;
        }
        places
    };
    let is_short = length < 16;
    let is_whole = length.is_multiple_of(16) && !is_short;
    let (sum, from) = if is_short { (doubled(sum), 0) } else { (sum, length - 16) };
    let key = if is_short || is_whole { cmac.whole } else { cmac.part };
    // The sum from its place on.
    let from = i8::from_le_bytes([from.to_le_bytes()[0]]);
    let places = _mm512_sub_epi8(load512(&PLACES), _mm512_set1_epi8(from));
    let sum = _mm512_zextsi128_si512(block(sum));
    let mask = 0xffff_u64 << from;
    let row = _mm512_xor_si512(row, _mm512_maskz_permutexvar_epi8(mask, places, sum));
    // A bit behind an incomplete block.
    let end = if is_whole { 0 } else { 1_u64 << length };
    let row = _mm512_xor_si512(row, _mm512_maskz_set1_epi8(end, -128));
    let last = 3_u8 << (2 * (length.saturating_sub(1) / 16));
    let key = _mm512_broadcast_i32x4(block(key));
    _mm512_mask_xor_epi64(row, last, row, key)
}

/// CMAC of all messages, of which `text` has the blocks of four messages in a register. `live` says
/// which have a block with this number; all have a first one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn chains<const B: usize>(
    keys: &RoundKeys,
    text: [[__m512i; 4]; 4],
    live: [[u8; 4]; 4],
) -> [__m512i; 4] {
    let mut state = encrypted(keys, text.map(|blocks| blocks[0]));
    for number in 1..B {
        let mut next = state;
        for (x, blocks) in next.iter_mut().zip(&text) {
            *x = _mm512_xor_si512(*x, blocks[number]);
        }
        next = encrypted(keys, next);
        for ((x, next), live) in state.iter_mut().zip(next).zip(live[number]) {
            *x = _mm512_mask_mov_epi64(*x, live, next);
        }
    }
    state
}

/// `B` blocks of CTR for each message, from its V on, as messages lie in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes")]
fn stream<const B: usize>(keys: &RoundKeys, vs: [__m512i; 4]) -> [[__m512i; 4]; 4] {
    let reversed = broadcast(&[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    let cleared = broadcast(&counter(u128::MAX).to_be_bytes());
    let one = _mm512_set_epi64(0, 1, 0, 1, 0, 1, 0, 1);
    let mut counters = vs.map(|v| _mm512_shuffle_epi8(_mm512_and_si512(v, cleared), reversed));
    let mut columns = [[_mm512_setzero_si512(); 4]; 4];
    for number in 0..B {
        let blocks = counters.map(|counter| _mm512_shuffle_epi8(counter, reversed));
        for (column, blocks) in columns.iter_mut().zip(encrypted(keys, blocks)) {
            column[number] = blocks;
        }
        counters = counters.map(|counter| _mm512_add_epi64(counter, one));
    }
    columns.map(|four| transpose(four))
}

#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn encrypted(keys: &RoundKeys, mut state: [__m512i; 4]) -> [__m512i; 4] {
    let first = _mm512_broadcast_i32x4(load128(keys.first()));
    for x in &mut state {
        *x = _mm512_xor_si512(*x, first);
    }
    for key in keys.middle() {
        let key = _mm512_broadcast_i32x4(load128(key));
        for x in &mut state {
            *x = _mm512_aesenc_epi128(*x, key);
        }
    }
    let last = _mm512_broadcast_i32x4(load128(keys.last()));
    for x in &mut state {
        *x = _mm512_aesenclast_epi128(*x, last);
    }
    state
}
