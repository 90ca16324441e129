//! Packet numbers. A packet carries the last 1 to 4 bytes: RFC 9000, section 17.1 and appendix A.

/// Packet numbers have 62 bits.
const END: u64 = 1 << 62;

/// The number of bytes of `number` that a packet has to carry. A peer that has acknowledged no
/// packet later than `acknowledged` can then recover the rest.
pub(crate) fn length(number: u64, acknowledged: Option<u64>) -> usize {
    let unacknowledged = acknowledged.map_or(number + 1, |last| number.saturating_sub(last));
    // One bit more than the packets in flight need: half of the range lies behind the expected
    // number.
    let bits = unacknowledged.max(1).ilog2() + 2;
    bits.div_ceil(8).clamp(1, 4) as usize
}

/// Writes the last bytes of `number` to `to`, which has at most 8 bytes.
pub(crate) fn write(number: u64, to: &mut [u8]) {
    let bytes = number.to_be_bytes();
    to.copy_from_slice(&bytes[bytes.len() - to.len()..]);
}

/// The packet number whose last 1 to 4 bytes are `carried`: the one closest to the number after the
/// `largest` that has been received.
pub(crate) fn read(carried: &[u8], largest: Option<u64>) -> u64 {
    let low = carried.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let window = 1_u64 << (8 * carried.len());
    let expected = largest.map_or(0, |largest| largest + 1);
    let candidate = expected & !(window - 1) | low;
    if candidate + window / 2 <= expected && candidate < END - window {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_appendix_a() {
        assert_eq!(length(0xac_5c02, Some(0xab_e8b3)), 2);
        assert_eq!(length(0xac_e8fe, Some(0xab_e8b3)), 3);
        assert_eq!(length(0, None), 1);
    }

    #[test]
    fn numbers_of_appendix_a() {
        assert_eq!(read(&[0x9b, 0x32], Some(0xa82f_30ea)), 0xa82f_9b32);
    }

    #[test]
    fn every_number_in_reach_comes_back() {
        for acknowledged in [None, Some(0), Some(200), Some(0xffff), Some((1 << 40) - 3)] {
            for ahead in (1..300).chain([0x7fff, 0x8000, 0x7f_ffff, 0x7fff_ffff]) {
                let number = acknowledged.map_or(ahead - 1, |last| last + ahead);
                let mut carried = [0; 4];
                let carried = &mut carried[..length(number, acknowledged)];
                write(number, carried);
                // The peer may have received everything before it, or only what it acknowledged.
                assert_eq!(read(carried, acknowledged), number);
                assert_eq!(read(carried, number.checked_sub(1)), number);
            }
        }
    }

    #[test]
    fn no_number_overflows() {
        for largest in [END - 2, END - 1] {
            for carried in [&[0][..], &[0xff], &[0; 4], &[0xff; 4]] {
                assert!(read(carried, Some(largest)) < END + (1 << 32));
            }
        }
    }
}
