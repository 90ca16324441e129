//! Digits of 52 bits, with the multiplications of that width (IFMA): eight exponentiations side by
//! side, or one or two with the digits of a number side by side.

mod eight;
mod horizontal;
mod multiply;
mod selection;
mod single;

use core::arch::x86_64::__m512i;

use self::eight::Eight;
use super::lanes;
use super::radix::own_digits;
use crate::Level;
use crate::montgomery::digits::IFMA;
use crate::montgomery::{Exponent, Inputs, Jobs, Lanes, Workspace};
use crate::simd::load512_words;

pub(crate) const NEEDS: Level = Level::Avx512;

/// Bits of a digit.
const DIGIT: u32 = IFMA.width;
/// Numbers have a multiple of so many digits.
const BLOCK: usize = IFMA.block;

/// Adjacent digits of eight numbers, lowest first.
type Block = [Lanes; BLOCK];

/// The most digits of two numbers whose sums fit the registers.
const TWO: usize = 40;

/// At most eight exponentiations, of as many digits: side by side if that takes less time than by
/// twos.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn raise(jobs: &mut dyn Jobs, chosen: &[usize], workspace: &mut Workspace) {
    let digits = own_digits(jobs.job(chosen[0]).modulus).n.len();
    if chosen.len() >= fewest(digits) {
        return lanes::raise::<Eight>(jobs, chosen, workspace);
    }
    for pair in chosen.chunks(2) {
        match *pair {
            [one, other] if digits <= TWO && alike(jobs.job(one), jobs.job(other)) => {
                single::raise(jobs, pair, workspace);
            }
            _ => pair.chunks(1).for_each(|one| single::raise(jobs, one, workspace)),
        }
    }
}

/// Whether two exponentiations take the same steps.
fn alike(one: Inputs<'_>, other: Inputs<'_>) -> bool {
    match (one.exponent, other.exponent) {
        (Exponent::Public(one), Exponent::Public(other)) => one == other,
        (one, other) => one.limbs().len() == other.limbs().len(),
    }
}

/// The fewest exponentiations that take less time in lanes, full or not, than by twos. Measured on
/// Zen 4; see [`super`].
const fn fewest(digits: usize) -> usize {
    match digits {
        0..=5 => 2,
        6..=10 => 3,
        11..=20 => 4,
        21..=30 => 5,
        _ => 6,
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(digit: &Lanes) -> __m512i {
    load512_words(&digit.0)
}
