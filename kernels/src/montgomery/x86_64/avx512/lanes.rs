//! Exponentiations of up to eight numbers side by side.

use core::arch::x86_64::*;

use super::Block;
use super::load;
use super::multiply::Moduli;
use super::own_digits;
use super::radix52::{copy_into_lane, into_lane, store_remainder};
use super::selection::{ENTRIES, Selection, WINDOW};
use crate::montgomery::digits::BLOCK;
use crate::montgomery::limbs::window;
use crate::montgomery::modulus::Modulus;
use crate::montgomery::{Exponent, Job, Lanes, Workspace};
use crate::simd::store512_words;
use crate::wipe;

/// How many numbers there are side by side.
pub(super) const LANES: usize = 8;

/// The lowest digit of the number 1.
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
            inverse.0[lane] = modulus.context().inverse[0];
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

    /// `number` times the factors of lanes that have one, out of Montgomery's form; `base` is
    /// overwritten.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn leave<'b>(&mut self, factors: impl Iterator<Item = Option<&'b [u64]>>) {
        let digits = self.base.as_flattened_mut();
        digits.fill(Lanes::default());
        digits[0] = ONE;
        for (lane, factor) in factors.enumerate() {
            if let Some(factor) = factor {
                into_lane(factor, lane, digits);
            }
        }
        self.moduli.multiply(self.number, self.base);
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

    /// `base` to an own secret exponent in each lane, into `number` in Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise(&mut self, exponents: &[&[u64]; LANES]) {
        self.fill_table();
        let limbs = exponents.iter().map(|exponent| exponent.len()).max().unwrap_or(0);
        let width = WINDOW as usize;
        let windows = (64 * limbs).div_ceil(width);
        let mut indices = Lanes::default();
        for i in (0..windows.max(1)).rev() {
            indices.0 = exponents.map(|exponent| window(exponent, width * i, WINDOW));
            let table = self.table.as_chunks().0;
            let mut entry = Selection::new(table, &indices, self.base.as_flattened_mut());
            if i + 1 >= windows {
                entry.finish();
                self.number.copy_from_slice(self.base);
                continue;
            }
            for _ in 0..WINDOW {
                self.moduli.square(self.number, &mut entry);
            }
            entry.finish();
            self.moduli.multiply(self.number, self.base);
        }
        wipe::words(&mut indices.0);
    }

    /// `base` to one public exponent, which is not zero, into `number` in Montgomery's form; if
    /// `plainly`, which is for odd exponents from 3 on, out of it.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise_public(&mut self, exponent: u64, plainly: bool) {
        self.number.copy_from_slice(self.base);
        self.enter();
        let form = blocks(&mut self.table[..self.number.len() * BLOCK]);
        form.copy_from_slice(self.number);
        for bit in (0..exponent.ilog2()).rev() {
            self.moduli.square(self.number, &mut Selection::none());
            if exponent >> bit & 1 == 1 {
                let factor = if bit == 0 && plainly { &*self.base } else { &*form };
                self.moduli.multiply(self.number, factor);
            }
        }
    }

    /// `base` to an own public exponent in each lane, into `number` in Montgomery's form.
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
            self.moduli.square(self.number, &mut Selection::none());
            let ones = exponents.iter().enumerate().fold(0, |ones, (lane, exponent)| {
                let [low, ..] = (exponent >> bit).to_le_bytes();
                ones | (low & 1) << lane
            });
            if ones != 0 {
                choose(ones, self.base, one, factor);
                self.moduli.multiply(self.number, factor);
            }
        }
    }
}

fn blocks(digits: &mut [Lanes]) -> &mut [Block] {
    digits.as_chunks_mut::<BLOCK>().0
}

/// At most eight exponentiations, of as many digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn raise<J: Job>(jobs: &mut [J], chosen: &[usize], workspace: &mut Workspace) {
    let mut exponents = [jobs[chosen[0]].exponent(); LANES];
    for (exponent, &i) in exponents.iter_mut().zip(chosen) {
        *exponent = jobs[i].exponent();
    }
    let digits = own_digits(jobs[chosen[0]].modulus()).n.len();
    let entries = if matches!(exponents[0], Exponent::Secret(_)) { ENTRIES } else { 2 };
    let memory = workspace.lanes(Group::size(digits, entries));
    let numbers = chosen.iter().map(|&i| (jobs[i].modulus(), jobs[i].base()));
    let mut group = Group::new(numbers, digits, memory);
    let factors = chosen.iter().map(|&i| jobs[i].factor());
    let mut plainly = false;
    match exponents[0] {
        Exponent::Secret(_) => group.raise(&exponents.map(Exponent::limbs)),
        Exponent::Public(first) => {
            let exponents = exponents.map(|exponent| match exponent {
                Exponent::Public(exponent) => exponent,
                Exponent::Secret(_) => 0,
            });
            if first != 0 && exponents.iter().all(|&exponent| exponent == first) {
                plainly = Exponent::Public(first).leaves() && factors.clone().all(|f| f.is_none());
                group.raise_public(first, plainly);
            } else {
                group.raise_each(&exponents);
            }
        }
    }
    if !plainly {
        group.leave(factors);
    }
    for (lane, &i) in chosen.iter().enumerate() {
        let digits = group.number.as_flattened().iter().map(|digit| digit.0[lane]);
        store_remainder(digits, &mut jobs[i]);
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
