//! DES on bit planes: 64 blocks for every 64 bits of a word. Constant time in keys and data.
//!
//! A half is 32 words, one for each of its bits; E, P and the rotations of the key are no more
//! than the numbering of words.

mod sboxes;

use core::ops::{BitAnd, BitOr, BitXor, Not};

use lanecrypt_kernels::wipe;

use super::schedule::KEYS;
use super::spec;

/// A register of several lanes of 64 bits.
pub(super) trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Each lane the same.
    fn splat(lane: u64) -> Self;

    /// Each bit the lowest of `bits`, which are all the same.
    fn fill(bits: i32) -> Self;

    /// Each lane shifted left.
    fn up<const BY: i32>(self) -> Self;

    /// Each lane shifted right.
    fn down<const BY: i32>(self) -> Self;

    /// [`round`] in a function of its own: the halves are in memory anyway.
    fn round(half: &mut [Self; 32], from: &[Self; 32], key: &impl RoundKey<Self>);

    /// [`transpose`] in a function of its own.
    fn transpose(rows: &mut [Self; 64]);
}

/// The round keys of one DES in the order of their use: for each bit all ones or all zeros.
pub(super) struct Planes([[i32; 48]; 16]);

impl Planes {
    pub(super) const ZERO: Self = Self([[0; 48]; 16]);

    /// Sets the planes of `N` times DES, from schedules in the order of encryption.
    pub(super) fn set_all<const N: usize>(
        planes: &mut [Self; N],
        keys: &[[u64; KEYS]],
        back: bool,
    ) {
        for (i, keys) in keys.iter().enumerate() {
            planes[if back { N - 1 - i } else { i }].set(keys, back);
        }
    }

    fn set(&mut self, keys: &[u64; KEYS], back: bool) {
        let word = |i: usize| keys[if back { KEYS - 1 - i } else { i }];
        let (mut even, mut odd) = (0, 0);
        let (pairs, _) = self.0.as_chunks_mut();
        for (i, [first, second]) in pairs.iter_mut().enumerate() {
            even ^= word(2 * i);
            odd ^= word(2 * i + 1);
            masks(first, even);
            masks(second, odd);
        }
    }
}

/// They lie deeper on the stack than the depth that callers wipe.
impl Drop for Planes {
    fn drop(&mut self) {
        wipe::words(self.0.as_flattened_mut());
    }
}

fn masks(planes: &mut [i32; 48], key: u64) {
    for (sbox, planes) in planes.as_chunks_mut::<6>().0.iter_mut().enumerate() {
        for (i, plane) in planes.iter_mut().enumerate() {
            let bit = key >> (8 * spec::place(sbox) + 5 - i) & 1;
            *plane = -i32::from(bit == 1);
        }
    }
}

/// All rounds on blocks, the first byte of each the lowest of a lane.
#[inline(always)]
pub(super) fn crypt<W: Word>(planes: &[Planes], blocks: &mut [W; 64]) {
    W::transpose(blocks);
    let (mut left, mut right) = ([blocks[0]; 32], [blocks[0]; 32]);
    for bit in 0..32 {
        let (l, r) = permuted(bit);
        (left[bit], right[bit]) = (blocks[l], blocks[r]);
    }
    for Planes(rounds) in planes {
        for [first, second] in rounds.as_chunks().0 {
            W::round(&mut left, &right, first);
            W::round(&mut right, &left, second);
        }
        (left, right) = (right, left);
    }
    for bit in 0..32 {
        let (l, r) = permuted(bit);
        (blocks[l], blocks[r]) = (left[bit], right[bit]);
    }
    W::transpose(blocks);
}

/// The planes of a bit of the left and of the right half after the initial permutation, which are
/// those of the halves before the final one.
pub(super) const fn permuted(bit: usize) -> (usize, usize) {
    let (row, column) = (bit / 8, bit % 8);
    let byte = 7 - column;
    (8 * byte + 6 - 2 * row, 8 * byte + 7 - 2 * row)
}

/// A round key.
pub(super) trait RoundKey<W> {
    /// The key bit of an S-box's input, the first input of the first S-box being 0.
    fn plane(&self, input: usize) -> W;
}

impl<W: Word> RoundKey<W> for [i32; 48] {
    #[inline(always)]
    fn plane(&self, input: usize) -> W {
        W::fill(self[input])
    }
}

/// Adds the round function to the other half.
#[inline(always)]
pub(super) fn round<W: Word>(half: &mut [W; 32], from: &[W; 32], key: &impl RoundKey<W>) {
    add::<0, W>(half, sboxes::s1(inputs::<0, W>(from, key)));
    add::<1, W>(half, sboxes::s2(inputs::<1, W>(from, key)));
    add::<2, W>(half, sboxes::s3(inputs::<2, W>(from, key)));
    add::<3, W>(half, sboxes::s4(inputs::<3, W>(from, key)));
    add::<4, W>(half, sboxes::s5(inputs::<4, W>(from, key)));
    add::<5, W>(half, sboxes::s6(inputs::<5, W>(from, key)));
    add::<6, W>(half, sboxes::s7(inputs::<6, W>(from, key)));
    add::<7, W>(half, sboxes::s8(inputs::<7, W>(from, key)));
}

// Circuits are called by name, not passed: a call through a trait would not be inlined into code
// that has its instruction set enabled.

#[inline(always)]
fn inputs<const SBOX: usize, W: Word>(from: &[W; 32], key: &impl RoundKey<W>) -> [W; 6] {
    let bits = const { spec::inputs(SBOX) };
    let mut inputs = [from[0]; 6];
    for i in 0..6 {
        inputs[i] = from[bits[i]] ^ key.plane(6 * SBOX + i);
    }
    inputs
}

#[inline(always)]
fn add<const SBOX: usize, W: Word>(half: &mut [W; 32], answers: [W; 4]) {
    let bits = const { spec::outputs(SBOX) };
    for i in 0..4 {
        half[bits[i]] = half[bits[i]] ^ answers[i];
    }
}

/// Transposes in each lane the matrix of 64 by 64 bits.
#[inline(always)]
pub(super) fn transpose<W: Word>(rows: &mut [W; 64]) {
    step::<32, W>(rows, 0x0000_0000_ffff_ffff);
    step::<16, W>(rows, 0x0000_ffff_0000_ffff);
    step::<8, W>(rows, 0x00ff_00ff_00ff_00ff);
    step::<4, W>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    step::<2, W>(rows, 0x3333_3333_3333_3333);
    step::<1, W>(rows, 0x5555_5555_5555_5555);
}

/// Swaps in squares of twice `SIZE` the upper right with the lower left part.
#[inline(always)]
fn step<const SIZE: i32, W: Word>(rows: &mut [W; 64], mask: u64) {
    let mask = W::splat(mask);
    let size = SIZE.unsigned_abs() as usize;
    for rows in rows.chunks_exact_mut(2 * size) {
        let (upper, lower) = rows.split_at_mut(size);
        for (a, b) in upper.iter_mut().zip(lower) {
            let t = (a.down::<SIZE>() ^ *b) & mask;
            *b = *b ^ t;
            *a = *a ^ t.up::<SIZE>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane bit `x` of the inputs is `x`, so that one call answers all 64.
    #[test]
    fn circuits_are_the_tables_of_the_standard() {
        let inputs = core::array::from_fn(|i| {
            (0..64).fold(0u64, |plane, x| plane | (x >> (5 - i) & 1) << x)
        });
        let circuits = [
            sboxes::s1,
            sboxes::s2,
            sboxes::s3,
            sboxes::s4,
            sboxes::s5,
            sboxes::s6,
            sboxes::s7,
            sboxes::s8,
        ];
        for (sbox, circuit) in circuits.into_iter().enumerate() {
            let answers = circuit(inputs);
            for x in 0..64 {
                let answer = answers.iter().fold(0, |answer, plane| answer << 1 | plane >> x & 1);
                assert_eq!(answer, u64::from(spec::substitute(sbox, x)), "S{}({x})", sbox + 1);
            }
        }
    }
}
