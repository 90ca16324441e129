//! Rows as arrays: the specification.

use super::kernel::Factor;
use super::row::{Poly, Q, Vector};
use super::steps;
use super::{Decapsulation, DecapsulationKey, Encapsulation};
use crate::keccak::{self, Block, Permutation, State};

pub(crate) struct Portable;

#[derive(Clone, Copy)]
pub(super) struct Words([i16; 32]);

pub(crate) fn generate(seeds: &[&[u8; 64]], keys: &mut [DecapsulationKey]) {
    steps::generate::<Portable>(seeds, keys);
}

pub(crate) fn import(bytes: &[u8; 2400], key: &mut DecapsulationKey) -> bool {
    steps::import::<Portable>(bytes, key)
}

pub(crate) fn export(key: &DecapsulationKey, bytes: &mut [u8; 2400]) {
    steps::export::<Portable>(key, bytes);
}

pub(crate) fn encapsulate(
    jobs: &[Encapsulation<'_>],
    ciphertexts: &mut [[u8; 1088]],
    secrets: &mut [[u8; 32]],
) {
    steps::encapsulate::<Portable>(jobs, ciphertexts, secrets);
}

pub(crate) fn decapsulate(jobs: &[Decapsulation<'_>], secrets: &mut [[u8; 32]]) {
    steps::decapsulate::<Portable>(jobs, secrets);
}

impl Permutation for Portable {
    fn columns(_: usize) -> usize {
        1
    }

    fn permute(state: &mut State, _: usize) {
        keccak::permute_one(state);
    }

    fn absorb(state: &mut State, _: usize, blocks: &[Block; 8], kept: &[u64; 8]) {
        keccak::absorb_one(state, blocks, kept);
    }

    fn squeeze(state: &State, _: usize, blocks: &mut [Block; 8]) {
        keccak::squeeze_one(state, blocks);
    }
}

kernel! { #[inline(never)] Portable by Words }

impl Words {
    #[inline(always)]
    fn each(self, other: Self, f: impl Fn(i16, i16) -> i16) -> Self {
        Self(core::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

/// The low 16 bits.
#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
const fn low(word: i32) -> i16 {
    word as i16
}

// Without vectors, some of these take many instructions, and there is one copy of them.
impl Vector for Words {
    type Wide = [i32; 16];
    const IN_MEMORY: bool = true;

    #[inline(always)]
    fn load(row: &[i16; 32]) -> Self {
        Self(*row)
    }
    #[inline(always)]
    fn store(self, row: &mut [i16; 32]) {
        *row = self.0;
    }
    #[inline(always)]
    fn splat(word: i16) -> Self {
        Self([word; 32])
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, i16::wrapping_add)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, i16::wrapping_sub)
    }
    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        self.each(other, i16::wrapping_mul)
    }
    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        self.each(other, |a, b| low((i32::from(a) * i32::from(b)) >> 16))
    }
    #[inline(always)]
    fn mul_round(self, other: Self) -> Self {
        self.each(other, |a, b| low((i32::from(a) * i32::from(b) + (1 << 14)) >> 15))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.each(other, |a, b| a ^ b)
    }
    #[inline(always)]
    fn negative(self) -> Self {
        Self(self.0.map(|word| word >> 15))
    }
    #[inline(always)]
    fn exchange<const BIT: usize>(one: Self, other: Self) -> (Self, Self) {
        let word =
            |i: usize, bit| if i & BIT == 0 { one.0[i | bit] } else { other.0[i & !BIT | bit] };
        (Self(core::array::from_fn(|i| word(i, 0))), Self(core::array::from_fn(|i| word(i, BIT))))
    }
    #[inline(always)]
    fn swap(self) -> Self {
        Self(core::array::from_fn(|i| self.0[i ^ 1]))
    }
    #[inline(never)]
    fn dot(self, other: Self) -> Self::Wide {
        core::array::from_fn(|i| {
            let product = |i: usize| i32::from(self.0[i]) * i32::from(other.0[i]);
            product(2 * i) + product(2 * i + 1)
        })
    }
    #[inline(always)]
    fn add_wide(one: Self::Wide, other: Self::Wide) -> Self::Wide {
        core::array::from_fn(|i| one[i] + other[i])
    }
    #[inline(always)]
    fn low_halves(even: Self::Wide, odd: Self::Wide) -> Self {
        Self(core::array::from_fn(|i| low(if i % 2 == 0 { even[i / 2] } else { odd[i / 2] })))
    }
    #[inline(always)]
    fn high_halves(even: Self::Wide, odd: Self::Wide) -> Self {
        Self::low_halves(even.map(|word| word >> 16), odd.map(|word| word >> 16))
    }
    #[inline(always)]
    fn signs(self) -> u32 {
        (0..32).map(|i| u32::from(self.0[i].cast_unsigned() >> 15) << i).sum()
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> Self {
        let bits = core::hint::black_box(bits);
        Self(core::array::from_fn(|i| low((bits >> i & 1).cast_signed().wrapping_neg())))
    }
    #[inline(always)]
    fn pack4(self, bytes: &mut [u8; 16]) {
        pack::<4>(&self.0, bytes);
    }
    #[inline(always)]
    fn pack10(self, bytes: &mut [u8; 40]) {
        pack::<10>(&self.0, bytes);
    }
    #[inline(always)]
    fn pack12(self, bytes: &mut [u8; 48]) {
        pack::<12>(&self.0, bytes);
    }
    #[inline(always)]
    fn unpack4(bytes: &[u8; 16]) -> Self {
        unpack::<4>(bytes)
    }
    #[inline(always)]
    fn unpack10(bytes: &[u8; 40]) -> Self {
        unpack::<10>(bytes)
    }
    #[inline(always)]
    fn unpack12(bytes: &[u8; 48]) -> Self {
        unpack::<12>(bytes)
    }
    #[inline(never)]
    fn noise(bytes: &[u8; 16]) -> Self {
        Self(core::array::from_fn(|i| {
            let four = i16::from(bytes[i / 2] >> (4 * (i % 2)));
            (four & 1) + (four >> 1 & 1) - (four >> 2 & 1) - (four >> 3 & 1)
        }))
    }

    fn sample(block: &[u8; 168], poly: &mut Poly, mut filled: usize) -> usize {
        let coefficients = poly.0.as_flattened_mut();
        for &[a, b, c] in block.as_chunks().0 {
            let [a, b, c] = [a, b, c].map(i16::from);
            for number in [a | (b & 15) << 8, b >> 4 | c << 4] {
                if number < Q && filled < coefficients.len() {
                    coefficients[filled] = number;
                    filled += 1;
                }
            }
        }
        filled
    }
}

/// Packs four words at a time.
#[inline(always)]
fn pack<const BITS: usize>(words: &[i16; 32], bytes: &mut [u8]) {
    for (four, bytes) in words.as_chunks::<4>().0.iter().zip(bytes.chunks_exact_mut(BITS / 2)) {
        let mut packed = 0;
        for (i, &word) in four.iter().enumerate() {
            packed |= u64::from(word.cast_unsigned()) << (BITS * i);
        }
        bytes.copy_from_slice(&packed.to_le_bytes()[..BITS / 2]);
    }
}

#[inline(always)]
fn unpack<const BITS: usize>(bytes: &[u8]) -> Words {
    let mut words = [0; 32];
    for (four, bytes) in words.as_chunks_mut::<4>().0.iter_mut().zip(bytes.chunks_exact(BITS / 2)) {
        let mut packed = [0; 8];
        packed[..BITS / 2].copy_from_slice(bytes);
        let packed = u64::from_le_bytes(packed);
        for (i, word) in four.iter_mut().enumerate() {
            let [low, high, ..] = (packed >> (BITS * i) & ((1 << BITS) - 1)).to_le_bytes();
            *word = i16::from_le_bytes([low, high]);
        }
    }
    Words(words)
}
