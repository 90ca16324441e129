//! A modulus in digits of 52 bits, for multiplications of IFMA (AVX-512).

use alloc::boxed::Box;
use alloc::vec;

use super::context::Context;
use super::limbs::window;
use crate::wipe;

/// Bits of a digit.
pub(super) const DIGIT: u32 = 52;
/// Numbers have a multiple of so many digits.
pub(super) const BLOCK: usize = 5;

/// What multiplications modulo a modulus of K digits need.
///
/// Four times the modulus is less than 2^(52 K). So the product of two numbers below twice the
/// modulus, divided by 2^(52 K), is again below twice the modulus, without a last subtraction
/// (Walter, "Montgomery exponentiation needs no final subtractions", 1999).
pub(super) struct Digits {
    pub(super) n: Box<[u64]>,
    /// 2^(104 K) modulo the modulus.
    pub(super) r_squared: Box<[u64]>,
}

impl Digits {
    /// How many digits a modulus of so many bits has.
    pub(super) const fn count(bits: usize) -> usize {
        (bits + 2).div_ceil(DIGIT as usize).next_multiple_of(BLOCK)
    }

    /// The digits of a modulus; `power` and `product` are room for a remainder and for a product.
    pub(super) fn new(modulus: &Context, power: &mut [u64], product: &mut [u64]) -> Self {
        let count = Self::count(modulus.bits);
        // With R = 2^(64 L): 2^(104 K) is R^(m - 1) 2^s, and R^m 2^s has to be divided by R.
        let bits = 64 * modulus.limbs.len();
        // Counted down: no kernel may divide, not even sizes, so that one rule holds for all.
        let mut left = 2 * DIGIT as usize * count - bits;
        power.copy_from_slice(&modulus.r_squared);
        while left >= bits {
            super::limbs::multiply(power, &modulus.r_squared, product);
            modulus.reduce(product, power);
            left -= bits;
        }
        super::limbs::shifted(power, left, product);
        modulus.reduce(product, power);
        Self { n: digits(&modulus.limbs, count), r_squared: digits(power, count) }
    }
}

fn digits(limbs: &[u64], count: usize) -> Box<[u64]> {
    let mut digits = vec![0; count];
    for (i, digit) in digits.iter_mut().enumerate() {
        *digit = window(limbs, DIGIT as usize * i, DIGIT);
    }
    digits.into()
}

impl Drop for Digits {
    fn drop(&mut self) {
        wipe::words(&mut self.n);
        wipe::words(&mut self.r_squared);
    }
}
