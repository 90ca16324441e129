//! Keys of kernels, parsed from bytes.

use lanecrypt_kernels::chacha;
use subtle::ConstantTimeEq;

use crate::Error;

/// The key of a kernel, whose bytes have one length or one of several.
pub(crate) trait FromBytes {
    /// Calls `then` with the key.
    ///
    /// `then` gets a reference. An array is not copied, and a parsed key is wiped afterwards.
    fn from_bytes<R>(bytes: &[u8], then: impl FnOnce(&Self) -> R) -> Result<R, Error>;
}

impl<const N: usize> FromBytes for [u8; N] {
    #[inline]
    fn from_bytes<R>(bytes: &[u8], then: impl FnOnce(&Self) -> R) -> Result<R, Error> {
        Ok(then(array(bytes)?))
    }
}

/// Also the key of Salsa20.
impl FromBytes for chacha::Key {
    #[inline]
    fn from_bytes<R>(bytes: &[u8], then: impl FnOnce(&Self) -> R) -> Result<R, Error> {
        Ok(then(&either(bytes)?))
    }
}

/// A key of 16 or 32 bytes.
#[inline]
pub(crate) fn either<K>(bytes: &[u8]) -> Result<K, Error>
where
    K: for<'a> From<&'a [u8; 16]> + for<'a> From<&'a [u8; 32]>,
{
    Ok(match bytes.len() {
        16 => array::<16>(bytes)?.into(),
        _ => array::<32>(bytes)?.into(),
    })
}

/// The key as an array of the length that the kernel takes.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::KeyLength)
}

/// The key of XTS, whose halves must differ (FIPS 140-3 Implementation Guidance, C.I): with one key
/// for data and tweaks, an attacker who chooses the data learns masks. The halves are compared in
/// constant time.
pub(crate) fn two_halves<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    let key = array(bytes)?;
    let (data, tweak) = key.split_at(N / 2);
    if data.ct_eq(tweak).into() { Err(Error::WeakKey) } else { Ok(key) }
}
