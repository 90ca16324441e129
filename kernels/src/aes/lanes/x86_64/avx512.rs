//! CBC encryption of up to 16 messages, four in each 512-bit register.
//!
//! Four blocks of each message are loaded at once and transposed.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::aes::lanes::Chain;
use crate::aes::lanes::registers128::chains;
use crate::aes::lanes::table::{Group, blocks, drive, skip_short};
use crate::aes::x86_64::aesni;
use crate::simd::{load128, load512, opaque_place, store512};
use crate::{Isa, Level};

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
pub(crate) fn cbc_encrypt(isa: Isa, lanes: &mut [Chain<'_>]) {
    let serial = |keys: &_, chain: &mut _, data: InOutBuf<'_, '_, _>| {
        aesni::cbc_encrypt(keys, chain, data);
    };
    let lanes = skip_short::<4>(isa, lanes, serial);
    match lanes.len() {
        0 => {}
        1..=4 => drive_in(isa, lanes, 1),
        5..=8 => drive_in(isa, lanes, 2),
        _ => drive_in(isa, lanes, 4),
    }
}

/// The exclusive or of three, for `vpternlog`.
const XOR: i32 = 0x96;

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn drive_in(isa: Isa, lanes: &mut [Chain<'_>], groups: usize) {
    drive::<4, 4>(
        isa,
        lanes,
        groups,
        |groups, live| {
            let at_work = &mut groups[..live.div_ceil(4)];
            at_work.iter_mut().filter(|group| group.stale).for_each(|group| gather_keys(group));
            match live {
                2 => separate::<2>(groups),
                3 => separate::<3>(groups),
                4 => run::<1>(groups),
                5..=8 => run::<2>(groups),
                9..=12 => run::<3>(groups),
                _ => run::<4>(groups),
            }
        },
        |keys, chain, data| aesni::cbc_encrypt(keys, chain, data),
    );
}

#[inline]
#[target_feature(enable = "avx512f")]
fn gather_keys(group: &mut Group<'_, 4>) {
    let rounds = group.schedule[0].rounds();
    for (r, keys) in group.keys[..=rounds].iter_mut().enumerate() {
        store512(whole_mut(keys), gather(group.schedule.map(|schedule| schedule.of_round(r))));
    }
    group.stale = false;
}

/// Four blocks in one register.
//
// Not by one load: if one of them has just been stored alone, that would wait.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather([a, b, c, d]: [&[u8; 16]; 4]) -> __m512i {
    let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(load128(a)), load128(b));
    _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, load128(c)), load128(d))
}

/// `V` messages in separate registers: the rounds take as long, and nothing else has to be done.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn separate<const V: usize>(groups: &mut [Group<'_, 4>]) -> usize {
    chains::<4, V, 1>(groups)
}

/// Encrypts as many blocks of each message as all lanes have.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn run<const G: usize>(groups: &mut [Group<'_, 4>]) -> usize {
    let groups: &mut [Group<'_, 4>; G] = groups.first_chunk_mut().expect("as many are counted");
    let blocks = blocks(groups);
    let mut state = [_mm512_setzero_si512(); G];
    for (x, group) in state.iter_mut().zip(&*groups) {
        *x = gather(group.chain.each_ref());
    }
    for at in (0..blocks).step_by(4) {
        state = match blocks - at {
            1 => few::<G, 1>(groups, state, at),
            2 => few::<G, 2>(groups, state, at),
            3 => few::<G, 3>(groups, state, at),
            _ => few::<G, 4>(groups, state, at),
        };
    }
    for (x, group) in state.iter().zip(groups) {
        store512(whole_mut(&mut group.chain), *x);
    }
    blocks
}

/// Encrypts `S` blocks of each message.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn few<const G: usize, const S: usize>(
    groups: &mut [Group<'_, 4>; G],
    mut state: [__m512i; G],
    at: usize,
) -> [__m512i; G] {
    // Two words of 64 bits for each block.
    let mask = const { u8::MAX >> (8 - 2 * S) };
    let mut text = [[_mm512_setzero_si512(); 4]; G];
    for (text, group) in text.iter_mut().zip(&*groups) {
        *text = transpose(load(group, at, mask));
    }
    state = step(groups, state, &mut text, 0, S);
    if S > 1 {
        state = step(groups, state, &mut text, 1, S);
    }
    if S > 2 {
        state = step(groups, state, &mut text, 2, S);
    }
    if S > 3 {
        state = step(groups, state, &mut text, 3, S);
    }
    for (text, group) in text.into_iter().zip(groups) {
        store(group, at, mask, transpose(text));
    }
    state
}

/// Encrypts block `j`, a constant, of the `count` of each message in its place.
///
/// With one or two registers the processor waits for results. Then the value that is added between
/// this block and the next goes into the last round key, so that the first round of the next block
/// can follow at once.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes")]
fn step<const G: usize>(
    groups: &[Group<'_, 4>; G],
    mut state: [__m512i; G],
    text: &mut [[__m512i; 4]; G],
    j: usize,
    count: usize,
) -> [__m512i; G] {
    let waits = G <= 2;
    // Round keys come from memory: there are more than registers.
    let groups = opaque_place(groups);
    let rounds = groups[0].schedule[0].rounds();
    if j == 0 || !waits {
        for ((x, text), group) in state.iter_mut().zip(&*text).zip(groups) {
            let first = load512(whole(&group.keys[0]));
            *x = _mm512_ternarylogic_epi64::<XOR>(*x, text[j], first);
        }
    }
    for r in 1..rounds {
        for (x, group) in state.iter_mut().zip(groups) {
            *x = _mm512_aesenc_epi128(*x, load512(whole(&group.keys[r])));
        }
    }
    for ((x, text), group) in state.iter_mut().zip(text).zip(groups) {
        let last = load512(whole(&group.keys[rounds]));
        if waits && j + 1 < count {
            let add = _mm512_xor_si512(text[j + 1], load512(whole(&group.keys[0])));
            *x = _mm512_aesenclast_epi128(*x, _mm512_xor_si512(last, add));
            text[j] = _mm512_xor_si512(*x, add);
        } else {
            *x = _mm512_aesenclast_epi128(*x, last);
            text[j] = *x;
        }
    }
    state
}

/// Four blocks, or as many as the mask takes, of each message from block `at` on.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(group: &Group<'_, 4>, at: usize, mask: u8) -> [__m512i; 4] {
    let mut rows = [_mm512_setzero_si512(); 4];
    for (row, input) in rows.iter_mut().zip(group.input) {
        let place = input.wrapping_add(at);
        // SAFETY: the lane has as many blocks there as the mask takes.
        *row = unsafe { _mm512_maskz_loadu_epi64(mask, place.cast()) };
    }
    rows
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(group: &mut Group<'_, 4>, at: usize, mask: u8, rows: [__m512i; 4]) {
    for (row, output) in rows.into_iter().zip(group.output) {
        let place = output.wrapping_add(at);
        // SAFETY: the lane has as many blocks there as the mask takes.
        unsafe { _mm512_mask_storeu_epi64(place.cast(), mask, row) };
    }
}

/// Makes columns of 16 bytes of the rows, or rows of the columns.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ab = _mm512_shuffle_i64x2::<0x44>(a, b);
    let cd = _mm512_shuffle_i64x2::<0x44>(c, d);
    let ab_high = _mm512_shuffle_i64x2::<0xee>(a, b);
    let cd_high = _mm512_shuffle_i64x2::<0xee>(c, d);
    [
        _mm512_shuffle_i64x2::<0x88>(ab, cd),
        _mm512_shuffle_i64x2::<0xdd>(ab, cd),
        _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
        _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
    ]
}

#[inline]
fn whole(blocks: &[[u8; 16]; 4]) -> &[u8; 64] {
    blocks.as_flattened().first_chunk().expect("four blocks are 64 bytes")
}

#[inline]
fn whole_mut(blocks: &mut [[u8; 16]; 4]) -> &mut [u8; 64] {
    blocks.as_flattened_mut().first_chunk_mut().expect("four blocks are 64 bytes")
}
