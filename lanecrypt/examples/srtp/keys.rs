//! Session keys, derived from a master key: RFC 3711, section 4.3, with AES in counter mode; RFC
//! 7714, section 11, for salts of 12 bytes.

use lanecrypt::{Algorithm, Error, hazmat};
use zeroize::Zeroizing;

/// The protection profile of a stream: RFC 7714, section 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    AeadAes128Gcm,
    AeadAes256Gcm,
}

impl Profile {
    pub(crate) const ALL: [Self; 2] = [Self::AeadAes128Gcm, Self::AeadAes256Gcm];

    pub(crate) fn key_length(self) -> usize {
        match self {
            Self::AeadAes128Gcm => 16,
            Self::AeadAes256Gcm => 32,
        }
    }

    pub(crate) fn algorithm(self) -> Algorithm {
        match self {
            Self::AeadAes128Gcm => Algorithm::AES_128_GCM,
            Self::AeadAes256Gcm => Algorithm::AES_256_GCM,
        }
    }

    /// The name in key exchanges.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AeadAes128Gcm => "AEAD_AES_128_GCM",
            Self::AeadAes256Gcm => "AEAD_AES_256_GCM",
        }
    }

    /// The key derivation cipher: counter mode with keys of the same length.
    fn derives_by(self) -> Algorithm {
        match self {
            Self::AeadAes128Gcm => Algorithm::AES_128_CTR,
            Self::AeadAes256Gcm => Algorithm::AES_256_CTR,
        }
    }
}

/// A session key and its salt, as bytes.
pub(crate) struct Material {
    pub(crate) profile: Profile,
    key: Zeroizing<[u8; 32]>,
    pub(crate) salt: [u8; 12],
}

impl Material {
    /// Material with a given session key, of which the profile uses the first bytes.
    pub(crate) fn new(profile: Profile, key: [u8; 32], salt: [u8; 12]) -> Self {
        Self { profile, key: Zeroizing::new(key), salt }
    }

    pub(crate) fn key(&self) -> &[u8] {
        &self.key[..self.profile.key_length()]
    }

    /// The session key and salt of SRTP under a master key.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`] if the master key is not as long as the profile's keys.
    pub(crate) fn rtp(profile: Profile, key: &[u8], salt: &[u8; 12]) -> Result<Self, Error> {
        Self::derive(profile, key, salt, [0x00, 0x02])
    }

    /// The session key and salt of SRTCP under a master key.
    ///
    /// # Errors
    ///
    /// As [`rtp`](Self::rtp).
    pub(crate) fn rtcp(profile: Profile, key: &[u8], salt: &[u8; 12]) -> Result<Self, Error> {
        Self::derive(profile, key, salt, [0x03, 0x05])
    }

    fn derive(
        profile: Profile,
        master_key: &[u8],
        master_salt: &[u8; 12],
        [key_label, salt_label]: [u8; 2],
    ) -> Result<Self, Error> {
        let cipher = hazmat::RawCipher::new(profile.derives_by(), master_key)?;
        // The derivation is defined for salts of 14 bytes; shorter salts are extended with two zero
        // bytes.
        let mut long_salt = [0; 14];
        long_salt[..12].copy_from_slice(master_salt);
        let mut made = Self::new(profile, [0; 32], [0; 12]);
        derive(&cipher, &long_salt, key_label, &mut made.key[..profile.key_length()])?;
        derive(&cipher, &long_salt, salt_label, &mut made.salt)?;
        Ok(made)
    }
}

/// The pseudo-random function: the keystream of counter mode, starting at the salt XORed with the
/// label.
pub(crate) fn derive(
    master_key: &hazmat::RawCipher,
    master_salt: &[u8; 14],
    label: u8,
    out: &mut [u8],
) -> Result<(), Error> {
    let mut counter = [0; 16];
    counter[..14].copy_from_slice(master_salt);
    counter[7] ^= label;
    out.fill(0);
    master_key.encrypt(&counter, out)
}
