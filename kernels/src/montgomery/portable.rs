//! Limbs of 64 bits, one number at a time: for every processor, and the specification of the other
//! kernels.

use super::limbs::{add, add_product, halves, multiply, reduce_once, same, square, window};
use super::modulus::Modulus;
use super::{Exponent, Job, Workspace};
use crate::wipe;

/// Bits of an exponent that one multiplication takes.
const WINDOW: u32 = 5;
/// Entries of the table of powers.
const ENTRIES: usize = 1 << WINDOW;

/// Montgomery's reduction: `product` / 2^(64 L) modulo the modulus of L limbs.
///
/// The product has 2 L limbs and is overwritten. If it is not less than 2^(64 L) times the modulus,
/// the result is another number of L limbs with that remainder.
pub(super) fn reduce(modulus: &Modulus, product: &mut [u64], out: &mut [u64]) {
    let n = modulus.limbs();
    let mut over = 0;
    for i in 0..n.len() {
        let factor = product[i].wrapping_mul(modulus.inverse());
        let carry = add_product(&mut product[i..i + n.len()], n, factor);
        let top = &mut product[i + n.len()];
        [*top, over] = halves(u128::from(*top) + u128::from(carry) + u128::from(over));
    }
    out.copy_from_slice(&product[n.len()..]);
    reduce_once(out, over, n);
}

/// The product divided by 2^(64 L). One factor is less than the modulus; the other one may be any
/// number of L limbs.
pub(super) fn multiplied(
    modulus: &Modulus,
    one: &[u64],
    other: &[u64],
    out: &mut [u64],
    product: &mut [u64],
) {
    multiply(one, other, product);
    reduce(modulus, product, out);
}

/// The square divided by 2^(64 L), in place.
pub(super) fn squared(modulus: &Modulus, number: &mut [u64], product: &mut [u64]) {
    square(number, product);
    reduce(modulus, product, number);
}

/// The number divided by 2^(64 L), in place.
pub(super) fn left(modulus: &Modulus, number: &mut [u64], product: &mut [u64]) {
    let (low, high) = product.split_at_mut(number.len());
    low.copy_from_slice(number);
    high.fill(0);
    reduce(modulus, product, number);
}

/// Exponentiations, one after the other.
pub(super) fn raise<J: Job>(jobs: &mut [J], chosen: &[usize], workspace: &mut Workspace) {
    for &i in chosen {
        let job = &mut jobs[i];
        let length = job.modulus().limbs().len();
        let entries = if matches!(job.exponent(), Exponent::Secret(_)) { ENTRIES + 1 } else { 1 };
        let memory = workspace.limbs((entries + 3) * length);
        let (out, rest) = memory.split_at_mut(length);
        match job.exponent() {
            Exponent::Secret(exponent) => power(job.modulus(), job.base(), exponent, out, rest),
            Exponent::Public(exponent) => {
                public_power(job.modulus(), job.base(), exponent, out, rest);
            }
        }
        // Out of Montgomery's form.
        let product = &mut rest[..2 * length];
        match job.factor() {
            Some(factor) => {
                multiply(out, factor, product);
                reduce(job.modulus(), product, out);
            }
            None => left(job.modulus(), out, product),
        }
        job.place().1.copy_from_slice(out);
        wipe::words(memory);
    }
}

/// By fixed windows, in Montgomery's form. All entries of the table are read for each window.
fn power(modulus: &Modulus, base: &[u64], exponent: &[u64], out: &mut [u64], memory: &mut [u64]) {
    let length = modulus.limbs().len();
    let (product, rest) = memory.split_at_mut(2 * length);
    let (entry, table) = rest.split_at_mut(length);
    fill(modulus, base, table, product);

    let width = WINDOW as usize;
    let mut windows = (0..(64 * exponent.len()).div_ceil(width)).rev();
    let first = windows.next().map_or(0, |i| window(exponent, width * i, WINDOW));
    look_up(table, first, out);
    for i in windows {
        for _ in 0..WINDOW {
            squared(modulus, out, product);
        }
        look_up(table, window(exponent, width * i, WINDOW), entry);
        multiply(out, entry, product);
        reduce(modulus, product, out);
    }
}

/// The powers of the base from the zeroth on, in Montgomery's form.
fn fill(modulus: &Modulus, base: &[u64], table: &mut [u64], product: &mut [u64]) {
    let length = modulus.limbs().len();
    let (first, rest) = table.split_at_mut(length);
    set_one(modulus, first, product);
    multiplied(modulus, modulus.r_squared(), base, &mut rest[..length], product);
    for i in 2..ENTRIES {
        let (before, entry) = table.split_at_mut(i * length);
        let [first, last] = [1, i - 1].map(|i| &before[i * length..(i + 1) * length]);
        multiplied(modulus, first, last, &mut entry[..length], product);
    }
}

/// The number 1 in Montgomery's form.
fn set_one(modulus: &Modulus, out: &mut [u64], product: &mut [u64]) {
    out.copy_from_slice(modulus.r_squared());
    left(modulus, out, product);
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
    modulus: &Modulus,
    base: &[u64],
    exponent: u64,
    out: &mut [u64],
    memory: &mut [u64],
) {
    let length = modulus.limbs().len();
    let (product, rest) = memory.split_at_mut(2 * length);
    let base_form = &mut rest[..length];
    multiplied(modulus, modulus.r_squared(), base, base_form, product);
    match exponent.checked_ilog2() {
        None => set_one(modulus, out, product),
        Some(top) => {
            out.copy_from_slice(base_form);
            for bit in (0..top).rev() {
                squared(modulus, out, product);
                if exponent >> bit & 1 == 1 {
                    multiply(out, base_form, product);
                    reduce(modulus, product, out);
                }
            }
        }
    }
}

/// The remainder of a number of any length.
pub(super) fn remainder(
    modulus: &Modulus,
    number: &[u64],
    out: &mut [u64],
    workspace: &mut Workspace,
) {
    let length = modulus.limbs().len();
    let memory = workspace.limbs(2 * length);
    // From the highest part down, which may be shorter.
    let mut start = 0;
    while start + length < number.len() {
        start += length;
    }
    let (mut rest, highest) = number.split_at(start);
    let (low, high) = out.split_at_mut(highest.len());
    low.copy_from_slice(highest);
    high.fill(0);
    if number.len() <= length && modulus.bits() == 64 * length {
        // Less than twice the modulus.
        reduce_once(out, 0, modulus.limbs());
    } else if number.len() <= length {
        multiply(out, modulus.r_squared(), memory);
        reduce(modulus, memory, out);
        left(modulus, out, memory);
    }
    while let Some(start) = rest.len().checked_sub(length) {
        let part;
        (rest, part) = rest.split_at(start);
        // The number so far, which has L limbs, and behind it the part.
        let (low, high) = memory.split_at_mut(length);
        low.copy_from_slice(part);
        high.copy_from_slice(out);
        reduce(modulus, memory, out);
        multiply(out, modulus.r_squared(), memory);
        reduce(modulus, memory, out);
    }
    wipe::words(memory);
}

/// The sum of two remainders.
pub(super) fn sum(modulus: &Modulus, one: &mut [u64], other: &[u64]) {
    let over = add(one, other);
    reduce_once(one, over, modulus.limbs());
}
