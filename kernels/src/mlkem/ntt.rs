//! The number-theoretic transform (FIPS 203, section 4.3) and products of transformed polynomials.
//!
//! A layer of the transform combines coefficients whose indices differ in one bit. Eight rows are
//! three bits of the index; three layers work on whole rows. Then rows and columns change places,
//! so that four further bits are those of rows, and all changes are undone at the end.

// Closures and functions like `map` would be compiled without the instructions of a level, so there
// are none in what works on rows.

mod tables;
#[cfg(test)]
mod tests;

use self::tables::{FINISH, FORWARD, GAMMAS, INVERSE, Layer, Pair, TO_MONTGOMERY};
use super::row::Row;

type Pairs = [(usize, usize); 4];

/// Pairs of rows that differ in bit 2, 1 or 0 of their index.
const PAIRS: [Pairs; 3] = [
    [(0, 4), (1, 5), (2, 6), (3, 7)],
    [(0, 2), (1, 3), (4, 6), (5, 7)],
    [(0, 1), (2, 3), (4, 5), (6, 7)],
];

/// Rows in memory gain nothing from constant places: they have one copy of each step.
mod in_memory {
    use super::{Layer, Pairs, Row};

    #[inline(never)]
    pub(super) fn transpose<R: Row>(rows: &mut [R; 8]) {
        super::transpose_inline(rows);
    }

    #[inline(never)]
    pub(super) fn combine<R: Row>(rows: &mut [R; 8], pairs: &Pairs, factors: &Layer) {
        for (&(a, b), factor) in pairs.iter().zip(factors) {
            super::combine_two(rows, a & 7, b & 7, factor);
        }
    }

    #[inline(never)]
    pub(super) fn separate<R: Row>(rows: &mut [R; 8], pairs: &Pairs, factors: &Layer) {
        for (&(a, b), factor) in pairs.iter().zip(factors) {
            super::separate_two(rows, a & 7, b & 7, factor);
        }
    }
}

/// Bits of the rows' index for bits 4, 3 and 2 of the column's, and back.
#[inline(always)]
fn transpose<R: Row>(rows: &mut [R; 8]) {
    if R::IN_MEMORY {
        in_memory::transpose(rows);
    } else {
        transpose_inline(rows);
    }
}

#[inline(always)]
fn transpose_inline<R: Row>(rows: &mut [R; 8]) {
    for (a, b) in PAIRS[0] {
        (rows[a], rows[b]) = R::exchange::<16>(rows[a], rows[b]);
    }
    for (a, b) in PAIRS[1] {
        (rows[a], rows[b]) = R::exchange::<8>(rows[a], rows[b]);
    }
    for (a, b) in PAIRS[2] {
        (rows[a], rows[b]) = R::exchange::<4>(rows[a], rows[b]);
    }
}

/// Bit 0 of the rows' index for bit 1 of the column's, and back.
#[inline(always)]
fn exchange_halves<R: Row>(rows: &mut [R; 8]) {
    for (a, b) in PAIRS[2] {
        (rows[a], rows[b]) = R::exchange::<2>(rows[a], rows[b]);
    }
}

#[inline(always)]
fn reduce<R: Row>(rows: &mut [R; 8]) {
    for row in rows {
        *row = row.reduce();
    }
}

#[inline(always)]
fn by<R: Row>(row: R, [factor, quotient]: &Pair) -> R {
    row.multiply(R::constant(factor), R::constant(quotient))
}

/// A layer of the transform, over rows that differ in one bit, see [`PAIRS`].
#[inline(always)]
fn combine<R: Row, const PLACE: usize>(rows: &mut [R; 8], factors: &Layer) {
    if R::IN_MEMORY {
        return in_memory::combine(rows, &PAIRS[PLACE], factors);
    }
    for ((a, b), factor) in PAIRS[PLACE].into_iter().zip(factors) {
        combine_two(rows, a, b, factor);
    }
}

#[inline(always)]
fn combine_two<R: Row>(rows: &mut [R; 8], a: usize, b: usize, factor: &Pair) {
    let product = by(rows[b], factor);
    (rows[a], rows[b]) = (rows[a].add(product), rows[a].sub(product));
}

/// The inverse of a layer, times two.
#[inline(always)]
fn separate<R: Row, const PLACE: usize>(rows: &mut [R; 8], factors: &Layer) {
    if R::IN_MEMORY {
        return in_memory::separate(rows, &PAIRS[PLACE], factors);
    }
    for ((a, b), factor) in PAIRS[PLACE].into_iter().zip(factors) {
        separate_two(rows, a, b, factor);
    }
}

#[inline(always)]
fn separate_two<R: Row>(rows: &mut [R; 8], a: usize, b: usize, factor: &Pair) {
    let difference = rows[b].sub(rows[a]);
    (rows[a], rows[b]) = (rows[a].add(rows[b]), by(difference, factor));
}

/// The transform of coefficients of at most q; the results are at most 1665.
#[inline(always)]
pub(crate) fn forward<R: Row>(rows: &mut [R; 8]) {
    combine::<R, 0>(rows, &FORWARD[0]);
    combine::<R, 1>(rows, &FORWARD[1]);
    combine::<R, 2>(rows, &FORWARD[2]);
    transpose(rows);
    combine::<R, 0>(rows, &FORWARD[3]);
    combine::<R, 1>(rows, &FORWARD[4]);
    combine::<R, 2>(rows, &FORWARD[5]);
    exchange_halves(rows);
    combine::<R, 2>(rows, &FORWARD[6]);
    exchange_halves(rows);
    transpose(rows);
    reduce(rows);
}

/// The inverse transform of coefficients of at most 2400, times 2^16; the results are below q.
#[inline(always)]
pub(crate) fn inverse<R: Row>(rows: &mut [R; 8]) {
    transpose(rows);
    exchange_halves(rows);
    separate::<R, 2>(rows, &INVERSE[0]);
    exchange_halves(rows);
    separate::<R, 2>(rows, &INVERSE[1]);
    separate::<R, 1>(rows, &INVERSE[2]);
    reduce(rows);
    separate::<R, 0>(rows, &INVERSE[3]);
    transpose(rows);
    separate::<R, 2>(rows, &INVERSE[4]);
    separate::<R, 1>(rows, &INVERSE[5]);
    separate::<R, 0>(rows, &INVERSE[6]);
    // The last layer's factors have this one, which divides by 128.
    for row in &mut rows[..4] {
        *row = by(*row, &FINISH);
    }
}

/// A transformed polynomial of at most 1665 as the second factor of products: the one for even and
/// the one for odd coefficients of the product, at most 1708.
#[inline(always)]
pub(crate) fn factor<R: Row>(rows: &[R; 8]) -> [[R; 8]; 2] {
    let (mut even, mut odd) = (*rows, *rows);
    for (row, gammas) in even.iter_mut().zip(&GAMMAS) {
        *row = by(*row, gammas);
    }
    for row in &mut odd {
        *row = row.swap();
    }
    [even, odd]
}

/// A row of a sum of three products, divided by 2^16: those of rows of polynomials of at most 4095
/// with rows of factors; at most 2400.
#[inline(always)]
pub(crate) fn product<R: Row>(rows: [R; 3], even: [R; 3], odd: [R; 3]) -> R {
    R::narrow(sum(rows, even), sum(rows, odd))
}

#[inline(always)]
fn sum<R: Row>(rows: [R; 3], factors: [R; 3]) -> R::Wide {
    let two = R::add_wide(rows[0].dot(factors[0]), rows[1].dot(factors[1]));
    R::add_wide(two, rows[2].dot(factors[2]))
}

/// Products of 2^16 and coefficients, which are at most 2400; the results are below 1708.
#[inline(always)]
pub(crate) fn to_montgomery<R: Row>(row: R) -> R {
    by(row, &TO_MONTGOMERY)
}
