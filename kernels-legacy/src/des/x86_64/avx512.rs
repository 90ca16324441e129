//! DES with VBMI and GFNI on 512-bit registers: 64 blocks at a time, a byte of each in every
//! register. Constant time in keys and data.
//!
//! A spread half is eight registers, one for each S-box. An S-box is one byte permutation of a
//! table of 64 bytes. Each output bit leaves the table at the place in its byte where the S-boxes
//! of the next round take it, see [`PLACES`]; so P and E only select bits. Bits 6 and 7 of the
//! bytes hold garbage, which permutations ignore.

use core::arch::asm;
use core::arch::x86_64::*;

use lanecrypt_kernels::simd::{load512, opaque_place, store512};
use lanecrypt_kernels::{Level, wipe};

use crate::des::schedule::KEYS;
use crate::des::spec;

pub(crate) const NEEDS: Level = Level::Avx512;

/// Encrypts, or decrypts if `back`, groups of 64 blocks, each block by itself.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
pub(crate) fn crypt(keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    match keys.len() {
        1 => crypt_by::<1>(keys, back, groups),
        _ => crypt_by::<3>(keys, back, groups),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn crypt_by<const N: usize>(keys: &[[u64; KEYS]], back: bool, groups: &mut [[[u8; 8]; 64]]) {
    let mut words = [[[[0; 4]; 8]; WORDS]; N];
    for (i, keys) in keys.iter().enumerate() {
        words[if back { N - 1 - i } else { i }] = key_words(keys, back);
    }
    crypt_groups(&words, groups);
    wipe::memory(words.as_flattened_mut().as_flattened_mut().as_flattened_mut());
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn crypt_groups(words: &[[[[u8; 4]; 8]; WORDS]], groups: &mut [[[u8; 8]; 64]]) {
    for group in groups {
        let (vectors, _) = group.as_flattened_mut().as_chunks_mut();
        let Some(vectors) = vectors.first_chunk_mut() else { return };
        let mut halves = spread(&transpose(permute(vectors)));
        for words in words {
            halves = sixteen(halves, words);
        }
        *vectors = unpermute(&transpose(gather(&halves)));
    }
}

/// Both halves of 64 blocks, spread.
pub(crate) struct Halves {
    pub(crate) left: [__m512i; 8],
    pub(crate) right: [__m512i; 8],
}

/// Sixteen rounds and the swap of the halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn sixteen(halves: Halves, words: &[[[u8; 4]; 8]; WORDS]) -> Halves {
    // The inputs of the S-boxes in two successive rounds.
    let (mut index, mut other) = (halves.right, halves.left);
    for (index, word) in index.iter_mut().zip(&words[0]) {
        *index = _mm512_xor_si512(*index, broadcast(word));
    }
    let (pairs, _) = words[1..KEYS - 1].as_chunks();
    let masks = Masks::load();
    for [first, second] in pairs {
        add(&mut other, &index, first, &masks);
        add(&mut index, &other, second, &masks);
    }
    for (other, word) in other.iter_mut().zip(&words[KEYS - 1]) {
        *other = _mm512_xor_si512(*other, broadcast(word));
    }
    Halves { left: index, right: other }
}

/// Adds the round function and a word of the schedule to the other half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn add(half: &mut [__m512i; 8], index: &[__m512i; 8], word: &[[u8; 4]; 8], masks: &Masks) {
    let mut answers = *index;
    for (answer, table) in answers.iter_mut().zip(&TABLES.0) {
        *answer = _mm512_permutexvar_epi8(*answer, load512(table));
    }
    for ((half, sum), word) in half.iter_mut().zip(permuted(answers, masks)).zip(word) {
        *half = _mm512_ternarylogic_epi64::<0x96>(*half, sum, broadcast(word));
    }
}

/// P and E: turns the outputs of the S-boxes into their next inputs. Found by a search over
/// [`PLACES`]; bits that several inputs take together are selected once.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn permuted(answers: [__m512i; 8], masks: &Masks) -> [__m512i; 8] {
    let [s1, s2, s3, s4, s5, s6, s7, s8] = answers;
    let [a, b, c, d] = masks.often;
    let once = opaque_place(&ONCE);
    let once = |i: usize, x, y| select(_mm512_set1_epi32(once[i]), x, y);
    let m1 = once(0, s4, s2);
    let m2 = select(a, s7, s5);
    let m3 = select(b, s8, s3);
    let m4 = once(1, s6, s1);
    let m5 = select(c, m3, s1);
    let m6 = once(2, s6, s5);
    let m7 = once(3, m1, s7);
    let m8 = select(b, m2, m4);
    let m9 = once(4, m5, s4);
    let m10 = once(5, m6, s8);
    [
        select(a, m10, m7),
        select(c, m8, m3),
        once(6, m1, m8),
        once(7, select(d, s2, m2), m5),
        select(d, m9, once(8, s2, s6)),
        once(9, m2, m9),
        select(a, select(c, s3, m1), m10),
        select(b, once(10, s3, m4), m7),
    ]
}

/// Bits under the mask from the second vector, all others from the first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn select(mask: __m512i, x: __m512i, y: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xd8>(x, y, mask)
}

/// The masks that [`permuted`] uses several times. All others stay in memory: there are not enough
/// registers, and the inputs of the S-boxes would be spilled for them.
pub(crate) struct Masks {
    often: [__m512i; 4],
}

impl Masks {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn load() -> Self {
        let mut often = [_mm512_setzero_si512(); 4];
        for (vector, mask) in often.iter_mut().zip([0b111000, 0b101010, 0b000110, 0b100100]) {
            *vector = opaque512(_mm512_set1_epi32(mask * 0x0101_0101));
        }
        Self { often }
    }
}

/// The masks that [`permuted`] uses once.
static ONCE: [i32; 11] = {
    let mut masks = [
        0b010011, 0b100001, 0b001100, 0b001000, 0b010000, 0b100010, 0b110110, 0b011010, 0b000100,
        0b110101, 0b010001,
    ];
    let mut i = 0;
    while i < masks.len() {
        masks[i] *= 0x0101_0101;
        i += 1;
    }
    masks
};

#[inline]
#[target_feature(enable = "avx512f")]
fn broadcast(word: &[u8; 4]) -> __m512i {
    _mm512_set1_epi32(i32::from_le_bytes(*word))
}

/// The initial permutation, within blocks. Byte `i` of each block becomes byte `i / 2` of its
/// right half if `i` is even, of its left half if it is odd; the first bit of a byte is its least
/// significant.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
pub(crate) fn permute(blocks: &[[u8; 64]; 8]) -> [__m512i; 8] {
    // A product of a bit matrix and all unit vectors: the matrix is transposed.
    let units = _mm512_set1_epi64(UNITS);
    let mut vectors = [units; 8];
    for (vector, block) in vectors.iter_mut().zip(blocks) {
        *vector = _mm512_gf2p8affine_epi64_epi8::<0>(units, load512(block));
    }
    vectors
}

/// The final permutation.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn unpermute(vectors: &[__m512i; 8]) -> [[u8; 64]; 8] {
    let units = _mm512_set1_epi64(UNITS);
    let mut blocks = [[0; 64]; 8];
    for (vector, block) in vectors.iter().zip(&mut blocks) {
        store512(block, _mm512_gf2p8affine_epi64_epi8::<0>(units, *vector));
    }
    blocks
}

/// One bit in each byte, the highest in the lowest.
pub(crate) const UNITS: i64 = 0x0102_0408_1020_4080;

/// From vectors of eight blocks to vectors of one byte of each block, in some order of the blocks,
/// and back. Byte `i` is in the vector [`reversed`]`(i)`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn transpose(mut vectors: [__m512i; 8]) -> [__m512i; 8] {
    // Number bytes within 128 bits by four digits. This turns 3210 into 2103; then each step turns
    // xyzv into yzvr and puts x where the digit r of the vector's number was.
    let interleave = _mm_set_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
    let interleave = _mm512_broadcast_i32x4(interleave);
    for vector in &mut vectors {
        *vector = opaque512(_mm512_shuffle_epi8(*vector, interleave));
    }
    exchange(exchange(exchange(vectors, 1), 2), 4)
}

/// Interleaves the bytes of the vectors whose numbers differ in one digit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn exchange(from: [__m512i; 8], digit: usize) -> [__m512i; 8] {
    let mut vectors = from;
    for i in 0..8 {
        let (a, b) = (from[i & !digit], from[i | digit]);
        vectors[i] =
            if i & digit == 0 { _mm512_unpacklo_epi8(a, b) } else { _mm512_unpackhi_epi8(a, b) };
    }
    vectors
}

/// Hides the origin of a value: the compiler would make one permutation of two shuffles, which
/// takes longer than both.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque512(mut v: __m512i) -> __m512i {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe { asm!("/* {0} */", inout(zmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// A number of three bits, backwards.
pub(crate) const fn reversed(i: usize) -> usize {
    i >> 2 | i & 2 | (i & 1) << 2
}

/// E of both halves, from a vector for each byte of a block.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn spread(bytes: &[__m512i; 8]) -> Halves {
    let half = |odd: usize| {
        let mut spread = [bytes[0]; 8];
        for (sbox, spread) in spread.iter_mut().enumerate() {
            let [near, far] = SPREAD[sbox].map(|(byte, matrix)| {
                let byte = bytes[reversed(2 * byte + odd)];
                _mm512_gf2p8affine_epi64_epi8::<0>(byte, _mm512_set1_epi64(matrix))
            });
            *spread = _mm512_or_si512(near, far);
        }
        spread
    };
    Halves { left: half(1), right: half(0) }
}

/// Undoes [`spread`].
#[inline]
#[target_feature(enable = "avx512f,gfni")]
pub(crate) fn gather(halves: &Halves) -> [__m512i; 8] {
    let mut bytes = [halves.left[0]; 8];
    for (odd, half) in [&halves.right, &halves.left].into_iter().enumerate() {
        for i in 0..4 {
            let [low, high] = [0, 1].map(|j| {
                let matrix = _mm512_set1_epi64(GATHER[2 * i + j]);
                _mm512_gf2p8affine_epi64_epi8::<0>(half[2 * i + j], matrix)
            });
            bytes[reversed(2 * i + odd)] = _mm512_or_si512(low, high);
        }
    }
    bytes
}

/// Words of a schedule, and those that fill its last vector.
const WORDS: usize = KEYS.next_multiple_of(8);

/// A schedule in the order of its use, for each S-box a byte as the S-box's input stands in it,
/// four times.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi,gfni")]
fn key_words(keys: &[u64; KEYS], back: bool) -> [[[u8; 4]; 8]; WORDS] {
    let mut ordered = [[0; 8]; WORDS];
    for (i, word) in ordered[..KEYS].iter_mut().enumerate() {
        *word = keys[if back { KEYS - 1 - i } else { i }].to_le_bytes();
    }
    let mut words = [[[0; 4]; 8]; WORDS];
    let (to, _) = words.as_flattened_mut().as_flattened_mut().as_chunks_mut::<64>();
    let (from, _) = ordered.as_flattened().as_chunks();
    for (eight, to) in from.iter().zip(to.chunks_mut(4)) {
        let x = _mm512_permutexvar_epi8(load512(&BY_SBOX), load512(eight));
        let x = _mm512_gf2p8affine_epi64_epi8::<0>(x, load512(&KEY_MATRICES));
        let mut index = load512(&FIRST_TWO);
        for two in to {
            store512(two, _mm512_permutexvar_epi8(index, x));
            index = _mm512_add_epi8(index, _mm512_set1_epi8(2));
        }
    }
    words
}

/// The key schedule of one DES.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(crate) fn expand(key: &[u8; 8]) -> [u64; KEYS] {
    let key = _mm512_set1_epi64(i64::from_le_bytes(*key));
    // The two high bits of each byte of a word stay clear.
    let lowest = _mm512_set1_epi64(0x0000_0101_0101_0101);
    let mut words = [0; KEYS];
    let mut before = [0; 2];
    for (i, bits) in KEY_BITS.iter().enumerate() {
        // Each byte gets its bit as the lowest, and that becomes a bit of the mask.
        let bits = _mm512_multishift_epi64_epi8(load512(bits), key);
        let round = _mm512_test_epi8_mask(bits, lowest);
        words[i] = round ^ before[i % 2];
        before[i % 2] = round;
    }
    words[16..].copy_from_slice(&before);
    words
}

/// The bit of a byte at which each of the six inputs of each S-box stands. No two output bits of
/// an S-box are wanted at the same place.
const PLACES: [[u8; 6]; 8] = [
    [3, 5, 4, 2, 0, 1],
    [3, 2, 1, 0, 4, 5],
    [4, 5, 3, 1, 2, 0],
    [2, 0, 5, 4, 3, 1],
    [3, 1, 5, 2, 4, 0],
    [4, 0, 1, 2, 5, 3],
    [0, 3, 2, 5, 1, 4],
    [1, 4, 2, 0, 3, 5],
];

/// A register for each S-box.
#[repr(align(64))]
pub(crate) struct Tables(pub(crate) [[u8; 64]; 8]);

/// The S-boxes.
pub(crate) static TABLES: Tables = Tables({
    let mut tables = [[0; 64]; 8];
    let mut at = 0;
    while at < 512 {
        let (sbox, byte) = (at / 64, at % 64);
        let mut x = 0;
        let mut i = 0;
        while i < 6 {
            x |= (byte >> PLACES[sbox][i] & 1) << (5 - i);
            i += 1;
        }
        let answer = spec::substitute(sbox, x);
        let mut i = 0;
        while i < 48 {
            let (from, output) = spec::source(spec::inputs(i / 6)[i % 6]);
            if from == sbox {
                tables[sbox][byte] |= (answer >> (3 - output) & 1) << PLACES[i / 6][i % 6];
            }
            i += 1;
        }
        at += 1;
    }
    tables
});

/// For each S-box: the two bytes of a half from which its inputs come, and the bit matrices that
/// put them in their places.
pub(crate) const SPREAD: [[(usize, i64); 2]; 8] = {
    let mut parts = [[(0, 0); 2]; 8];
    let mut sbox = 0;
    while sbox < 8 {
        let near = sbox / 2;
        let far = (near + if sbox % 2 == 0 { 3 } else { 1 }) % 4;
        let mut matrices = [0; 4];
        let mut i = 0;
        while i < 6 {
            let bit = spec::inputs(sbox)[i];
            matrices[bit / 8] |= moves(bit % 8, PLACES[sbox][i] as usize);
            i += 1;
        }
        parts[sbox] = [(near, matrices[near]), (far, matrices[far])];
        sbox += 1;
    }
    parts
};

/// For each S-box: the bit matrix that puts its four middle inputs back to their places in a byte
/// of a half.
const GATHER: [i64; 8] = {
    let mut matrices = [0; 8];
    let mut i = 0;
    while i < 32 {
        let (sbox, input) = (i / 4, i % 4 + 1);
        let bit = spec::inputs(sbox)[input];
        matrices[sbox] |= moves(PLACES[sbox][input] as usize, bit % 8);
        i += 1;
    }
    matrices
};

/// The bit matrix that moves one bit of a byte, counted from the least significant.
const fn moves(from: usize, to: usize) -> i64 {
    1 << (8 * (7 - to) + from)
}

/// The sources of the bytes of eight words of a schedule, which bring all of one S-box together.
#[expect(clippy::cast_possible_truncation, reason = "numbers below 64")]
pub(crate) static BY_SBOX: [u8; 64] = {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        index[i] = (i % 8 * 8 + spec::place(i / 8)) as u8;
        i += 1;
    }
    index
};

/// For each S-box: the bit matrix that puts key bits where [`PLACES`] says.
pub(crate) static KEY_MATRICES: [u8; 64] = {
    let mut matrices = [0; 64];
    let mut sbox = 0;
    while sbox < 8 {
        let mut matrix = 0;
        let mut i = 0;
        while i < 6 {
            matrix |= moves(5 - i, PLACES[sbox][i] as usize);
            i += 1;
        }
        let mut byte = 0;
        while byte < 8 {
            matrices[8 * sbox + byte] = matrix.to_le_bytes()[byte];
            byte += 1;
        }
        sbox += 1;
    }
    matrices
};

/// The sources of the bytes of the first two of eight words, each four times.
#[expect(clippy::cast_possible_truncation, reason = "numbers below 64")]
static FIRST_TWO: [u8; 64] = {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        index[i] = (i / 4 % 8 * 8 + i / 32) as u8;
        i += 1;
    }
    index
};

/// For each bit of each round key, spread: how far it is from the key's lowest bit when the key's
/// first byte is the least significant.
#[expect(clippy::cast_possible_truncation, reason = "numbers below 64")]
static KEY_BITS: [[u8; 64]; 16] = {
    let mut bits = [[0; 64]; 16];
    let mut i = 0;
    while i < 768 {
        let (round, sbox, input) = (i / 48, i / 6 % 8, i % 6);
        let bit = spec::key_bits(round, sbox)[input];
        bits[round][8 * spec::place(sbox) + 5 - input] = (bit / 8 * 8 + 7 - bit % 8) as u8;
        i += 1;
    }
    bits
};
