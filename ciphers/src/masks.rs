//! Comparisons whose results are masks: all ones if they hold, else zero. Constant time.
//!
//! Numbers are at most half of `usize::MAX`, as lengths are.

use core::hint::black_box;

/// Whether `a` is less than `b`.
#[inline(always)]
pub(crate) fn less(a: usize, b: usize) -> usize {
    // The difference is negative; compilers must not see that the mask has two values only.
    black_box(a.wrapping_sub(b) >> (usize::BITS - 1)).wrapping_neg()
}

/// Whether they are equal.
#[inline(always)]
pub(crate) fn equal(a: usize, b: usize) -> usize {
    less(a ^ b, 1)
}

/// `yes` where `mask` is ones, otherwise `no`.
#[inline(always)]
pub(crate) fn select(mask: usize, yes: usize, no: usize) -> usize {
    no ^ (mask & (yes ^ no))
}

/// The lowest byte, of a mask or of a number.
#[inline(always)]
pub(crate) fn byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_ones_or_zero() {
        let numbers = [0, 1, 2, 7, 63, 64, 255, 256, 16384, usize::MAX / 4, usize::MAX / 2];
        for a in numbers {
            for b in numbers {
                assert_eq!(less(a, b), if a < b { usize::MAX } else { 0 }, "{a} {b}");
                assert_eq!(equal(a, b), if a == b { usize::MAX } else { 0 }, "{a} {b}");
                assert_eq!(select(less(a, b), a, b), a.min(b));
            }
        }
        assert_eq!((byte(usize::MAX), byte(0)), (255, 0));
    }
}
