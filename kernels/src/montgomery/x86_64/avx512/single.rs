//! Exponentiations of one number, or of two at once, with the digits of a number side by side.

use super::DIGIT;
use super::horizontal::{Kernel, MOST, Moduli};
use crate::montgomery::limbs::window;
use crate::montgomery::x86_64::lanes::{ENTRIES, WINDOW};
use crate::montgomery::x86_64::radix::{own_digits, store_remainder};
use crate::montgomery::{Exponent, Inputs, Jobs, Lanes, Workspace};
use crate::wipe;

/// The numbers of exponentiations: of each kind one number after the other.
struct Numbers<'a> {
    kernel: &'static Kernel,
    moduli: Moduli<'a>,
    r_squared: &'a [Lanes],
    base: &'a mut [Lanes],
    number: &'a mut [Lanes],
    table: &'a mut [Lanes],
}

impl<'a> Numbers<'a> {
    /// How many vectors of digits they need, with so many entries of the table.
    const fn size(kernel: &Kernel, entries: usize) -> usize {
        kernel.vectors * kernel.count * (4 + entries)
    }

    fn new<'b>(
        kernel: &'static Kernel,
        jobs: impl Iterator<Item = Inputs<'b>>,
        memory: &'a mut [Lanes],
    ) -> Self {
        memory.fill(Lanes::default());
        let size = kernel.vectors * kernel.count;
        let (n, rest) = memory.split_at_mut(size);
        let (r_squared, rest) = rest.split_at_mut(size);
        let (base, rest) = rest.split_at_mut(size);
        let (number, table) = rest.split_at_mut(size);
        let (mut inverse, mut digits) = ([0; MOST], 0);
        for (i, Inputs { modulus, base: value, .. }) in jobs.enumerate() {
            let own = own_digits(modulus);
            copy(&own.n, &mut n[kernel.place(i)]);
            copy(&own.r_squared, &mut r_squared[kernel.place(i)]);
            spread(value, &mut base[kernel.place(i)]);
            (inverse[i], digits) = (modulus.context().inverse[0], own.n.len());
        }
        Self { kernel, moduli: Moduli { n, inverse, digits }, r_squared, base, number, table }
    }

    /// `number` becomes the number 1 in Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn set_one(&mut self) {
        self.number.fill(Lanes::default());
        for i in 0..self.kernel.count {
            self.number[i * self.kernel.vectors].0[0] = 1;
        }
        self.kernel.multiply(&self.moduli, self.number, 0, Some(self.r_squared));
    }

    /// `number` times a factor, if there is one, out of Montgomery's form; `base` is overwritten.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn leave<'b>(&mut self, factors: impl Iterator<Item = Option<&'b [u64]>>) {
        for (i, factor) in factors.enumerate() {
            spread(factor.unwrap_or(&[1]), &mut self.base[self.kernel.place(i)]);
        }
        self.kernel.multiply(&self.moduli, self.number, 0, Some(self.base));
    }

    /// Fills the table with the powers of the base from the zeroth on.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn fill_table(&mut self) {
        self.kernel.multiply(&self.moduli, self.base, 0, Some(self.r_squared));
        self.set_one();
        let size = self.number.len();
        self.table[..size].copy_from_slice(self.number);
        for i in 1..ENTRIES {
            self.kernel.multiply(&self.moduli, self.number, 0, Some(self.base));
            self.table[i * size..(i + 1) * size].copy_from_slice(self.number);
        }
    }

    /// Raises `base` to secret exponents, into `number` in Montgomery's form.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise(&mut self, exponents: [&[u64]; MOST]) {
        self.fill_table();
        let limbs = exponents.iter().map(|exponent| exponent.len()).max().unwrap_or(0);
        let width = WINDOW as usize;
        let windows = (64 * limbs).div_ceil(width);
        for i in (0..windows.max(1)).rev() {
            let indices = exponents.map(|exponent| window(exponent, width * i, WINDOW));
            self.kernel.look_up(self.table, indices, self.base);
            if i + 1 >= windows {
                self.number.copy_from_slice(self.base);
                continue;
            }
            self.kernel.multiply(&self.moduli, self.number, WINDOW, Some(self.base));
        }
    }

    /// Raises `base` to a public exponent, into `number` in Montgomery's form; if `plainly`, which
    /// is for odd exponents from 3 on, out of it.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn raise_public(&mut self, exponent: u64, plainly: bool) {
        let Some(top) = exponent.checked_ilog2() else { return self.set_one() };
        self.number.copy_from_slice(self.base);
        self.kernel.multiply(&self.moduli, self.number, 0, Some(self.r_squared));
        self.table.copy_from_slice(self.number);
        let mut squarings = 0;
        for bit in (0..top).rev() {
            squarings += 1;
            if exponent >> bit & 1 == 1 {
                let factor = if bit == 0 && plainly { &*self.base } else { &*self.table };
                self.kernel.multiply(&self.moduli, self.number, squarings, Some(factor));
                squarings = 0;
            }
        }
        self.kernel.multiply(&self.moduli, self.number, squarings, None);
    }
}

/// The digits of a number. Not inlined: with vectors it would become scatters, which are slower.
#[inline(never)]
fn spread(limbs: &[u64], number: &mut [Lanes]) {
    for (at, digit) in number.iter_mut().flat_map(|lanes| &mut lanes.0).enumerate() {
        *digit = window(limbs, DIGIT as usize * at, DIGIT);
    }
}

fn copy(from: &[u64], to: &mut [Lanes]) {
    for (to, &from) in to.iter_mut().flat_map(|lanes| &mut lanes.0).zip(from) {
        *to = from;
    }
}

/// One exponentiation, or two at once, of as many digits; with public exponents, of one exponent.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn raise(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    let first = jobs.job(chosen[0]);
    let kernel = Kernel::of(own_digits(first.modulus).n.len(), chosen.len());
    let exponent = first.exponent;
    let entries = if matches!(exponent, Exponent::Secret(_)) { ENTRIES } else { 1 };
    let memory = workspace.lanes(Numbers::size(kernel, entries));
    let values = chosen.iter().map(|&i| jobs.job(i));
    let mut numbers = Numbers::new(kernel, values, memory);
    let factors = chosen.iter().map(|&i| jobs.job(i).factor);
    let plainly = exponent.leaves() && factors.clone().all(|factor| factor.is_none());
    match exponent {
        Exponent::Secret(_) => {
            let mut exponents = [&[][..]; MOST];
            for (exponent, &i) in exponents.iter_mut().zip(chosen) {
                *exponent = jobs.job(i).exponent.limbs();
            }
            numbers.raise(exponents);
        }
        Exponent::Public(exponent) => numbers.raise_public(exponent, plainly),
    }
    if !plainly {
        numbers.leave(factors);
    }
    for (i, &job) in chosen.iter().enumerate() {
        let digits = numbers.number[kernel.place(i)].iter().flat_map(|lanes| lanes.0);
        store_remainder(digits, DIGIT, jobs.place(job));
    }
    wipe::words(memory);
}
