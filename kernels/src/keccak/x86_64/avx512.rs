//! Eight columns in registers of 512 bits, or four in registers of 256 bits.

use crate::Level;
use crate::keccak::{State, permute};
use crate::words::x86_64::Eight;
#[cfg(feature = "isa-avx2")]
use crate::words::x86_64::Four;

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f")]
#[inline(never)]
pub(crate) fn permute_eight(state: &mut State) {
    permute::<Eight>(state);
}

/// The compiler makes rotations and three-way functions of what AVX2 has not.
#[cfg(feature = "isa-avx2")]
#[target_feature(enable = "avx512f,avx512vl")]
#[inline(never)]
pub(crate) fn permute_four(state: &mut State) {
    permute::<Four>(state);
}
