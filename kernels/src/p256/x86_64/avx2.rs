//! Four numbers side by side, in limbs of 29 bits.

use crate::Level;
use crate::p256::operations::{self, Eight, Points, Quotients, Sums};
use crate::p256::short::Short;
use crate::words::x86_64::Four;

pub(crate) const NEEDS: Level = Level::Avx2;

type Number = Short<Four>;

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn multiply_base(scalars: &Eight, out: &mut Points) {
    operations::multiply_base::<Number>(scalars, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn multiply(scalars: &Eight, points: &[Eight; 2], out: &mut Points) {
    operations::multiply::<Number, Number>(scalars, points, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn coordinates(points: &Points, out: &mut [Eight; 2]) {
    operations::coordinates::<Number>(points, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn divide(numbers: &Quotients, out: &mut [Eight; 2]) {
    operations::divide::<Number>(numbers, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn compare(sums: &Sums, verdicts: &mut [bool; 8]) {
    operations::compare::<Number>(sums, verdicts);
}
