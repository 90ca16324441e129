//! GCM with VAES and VPCLMULQDQ on 512-bit registers, in one pass. Constant time in key and data.
//!
//! **Up to two blocks** are taken as if one more came before them: the counter block of the tag
//! comes just before those of the data, and the last block of associated data just before the
//! ciphertext in the input of the hash. So one register holds everything. The first lane of
//! keystream makes the tag; the same lane of the input of the hash holds the associated data, and
//! the lane after the last one the lengths.
//!
//! **More** fill whole registers from their beginning on, so that data that lie at a multiple of 64
//! bytes are loaded and stored as cache lines. The counter block of the tag is encrypted beside the
//! first of them in a register of its own. Associated data and lengths are multiplied by their
//! powers while the rounds are still running, and the products added to the others: up to 18 blocks
//! are hashed with one reduction.
//!
//! **Longer messages** go on by 16 blocks, in lanes as GHASH alone does, and end with 3 to 18: each
//! lane needs a power of its own. What is sealed is hashed behind the rounds of the next part: were
//! it hashed at once, what waits for the rounds would fill the processor's scheduler and keep the
//! next rounds out.

mod resumed;

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::Level;
use crate::aes::RoundKeys;
use crate::aes::x86_64::avx512::{broadcast, first, rounds};
use crate::gcm::{OPEN, SEAL, half, number};
use crate::ghash::x86_64::aesni;
use crate::ghash::x86_64::avx512::{
    Product, WIDTH, hash_lanes, hash_part, product_of, products_of, reversed,
};
use crate::ghash::{self, POWERS, ROOM};
use crate::simd::{
    first_bytes, load128, load512, load512_behind, load512_part, opaque_place, store128, store512,
    store512_behind, store512_part, together512,
};

pub(crate) use resumed::more;

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
pub(crate) fn run(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    mode: bool,
) -> [u8; 16] {
    if mode == SEAL {
        run_in::<SEAL>(hash, keys, first, aad, data)
    } else {
        run_in::<OPEN>(hash, keys, first, aad, data)
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn run_in<const MODE: bool>(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let powers = hash.powers();
    let before = associated(powers, aad);
    let lengths = lengths(aad.len(), data.len());
    let counter = load128(&first.to_le_bytes());

    let blocks = data.len().div_ceil(16);
    let (sum, mask) = if blocks <= 2 {
        shortest::<MODE>(keys, powers, before, counter, data, lengths)
    } else {
        let counters = numbered(counter, 1);
        let mut mask = _mm_xor_si128(aesni::reversed(counter), load128(keys.first()));
        let mask = &mut mask;
        let sum = if blocks <= LONGEST {
            let others = products_of(powers, [before, lengths], [blocks + 2, 1]);
            match blocks.div_ceil(4) {
                1 => short::<1, MODE>(keys, powers, counters, mask, data, others),
                2 => short::<2, MODE>(keys, powers, counters, mask, data, others),
                3 => short::<3, MODE>(keys, powers, counters, mask, data, others),
                4 => short::<4, MODE>(keys, powers, counters, mask, data, others),
                _ => in_two::<MODE>(keys, powers, counters, mask, data, others),
            }
        } else {
            long::<MODE>(keys, powers, counters, mask, data, [before, lengths])
        };
        (sum, *mask)
    };
    let mut tag = [0; 16];
    store128(&mut tag, _mm_xor_si128(aesni::reversed(sum), mask));
    tag
}

/// The most blocks that are hashed with one reduction.
const LONGEST: usize = 18;

/// The block of lengths, as a number.
#[inline]
#[target_feature(enable = "sse2")]
fn lengths(aad: usize, data: usize) -> __m128i {
    load128(&crate::gcm::lengths(aad as u64, data as u64).to_le_bytes())
}

/// The counters of four blocks; that of the first is `counter` plus `from`.
#[inline]
#[target_feature(enable = "avx512f")]
fn numbered(counter: __m128i, from: i64) -> __m512i {
    let number = _mm512_set_epi64(0, from + 3, 0, from + 2, 0, from + 1, 0, from);
    _mm512_add_epi64(_mm512_broadcast_i32x4(counter), number)
}

/// The hash before the last block of associated data, and that block added.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
fn associated(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> __m128i {
    match *aad {
        // The length in packets of IPsec, without a call.
        [a, b, c, d, e, f, g, h] => {
            load128(&(u128::from(half(&[a, b, c, d, e, f, g, h])) << 64).to_le_bytes())
        }
        _ => associated_any(powers, aad),
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,vpclmulqdq,pclmulqdq")]
fn associated_any(powers: &[[u8; 16]; ROOM], aad: &[u8]) -> __m128i {
    if aad.len() <= 16 {
        return load128(&number(aad).to_le_bytes());
    }
    let (whole, last) = aad.split_at((aad.len() - 1) / 16 * 16);
    let mut sum = [0; 16];
    ghash::x86_64::avx512::absorb(powers, &mut sum, whole.as_chunks().0);
    let last = load128(&number(last).to_le_bytes());
    _mm_xor_si128(aesni::reversed(load128(&sum)), last)
}

/// A message of two blocks at most.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn shortest<const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    before: __m128i,
    counter: __m128i,
    data: InOutBuf<'_, '_, u8>,
    lengths: __m128i,
) -> (__m128i, __m128i) {
    let mut data = data;
    let count = data.len().div_ceil(16) + 2;
    let masked = first_bytes(data.len()) << 16;
    let input = data.get_in();
    // A load or store of no byte still costs hundreds of cycles if no memory is mapped there.
    let text = if input.is_empty() { _mm512_setzero_si512() } else { load512_behind(input) };
    let start = first::<1>(broadcast(keys.first()), &mut numbered(counter, 0));
    let [stream] = rounds::<1, true>(keys, start);
    let out = _mm512_xor_si512(stream, text);
    let output = data.get_out();
    if !output.is_empty() {
        store512_behind(output, out);
    }
    let number = reversed(if MODE == SEAL { _mm512_maskz_mov_epi8(masked, out) } else { text });
    let lane = 0b11 << (2 * (count - 1));
    let number = _mm512_xor_si512(number, _mm512_maskz_broadcast_i64x2(lane, lengths));
    let before = _mm512_zextsi128_si512(before);
    let sum = hash_part(powers, before, [number], count, Product::zero());
    (sum, _mm512_castsi512_si128(stream))
}

/// A message that takes `V` registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn short<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    mut counters: __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    others: Product,
) -> __m128i {
    let exponent = data.len().div_ceil(16) + 1;
    let numbers = crypt::<_, V, MODE, FIRST, true>(keys, keys.middle(), &mut counters, mask, data);
    hash_part(powers, _mm512_setzero_si512(), numbers, exponent, others)
}

/// A message that takes five registers. At once, everything that waits for the rounds of all five
/// would fill the scheduler of the processor, and delay the next message.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn in_two<const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    mut counters: __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    others: Product,
) -> __m128i {
    let exponent = data.len().div_ceil(16) + 1;
    let (part, rest) = data.split_at(16 * 8);
    let [a, b] = crypt::<_, 2, MODE, FIRST, false>(keys, keys.middle(), &mut counters, mask, part);
    let [c, d, e] = crypt::<_, 3, MODE, NEXT, true>(keys, keys.middle(), &mut counters, mask, rest);
    hash_part(powers, _mm512_setzero_si512(), [a, b, c, d, e], exponent, others)
}

/// A message that takes more, in parts of 16 blocks and a last one of 3 to 18.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn long<const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    mut counters: __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    [before, lengths]: [__m128i; 2],
) -> __m128i {
    let h = load128(&powers[POWERS - 1]);
    let mut lanes = _mm512_zextsi128_si512(aesni::reduce(aesni::multiply(before, h)));
    let (part, rest) = data.split_at(16 * WIDTH);
    let mut data = rest;
    let mut numbers =
        crypt::<_, 4, MODE, FIRST, false>(keys, keys.middle(), &mut counters, mask, part);
    if MODE == OPEN {
        lanes = hash_lanes(powers, lanes, numbers);
    }
    by_key_size!(keys, middle => while data.len().div_ceil(16) > LONGEST {
        let (part, rest) = data.split_at(16 * WIDTH);
        data = rest;
        let next = crypt::<_, 4, MODE, NEXT, false>(keys, middle, &mut counters, mask, part);
        // Registers are scarce: powers are loaded at each use.
        let powers = opaque_place(powers);
        lanes = hash_lanes(powers, lanes, if MODE == SEAL { numbers } else { next });
        numbers = next;
    });
    let before = (lanes, numbers);
    match data.len().div_ceil(64) {
        1 => end::<1, MODE>(keys, powers, counters, mask, data, before, lengths),
        2 => end::<2, MODE>(keys, powers, counters, mask, data, before, lengths),
        3 => end::<3, MODE>(keys, powers, counters, mask, data, before, lengths),
        4 => end::<4, MODE>(keys, powers, counters, mask, data, before, lengths),
        _ => end::<5, MODE>(keys, powers, counters, mask, data, before, lengths),
    }
}

/// The rest of a message, with the lengths after it: the hash.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,vaes,vpclmulqdq,pclmulqdq")]
fn end<const V: usize, const MODE: bool>(
    keys: &RoundKeys,
    powers: &[[u8; 16]; ROOM],
    mut counters: __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
    (lanes, numbers): (__m512i, [__m512i; 4]),
    lengths: __m128i,
) -> __m128i {
    let exponent = data.len().div_ceil(16) + 1;
    let last = crypt::<_, V, MODE, NEXT, true>(keys, keys.middle(), &mut counters, mask, data);
    let lanes = if MODE == SEAL { hash_lanes(powers, lanes, numbers) } else { lanes };
    hash_part(powers, lanes, last, exponent, product_of(powers, lengths, 1))
}

/// Whether the block of the tag is encrypted with this part.
const FIRST: bool = true;
const NEXT: bool = false;

/// Encrypts or decrypts `V` registers of blocks, of which the `LAST` of a message may be
/// incomplete. Returns the ciphertext as numbers, with zeros after it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2,vaes")]
fn crypt<K, const V: usize, const MODE: bool, const PLACE: bool, const LAST: bool>(
    keys: &RoundKeys,
    middle: &K,
    counters: &mut __m512i,
    mask: &mut __m128i,
    data: InOutBuf<'_, '_, u8>,
) -> [__m512i; V]
where
    K: AsRef<[[u8; 16]]> + ?Sized,
{
    let (mut whole, mut last) = data.split_at(64 * (V - usize::from(LAST)));
    let mut text = [_mm512_setzero_si512(); V];
    for (x, four) in text.iter_mut().zip(whole.get_in().as_chunks().0) {
        *x = load512(four);
    }
    if LAST {
        text[V - 1] = load512_part(last.get_in());
    }

    let start = first::<V>(broadcast(keys.first()), counters);
    let mut out = beside::<V, MODE, PLACE>(keys, middle.as_ref(), start, mask);
    for (x, text) in out.iter_mut().zip(text) {
        *x = _mm512_xor_si512(*x, text);
    }

    for (four, x) in whole.get_out().as_chunks_mut().0.iter_mut().zip(out) {
        store512(four, x);
    }
    let bytes = first_bytes(last.len());
    if LAST {
        store512_part(last.get_out(), out[V - 1]);
    }

    let mut numbers = if MODE == SEAL { out } else { text };
    if MODE == SEAL && LAST {
        numbers[V - 1] = _mm512_maskz_mov_epi8(bytes, numbers[V - 1]);
    }
    for x in &mut numbers {
        *x = reversed(*x);
    }
    numbers
}

/// The rounds; in the `FIRST` part, also those of `mask`. To open, each round of four registers
/// ends before the next begins, since hashing follows at once.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
fn beside<const V: usize, const MODE: bool, const PLACE: bool>(
    keys: &RoundKeys,
    middle: &[[u8; 16]],
    mut state: [__m512i; V],
    mask: &mut __m128i,
) -> [__m512i; V] {
    // Without a loop for those that every key size has.
    let (nine, more) = middle.split_at(9);
    for keys in [nine, more] {
        for key in keys {
            let key = broadcast(key);
            for x in &mut state {
                *x = _mm512_aesenc_epi128(*x, key);
            }
            if PLACE == FIRST {
                *mask = _mm_aesenc_si128(*mask, _mm512_castsi512_si128(key));
            }
        }
    }
    if MODE == OPEN
        && let Some(four) = state.first_chunk_mut()
    {
        *four = together512(*four);
    }
    let last = broadcast(keys.last());
    for x in &mut state {
        *x = _mm512_aesenclast_epi128(*x, last);
    }
    if PLACE == FIRST {
        *mask = _mm_aesenclast_si128(*mask, _mm512_castsi512_si128(last));
    }
    state
}
