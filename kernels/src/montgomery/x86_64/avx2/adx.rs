//! Number of 64 bits, one number at a time, with MULX, ADCX and ADOX.

use super::fused::{self, Number};
use super::passes::{Pass, double_and_add_squares, subtract_if};
use crate::montgomery::context::Context;
use crate::montgomery::exponentiation::{self, Arithmetic};

/// Only [`super::raise`] uses it, on processors that have AVX2, BMI2 and ADX.
pub(super) struct Adx;

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

    fn multiply_by(modulus: &Context, number: &mut [u64], factor: &[u64], room: &mut [u64]) {
        if let (Ok(one), Ok(other)) = (<&mut Number>::try_from(&mut *number), factor.try_into()) {
            *one = fused::multiply(modulus, one, other);
        } else {
            Self::multiply(number, factor, room);
            Self::reduce(modulus, room, number);
        }
    }

    fn square_in_place(modulus: &Context, number: &mut [u64], room: &mut [u64]) {
        if let Ok(number) = <&mut Number>::try_from(&mut *number) {
            *number = fused::multiply(modulus, number, number);
        } else {
            Self::square(number, room);
            Self::reduce(modulus, room, number);
        }
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
