//! The Montgomery ladder of X25519 (RFC 7748).

use super::edwards::base_multiply;
use super::field::{Field, inverse};
use crate::words::Words;

/// The secret multiples of points, by their coordinates u; zero where a point has small order.
///
/// The bits of a secret are those that RFC 7748 decodes; the lowest 255 of u count.
#[inline(always)]
pub(super) fn shared_secrets<F: Field>(
    secrets: [F::Words; 4],
    points: [F::Words; 4],
) -> [F::Words; 4] {
    let u = F::from_words(points);
    let (one, zero) = (F::small(1).widen(), F::small(0).widen());
    let (mut x2, mut z2, mut x3, mut z3) = (one, zero, u.widen(), one);
    let mut swapped = F::Words::splat(0);
    // Bit 255 is zero: the first step starts from bit 254.
    for (word, bits) in secrets.into_iter().rev().zip([63, 64, 64, 64]) {
        let mut word = if bits == 63 { word.shl::<1>() } else { word };
        for _ in 0..bits {
            let bit = word.shr_signed::<63>();
            word = word.shl::<1>();
            let swap = swapped.xor(bit);
            swapped = bit;
            let a = F::carry(F::sum(x2, z2));
            let b = F::carry(F::difference(x2, z2));
            let c = F::carry(F::sum(x3, z3));
            let d = F::carry(F::difference(x3, z3));
            // A swap of the points exchanges these two, which changes no square below.
            let (da, cb) = (d.multiply(a), c.multiply(b));
            let aa = F::select(swap, c, a).square();
            let bb = F::select(swap, d, b).square();
            x3 = F::carry(F::sum(da, cb)).square();
            z3 = F::carry(F::carry(F::difference(da, cb)).square()).multiply(u);
            let e = F::carry(F::difference(aa, bb));
            x2 = F::carry(aa).multiply(F::carry(bb));
            z2 = e.multiply(F::carry(F::sum(bb, e.times(121_666))));
        }
    }
    let x = F::select(swapped, F::carry(x3), F::carry(x2));
    let z = F::select(swapped, F::carry(z3), F::carry(z2));
    F::product(x, inverse(z)).to_words()
}

/// The multiples of the base point, by their coordinates u = (z + y) / (z - y).
#[inline(always)]
pub(super) fn public_keys<F: Field>(digits: [F::Words; 5]) -> [F::Words; 4] {
    let point = base_multiply::<F>(digits);
    let numerator = F::carry(F::sum(point.z, point.y));
    let denominator = F::carry(F::difference(point.z, point.y));
    F::product(numerator, inverse(denominator)).to_words()
}
