//! Eight numbers side by side, in limbs of 52 bits.

use crate::Level;
use crate::p256::operations::{self, Eight, Signing, Verifying};
use crate::p256::wide::Wide;

pub(crate) const NEEDS: Level = Level::Avx512;

type Number = Wide<crate::words::x86_64::Eight>;

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_base(scalars: &Eight, out: &mut [Eight; 2]) {
    operations::multiply_base::<Number>(scalars, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply(scalars: &Eight, points: &[Eight; 2], out: &mut Eight) {
    operations::multiply::<Number>(scalars, points, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn sign(jobs: &Signing, out: &mut [Eight; 2]) {
    operations::sign::<Number>(jobs, out);
}

#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn verify(jobs: &Verifying, verdicts: &mut [bool; 8]) {
    operations::verify::<Number>(jobs, verdicts);
}
