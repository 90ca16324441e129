//! Four numbers side by side, in limbs of 29 bits.

use crate::Level;
use crate::p256::operations::{self, Eight, Signing, Verifying};
use crate::p256::short::Short;

pub(crate) const NEEDS: Level = Level::Avx2;

type Number = Short<crate::words::x86_64::Four>;

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn multiply_base(scalars: &Eight, out: &mut [Eight; 2]) {
    operations::multiply_base::<Number>(scalars, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn multiply(scalars: &Eight, points: &[Eight; 2], out: &mut Eight) {
    operations::multiply::<Number>(scalars, points, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn sign(jobs: &Signing, out: &mut [Eight; 2]) {
    operations::sign::<Number>(jobs, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(crate) fn verify(jobs: &Verifying, verdicts: &mut [bool; 8]) {
    operations::verify::<Number>(jobs, verdicts);
}
