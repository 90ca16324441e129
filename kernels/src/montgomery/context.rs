//! Montgomery's reduction modulo one number, in limbs of 64 bits.

use alloc::boxed::Box;
use alloc::vec;

use super::limbs::{add_product, double, halves, multiply, reduce_once, square};
use super::workspace::Workspace;
use crate::wipe;

/// An odd number of L limbs, with what reductions modulo it need.
pub(super) struct Context {
    /// The highest limb is not zero.
    pub(super) limbs: Box<[u64]>,
    /// 2^(128 L) modulo the number.
    pub(super) r_squared: Box<[u64]>,
    /// Minus the inverse of the number, modulo 2^128.
    pub(super) inverse: [u64; 2],
    pub(super) bits: usize,
}

impl Context {
    /// For a number of so many bits; `power` and `product` are room for a remainder and for a
    /// product.
    pub(super) fn new(limbs: &[u64], bits: usize, power: &mut [u64], product: &mut [u64]) -> Self {
        let length = limbs.len();
        let inverse = halves(inverse(u128::from(limbs[0]) | u128::from(limbs[1]) << 64));
        let r_squared = vec![0; length].into();
        let mut context = Self { limbs: limbs.into(), r_squared, inverse, bits };
        // 2^L in Montgomery's form; its 64th power in this form is 2^(64 L) in this form.
        context.power_of_two(64 * length + length, power);
        for _ in 0..6 {
            context.square(power, product);
        }
        context.r_squared.copy_from_slice(power);
        context
    }

    /// 2^`exponent` modulo the number, by doubling. The exponent is at least the number of bits
    /// less one.
    fn power_of_two(&self, exponent: usize, out: &mut [u64]) {
        out.fill(0);
        out[(self.bits - 1) / 64] = 1 << ((self.bits - 1) % 64);
        for _ in self.bits - 1..exponent {
            let over = double(out, 0);
            reduce_once(out, over, &self.limbs);
        }
    }

    /// Montgomery's reduction: `product` / 2^(64 L) modulo the number.
    ///
    /// The product has 2 L limbs and is overwritten. If it is not less than 2^(64 L) times the
    /// number, the result is another number of L limbs with that remainder.
    pub(super) fn reduce(&self, product: &mut [u64], out: &mut [u64]) {
        let n = &self.limbs;
        let mut over = 0;
        for i in 0..n.len() {
            let factor = product[i].wrapping_mul(self.inverse[0]);
            let carry = add_product(&mut product[i..i + n.len()], n, factor);
            let top = &mut product[i + n.len()];
            [*top, over] = halves(u128::from(*top) + u128::from(carry) + u128::from(over));
        }
        out.copy_from_slice(&product[n.len()..]);
        reduce_once(out, over, n);
    }

    /// The square divided by 2^(64 L), in place.
    pub(super) fn square(&self, number: &mut [u64], product: &mut [u64]) {
        square(number, product);
        self.reduce(product, number);
    }

    /// The number divided by 2^(64 L), in place.
    pub(super) fn leave(&self, number: &mut [u64], product: &mut [u64]) {
        let (low, high) = product.split_at_mut(number.len());
        low.copy_from_slice(number);
        high.fill(0);
        self.reduce(product, number);
    }

    /// The remainder of a number of any length.
    pub(super) fn remainder(&self, number: &[u64], out: &mut [u64], workspace: &mut Workspace) {
        let length = self.limbs.len();
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
        if number.len() <= length && self.bits == 64 * length {
            // Less than twice the number.
            reduce_once(out, 0, &self.limbs);
        } else if number.len() <= length {
            multiply(out, &self.r_squared, memory);
            self.reduce(memory, out);
            self.leave(out, memory);
        }
        while let Some(start) = rest.len().checked_sub(length) {
            let part;
            (rest, part) = rest.split_at(start);
            // The number so far, which has L limbs, and behind it the part.
            let (low, high) = memory.split_at_mut(length);
            low.copy_from_slice(part);
            high.copy_from_slice(out);
            self.reduce(memory, out);
            multiply(out, &self.r_squared, memory);
            self.reduce(memory, out);
        }
        wipe::words(memory);
    }
}

/// Minus the inverse of an odd number modulo 2^128, by Newton's iteration: each step doubles the
/// number of right bits, of which there are three at first.
fn inverse(odd: u128) -> u128 {
    let mut inverse = odd;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2_u128.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}

impl Drop for Context {
    fn drop(&mut self) {
        wipe::words(&mut self.limbs);
        wipe::words(&mut self.r_squared);
        wipe::words(&mut self.inverse);
    }
}
