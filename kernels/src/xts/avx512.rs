//! XTS with VAES and VPCLMULQDQ on 512-bit registers: four blocks in each, 32 at a time. Constant
//! time in key and data.
//!
//! From one part to the next only the first four masks are kept, times x^32. All others of a part
//! are one multiplication or two away from these, and the processor makes them while the rounds of
//! the part before are under way.
//!
//! Each part takes the round keys from memory anew. Were they all in registers, as the compiler
//! would have it, states and masks would no longer fit, and rounds that should run side by side
//! would be put one behind the other.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::aesni::{self, doubled, encrypted, steal};
use super::{Way, stealing};
use crate::aes::avx512::{broadcast, load, store};
use crate::simd::{load128, opaque_place};
use crate::{BlockCipher, BlockEncrypt, Level, into_blocks};

pub(super) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes,vpclmulqdq")]
pub(super) fn one<const N: usize, const WAY: bool>(
    _way: Way<WAY>,
    _cipher: &impl BlockCipher<16>,
    _tweaks: &impl BlockEncrypt<16>,
    keys: &[[u8; 16]; N],
    tweak_keys: &[[u8; 16]; N],
    tweak: &[u8; 16],
    data: InOutBuf<'_, '_, u8>,
) {
    let mask = encrypted(tweak_keys, tweak);
    unit::<N, WAY>(keys, mask, data);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes,vpclmulqdq")]
pub(super) fn units<const N: usize, const WAY: bool>(
    _way: Way<WAY>,
    _cipher: &impl BlockCipher<16>,
    keys: &[[u8; 16]; N],
    tweaks: &[[u8; 16]],
    size: usize,
    data: InOutBuf<'_, '_, u8>,
) {
    let mut data = data;
    for tweak in tweaks {
        let (sector, rest) = data.split_at(size);
        unit::<N, WAY>(keys, load128(tweak), sector);
        data = rest;
    }
}

/// One data unit, whose first mask is `mask`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes,vpclmulqdq")]
fn unit<const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    mask: __m128i,
    data: InOutBuf<'_, '_, u8>,
) {
    let length = data.len();
    let (mut whole, last) = data.split_at(length - stealing(length));
    let mut masks = four(mask);
    while whole.len() > 512 {
        let (part, rest) = whole.split_at(512);
        crypt::<N, 8, WAY, false>(keys, masks, part);
        masks = times_bytes::<4, 12>(masks);
        whole = rest;
    }
    let length = whole.len();
    let next = if length < 64 {
        few::<N, WAY>(keys, _mm512_castsi512_si128(masks), whole)
    } else {
        masks = for_count!(length.div_ceil(64), crypt::<N, _, WAY, true>(keys, masks, whole));
        next(masks, length)
    };
    if !last.is_empty() {
        steal::<N, WAY>(keys, next, last);
    }
}

/// At most three blocks, in 128-bit registers: a processor that has stored a part of a 512-bit
/// register delays loads next to that part, which is where the next data unit may begin. Returns
/// the next mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes,vpclmulqdq")]
fn few<const N: usize, const WAY: bool>(
    keys: &[[u8; 16]; N],
    mask: __m128i,
    data: InOutBuf<'_, '_, u8>,
) -> __m128i {
    let (blocks, _) = into_blocks(data);
    match blocks.len() {
        0 => mask,
        1 => aesni::crypt::<N, 1, WAY, true>(keys, mask, blocks),
        2 => aesni::crypt::<N, 2, WAY, true>(keys, mask, blocks),
        _ => aesni::crypt::<N, 3, WAY, true>(keys, mask, blocks),
    }
}

/// `V` vectors of blocks, of which the last may have fewer than four; `first` has the masks of the
/// first. Returns those of the last.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vaes,vpclmulqdq")]
fn crypt<const N: usize, const V: usize, const WAY: bool, const LAST: bool>(
    keys: &[[u8; 16]; N],
    first: __m512i,
    data: InOutBuf<'_, '_, u8>,
) -> __m512i {
    let (mut whole, mut last) = data.split_at(64 * (V - 1));
    let masks = all::<V>(first);
    let mut state = load::<V>(whole.get_in(), last.get_in());
    let keys = opaque_place(keys);
    let key = broadcast(&keys[0]);
    for (x, mask) in state.iter_mut().zip(masks) {
        *x = add3(*x, mask, key);
    }
    for key in &keys[1..N - 1] {
        let key = broadcast(key);
        for x in &mut state {
            *x = if WAY { _mm512_aesenc_epi128(*x, key) } else { _mm512_aesdec_epi128(*x, key) };
        }
    }
    let key = broadcast(&keys[N - 1]);
    for (x, mask) in state.iter_mut().zip(masks) {
        let key = _mm512_xor_si512(key, mask);
        *x =
            if WAY { _mm512_aesenclast_epi128(*x, key) } else { _mm512_aesdeclast_epi128(*x, key) };
    }
    store(state, whole.get_out(), last.get_out());
    masks[V - 1]
}

/// A mask and the next three.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn four(mask: __m128i) -> __m512i {
    let same = _mm512_broadcast_i32x4(mask);
    let moved = _mm512_sllv_epi64(same, _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0));
    add_out(moved, _mm512_srlv_epi64(same, _mm512_set_epi64(61, 61, 62, 62, 63, 63, 64, 64)))
}

/// The mask of the block after `length` bytes, of which `last` has the masks of the last vector.
#[inline]
#[target_feature(enable = "avx512f")]
fn next(last: __m512i, length: usize) -> __m128i {
    let at = (length - 16) % 64 / 16;
    doubled(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(0b11 << (2 * at), last)))
}

/// The masks of `V` vectors, each computed from the first or the second, and that from the first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn all<const V: usize>(first: __m512i) -> [__m512i; V] {
    let second = add_out(_mm512_slli_epi64::<4>(first), _mm512_srli_epi64::<60>(first));
    let mut masks = [first; V];
    for (i, masks) in masks.iter_mut().enumerate() {
        let from = if i % 2 == 0 { first } else { second };
        *masks = match i / 2 {
            0 => from,
            1 => times_bytes::<1, 15>(from),
            2 => times_bytes::<2, 14>(from),
            _ => times_bytes::<3, 13>(from),
        };
    }
    masks
}

/// Times x^(8 `BYTES`); `REST` is 16 less `BYTES`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn times_bytes<const BYTES: i32, const REST: i32>(masks: __m512i) -> __m512i {
    let out = _mm512_bsrli_epi128::<REST>(masks);
    let reduced = _mm512_clmulepi64_epi128::<0>(out, _mm512_set1_epi64(0x87));
    _mm512_xor_si512(_mm512_bslli_epi128::<BYTES>(masks), reduced)
}

/// Adds what fell out of each half: of the lower one to the upper, of the upper one reduced to the
/// lower.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vpclmulqdq")]
fn add_out(moved: __m512i, out: __m512i) -> __m512i {
    let reduced = _mm512_clmulepi64_epi128::<1>(out, _mm512_set1_epi64(0x87));
    add3(moved, _mm512_bslli_epi128::<8>(out), reduced)
}

/// `a + b + c`.
#[inline]
#[target_feature(enable = "avx512f")]
fn add3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}
