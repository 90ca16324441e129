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
use crate::montgomery::{Exponent, Job, Lanes, Workspace};
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
pub(crate) fn raise<J: Job>(jobs: &mut [J], chosen: &[usize], workspace: &mut Workspace) {
    let digits = own_digits(jobs[chosen[0]].modulus()).n.len();
    if chosen.len() >= fewest(digits) {
        return lanes::raise::<Eight, J>(jobs, chosen, workspace);
    }
    for pair in chosen.chunks(2) {
        match *pair {
            [one, other] if digits <= TWO && alike(&jobs[one], &jobs[other]) => {
                let pair = [one, other];
                match digits.div_ceil(8) {
                    0..=1 => single::raise::<_, 1, 2>(jobs, pair, workspace),
                    2 => single::raise::<_, 2, 2>(jobs, pair, workspace),
                    3 => single::raise::<_, 3, 2>(jobs, pair, workspace),
                    4 => single::raise::<_, 4, 2>(jobs, pair, workspace),
                    _ => single::raise::<_, 5, 2>(jobs, pair, workspace),
                }
            }
            _ => pair.iter().for_each(|&job| one(jobs, job, digits, workspace)),
        }
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn one<J: Job>(jobs: &mut [J], job: usize, digits: usize, workspace: &mut Workspace) {
    match digits.div_ceil(8) {
        0..=1 => single::raise::<_, 1, 1>(jobs, [job], workspace),
        2 => single::raise::<_, 2, 1>(jobs, [job], workspace),
        3 => single::raise::<_, 3, 1>(jobs, [job], workspace),
        4 => single::raise::<_, 4, 1>(jobs, [job], workspace),
        5 => single::raise::<_, 5, 1>(jobs, [job], workspace),
        6..=8 => single::raise::<_, 8, 1>(jobs, [job], workspace),
        9..=10 => single::raise::<_, 10, 1>(jobs, [job], workspace),
        _ => single::raise::<_, 20, 1>(jobs, [job], workspace),
    }
}

/// Whether two exponentiations take the same steps.
fn alike(one: &impl Job, other: &impl Job) -> bool {
    match (one.exponent(), other.exponent()) {
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
