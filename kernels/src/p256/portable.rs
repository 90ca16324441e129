//! The portable kernel: one number at a time.

use super::operations::{self, Eight, Points, Quotients, Sums};
use super::wide::Wide;

type Number = Wide<u64>;

pub(crate) fn multiply_base(scalars: &Eight, out: &mut Points) {
    operations::multiply_base::<Number>(scalars, out);
}

pub(crate) fn multiply(scalars: &Eight, points: &[Eight; 2], out: &mut Points) {
    operations::multiply::<Number, Number>(scalars, points, out);
}

pub(crate) fn coordinates(points: &Points, out: &mut [Eight; 2]) {
    operations::coordinates::<Number>(points, out);
}

pub(crate) fn divide(numbers: &Quotients, out: &mut [Eight; 2]) {
    operations::divide::<Number>(numbers, out);
}

pub(crate) fn compare(sums: &Sums, verdicts: &mut [bool; 8]) {
    operations::compare::<Number>(sums, verdicts);
}
