//! Exponentiations of up to eight numbers side by side.

use core::arch::x86_64::*;

use super::super::digits::{BLOCK, Digits};
use super::super::limbs::window;
use super::super::modulus::Modulus;
use super::super::{Lanes, Power, PublicPower, Workspace};
use super::Block;
use super::multiply::{Moduli, load};
use super::turned::{copy_into_lane, into_lane, out_of_lane};
use crate::simd::store512_words;
use crate::wipe;

/// How many numbers there are side by side.
pub(super) const LANES: usize = 8;

/// Bits of an exponent that one multiplication takes.
const WINDOW: u32 = 5;
/// Entries of the table of powers.
const ENTRIES: usize = 1 << WINDOW;

/// The zeros and ones of a number, and the number 1, are digits too.
const ONE: Lanes = Lanes([1; LANES]);

/// Memory of a group, all of as many blocks.
struct Group<'a> {
    moduli: Moduli<'a>,
    r_squared: &'a mut [Block],
    base: &'a mut [Block],
    number: &'a mut [Block],
    table: &'a mut [Lanes],
}

impl<'a> Group<'a> {
    /// How many digits of eight numbers a group needs.
    const fn size(digits: usize, entries: usize) -> usize {
        digits * (5 + entries)
    }

    fn new<'b>(
        numbers: impl Iterator<Item = (&'b Modulus, &'b [u64])>,
        digits: usize,
        memory: &'a mut [Lanes],
    ) -> Self {
        memory.fill(Lanes::default());
        let (n, rest) = memory.split_at_mut(digits);
        let (factors, rest) = rest.split_at_mut(digits);
        let (r_squared, rest) = rest.split_at_mut(digits);
        let (base, rest) = rest.split_at_mut(digits);
        let (number, table) = rest.split_at_mut(digits);
        let mut inverse = Lanes::default();
        for (lane, (modulus, number)) in numbers.enumerate() {
            let digits = own_digits(modulus);
            copy_into_lane(&digits.n, lane, n);
            copy_into_lane(&digits.r_squared, lane, r_squared);
            into_lane(number, lane, base);
            inverse.0[lane] = modulus.inverse();
        }
        let factors = blocks(factors);
        Self {
            moduli: Moduli { n: blocks(n), inverse, factors },
            r_squared: blocks(r_squared),
            base: blocks(base),
            number: blocks(number),
            table,
        }
    }

    /// The number 1 in `number`.
    fn set_one(&mut self) {
        self.number.as_flattened_mut().fill(Lanes::default());
        self.number[0][0] = ONE;
    }

    /// `number` in Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn enter(&mut self) {
        self.moduli.multiply(self.number, self.r_squared);
    }

    /// `number` out of Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn leave(&mut self) {
        let one = &mut *self.base;
        one.as_flattened_mut().fill(Lanes::default());
        one[0][0] = ONE;
        self.moduli.multiply(self.number, one);
    }

    /// Fills the table with the powers of the base from the zeroth on: all entries of a digit, then
    /// those of the next one. `base` becomes its form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fill_table(&mut self) {
        self.moduli.multiply(self.base, self.r_squared);
        self.set_one();
        self.enter();
        for entry in 0..ENTRIES {
            let entries = self.table.iter_mut().skip(entry).step_by(ENTRIES);
            for (entry, &digit) in entries.zip(self.number.as_flattened()) {
                *entry = digit;
            }
            if entry + 1 < ENTRIES {
                self.moduli.multiply(self.number, self.base);
            }
        }
    }

    /// `base` to one public exponent, which is not zero, into `number`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise(&mut self, exponent: u64) {
        self.number.copy_from_slice(self.base);
        self.enter();
        let form = blocks(&mut self.table[..self.number.len() * BLOCK]);
        form.copy_from_slice(self.number);
        for bit in (0..exponent.ilog2()).rev() {
            self.moduli.square(self.number);
            if exponent >> bit & 1 == 1 {
                // The last factor, as it is, takes the product out of Montgomery's form.
                let factor = if bit == 0 { &*self.base } else { &*form };
                self.moduli.multiply(self.number, factor);
            }
        }
        if exponent == 1 || exponent.is_multiple_of(2) {
            self.leave();
        }
    }

    /// `base` to an own public exponent in each lane, into `number`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise_each(&mut self, exponents: &[u64; LANES]) {
        self.moduli.multiply(self.base, self.r_squared);
        self.set_one();
        self.enter();
        // The form of 1, for lanes whose exponent has a zero where another one has a one.
        let (one, factor) = self.table.split_at_mut(self.number.len() * BLOCK);
        let (one, factor) = (blocks(one), blocks(factor));
        one.copy_from_slice(self.number);
        let bits = 64 - exponents.iter().fold(0, |all, exponent| all | exponent).leading_zeros();
        for bit in (0..bits).rev() {
            self.moduli.square(self.number);
            let ones = exponents.iter().enumerate().fold(0, |ones, (lane, exponent)| {
                let [low, ..] = (exponent >> bit).to_le_bytes();
                ones | (low & 1) << lane
            });
            if ones != 0 {
                choose(ones, self.base, one, factor);
                self.moduli.multiply(self.number, factor);
            }
        }
        self.leave();
    }

    /// One entry of the table for each lane, into `base`.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn look_up(&mut self, indices: &Lanes) {
        look_up(self.table, indices, self.base.as_flattened_mut());
    }
}

fn own_digits(modulus: &Modulus) -> &Digits {
    modulus.digits().expect("moduli of this level have digits")
}

fn blocks(digits: &mut [Lanes]) -> &mut [Block] {
    digits.as_chunks_mut::<BLOCK>().0
}

/// Selects an entry for each lane by reading all entries: one of each two by the lowest bit of the
/// index, one of each two of these by the next bit, and so on.
#[target_feature(enable = "avx512f")]
fn look_up(table: &[Lanes], indices: &Lanes, out: &mut [Lanes]) {
    let indices = load(indices);
    let [one, two, four, eight, sixteen] =
        [1, 2, 4, 8, 16].map(|bit| _mm512_test_epi64_mask(indices, _mm512_set1_epi64(bit)));
    for (entries, out) in table.as_chunks::<ENTRIES>().0.iter().zip(out) {
        let mut four_of = [_mm512_setzero_si512(); 4];
        for (eighth, entries) in four_of.iter_mut().zip(entries.as_chunks::<8>().0) {
            let [a, b, c, d, e, f, g, h] = entries.each_ref().map(|entry| load(entry));
            let [a, c] = [(a, b), (c, d)].map(|(a, b)| _mm512_mask_blend_epi64(one, a, b));
            let [e, g] = [(e, f), (g, h)].map(|(a, b)| _mm512_mask_blend_epi64(one, a, b));
            let [a, e] = [(a, c), (e, g)].map(|(a, b)| _mm512_mask_blend_epi64(two, a, b));
            *eighth = _mm512_mask_blend_epi64(four, a, e);
        }
        let [a, b, c, d] = four_of;
        let [a, c] = [(a, b), (c, d)].map(|(a, b)| _mm512_mask_blend_epi64(eight, a, b));
        store512_words(&mut out.0, _mm512_mask_blend_epi64(sixteen, a, c));
    }
}

/// See [`super::super::powers`]; at most eight, of as many digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super) fn powers(
    jobs: &mut [Power<'_>],
    chosen: &[usize],
    workspace: &mut Workspace,
) {
    let Some(&first) = chosen.first() else { return };
    let digits = own_digits(jobs[first].modulus).n.len();
    let memory = workspace.lanes(Group::size(digits, ENTRIES));
    let numbers = chosen.iter().map(|&i| (jobs[i].modulus, jobs[i].base));
    let mut group = Group::new(numbers, digits, memory);
    group.fill_table();

    let limbs = chosen.iter().map(|&i| jobs[i].exponent.len()).max().unwrap_or(0);
    let width = WINDOW as usize;
    let mut indices = Lanes::default();
    let windows = (64 * limbs).div_ceil(width);
    for i in (0..windows.max(1)).rev() {
        for (index, &job) in indices.0.iter_mut().zip(chosen) {
            *index = window(jobs[job].exponent, width * i, WINDOW);
        }
        group.look_up(&indices);
        if i + 1 >= windows {
            group.number.copy_from_slice(group.base);
            continue;
        }
        for _ in 0..WINDOW {
            group.moduli.square(group.number);
        }
        group.moduli.multiply(group.number, group.base);
    }
    group.leave();
    for (lane, &i) in chosen.iter().enumerate() {
        let job = &mut jobs[i];
        out_of_lane(group.number.as_flattened(), lane, job.modulus.limbs(), job.out);
    }
    wipe::words(&mut indices.0);
    wipe::words(memory);
}

/// See [`super::super::public_powers`]; at most eight, of as many digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super) fn public_powers(
    jobs: &mut [PublicPower<'_>],
    chosen: &[usize],
    workspace: &mut Workspace,
) {
    let Some(&first) = chosen.first() else { return };
    let digits = own_digits(jobs[first].modulus).n.len();
    let memory = workspace.lanes(Group::size(digits, 2));
    let numbers = chosen.iter().map(|&i| (jobs[i].modulus, jobs[i].base));
    let mut group = Group::new(numbers, digits, memory);
    let exponent = jobs[first].exponent;
    if exponent != 0 && chosen.iter().all(|&i| jobs[i].exponent == exponent) {
        group.raise(exponent);
    } else {
        let mut exponents = [0; LANES];
        for (exponent, &i) in exponents.iter_mut().zip(chosen) {
            *exponent = jobs[i].exponent;
        }
        group.raise_each(&exponents);
    }
    for (lane, &i) in chosen.iter().enumerate() {
        let job = &mut jobs[i];
        out_of_lane(group.number.as_flattened(), lane, job.modulus.limbs(), job.out);
    }
    wipe::words(memory);
}

/// The base in lanes whose bit is set, 1 in the others.
#[target_feature(enable = "avx512f")]
fn choose(set: __mmask8, base: &[Block], one: &[Block], out: &mut [Block]) {
    let pairs = base.as_flattened().iter().zip(one.as_flattened());
    for ((base, one), out) in pairs.zip(out.as_flattened_mut()) {
        store512_words(&mut out.0, _mm512_mask_blend_epi64(set, load(one), load(base)));
    }
}
