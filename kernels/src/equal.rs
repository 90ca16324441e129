//! Comparison of tags.

use crate::opaque;

/// Whether two tags are the same, in constant time: the time reveals only the answer.
///
/// It uses two words and one branch. The compiler does not know the value it branches on, so it
/// cannot split the comparison.
#[must_use]
#[inline]
pub fn equal(one: &[u8; 16], other: &[u8; 16]) -> bool {
    let difference = u128::from_ne_bytes(*one) ^ u128::from_ne_bytes(*other);
    #[expect(clippy::cast_possible_truncation, reason = "the lower half, and the upper one")]
    let (low, high) = (difference as u64, (difference >> 64) as u64);
    opaque::word(low | high) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let tag: [u8; 16] = core::array::from_fn(|i| 17 * u8::try_from(i).expect("below 16"));
        assert!(equal(&tag, &tag));
        for bit in 0..128 {
            let mut other = tag;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!equal(&tag, &other), "{bit}");
        }
        assert!(!equal(&[0; 16], &[0xff; 16]));
    }
}
