//! Random integers of a range, all with the same probability.
//!
//! Lemire's method ("Fast Random Integer Generation in an Interval", 2019): the result is the high
//! half of a random word times the number of values. The few words that would make some values more
//! likely are rejected. The usual case takes one multiplication and no division.

use core::ops::{Bound, RangeBounds};

/// An integer type that [`range`](crate::range) can draw.
pub trait Uniform: Sealed {}

/// The arithmetic behind [`Uniform`].
#[expect(unnameable_types, reason = "only the integer types below implement it")]
pub trait Sealed: Copy {
    /// The smallest value of the type.
    const LOWEST: Self;
    /// The largest value of the type.
    const HIGHEST: Self;

    /// The next larger value, if there is one.
    fn successor(self) -> Option<Self>;
    /// The next smaller value, if there is one.
    fn predecessor(self) -> Option<Self>;
    /// The distance from this value up to `high`; `None` if `high` is lower.
    fn distance(self, high: Self) -> Option<u64>;
    /// The value at this distance above this one.
    fn above(self, distance: u64) -> Self;
}

macro_rules! uniform {
    ($($int:ty),*) => {$(
        impl Uniform for $int {}

        #[allow(
            clippy::cast_lossless,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            trivial_numeric_casts,
            reason = "two's complement: differences modulo 2^64 are right for every type"
        )]
        impl Sealed for $int {
            const LOWEST: Self = <$int>::MIN;
            const HIGHEST: Self = <$int>::MAX;

            #[inline]
            fn successor(self) -> Option<Self> {
                self.checked_add(1)
            }

            #[inline]
            fn predecessor(self) -> Option<Self> {
                self.checked_sub(1)
            }

            #[inline]
            fn distance(self, high: Self) -> Option<u64> {
                (self <= high).then(|| (high as u64).wrapping_sub(self as u64))
            }

            #[inline]
            fn above(self, distance: u64) -> Self {
                (self as u64).wrapping_add(distance) as Self
            }
        }
    )*};
}

uniform!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

/// Draws a value of `range` from `rng`, which `u32` and `u64` draw from; `None` if it is empty.
#[inline]
pub(crate) fn sample<T: Uniform, R: ?Sized>(
    range: impl RangeBounds<T>,
    rng: &mut R,
    u32: impl Fn(&mut R) -> u32,
    u64: impl Fn(&mut R) -> u64,
) -> Option<T> {
    let low = match range.start_bound() {
        Bound::Included(&low) => low,
        Bound::Excluded(&below) => below.successor()?,
        Bound::Unbounded => T::LOWEST,
    };
    let high = match range.end_bound() {
        Bound::Included(&high) => high,
        Bound::Excluded(&above) => above.predecessor()?,
        Bound::Unbounded => T::HIGHEST,
    };
    let distance = low.distance(high)?;
    Some(low.above(up_to(distance, rng, u32, u64)))
}

/// A random number from 0 to `largest`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the halves of a product are meant")]
fn up_to<R: ?Sized>(
    largest: u64,
    rng: &mut R,
    u32: impl Fn(&mut R) -> u32,
    u64: impl Fn(&mut R) -> u64,
) -> u64 {
    if let Ok(largest) = u32::try_from(largest) {
        let Some(values) = largest.checked_add(1) else { return u64::from(u32(rng)) };
        let mut product = u64::from(u32(rng)) * u64::from(values);
        if (product as u32) < values {
            let rejected = values.wrapping_neg() % values;
            while (product as u32) < rejected {
                product = u64::from(u32(rng)) * u64::from(values);
            }
        }
        return product >> 32;
    }
    let Some(values) = largest.checked_add(1) else { return u64(rng) };
    let mut product = u128::from(u64(rng)) * u128::from(values);
    if (product as u64) < values {
        let rejected = values.wrapping_neg() % values;
        while (product as u64) < rejected {
            product = u128::from(u64(rng)) * u128::from(values);
        }
    }
    (product >> 64) as u64
}
