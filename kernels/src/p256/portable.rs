//! The portable kernel: one number at a time.

use super::operations::{self, Eight, Signing, Verifying};
use super::wide::Wide;

type Number = Wide<u64>;

pub(crate) fn multiply_base(scalars: &Eight, out: &mut [Eight; 2]) {
    operations::multiply_base::<Number>(scalars, out);
}

pub(crate) fn multiply(scalars: &Eight, points: &[Eight; 2], out: &mut Eight) {
    operations::multiply::<Number>(scalars, points, out);
}

pub(crate) fn sign(jobs: &Signing, out: &mut [Eight; 2]) {
    operations::sign::<Number>(jobs, out);
}

pub(crate) fn verify(jobs: &Verifying, verdicts: &mut [bool; 8]) {
    operations::verify::<Number>(jobs, verdicts);
}
