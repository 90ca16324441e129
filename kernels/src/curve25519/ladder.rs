//! The Montgomery ladder of X25519 (RFC 7748).

use super::edwards::Point;
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
            let a = F::settle(F::sum(x2, z2));
            let b = F::settle(F::difference(x2, z2));
            let c = F::settle(F::sum(x3, z3));
            let d = F::settle(F::difference(x3, z3));
            // A swap of the points exchanges these two, which changes no square below.
            let aa = F::select(swap, c, a).square();
            let bb = F::select(swap, d, b).square();
            let (da, cb) = (d.multiply(&a), c.multiply(&b));
            let e = F::settle(F::difference(aa, bb));
            x2 = F::settle(aa).multiply(&F::settle(bb));
            let difference = F::settle(F::difference(da, cb)).squared();
            z2 = e.multiply(&F::carry(F::sum(bb, e.times(121_666))));
            x3 = F::settle(F::sum(da, cb)).square();
            z3 = difference.multiply(&u);
        }
    }
    let x = F::select(swapped, F::settle(x3), F::settle(x2));
    let z = F::carry(F::select(swapped, F::settle(z3), F::settle(z2)).widen());
    x.product(&inverse(z)).to_words()
}

/// Points by their coordinates u = (z + y) / (z - y).
#[inline(always)]
pub(super) fn public_keys<F: Field>(point: Point<F>) -> [F::Words; 4] {
    let numerator = F::settle(F::sum(point.z, point.y));
    let denominator = F::carry(F::difference(point.z, point.y));
    numerator.product(&inverse(denominator)).to_words()
}
