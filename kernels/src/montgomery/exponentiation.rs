//! Exponentiations of one number at a time, by the arithmetic of a kernel.

use core::array;
use core::marker::PhantomData;

use super::context::Context;
use super::limbs::{reduce_once, same, window};
use super::{Exponent, Jobs, Workspace};
use crate::wipe;

/// Bits of an exponent that one multiplication takes.
const WINDOW: u32 = 5;
/// Entries of the table of powers.
pub(super) const ENTRIES: usize = 1 << WINDOW;
/// Limbs of an entry that are read at a time, so that what is chosen stays in registers.
const PART: usize = 16;

/// What a kernel provides. Numbers have as many limbs as the modulus, L, and products 2 L.
///
/// Numbers in Montgomery's form may be the modulus or greater, but fit their limbs.
pub(super) trait Arithmetic {
    /// Multiplies a number by another one and divides by 2^(64 L). `room` is for a product.
    fn multiply(modulus: &Context, number: &mut [u64], factor: &[u64], room: &mut [u64]);

    /// Squares a number and divides by 2^(64 L). `room` is for a product.
    fn square(modulus: &Context, number: &mut [u64], room: &mut [u64]);

    /// Montgomery's reduction: a number with the remainder of `product` / 2^(64 L). It is less than
    /// twice the modulus if the product is less than 2^(64 L) times the modulus. The product is
    /// overwritten.
    fn reduce(modulus: &Context, product: &mut [u64], out: &mut [u64]);

    /// One entry of the table, by reading all.
    fn look_up(table: &[u64], index: u64, out: &mut [u64]);
}

/// Exponentiations, one after the other.
pub(super) fn raise<A: Arithmetic>(
    jobs: &mut dyn Jobs,
    chosen: &[usize],
    workspace: &mut Workspace,
) {
    for &i in chosen {
        let job = jobs.job(i);
        let modulus = job.modulus.context();
        let length = modulus.limbs.len();
        let entries = if matches!(job.exponent, Exponent::Secret(_)) { ENTRIES + 1 } else { 1 };
        let memory = workspace.limbs((entries + 3) * length);
        let (out, rest) = memory.split_at_mut(length);
        let (product, rest) = rest.split_at_mut(2 * length);
        let mut power = Powers::<A> { modulus, product, arithmetic: PhantomData };
        let leaves = job.exponent.leaves() && job.factor.is_none();
        match job.exponent {
            Exponent::Secret(exponent) => power.raise(job.base, exponent, out, rest),
            Exponent::Public(exponent) => {
                power.raise_public(job.base, exponent, out, rest, leaves);
            }
        }
        match job.factor {
            Some(factor) => power.multiply_by(out, factor),
            None if leaves => {}
            None => power.leave(out),
        }
        reduce_once(out, 0, &modulus.limbs);
        jobs.place(i).1.copy_from_slice(out);
        wipe::words(memory);
    }
}

/// One exponentiation, and room for a product.
struct Powers<'a, A> {
    modulus: &'a Context,
    product: &'a mut [u64],
    arithmetic: PhantomData<A>,
}

impl<A: Arithmetic> Powers<'_, A> {
    /// The product of two numbers, divided by 2^(64 L).
    fn multiply(&mut self, one: &[u64], other: &[u64], out: &mut [u64]) {
        out.copy_from_slice(one);
        self.multiply_by(out, other);
    }

    fn multiply_by(&mut self, number: &mut [u64], factor: &[u64]) {
        A::multiply(self.modulus, number, factor, self.product);
    }

    fn square(&mut self, number: &mut [u64]) {
        A::square(self.modulus, number, self.product);
    }

    /// Out of Montgomery's form: the number divided by 2^(64 L).
    fn leave(&mut self, number: &mut [u64]) {
        let (low, high) = self.product.split_at_mut(number.len());
        low.copy_from_slice(number);
        high.fill(0);
        A::reduce(self.modulus, self.product, number);
    }

    /// The number 1 in Montgomery's form.
    fn set_one(&mut self, out: &mut [u64]) {
        out.copy_from_slice(&self.modulus.r_squared);
        self.leave(out);
    }

    /// By fixed windows, in Montgomery's form. All entries of the table are read for each window.
    fn raise(&mut self, base: &[u64], exponent: &[u64], out: &mut [u64], memory: &mut [u64]) {
        let (entry, table) = memory.split_at_mut(out.len());
        self.fill(base, table);
        let width = WINDOW as usize;
        let mut windows = (0..(64 * exponent.len()).div_ceil(width)).rev();
        let first = windows.next().map_or(0, |i| window(exponent, width * i, WINDOW));
        A::look_up(table, first, out);
        for i in windows {
            for _ in 0..WINDOW {
                self.square(out);
            }
            A::look_up(table, window(exponent, width * i, WINDOW), entry);
            self.multiply_by(out, entry);
        }
    }

    /// The powers of the base from the zeroth on, in Montgomery's form.
    fn fill(&mut self, base: &[u64], table: &mut [u64]) {
        let length = base.len();
        let (first, rest) = table.split_at_mut(length);
        self.set_one(first);
        self.multiply(&self.modulus.r_squared, base, &mut rest[..length]);
        for i in 2..ENTRIES {
            let (before, entry) = table.split_at_mut(i * length);
            let power = |i: usize| &before[i * length..(i + 1) * length];
            let entry = &mut entry[..length];
            if i % 2 == 0 {
                entry.copy_from_slice(power(i / 2));
                self.square(entry);
            } else {
                self.multiply(power(1), power(i - 1), entry);
            }
        }
    }

    /// By the bits of the exponent, in Montgomery's form. If it `leaves` that form, the last
    /// multiplication is one with the base itself.
    fn raise_public(
        &mut self,
        base: &[u64],
        exponent: u64,
        out: &mut [u64],
        base_form: &mut [u64],
        leaves: bool,
    ) {
        self.multiply(&self.modulus.r_squared, base, base_form);
        let Some(top) = exponent.checked_ilog2() else { return self.set_one(out) };
        out.copy_from_slice(base_form);
        for bit in (0..top).rev() {
            self.square(out);
            if exponent >> bit & 1 == 1 {
                self.multiply_by(out, if bit == 0 && leaves { base } else { base_form });
            }
        }
    }
}

/// The beginning of one entry of the table, by reading that of all. Entries are `length` apart.
#[inline(always)]
pub(super) fn look_up(table: &[u64], length: usize, index: u64, out: &mut [u64]) {
    let masks = array::from_fn(|i| same(i as u64, index));
    let (parts, rest) = out.as_chunks_mut();
    let mut start = 0;
    for part in parts {
        look_up_part::<PART>(&table[start..], length, &masks, part);
        start += PART;
    }
    let (parts, rest) = rest.as_chunks_mut();
    for part in parts {
        look_up_part::<4>(&table[start..], length, &masks, part);
        start += 4;
    }
    for part in rest.as_chunks_mut().0 {
        look_up_part::<1>(&table[start..], length, &masks, part);
        start += 1;
    }
}

/// Some limbs of an entry. The first entry begins with them; entries have `length` limbs.
#[inline(always)]
fn look_up_part<const N: usize>(
    mut table: &[u64],
    length: usize,
    masks: &[u64; ENTRIES],
    out: &mut [u64; N],
) {
    let mut chosen = [0; N];
    for (i, &mask) in masks.iter().enumerate() {
        for (chosen, limb) in chosen.iter_mut().zip(&table[..N]) {
            *chosen |= limb & mask;
        }
        if i + 1 < ENTRIES {
            table = &table[length..];
        }
    }
    *out = chosen;
}
