//! A modulus in digits, for kernels whose multiplications have fewer than 64 bits.

use alloc::boxed::Box;

use super::context::Context;
use super::limbs::window;
use crate::{Isa, Level, wipe};

/// How numbers are divided into digits.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// Bits of a digit.
    pub(super) width: u32,
    /// Numbers have a multiple of so many digits.
    pub(super) block: usize,
}

/// For multiplications of 52 bits (AVX-512 with IFMA).
pub(super) const IFMA: Form = Form { width: 52, block: 5 };
/// For multiplications of 32 bits, with sums of 64 products (AVX2).
pub(super) const SHORT: Form = Form { width: 29, block: 4 };

impl Form {
    /// The digits of the kernels of a level, if they have any.
    pub(super) const fn of(isa: Isa) -> Option<Self> {
        if Level::Avx512.is_built() && isa.has(Level::Avx512) {
            Some(IFMA)
        } else if Level::Avx2.is_built() && isa.has(Level::Avx2) {
            Some(SHORT)
        } else {
            None
        }
    }

    /// How many digits a modulus of so many bits has.
    ///
    /// Counted: no kernel may divide, not even sizes, so that one rule holds for all.
    const fn count(self, bits: usize) -> usize {
        let mut count = self.block;
        while count * (self.width as usize) < bits + 2 {
            count += self.block;
        }
        count
    }
}

/// What multiplications modulo a modulus of K digits need.
///
/// With digits of W bits, four times the modulus is less than 2^(W K). So the product of two
/// numbers below twice the modulus, divided by 2^(W K), is again below that, without a last
/// subtraction (Walter, "Montgomery exponentiation needs no final subtractions", 1999).
pub(super) struct Digits {
    pub(super) n: Box<[u64]>,
    /// 2^(2 W K) modulo the modulus.
    pub(super) r_squared: Box<[u64]>,
}

impl Digits {
    /// The digits of a modulus; `power` and `product` are room for a remainder and for a product.
    pub(super) fn new(
        form: Form,
        modulus: &Context,
        power: &mut [u64],
        product: &mut [u64],
    ) -> Self {
        let count = form.count(modulus.bits);
        // With R = 2^(64 L): 2^(2 W K) is R^(m - 1) 2^s, and R^m 2^s has to be divided by R.
        let bits = 64 * modulus.limbs.len();
        // Counted down, too.
        let mut left = 2 * form.width as usize * count - bits;
        power.copy_from_slice(&modulus.r_squared);
        while left >= bits {
            super::limbs::multiply(power, &modulus.r_squared, product);
            modulus.reduce(product, power);
            left -= bits;
        }
        super::limbs::shifted(power, left, product);
        modulus.reduce(product, power);
        let digits = |limbs: &[u64]| {
            let width = form.width;
            (0..count).map(|i| window(limbs, width as usize * i, width)).collect()
        };
        Self { n: digits(&modulus.limbs), r_squared: digits(power) }
    }
}

impl Drop for Digits {
    fn drop(&mut self) {
        wipe::words(&mut self.n);
        wipe::words(&mut self.r_squared);
    }
}
