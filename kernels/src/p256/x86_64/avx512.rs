//! Eight numbers side by side, in limbs of 52 bits.

use crate::Level;
use crate::p256::operations::{self, Eight, Points, Quotients, Sums};
use crate::p256::wide::Wide;
use crate::words;

pub(crate) const NEEDS: Level = Level::Avx512;

type Number = Wide<words::x86_64::Eight>;
type Rare = Wide<words::x86_64::Eight, true>;

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_base(scalars: &Eight, out: &mut Points) {
    operations::multiply_base::<Number>(scalars, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply(scalars: &Eight, points: &[Eight; 2], out: &mut Points) {
    operations::multiply::<Number, Rare>(scalars, points, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn coordinates(points: &Points, out: &mut [Eight; 2]) {
    operations::coordinates::<Rare>(points, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn divide(numbers: &Quotients, out: &mut [Eight; 2]) {
    operations::divide::<Rare>(numbers, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn compare(sums: &Sums, verdicts: &mut [bool; 8]) {
    operations::compare::<Rare>(sums, verdicts);
}
