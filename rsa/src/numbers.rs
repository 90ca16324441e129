//! Numbers as bytes, the highest first, and as limbs of 64 bits, the lowest first.

/// The bytes without the zeros before the number.
pub(crate) fn trimmed(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    &bytes[zeros..]
}

/// How many bits a number has.
pub(crate) fn bits(bytes: &[u8]) -> usize {
    let bytes = trimmed(bytes);
    bytes.first().map_or(0, |first| 8 * bytes.len() - first.leading_zeros() as usize)
}

/// Sets the limbs to a number, and returns whether it fits. The time depends on the lengths only.
pub(crate) fn from_bytes(bytes: &[u8], limbs: &mut [u64]) -> bool {
    let mut parts = bytes.rchunks(8);
    for limb in limbs {
        *limb = match parts.next().map(|part| (part, <[u8; 8]>::try_from(part))) {
            Some((_, Ok(part))) => u64::from_be_bytes(part),
            Some((part, Err(_))) => part.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte)),
            None => 0,
        };
    }
    parts.flatten().fold(0, |over, &byte| over | byte) == 0
}

/// The limbs of a number, as many as it needs.
pub(crate) fn to_limbs(bytes: &[u8]) -> Box<[u64]> {
    let bytes = trimmed(bytes);
    let mut limbs = vec![0; bytes.len().div_ceil(8)].into_boxed_slice();
    from_bytes(bytes, &mut limbs);
    limbs
}

/// Writes a number into bytes that have room for it. Zeros fill the bytes before it.
pub(crate) fn write_bytes(limbs: &[u64], bytes: &mut [u8]) {
    let mut limbs = limbs.iter();
    for part in bytes.rchunks_mut(8) {
        let limb = limbs.next().copied().unwrap_or(0).to_be_bytes();
        let start = limb.len() - part.len();
        part.copy_from_slice(&limb[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_limbs_of_all_lengths() {
        for length in 0..=24 {
            let bytes: Vec<u8> = (1..=length).collect();
            let limbs = to_limbs(&bytes);
            assert_eq!(limbs.len(), bytes.len().div_ceil(8));
            let mut back = vec![0xff; bytes.len()];
            write_bytes(&limbs, &mut back);
            assert_eq!(back, bytes);
            let number = limbs.iter().rev().fold(0_u128, |n, &l| n << 64 | u128::from(l));
            let value = bytes.iter().fold(0_u128, |n, &b| n << 8 | u128::from(b));
            assert_eq!(number, value);
        }
        assert!(from_bytes(&[0, 1, 0, 0, 0, 0, 0, 0, 0], &mut [0; 2]));
        assert!(!from_bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 0], &mut [0; 1]));
        assert!(from_bytes(&[0, 1, 0, 0, 0, 0, 0, 0, 2], &mut [0; 1]));
        assert_eq!([bits(&[]), bits(&[0, 0]), bits(&[0, 1]), bits(&[0x80, 0])], [0, 0, 1, 16]);
    }
}
