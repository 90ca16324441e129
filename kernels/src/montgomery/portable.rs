//! Limbs of 64 bits, one number at a time: for every processor, and the specification of the other
//! kernels.

use super::context::Context;
use super::limbs::{multiply, same, window};
use super::{Exponent, Job, Workspace};
use crate::wipe;

/// Bits of an exponent that one multiplication takes.
const WINDOW: u32 = 5;
/// Entries of the table of powers.
const ENTRIES: usize = 1 << WINDOW;

/// Exponentiations, one after the other.
pub(super) fn raise<J: Job>(jobs: &mut [J], chosen: &[usize], workspace: &mut Workspace) {
    for &i in chosen {
        let job = &mut jobs[i];
        let modulus = job.modulus().context();
        let length = modulus.limbs.len();
        let entries = if matches!(job.exponent(), Exponent::Secret(_)) { ENTRIES + 1 } else { 1 };
        let memory = workspace.limbs((entries + 3) * length);
        let (out, rest) = memory.split_at_mut(length);
        match job.exponent() {
            Exponent::Secret(exponent) => power(modulus, job.base(), exponent, out, rest),
            Exponent::Public(exponent) => {
                public_power(modulus, job.base(), exponent, out, rest);
            }
        }
        // Out of Montgomery's form.
        let product = &mut rest[..2 * length];
        match job.factor() {
            Some(factor) => {
                multiply(out, factor, product);
                modulus.reduce(product, out);
            }
            None => modulus.leave(out, product),
        }
        job.place().1.copy_from_slice(out);
        wipe::words(memory);
    }
}

/// By fixed windows, in Montgomery's form. All entries of the table are read for each window.
fn power(modulus: &Context, base: &[u64], exponent: &[u64], out: &mut [u64], memory: &mut [u64]) {
    let length = modulus.limbs.len();
    let (product, rest) = memory.split_at_mut(2 * length);
    let (entry, table) = rest.split_at_mut(length);
    fill(modulus, base, table, product);

    let width = WINDOW as usize;
    let mut windows = (0..(64 * exponent.len()).div_ceil(width)).rev();
    let first = windows.next().map_or(0, |i| window(exponent, width * i, WINDOW));
    look_up(table, first, out);
    for i in windows {
        for _ in 0..WINDOW {
            modulus.square(out, product);
        }
        look_up(table, window(exponent, width * i, WINDOW), entry);
        multiply(out, entry, product);
        modulus.reduce(product, out);
    }
}

/// The powers of the base from the zeroth on, in Montgomery's form.
fn fill(modulus: &Context, base: &[u64], table: &mut [u64], product: &mut [u64]) {
    let length = modulus.limbs.len();
    let (first, rest) = table.split_at_mut(length);
    set_one(modulus, first, product);
    modulus.multiply(&modulus.r_squared, base, &mut rest[..length], product);
    for i in 2..ENTRIES {
        let (before, entry) = table.split_at_mut(i * length);
        let [first, last] = [1, i - 1].map(|i| &before[i * length..(i + 1) * length]);
        modulus.multiply(first, last, &mut entry[..length], product);
    }
}

/// The number 1 in Montgomery's form.
fn set_one(modulus: &Context, out: &mut [u64], product: &mut [u64]) {
    out.copy_from_slice(&modulus.r_squared);
    modulus.leave(out, product);
}

/// One entry of the table, by reading all.
fn look_up(mut table: &[u64], index: u64, out: &mut [u64]) {
    out.fill(0);
    for i in 0..ENTRIES {
        let (entry, rest) = table.split_at(out.len());
        let mask = same(i as u64, index);
        for (limb, entry) in out.iter_mut().zip(entry) {
            *limb |= entry & mask;
        }
        table = rest;
    }
}

/// By the bits of the exponent, in Montgomery's form.
fn public_power(
    modulus: &Context,
    base: &[u64],
    exponent: u64,
    out: &mut [u64],
    memory: &mut [u64],
) {
    let length = modulus.limbs.len();
    let (product, rest) = memory.split_at_mut(2 * length);
    let base_form = &mut rest[..length];
    modulus.multiply(&modulus.r_squared, base, base_form, product);
    match exponent.checked_ilog2() {
        None => set_one(modulus, out, product),
        Some(top) => {
            out.copy_from_slice(base_form);
            for bit in (0..top).rev() {
                modulus.square(out, product);
                if exponent >> bit & 1 == 1 {
                    multiply(out, base_form, product);
                    modulus.reduce(product, out);
                }
            }
        }
    }
}
