//! XTS with VAES and VPCLMULQDQ on 256-bit registers: two blocks in each, sixteen at a time.
//! Constant time in key and data.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::aes::RoundKeys;
use crate::aes::x86_64::avx2vaes::{broadcast, load, store};
use crate::isa::Mode;
use crate::simd::load128;
use crate::xts::stealing;
use crate::xts::x86_64::aesni::{encrypted, steal};
use crate::{BlockCipher, BlockEncrypt, Level, into_blocks};

pub(crate) const NEEDS: Level = Level::Avx2Vaes;

kernels!(#[target_feature(enable = "avx2,vaes,vpclmulqdq")]);

/// One data unit, whose first mask is `mask`.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq")]
fn unit<const MODE: bool>(keys: &RoundKeys, mask: __m128i, data: InOutBuf<'_, '_, u8>) {
    let length = data.len();
    let (whole, last) = data.split_at(length - stealing(length));
    let (mut blocks, _) = into_blocks(whole);
    let mut masks = pair(mask);
    while blocks.len() > 16 {
        let (part, rest) = blocks.split_at(16);
        crypt::<8, MODE, false>(keys, masks, part);
        masks = times_bytes::<2, 14>(masks);
        blocks = rest;
    }
    let count = blocks.len();
    if count != 0 {
        masks = for_count!(count.div_ceil(2), crypt::<_, MODE, true>(keys, masks, blocks));
    }
    if !last.is_empty() {
        steal::<MODE>(keys, next(masks, count), last);
    }
}

/// `V` pairs of blocks, of which the last may be one block; `first` has the masks of the first
/// pair. Returns those of the last.
#[inline]
#[target_feature(enable = "avx2,vaes,vpclmulqdq")]
fn crypt<const V: usize, const MODE: bool, const LAST: bool>(
    keys: &RoundKeys,
    first: __m256i,
    data: InOutBuf<'_, '_, [u8; 16]>,
) -> __m256i {
    let (mut whole, mut last) = data.split_at(2 * (V - 1));
    let masks = all::<V>(first);
    let mut state = load::<V>(whole.get_in(), last.get_in());
    let key = broadcast(keys.first());
    for (x, mask) in state.iter_mut().zip(masks) {
        *x = _mm256_xor_si256(_mm256_xor_si256(*x, key), mask);
    }
    for key in keys.middle() {
        let key = broadcast(key);
        for x in &mut state {
            *x = if MODE { _mm256_aesenc_epi128(*x, key) } else { _mm256_aesdec_epi128(*x, key) };
        }
    }
    let key = broadcast(keys.last());
    for (x, mask) in state.iter_mut().zip(masks) {
        let key = _mm256_xor_si256(key, mask);
        *x = if MODE {
            _mm256_aesenclast_epi128(*x, key)
        } else {
            _mm256_aesdeclast_epi128(*x, key)
        };
    }
    store(state, whole.get_out(), last.get_out());
    masks[V - 1]
}

/// A mask and the next one.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn pair(mask: __m128i) -> __m256i {
    let both = _mm256_broadcastsi128_si256(mask);
    let moved = _mm256_sllv_epi64(both, _mm256_set_epi64x(1, 1, 0, 0));
    add_out(moved, _mm256_srlv_epi64(both, _mm256_set_epi64x(63, 63, 64, 64)))
}

/// The mask of the block after `count` blocks. `last` has the masks of the last pair; if there were
/// none, of the first to come.
#[inline]
#[target_feature(enable = "avx2")]
fn next(last: __m256i, count: usize) -> __m128i {
    match count {
        0 => _mm256_castsi256_si128(last),
        _ if count % 2 == 1 => _mm256_extracti128_si256::<1>(last),
        _ => crate::xts::x86_64::aesni::doubled(_mm256_extracti128_si256::<1>(last)),
    }
}

/// The masks of `V` pairs, each computed from the first four, and these from the first.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn all<const V: usize>(first: __m256i) -> [__m256i; V] {
    let mut masks = [first; V];
    for i in 1..V {
        masks[i] = match i {
            1 => times_bits::<2, 62>(first),
            2 => times_bits::<4, 60>(first),
            3 => times_bits::<6, 58>(first),
            _ => times_bytes::<1, 15>(masks[i - 4]),
        };
    }
    masks
}

/// Times x^`BITS`; `REST` is 64 less that.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn times_bits<const BITS: i32, const REST: i32>(masks: __m256i) -> __m256i {
    add_out(_mm256_slli_epi64::<BITS>(masks), _mm256_srli_epi64::<REST>(masks))
}

/// Times x^(8 `BYTES`); `REST` is 16 less `BYTES`.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn times_bytes<const BYTES: i32, const REST: i32>(masks: __m256i) -> __m256i {
    let out = _mm256_bsrli_epi128::<REST>(masks);
    let reduced = _mm256_clmulepi64_epi128::<0>(out, _mm256_set1_epi64x(0x87));
    _mm256_xor_si256(_mm256_bslli_epi128::<BYTES>(masks), reduced)
}

/// Adds the bits that fell out of each half: those of the lower to the upper, those of the upper,
/// reduced, to the lower.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn add_out(moved: __m256i, out: __m256i) -> __m256i {
    let reduced = _mm256_clmulepi64_epi128::<1>(out, _mm256_set1_epi64x(0x87));
    _mm256_xor_si256(_mm256_xor_si256(moved, _mm256_bslli_epi128::<8>(out)), reduced)
}
