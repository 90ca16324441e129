//! Exponentiations of one number, or of two at once, with the digits of a number side by side.

use core::arch::x86_64::*;

use super::horizontal::{Moduli, Number};
use super::{DIGIT, load};
use crate::montgomery::limbs::window;
use crate::montgomery::modulus::Modulus;
use crate::montgomery::x86_64::lanes::{ENTRIES, WINDOW};
use crate::montgomery::x86_64::radix::{own_digits, store_remainder};
use crate::montgomery::{Exponent, Job, Lanes, Workspace};
use crate::simd::store512_words;
use crate::wipe;

/// The numbers of up to `N` exponentiations.
struct Numbers<'a, const V: usize, const N: usize> {
    moduli: Moduli<'a, V, N>,
    r_squared: &'a mut [Number<V>; N],
    base: &'a mut [Number<V>; N],
    number: &'a mut [Number<V>; N],
    table: &'a mut [[Number<V>; N]],
}

impl<'a, const V: usize, const N: usize> Numbers<'a, V, N> {
    /// How many vectors of digits they need, with so many entries of the table.
    const fn size(entries: usize) -> usize {
        V * N * (4 + entries)
    }

    fn new(numbers: [(&Modulus, &[u64]); N], memory: &'a mut [Lanes]) -> Self {
        memory.fill(Lanes::default());
        let (memory, _) = memory.as_chunks_mut::<V>().0.as_chunks_mut::<N>();
        let [n, r_squared, base, number, table @ ..] = memory else {
            unreachable!("there are at least four")
        };
        let mut inverse = [0; N];
        for (i, (modulus, value)) in numbers.into_iter().enumerate() {
            let own = own_digits(modulus);
            copy(&own.n, &mut n[i]);
            copy(&own.r_squared, &mut r_squared[i]);
            spread(value, &mut base[i]);
            inverse[i] = modulus.context().inverse[0];
        }
        let digits = own_digits(numbers[0].0).n.len();
        Self { moduli: Moduli { n, inverse, digits }, r_squared, base, number, table }
    }

    /// `number` times a factor, if there is one, out of Montgomery's form; `base` is overwritten.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn leave(&mut self, factors: [Option<&[u64]>; N]) {
        for (out, factor) in self.base.iter_mut().zip(factors) {
            spread(factor.unwrap_or(&[1]), out);
        }
        self.moduli.multiply(self.number, self.base);
    }

    /// Fills the table with the powers of the base from the zeroth on.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fill_table(&mut self) {
        self.moduli.multiply(self.base, self.r_squared);
        *self.number = one();
        self.moduli.multiply(self.number, self.r_squared);
        for (i, entry) in self.table.iter_mut().enumerate() {
            if i > 0 {
                self.moduli.multiply(self.number, self.base);
            }
            *entry = *self.number;
        }
    }

    /// Raises `base` to secret exponents, into `number` in Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise(&mut self, exponents: [&[u64]; N]) {
        self.fill_table();
        let limbs = exponents.iter().map(|exponent| exponent.len()).max().unwrap_or(0);
        let width = WINDOW as usize;
        let windows = (64 * limbs).div_ceil(width);
        for i in (0..windows.max(1)).rev() {
            let indices = exponents.map(|exponent| window(exponent, width * i, WINDOW));
            look_up(self.table, indices, self.base);
            if i + 1 >= windows {
                *self.number = *self.base;
                continue;
            }
            for _ in 0..WINDOW {
                self.moduli.square(self.number);
            }
            self.moduli.multiply(self.number, self.base);
        }
    }

    /// Raises `base` to a public exponent, into `number` in Montgomery's form; if `plainly`, which
    /// is for odd exponents from 3 on, out of it.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise_public(&mut self, exponent: u64, plainly: bool) {
        let Some(top) = exponent.checked_ilog2() else {
            *self.number = one();
            self.moduli.multiply(self.number, self.r_squared);
            return;
        };
        *self.number = *self.base;
        self.moduli.multiply(self.number, self.r_squared);
        self.table[0] = *self.number;
        for bit in (0..top).rev() {
            self.moduli.square(self.number);
            if exponent >> bit & 1 == 1 {
                let factor = if bit == 0 && plainly { &*self.base } else { &self.table[0] };
                self.moduli.multiply(self.number, factor);
            }
        }
    }
}

/// The digits of a number. Not inlined: with vectors it would become scatters, which are slower.
#[inline(never)]
fn spread<const V: usize>(limbs: &[u64], number: &mut Number<V>) {
    for (at, digit) in number.iter_mut().flat_map(|lanes| &mut lanes.0).enumerate() {
        *digit = window(limbs, DIGIT as usize * at, DIGIT);
    }
}

fn copy<const V: usize>(from: &[u64], to: &mut Number<V>) {
    for (to, &from) in to.iter_mut().flat_map(|lanes| &mut lanes.0).zip(from) {
        *to = from;
    }
}

/// The number 1.
fn one<const V: usize, const N: usize>() -> [Number<V>; N] {
    let mut one = [Lanes::default(); V];
    one[0].0[0] = 1;
    [one; N]
}

/// One entry of the table for each number, by reading all.
#[target_feature(enable = "avx512f")]
#[expect(clippy::cast_possible_wrap, reason = "indices are small")]
fn look_up<const V: usize, const N: usize>(
    table: &[[Number<V>; N]],
    indices: [u64; N],
    out: &mut [Number<V>; N],
) {
    for x in 0..N {
        let index = _mm512_set1_epi64(indices[x] as i64);
        let mut at = _mm512_setzero_si512();
        let mut chosen = [_mm512_setzero_si512(); V];
        for entry in table {
            let here = _mm512_cmpeq_epi64_mask(at, index);
            for (chosen, entry) in chosen.iter_mut().zip(&entry[x]) {
                *chosen = _mm512_mask_mov_epi64(*chosen, here, load(entry));
            }
            at = _mm512_sub_epi64(at, _mm512_set1_epi64(-1));
        }
        for (out, chosen) in out[x].iter_mut().zip(chosen) {
            store512_words(&mut out.0, chosen);
        }
    }
}

/// `N` exponentiations at once, of as many digits; with public exponents, of one exponent.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn raise<J: Job, const V: usize, const N: usize>(
    jobs: &mut [J],
    chosen: [usize; N],
    workspace: &mut Workspace,
) {
    let exponents = chosen.map(|i| jobs[i].exponent());
    let entries = if matches!(exponents[0], Exponent::Secret(_)) { ENTRIES } else { 1 };
    let memory = workspace.lanes(Numbers::<V, N>::size(entries));
    let numbers = chosen.map(|i| (jobs[i].modulus(), jobs[i].base()));
    let mut numbers = Numbers::<V, N>::new(numbers, memory);
    let factors = chosen.map(|i| jobs[i].factor());
    let plainly = exponents[0].leaves() && factors.iter().all(Option::is_none);
    match exponents[0] {
        Exponent::Secret(_) => numbers.raise(exponents.map(Exponent::limbs)),
        Exponent::Public(exponent) => numbers.raise_public(exponent, plainly),
    }
    if !plainly {
        numbers.leave(factors);
    }
    for (number, i) in numbers.number.iter().zip(chosen) {
        store_remainder(number.iter().flat_map(|lanes| lanes.0), DIGIT, &mut jobs[i]);
    }
    wipe::words(memory);
}
