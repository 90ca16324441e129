//! XTS with AES-NI, six blocks at a time: the masks of eight would not all stay in registers.
//! Constant time in key and data.
//!
//! Higher levels use the functions for the tweak, for a few blocks and for ciphertext stealing.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::isa::Mode;
use crate::simd::{load128, load128_part, opaque128, store128, store128_part};
use crate::xts::{ENCRYPT, stealing};
use crate::{BlockCipher, BlockEncrypt, Level, into_blocks, wipe};

pub(crate) const NEEDS: Level = Level::AesNi;

kernels!(#[target_feature(enable = "aes,sse4.1,ssse3")]);

/// One data unit, whose first mask is `mask`.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn unit<const N: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    mut mask: __m128i,
    data: InOutBuf<'_, '_, u8>,
) {
    let length = data.len();
    let (whole, last) = data.split_at(length - stealing(length));
    let (mut blocks, _) = into_blocks(whole);
    while blocks.len() > 6 {
        let (part, rest) = blocks.split_at(6);
        mask = crypt::<N, 6, MODE, false>(keys, mask, part);
        blocks = rest;
    }
    mask = match blocks.len() {
        0 => mask,
        1 => crypt::<N, 1, MODE, true>(keys, mask, blocks),
        2 => crypt::<N, 2, MODE, true>(keys, mask, blocks),
        3 => crypt::<N, 3, MODE, true>(keys, mask, blocks),
        4 => crypt::<N, 4, MODE, true>(keys, mask, blocks),
        5 => crypt::<N, 5, MODE, true>(keys, mask, blocks),
        _ => crypt::<N, 6, MODE, true>(keys, mask, blocks),
    };
    if !last.is_empty() {
        steal::<N, MODE>(keys, mask, last);
    }
}

/// `V` blocks, of which `mask` is the first one's. Returns the next mask.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn crypt<const N: usize, const V: usize, const MODE: bool, const LAST: bool>(
    keys: &[[u8; 16]; N],
    mut mask: __m128i,
    data: InOutBuf<'_, '_, [u8; 16]>,
) -> __m128i {
    // The compiler now knows the number.
    let (mut data, _) = data.split_at(V);
    let mut masks = [mask; V];
    let mut tops = tops(mask);
    for kept in &mut masks {
        *kept = mask;
        (mask, tops) = doubled_with(mask, tops);
    }
    let mut state = [_mm_setzero_si128(); V];
    for (x, block) in state.iter_mut().zip(data.get_in()) {
        *x = load128(block);
    }
    let state = masked_rounds::<N, V, MODE>(keys, masks, state);
    for (x, block) in state.into_iter().zip(data.get_out()) {
        store128(block, x);
    }
    mask
}

/// The last whole block and a part of one, of which `mask` is the first one's; see
/// [`two_pass`](crate::xts::two_pass).
#[inline(never)]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn steal<const N: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    mask: __m128i,
    data: InOutBuf<'_, '_, u8>,
) {
    let (mut whole, mut part) = data.split_at(16);
    let next = doubled(mask);
    let (first, second) = if MODE == ENCRYPT { (mask, next) } else { (next, mask) };
    let mut block = [0; 16];
    let state = load128_part(whole.get_in());
    let [state] = masked_rounds::<N, 1, MODE>(keys, [first], [state]);
    store128(&mut block, state);
    for (mut byte, stolen) in part.reborrow().into_iter().zip(&mut block) {
        let rest = *byte.get_in();
        *byte.get_out() = *stolen;
        *stolen = rest;
    }
    let [state] = masked_rounds::<N, 1, MODE>(keys, [second], [load128(&block)]);
    store128_part(whole.get_out(), state);
    wipe::memory(&mut block);
}

/// All rounds, between masks, which are added to the first and to the last round key.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
fn masked_rounds<const N: usize, const V: usize, const MODE: bool>(
    keys: &[[u8; 16]; N],
    masks: [__m128i; V],
    mut state: [__m128i; V],
) -> [__m128i; V] {
    let key = load128(&keys[0]);
    for (x, mask) in state.iter_mut().zip(masks) {
        *x = _mm_xor_si128(_mm_xor_si128(*x, key), mask);
    }
    for key in &keys[1..N - 1] {
        let key = load128(key);
        for x in &mut state {
            *x = if MODE { _mm_aesenc_si128(*x, key) } else { _mm_aesdec_si128(*x, key) };
        }
    }
    let key = load128(&keys[N - 1]);
    for (x, mask) in state.iter_mut().zip(masks) {
        let key = _mm_xor_si128(key, mask);
        *x = if MODE { _mm_aesenclast_si128(*x, key) } else { _mm_aesdeclast_si128(*x, key) };
    }
    state
}

/// A tweak under its key: the first mask.
///
/// A program that counts sectors has just stored the lower half alone. One load of both halves
/// would wait until that is in the cache, and so would the whole call.
#[inline]
#[target_feature(enable = "aes,sse4.1,ssse3")]
pub(crate) fn encrypted<const N: usize>(keys: &[[u8; 16]; N], tweak: &[u8; 16]) -> __m128i {
    let (words, _) = tweak.as_chunks();
    let lower = opaque128(_mm_cvtsi64_si128(i64::from_le_bytes(words[0])));
    let tweak = _mm_insert_epi64::<1>(lower, i64::from_le_bytes(words[1]));
    let mut state = _mm_xor_si128(tweak, load128(&keys[0]));
    for key in &keys[1..N - 1] {
        state = _mm_aesenc_si128(state, load128(key));
    }
    _mm_aesenclast_si128(state, load128(&keys[N - 1]))
}

/// Times x.
#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn doubled(mask: __m128i) -> __m128i {
    doubled_with(mask, tops(mask)).0
}

/// The highest words of both halves, that of the upper one first.
#[inline]
#[target_feature(enable = "sse2")]
fn tops(mask: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0b01_01_11_11>(mask)
}

/// Times x: both halves move up by one bit. The bits that fall out are added where they belong,
/// that of the upper half as x^7 + x^2 + x + 1.
///
/// For 24 steps these additions do not reach the highest words, so those are doubled separately,
/// ahead of the masks.
#[inline]
#[target_feature(enable = "sse2")]
fn doubled_with(mask: __m128i, tops: __m128i) -> (__m128i, __m128i) {
    let out = _mm_and_si128(_mm_srai_epi32::<31>(tops), _mm_set_epi32(0, 1, 0, 0x87));
    (_mm_xor_si128(_mm_add_epi64(mask, mask), out), _mm_add_epi32(tops, tops))
}
