//! Multiplications of limbs by passes: a pass multiplies all limbs of one number with W limbs of
//! another, for the greatest W that is left.

#[cfg(test)]
pub(super) mod tests;

use core::marker::PhantomData;

use super::context::Context;
use super::exponentiation::Arithmetic;

/// Passes of W limbs. Lengths are checked.
pub(super) trait Pass<const W: usize> {
    /// Adds all limbs of `x` times the first W of `y` to the sum. The W limbs of the sum that
    /// follow as many as `x` has are only written.
    fn multiply(sum: &mut [u64], x: &[u64], y: &[u64]);

    /// Adds the first W limbs of `x`, each times all limbs after it, to the sum. The W limbs of the
    /// sum that follow as many as `x` has are only written.
    fn square(sum: &mut [u64], x: &[u64]);

    /// Adds the multiple of the modulus to the sum that makes its lowest W limbs zero; they become
    /// the factor. The carry is added too, above as many limbs as the modulus has, and becomes the
    /// carry out of W limbs more.
    fn reduce(sum: &mut [u64], modulus: &Context, carry: &mut u64);
}

/// What a kernel provides.
pub(super) trait Passes: Pass<1> + Pass<4> + Pass<8> {
    /// Doubles a number, and adds the square of each limb of `x` to the two limbs at twice its
    /// place. `x` has at least four limbs.
    fn double_and_add_squares(sum: &mut [u64], x: &[u64]);

    /// Sets `out` to a number minus `bit`, which is 0 or 1, times another one; the borrow is left
    /// out. All have as many limbs, at least four.
    fn subtract_if(bit: u64, number: &[u64], other: &[u64], out: &mut [u64]);

    /// One entry of a table of powers, see [`look_up`](super::exponentiation::look_up).
    fn look_up(table: &[u64], index: u64, out: &mut [u64]);
}

/// The arithmetic of a kernel's passes.
pub(super) struct ByPasses<P>(PhantomData<P>);

/// Runs passes over so many limbs: of eight, then of four, then of one. `$at` is how many are done.
macro_rules! passes {
    ($length:ident, $at:ident, $kernel:ident::$pass:ident $arguments:tt) => {{
        let mut $at = 0;
        while $length - $at >= 8 {
            <$kernel as Pass<8>>::$pass $arguments;
            $at += 8;
        }
        if $length - $at >= 4 {
            <$kernel as Pass<4>>::$pass $arguments;
            $at += 4;
        }
        while $length - $at > 0 {
            <$kernel as Pass<1>>::$pass $arguments;
            $at += 1;
        }
    }};
}

impl<P: Passes> Arithmetic for ByPasses<P> {
    fn multiply(modulus: &Context, number: &mut [u64], factor: &[u64], room: &mut [u64]) {
        let length = number.len();
        room[..length].fill(0);
        passes!(length, at, P::multiply(&mut room[at..], number, &factor[at..]));
        Self::reduce(modulus, room, number);
    }

    /// Products of different limbs once, doubled, and the squares of limbs.
    fn square(modulus: &Context, number: &mut [u64], room: &mut [u64]) {
        let length = number.len();
        room[..length].fill(0);
        passes!(length, at, P::square(&mut room[2 * at..], &number[at..]));
        P::double_and_add_squares(room, number);
        Self::reduce(modulus, room, number);
    }

    fn reduce(modulus: &Context, product: &mut [u64], out: &mut [u64]) {
        let length = out.len();
        let mut over = 0;
        passes!(length, at, P::reduce(&mut product[at..], modulus, &mut over));
        // With the limb above, the result is less than 2^(64 L) plus the modulus.
        P::subtract_if(over, &product[length..], &modulus.limbs, out);
    }

    fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
        P::look_up(table, index, out);
    }
}
