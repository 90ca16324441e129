//! Limbs of 64 bits, one number at a time, with MULX, ADCX and ADOX. Constant time in all values.
//!
//! Processors of this level have MULX, but the oldest of them lack ADCX and ADOX (ADX). They run
//! the portable kernel.

mod passes;

use self::passes::{Pass, double_and_add_squares, subtract_if};
use crate::Level;
use crate::montgomery::context::Context;
use crate::montgomery::exponentiation::{self, Arithmetic};
use crate::montgomery::{Job, Workspace, portable};

pub(crate) const NEEDS: Level = Level::Avx2;

/// Exponentiations, one after the other.
#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn raise<J: Job>(jobs: &mut [J], chosen: &[usize], workspace: &mut Workspace) {
    if has_adx() {
        exponentiation::raise::<Adx, J>(jobs, chosen, workspace);
    } else {
        portable::raise(jobs, chosen, workspace);
    }
}

/// Without detection, this is what the program was compiled for.
fn has_adx() -> bool {
    #[cfg(feature = "std")]
    {
        std::arch::is_x86_feature_detected!("adx")
    }
    #[cfg(not(feature = "std"))]
    {
        cfg!(target_feature = "adx")
    }
}

/// The arithmetic with ADX. Only [`raise`] uses it, on processors that have AVX2, BMI2 and ADX.
struct Adx;

/// Calls a pass of the most limbs that there are left; evaluates to that number.
macro_rules! widest {
    ($left:expr, $pass:ident $arguments:tt) => {
        match $left {
            8.. => {
                Pass::<8>::$pass $arguments;
                8
            }
            4.. => {
                Pass::<4>::$pass $arguments;
                4
            }
            _ => {
                Pass::<1>::$pass $arguments;
                1
            }
        }
    };
}

impl Arithmetic for Adx {
    fn multiply(one: &[u64], other: &[u64], product: &mut [u64]) {
        let length = one.len();
        product[..length].fill(0);
        let mut at = 0;
        while at < length {
            at += widest!(length - at, multiply(&mut product[at..], one, &other[at..]));
        }
    }

    /// Products of different limbs once, doubled, and the squares of limbs.
    fn square(number: &[u64], product: &mut [u64]) {
        let length = number.len();
        product[..length].fill(0);
        let mut at = 0;
        while at < length {
            at += widest!(length - at, square(&mut product[2 * at..], &number[at..]));
        }
        double_and_add_squares(product, number);
    }

    fn reduce(modulus: &Context, product: &mut [u64], out: &mut [u64]) {
        let length = out.len();
        let (mut at, mut over) = (0, 0);
        while at < length {
            at += widest!(length - at, reduce(&mut product[at..], modulus, &mut over));
        }
        // With the limb above, the result is less than 2^(64 L) plus the modulus.
        subtract_if(over, &product[length..], &modulus.limbs, out);
    }

    fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
        // SAFETY: the processor has AVX2, see `Adx`.
        unsafe { look_up(table, index, out) }
    }
}

#[target_feature(enable = "avx2")]
fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
    exponentiation::look_up(table, index, out);
}
