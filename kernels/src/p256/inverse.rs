//! Inverses modulo the curve's two primes, and powers.
//!
//! Inverses are by division steps (Bernstein and Yang, "Fast constant-time gcd computation and
//! modular inversion", 2019), in the variant of Wuille that begins with delta = 1/2: 590 steps are
//! enough for numbers below 2^256. A batch of steps looks at the lowest bits of f and g only, and
//! gives a matrix that f and g, and what they are multiples of, are multiplied by.
#![expect(clippy::cast_possible_truncation, reason = "places and parts of numbers are small")]

use super::constants::{self, Modulus};
use super::number::Number;
use crate::words::Words;

/// The inverse in Montgomery's form of a number in that form, which is less than twice the modulus;
/// zero for zero.
#[inline(always)]
pub(super) fn of<N: Number, M: Inverse<N>>(number: &N) -> N {
    let mut f = N::constant(&M::WORDS);
    let mut g = number.canonical::<M>();
    // f and g are these multiples of the number, but for a power of two.
    let (mut d, mut e) = (N::zero(), N::constant(&M::FACTOR));
    let mut zeta = N::Word::splat(u64::MAX);
    let unit = N::Word::splat(1 << N::STEPS);
    for _ in 0..N::BATCHES {
        let matrix = steps(&mut zeta, f.limbs()[0], g.limbs()[0], N::STEPS);
        // Entries are made positive by adding 2^STEPS; what is then too much is subtracted.
        let [[u, v], [q, r]] = matrix;
        let [[u, v], [q, r]] = [[u.add(unit), v.add(unit)], [q.add(unit), r.add(unit)]];
        let sum = f.add(&g);
        let one = N::scale_signed(N::scale_signed(N::zero().plus(), &f, u), &g, v);
        let other = N::scale_signed(N::scale_signed(N::zero().plus(), &f, q), &g, r);
        f = N::after_steps(one).subtract(&sum).carry_signed();
        g = N::after_steps(other).subtract(&sum).carry_signed();
        let sum = N::offset::<M, 5, 2>().subtract(&d).subtract(&e).carry();
        let start = N::scale(N::zero().plus(), &sum, unit);
        let one = N::scale(N::scale(start, &d, u), &e, v);
        let other = N::scale(N::scale(start, &d, q), &e, r);
        (d, e) = (N::reduce_by::<M>(one), N::reduce_by::<M>(other));
    }
    // f is 1 or -1, or the modulus if the number is zero.
    let negative = f.limbs()[N::LIMBS - 1].shr_signed::<63>();
    N::select(negative, &N::offset::<M, 2, 1>().subtract(&d).carry(), &d)
}

/// Division steps on the lowest bits of f and g: the matrix that takes them to 2^`steps` times what
/// they become.
///
/// The two entries of a row are in one word, the second one from bit 32 on.
#[inline(always)]
fn steps<W: Words>(zeta: &mut W, mut f: W, mut g: W, steps: usize) -> [[W; 2]; 2] {
    let (zero, one) = (W::splat(0), W::splat(1));
    let (mut of_f, mut of_g) = (one, W::splat(1 << 32));
    for _ in 0..steps {
        // If g is odd, f is added to it, or subtracted if zeta is negative; and then f becomes the
        // old g.
        let odd = zero.sub(g.and(one));
        let swap = zeta.shr_signed::<63>().and(odd);
        g = g.add(f.and(odd).xor(swap).sub(swap));
        of_g = of_g.add(of_f.and(odd).xor(swap).sub(swap));
        *zeta = zeta.xor(swap).sub(one);
        f = f.add(g.and(swap));
        of_f = of_f.add(of_g.and(swap));
        g = g.shr::<1>();
        of_f = of_f.shl::<1>();
    }
    let mut matrix = [[of_f; 2], [of_g; 2]];
    for row in &mut matrix {
        // The first entry is the lower half with its sign.
        let first = row[0].shl::<32>().shr_signed::<32>();
        row[1] = row[0].sub(first).shr_signed::<32>();
        row[0] = first;
    }
    matrix
}

/// A modulus to invert by.
pub(super) trait Inverse<N: Number>: Modulus {
    /// What the batches take away, and the step into Montgomery's form: with R = 2^(WIDTH x LIMBS),
    /// R^(BATCHES + 2) / 2^(STEPS x BATCHES) modulo the modulus.
    const FACTOR: [u64; 4] = {
        let bits = N::WIDTH as usize * N::LIMBS * (N::BATCHES + 2) - N::STEPS * N::BATCHES;
        constants::power_of_two(bits as u32, &Self::WORDS)
    };
}

impl<N: Number, M: Modulus> Inverse<N> for M {}

/// A power modulo the field's prime, by digits of four bits; the exponent is public and not less
/// than 2^252.
#[inline(always)]
pub(super) fn power<N: Number>(number: &N, exponent: &[u64; 4]) -> N {
    let mut powers = [*number; 16];
    for i in 2..16 {
        powers[i] = powers[i - 1].multiply(number);
    }
    let mut result = powers[(exponent[3] >> 60) as usize];
    for place in (0..63).rev() {
        for _ in 0..4 {
            result = result.square();
        }
        let digit = (exponent[place / 16] >> (place % 16 * 4) & 15) as usize;
        if digit > 0 {
            result = result.multiply(&powers[digit]);
        }
    }
    result
}
