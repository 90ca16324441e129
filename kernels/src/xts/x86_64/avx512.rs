//! XTS with VAES, VPCLMULQDQ and GFNI on 512-bit registers: four blocks in each, 32 at a time.
//! Constant time in key and data.
//!
//! Masks that are whole powers of x^8 apart have the same bytes, moved, except for those that enter
//! at the low end. So all bytes that enter within two parts are computed at once, and each vector
//! of masks is one permutation of bytes. Multiplications would compete with the rounds for the
//! units that both need.
//!
//! Each part loads the round keys from memory anew. If all of them were in registers, as the
//! compiler prefers, states and masks would no longer fit, and rounds that should run side by side
//! would run one after the other.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::aes::RoundKeys;
use crate::aes::x86_64::avx512::{broadcast, load, store};
use crate::isa::Mode;
use crate::simd::{load128, load512, opaque_place};
use crate::xts::stealing;
use crate::xts::x86_64::aesni::{self, doubled, encrypted, steal};
use crate::{BlockCipher, BlockEncrypt, Level, into_blocks};

pub(crate) const NEEDS: Level = Level::Avx512;

kernels!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vaes,vpclmulqdq")]
);

/// One data unit, whose first mask is `mask`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vaes,vpclmulqdq")]
fn unit<const MODE: bool>(keys: &RoundKeys, mask: __m128i, data: InOutBuf<'_, '_, u8>) {
    let length = data.len();
    let (mut whole, last) = data.split_at(length - stealing(length));
    let mut masks = four(mask);
    while whole.len() > 512 {
        let sources = both(masks);
        let parts = if whole.len() > 1024 { 2 } else { 1 };
        // One call, so that it is inlined and the masks stay in registers.
        for moves in MOVES.as_chunks().0.iter().take(parts) {
            let (part, rest) = whole.split_at(512);
            crypt::<8, MODE, false>(keys, all(&sources, moves), part);
            whole = rest;
        }
        masks = sources[0].moved(&MOVES[4 * parts]);
    }
    let length = whole.len();
    let next = if length < 64 {
        few::<MODE>(keys, _mm512_castsi512_si128(masks), whole)
    } else {
        masks = for_count!(length.div_ceil(64), ending::<_, MODE>(keys, masks, whole));
        next(masks, length)
    };
    if !last.is_empty() {
        steal::<MODE>(keys, next, last);
    }
}

/// At most three blocks, in 128-bit registers: after a store of a part of a 512-bit register, the
/// processor delays loads next to that part, where the next data unit may begin. Returns the next
/// mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vaes,vpclmulqdq")]
fn few<const MODE: bool>(keys: &RoundKeys, mask: __m128i, data: InOutBuf<'_, '_, u8>) -> __m128i {
    let (blocks, _) = into_blocks(data);
    match blocks.len() {
        0 => mask,
        1 => aesni::crypt::<1, MODE, true>(keys, mask, blocks),
        2 => aesni::crypt::<2, MODE, true>(keys, mask, blocks),
        _ => aesni::crypt::<3, MODE, true>(keys, mask, blocks),
    }
}

/// The last `V` vectors of blocks; `first` has the masks of the first. Returns those of the last.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vaes,vpclmulqdq")]
fn ending<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    first: __m512i,
    data: InOutBuf<'_, '_, u8>,
) -> __m512i {
    let [moves, ..] = MOVES.as_chunks().0 else { unreachable!("there are two parts") };
    crypt::<V, MODE, true>(keys, all(&both(first), moves), data)
}

/// `V` vectors of blocks, of which the last may have fewer than four, and their masks. Returns the
/// masks of the last.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vaes,vpclmulqdq")]
fn crypt<const V: usize, const MODE: bool, const LAST: bool>(
    keys: &RoundKeys,
    masks: [__m512i; V],
    data: InOutBuf<'_, '_, u8>,
) -> __m512i {
    let (mut whole, mut last) = data.split_at(64 * (V - 1));
    let mut state = load::<V>(whole.get_in(), last.get_in());
    let keys = opaque_place(keys);
    let key = broadcast(keys.first());
    for (x, mask) in state.iter_mut().zip(masks) {
        *x = add3(*x, mask, key);
    }
    for key in keys.middle() {
        let key = broadcast(key);
        for x in &mut state {
            *x = if MODE { _mm512_aesenc_epi128(*x, key) } else { _mm512_aesdec_epi128(*x, key) };
        }
    }
    let key = broadcast(keys.last());
    for (x, mask) in state.iter_mut().zip(masks) {
        let key = _mm512_xor_si512(key, mask);
        *x = if MODE {
            _mm512_aesenclast_epi128(*x, key)
        } else {
            _mm512_aesdeclast_epi128(*x, key)
        };
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

/// The masks of the `V` vectors of a part: one by one from the first and from the second source.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,vpclmulqdq")]
fn all<const V: usize>(sources: &[Source; 2], moves: &[[u8; 64]; 4]) -> [__m512i; V] {
    let mut masks = [sources[0].masks; V];
    for (i, masks) in masks.iter_mut().enumerate() {
        *masks = sources[i % 2].moved(&moves[i / 2]);
    }
    masks
}

/// Masks, and all bytes that enter when they are multiplied by powers of x^8 up to x^64.
///
/// Times x^8, each byte moves up by one, and the last falls out. Times 0x87 it has 15 bits: the low
/// byte enters as byte 0, the high one is added to byte 1. The next time the same happens to the
/// byte that was byte 14, and so on. So byte 0 is always the low byte of one that has fallen out,
/// and behind it are bytes of the product of the last eight and 0x87.
struct Source {
    masks: __m512i,
    /// In each lane: the product's bytes 0 to 7; what byte 0 of the masks becomes; the low bytes
    /// that bytes 9 to 15 of the masks become.
    incoming: __m512i,
}

impl Source {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,vpclmulqdq")]
    fn new(masks: __m512i) -> Self {
        let product = _mm512_clmulepi64_epi128::<1>(masks, _mm512_set1_epi64(0x87));
        // Adds byte 0 of the masks to byte 8 of the product.
        let (raised, byte) = (_mm512_bslli_epi128::<8>(masks), _mm512_set1_epi64(0xff));
        let product = _mm512_ternarylogic_epi64::<0x78>(product, raised, byte);
        let low = _mm512_set1_epi64(LOW_BYTE);
        let incoming =
            _mm512_mask_gf2p8affine_epi64_epi8::<0>(product, 0xfe00_fe00_fe00_fe00, masks, low);
        Self { masks, incoming }
    }

    /// The masks times a power of x^8.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn moved(&self, moves: &[u8; 64]) -> __m512i {
        _mm512_permutex2var_epi8(self.masks, load512(moves), self.incoming)
    }
}

/// The sources of all masks of two parts: of the first vector, and of the second, whose masks are
/// those of the first times x^4.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,vpclmulqdq")]
fn both(first: __m512i) -> [Source; 2] {
    let second = add_out(_mm512_slli_epi64::<4>(first), _mm512_srli_epi64::<60>(first));
    [Source::new(first), Source::new(second)]
}

/// The source of each byte when masks are multiplied by the powers of x^8 from 0 to 8.
static MOVES: [[u8; 64]; 9] = moves();

#[expect(clippy::cast_possible_truncation, reason = "below 128")]
const fn moves() -> [[u8; 64]; 9] {
    const INCOMING: usize = 64;
    let mut all = [[0; 64]; 9];
    let mut power = 0;
    while power < 9 {
        let mut at = 0;
        while at < 64 {
            let (lane, byte) = (at / 16 * 16, at % 16);
            let from = if power == 0 || byte > power {
                byte - power
            } else if byte == power {
                INCOMING + 8
            } else if byte == 0 && power < 8 {
                INCOMING + 16 - power
            } else {
                // The lowest byte of the product is a low byte alone: what byte 8 becomes.
                INCOMING + 8 - power + byte
            };
            all[power][at] = (lane + from) as u8;
            at += 1;
        }
        power += 1;
    }
    all
}

/// The matrix over GF(2), as `vgf2p8affineqb` takes it, of a byte times 0x87, of which it keeps the
/// low byte.
const LOW_BYTE: i64 = low_byte();

const fn low_byte() -> i64 {
    let mut matrix = 0_u64;
    let mut bit = 0;
    while bit < 8 {
        let mut from = 0;
        while from <= bit {
            let adds = 0x87 >> (bit - from) & 1;
            matrix |= adds << (8 * (7 - bit) + from);
            from += 1;
        }
        bit += 1;
    }
    matrix.cast_signed()
}

/// Adds the bits that fell out of each half: those of the lower to the upper, those of the upper,
/// reduced, to the lower.
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
