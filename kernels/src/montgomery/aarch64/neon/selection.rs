//! One entry of a table of powers, by reading all.

use core::arch::aarch64::*;

use crate::montgomery::exponentiation::ENTRIES;
use crate::opaque;
use crate::simd::{load_pair, store_pair};

/// [`exponentiation::look_up`](crate::montgomery::exponentiation::look_up) for entries of at least
/// two limbs, with masks that are never in memory.
#[target_feature(enable = "neon")]
pub(super) fn look_up(table: &[u64], index: u64, out: &mut [u64]) {
    let wanted = vdupq_n_u64(opaque::word(index));
    let length = out.len();
    let mut start = 0;
    while length - start >= 16 {
        look_up_pairs::<8>(table, wanted, start, out);
        start += 16;
    }
    if length - start >= 8 {
        look_up_pairs::<4>(table, wanted, start, out);
        start += 8;
    }
    while length - start >= 2 {
        look_up_pairs::<1>(table, wanted, start, out);
        start += 2;
    }
    if start < length {
        look_up_pairs::<1>(table, wanted, length - 2, out);
    }
}

/// N pairs of limbs of an entry from one limb on.
#[inline]
#[target_feature(enable = "neon")]
fn look_up_pairs<const N: usize>(table: &[u64], wanted: uint64x2_t, start: usize, out: &mut [u64]) {
    let (mut place, mut chosen) = (vdupq_n_u64(0), [vdupq_n_u64(0); N]);
    for entry in table[start..].chunks(out.len()).take(ENTRIES) {
        let mask = vceqq_u64(place, wanted);
        for (chosen, pair) in chosen.iter_mut().zip(entry[..2 * N].as_chunks().0) {
            *chosen = vbslq_u64(mask, load_pair(pair), *chosen);
        }
        place = vaddq_u64(place, vdupq_n_u64(1));
    }
    for (chosen, pair) in chosen.into_iter().zip(out[start..][..2 * N].as_chunks_mut().0) {
        store_pair(pair, chosen);
    }
}
