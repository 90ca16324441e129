//! The longest messages of each algorithm.

use crate::{Algorithm, Error, Mode};

/// The most bytes of associated data, or of a nonce, that GCM hashes: 2^64 - 1 bits, in whole bytes
/// (SP 800-38D, section 5.2.1.1).
const GCM_HASHED: u64 = (1 << 61) - 1;

/// The most bytes that a code is of. A hash counts 2^64 bits; this leaves room for the nonce, the
/// length of the associated data and the block of the key.
const HMAC_HASHED: u64 = (1 << 61) - (1 << 10);

/// The most bytes that a counter of 32 bits numbers from 1 on, in blocks of 16 (RFC 3686).
const CTR_LONGEST: u64 = 16 * ((1 << 32) - 1);

/// The most bytes of the parts of one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    aad: u64,
    data: u64,
    /// Associated data and data together; `u64::MAX` if there is no such limit.
    packet: u64,
}

impl Limits {
    /// The limits of an algorithm with tags of `tag_length` bytes.
    pub(super) const fn new(algorithm: Algorithm, tag_length: usize) -> Result<Self, Error> {
        if let Some(mac) = algorithm.mac() {
            if tag_length < mac.shortest_tag() || tag_length > mac.output_length() {
                return Err(Error::TagLength);
            }
            let ctr = matches!(algorithm.mode(), Mode::Ctr);
            let data = if ctr { CTR_LONGEST } else { HMAC_HASHED };
            return Ok(Self { aad: HMAC_HASHED, data, packet: HMAC_HASHED });
        }
        let packet = match (algorithm.mode(), tag_length) {
            (_, 16) | (Mode::Gcm, 12..16) => u64::MAX,
            // SP 800-38D, appendix C: the last rows of its tables.
            (Mode::Gcm, 8) => 1 << 21,
            (Mode::Gcm, 4) => 1 << 10,
            _ => return Err(Error::TagLength),
        };
        match algorithm.longest() {
            Some([aad, data]) => Ok(Self { aad, data, packet }),
            None => Err(Error::Unsupported),
        }
    }

    /// Checks the lengths of associated data and data.
    #[inline]
    pub(super) fn admit(&self, aad: u64, data: u64) -> Result<(), Error> {
        if aad > self.aad {
            return Err(Error::AadLength);
        }
        if data > self.data || aad.saturating_add(data) > self.packet {
            return Err(Error::DataLength);
        }
        Ok(())
    }

    /// Checks the length of a nonce of GCM, or of SIV, whose lengths have no end.
    pub(super) fn admit_nonce(length: u64) -> Result<(), Error> {
        if (1..=GCM_HASHED).contains(&length) { Ok(()) } else { Err(Error::NonceLength) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(limits: Limits, aad: u64, data: u64) -> [Result<(), Error>; 3] {
        [limits.admit(aad, data), limits.admit(aad + 1, data), limits.admit(aad, data + 1)]
    }

    #[test]
    fn the_standards_numbers_are_the_edges() {
        let gcm = |tag| Limits::new(Algorithm::AES_256_GCM, tag).expect("a tag length");
        let (aad, data) = (Err(Error::AadLength), Err(Error::DataLength));
        for tag in 12..=16 {
            // In bits: 2^64 - 1 and 2^39 - 256.
            assert_eq!(edge(gcm(tag), (1 << 61) - 1, (1 << 36) - 32), [Ok(()), aad, data]);
            assert_eq!(edge(gcm(tag), 0, (1 << 36) - 32), [Ok(()), Ok(()), data]);
        }
        for (tag, packet) in [(4, 1024), (8, 2 << 20)] {
            assert_eq!(edge(gcm(tag), 0, packet), [Ok(()), data, data]);
            assert_eq!(edge(gcm(tag), packet, 0), [Ok(()), data, data]);
            assert_eq!(edge(gcm(tag), 100, packet - 100), [Ok(()), data, data]);
            assert_eq!(gcm(tag).admit(u64::MAX, 0), aad);
        }
        for algorithm in [Algorithm::CHACHA20_POLY1305, Algorithm::XCHACHA20_POLY1305] {
            let limits = Limits::new(algorithm, 16).expect("a tag length");
            // RFC 8439 prints the number.
            assert_eq!(limits.admit(u64::MAX, 274_877_906_880), Ok(()));
            assert_eq!(limits.admit(0, 274_877_906_881), data);
        }
        for algorithm in [Algorithm::AES_128_GCM_SIV, Algorithm::AES_256_GCM_SIV] {
            let limits = Limits::new(algorithm, 16).expect("a tag length");
            assert_eq!(edge(limits, 1 << 36, 1 << 36), [Ok(()), aad, data]);
        }
    }

    #[test]
    fn nonces_of_gcm_have_from_one_byte_to_those_of_64_bits() {
        assert_eq!(Limits::admit_nonce(0), Err(Error::NonceLength));
        assert_eq!(Limits::admit_nonce(1), Ok(()));
        assert_eq!(Limits::admit_nonce(2_305_843_009_213_693_951), Ok(()));
        assert_eq!(Limits::admit_nonce(2_305_843_009_213_693_952), Err(Error::NonceLength));
    }
}
