//! A modulus, and single operations modulo it.

use alloc::vec;
use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::context::Context;
use super::digits::{Digits, Form};
use super::limbs::{add, less, less_with, mask, reduce_once};
use super::workspace::Workspace;
use super::{Power, PublicPower, powers, public_powers};
use crate::{Isa, opaque, wipe};

/// The fewest bits of a modulus.
pub const MIN_BITS: usize = 256;
/// The most bits of a modulus.
pub const MAX_BITS: usize = 8192;

/// An odd number of 256 to 8192 bits, with what multiplications modulo it need.
///
/// Remainders are slices of as many limbs of 64 bits as the modulus has, the lowest first. The
/// modulus may be secret; its number of bits is public. It is wiped on drop.
pub struct Modulus {
    isa: Isa,
    context: Context,
    /// The same in digits, where there are kernels that need them.
    digits: Option<Digits>,
}

impl Modulus {
    /// Takes a modulus, lowest limb first; zeros above its highest bit are left out.
    ///
    /// None if it is even, or if it has fewer than [`MIN_BITS`] or more than [`MAX_BITS`] bits.
    #[must_use]
    pub fn new(isa: Isa, limbs: &[u64]) -> Option<Self> {
        let length = limbs.iter().rposition(|&limb| limb != 0)? + 1;
        let limbs = &limbs[..length];
        let bits = 64 * length - limbs[length - 1].leading_zeros() as usize;
        if limbs[0] & 1 == 0 || !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return None;
        }
        let mut product = vec![0; 2 * length];
        let mut power = vec![0; length];
        let context = Context::new(limbs, bits, &mut power, &mut product);
        let digits =
            Form::of(isa).map(|form| Digits::new(form, &context, &mut power, &mut product));
        wipe::words(&mut power);
        wipe::words(&mut product);
        Some(Self { isa, context, digits })
    }

    /// Its number of bits.
    #[must_use]
    pub const fn bits(&self) -> usize {
        self.context.bits
    }

    /// Its value: as many limbs as remainders have, the lowest first.
    #[must_use]
    pub const fn limbs(&self) -> &[u64] {
        &self.context.limbs
    }

    /// The level whose kernels operations modulo it use.
    #[must_use]
    pub const fn isa(&self) -> Isa {
        self.isa
    }

    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    pub(super) const fn digits(&self) -> Option<&Digits> {
        self.digits.as_ref()
    }

    /// Whether a number of as many limbs is less than the modulus. The time reveals only the
    /// answer.
    ///
    /// # Panics
    ///
    /// If it has another number of limbs.
    #[must_use]
    pub fn contains(&self, number: &[u64]) -> bool {
        assert_eq!(number.len(), self.limbs().len(), "the length of the modulus");
        opaque::word(less(number, self.limbs())) == 1
    }

    /// The remainder of a number of any length.
    ///
    /// # Panics
    ///
    /// If `out` has another number of limbs than the modulus.
    pub fn reduce(&self, number: &[u64], out: &mut [u64], workspace: &mut Workspace) {
        assert_eq!(out.len(), self.limbs().len(), "the length of the modulus");
        self.context.remainder(number, out, workspace);
    }

    /// The product of two remainders, see [`PublicPower::product`].
    ///
    /// # Panics
    ///
    /// If a number of limbs is not that of the modulus.
    pub fn multiply(&self, one: &[u64], other: &[u64], out: &mut [u64], workspace: &mut Workspace) {
        public_powers(&mut [PublicPower::product(self, one, other, out)], workspace);
    }

    /// Adds a remainder to another one.
    ///
    /// # Panics
    ///
    /// If a number of limbs is not that of the modulus.
    pub fn add(&self, number: &mut [u64], summand: &[u64]) {
        assert_eq!(number.len(), self.limbs().len(), "the length of the modulus");
        assert_eq!(summand.len(), self.limbs().len(), "the length of the modulus");
        let over = add(number, summand);
        reduce_once(number, over, self.limbs());
    }

    /// Subtracts a remainder from another one.
    ///
    /// # Panics
    ///
    /// If a number of limbs is not that of the modulus.
    pub fn subtract(&self, number: &mut [u64], subtrahend: &[u64]) {
        assert_eq!(number.len(), self.limbs().len(), "the length of the modulus");
        assert_eq!(subtrahend.len(), self.limbs().len(), "the length of the modulus");
        let all = mask(less(number, subtrahend));
        let (mut borrow, mut carry) = (0, 0);
        for ((limb, &other), &n) in number.iter_mut().zip(subtrahend).zip(self.limbs()) {
            let difference;
            (difference, borrow) = less_with(*limb, other, borrow);
            let (sum, first) = difference.overflowing_add(n & all);
            let (sum, second) = sum.overflowing_add(carry);
            (*limb, carry) = (sum, u64::from(first | second));
        }
    }

    /// One exponentiation with a secret exponent, see [`powers`].
    ///
    /// # Panics
    ///
    /// If a number of limbs is not that of the modulus.
    pub fn power(
        &self,
        base: &[u64],
        exponent: &[u64],
        out: &mut [u64],
        workspace: &mut Workspace,
    ) {
        powers(&mut [Power { modulus: self, base, exponent, factor: None, out }], workspace);
    }

    /// One exponentiation with a public exponent, see [`public_powers`].
    ///
    /// # Panics
    ///
    /// If a number of limbs is not that of the modulus.
    pub fn public_power(
        &self,
        base: &[u64],
        exponent: u64,
        out: &mut [u64],
        workspace: &mut Workspace,
    ) {
        let job = PublicPower { modulus: self, base, exponent, factor: None, out };
        public_powers(&mut [job], workspace);
    }
}

impl ZeroizeOnDrop for Modulus {}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modulus")
            .field("isa", &self.isa)
            .field("bits", &self.bits())
            .finish_non_exhaustive()
    }
}
