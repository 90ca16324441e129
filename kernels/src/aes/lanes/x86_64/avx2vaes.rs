//! CBC encryption of up to 16 messages, two in each 256-bit register.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::aes::lanes::Chain;
use crate::aes::lanes::registers128::chains;
use crate::aes::lanes::table::{Group, blocks, drive, skip_short};
use crate::aes::x86_64::aesni;
use crate::simd::{load128, load256, opaque_place, store128, store256};
use crate::{Isa, Level};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

#[target_feature(enable = "avx2,vaes")]
pub(crate) fn cbc_encrypt(isa: Isa, lanes: &mut [Chain<'_>]) {
    let serial = |keys: &_, chain: &mut _, data: InOutBuf<'_, '_, _>| {
        aesni::cbc_encrypt(keys, chain, data);
    };
    let lanes = skip_short::<2>(isa, lanes, serial);
    match lanes.len() {
        0 => {}
        1..=4 => drive_in(isa, lanes, 2),
        5..=8 => drive_in(isa, lanes, 4),
        _ => drive_in(isa, lanes, 8),
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,vaes")]
fn drive_in(isa: Isa, lanes: &mut [Chain<'_>], groups: usize) {
    drive::<2, 8>(
        isa,
        lanes,
        groups,
        |groups, live| {
            let at_work = &mut groups[..live.div_ceil(2)];
            at_work.iter_mut().filter(|group| group.stale).for_each(|group| gather_keys(group));
            match live {
                2 => separate::<2, 1>(groups),
                3 => separate::<3, 2>(groups),
                4 => separate::<4, 2>(groups),
                _ => for_count!(live.div_ceil(2), run::<_>(groups)),
            }
        },
        |keys, chain, data| aesni::cbc_encrypt(keys, chain, data),
    );
}

#[inline]
#[target_feature(enable = "avx2")]
fn gather_keys(group: &mut Group<'_, 2>) {
    let rounds = group.schedule[0].rounds();
    for (r, keys) in group.keys[..=rounds].iter_mut().enumerate() {
        store256(whole_mut(keys), gather(group.schedule.map(|schedule| schedule.of_round(r))));
    }
    group.stale = false;
}

/// Two blocks in one register.
//
// Not by one load: if one of them has just been stored alone, that would wait.
#[inline]
#[target_feature(enable = "avx2")]
fn gather([low, high]: [&[u8; 16]; 2]) -> __m256i {
    _mm256_set_m128i(load128(high), load128(low))
}

/// `V` messages in separate registers: the rounds take as long, and nothing else has to be done.
#[inline(never)]
#[target_feature(enable = "avx2,vaes")]
fn separate<const V: usize, const G: usize>(groups: &mut [Group<'_, 2>]) -> usize {
    chains::<2, V, G>(groups)
}

/// Encrypts as many blocks of each message as all lanes have.
#[inline(never)]
#[target_feature(enable = "avx2,vaes")]
fn run<const V: usize>(groups: &mut [Group<'_, 2>]) -> usize {
    let groups: &mut [Group<'_, 2>; V] = groups.first_chunk_mut().expect("as many are counted");
    let blocks = blocks(groups);
    let mut state = [_mm256_setzero_si256(); V];
    for (x, group) in state.iter_mut().zip(&*groups) {
        *x = gather(group.chain.each_ref());
    }
    let rounds = groups[0].schedule[0].rounds();
    for at in 0..blocks {
        // Round keys come from memory: there are more than registers.
        let groups = opaque_place(&*groups);
        for (x, group) in state.iter_mut().zip(groups) {
            *x = _mm256_xor_si256(*x, load256(whole(&group.keys[0])));
            *x = _mm256_xor_si256(*x, load(group, at));
        }
        for r in 1..rounds {
            for (x, group) in state.iter_mut().zip(groups) {
                *x = _mm256_aesenc_epi128(*x, load256(whole(&group.keys[r])));
            }
        }
        for (x, group) in state.iter_mut().zip(groups) {
            *x = _mm256_aesenclast_epi128(*x, load256(whole(&group.keys[rounds])));
            store(group, at, *x);
        }
    }
    for (x, group) in state.iter().zip(groups) {
        store256(whole_mut(&mut group.chain), *x);
    }
    blocks
}

/// Block `at` of both messages.
#[inline]
#[target_feature(enable = "avx2")]
fn load(group: &Group<'_, 2>, at: usize) -> __m256i {
    let [low, high] = group.input.map(|input| input.wrapping_add(at));
    // SAFETY: the lane has a block there.
    let low = unsafe { &*low };
    // SAFETY: the lane has a block there.
    let high = unsafe { &*high };
    _mm256_set_m128i(load128(high), load128(low))
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(group: &Group<'_, 2>, at: usize, blocks: __m256i) {
    let [low, high] = group.output.map(|output| output.wrapping_add(at));
    // SAFETY: the lane has a block there, which no reference leads to.
    store128(unsafe { &mut *low }, _mm256_castsi256_si128(blocks));
    // SAFETY: the lane has a block there, which no reference leads to.
    store128(unsafe { &mut *high }, _mm256_extracti128_si256::<1>(blocks));
}

#[inline]
fn whole(blocks: &[[u8; 16]; 2]) -> &[u8; 32] {
    blocks.as_flattened().first_chunk().expect("two blocks are 32 bytes")
}

#[inline]
fn whole_mut(blocks: &mut [[u8; 16]; 2]) -> &mut [u8; 32] {
    blocks.as_flattened_mut().first_chunk_mut().expect("two blocks are 32 bytes")
}
