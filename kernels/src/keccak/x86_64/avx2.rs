//! Four columns in registers of 256 bits.

use crate::Level;
use crate::keccak::{State, permute};
use crate::words::x86_64::Four;

pub(crate) const NEEDS: Level = Level::Avx2;

#[target_feature(enable = "avx2,bmi2")]
#[inline(never)]
pub(crate) fn permute_four(state: &mut State) {
    permute::<Four>(state);
}
