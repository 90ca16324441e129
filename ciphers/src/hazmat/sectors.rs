//! Sectors of a storage device, many at a time.

use inout::InOutBuf;

use super::block_modes::data_unit;
use super::expanded_key::ExpandedKey;
use super::raw_cipher::RawCipher;
use crate::{Buffers, Error};

/// Sectors, only with XTS.
///
/// An attacker who copies the device once learns nothing about its contents. But a sector that is
/// written again has no new nonce: equal contents look equal, and copies from two different times
/// show which blocks of 16 bytes differ. Nothing is authenticated: see [`hazmat`](super). Under one
/// key, a sector's number must stand for one place, so two devices need two keys.
impl RawCipher {
    /// Encrypts consecutive sectors of `size` bytes each: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another. The sectors are numbered from
    /// `first`. The tweak of a sector is its number as 16 little-endian bytes, which dm-crypt calls
    /// `plain64`.
    ///
    /// The result is the same as that of one [`encrypt`](Self::encrypt) for each sector, but it
    /// costs less if sectors are short.
    ///
    /// ```
    /// use lanecrypt_ciphers::hazmat::RawCipher;
    /// use lanecrypt_ciphers::{Algorithm, Isa};
    ///
    /// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
    /// # let key: Vec<u8> = (0..64).collect();
    /// let disk = RawCipher::new(Algorithm::AES_256_XTS, &key)?;
    /// let mut page = [0; 4096];
    /// disk.encrypt_sectors(2048, 512, &mut page[..])?;
    /// disk.decrypt_sectors(2048, 512, &mut page[..])?;
    /// assert_eq!(page, [0; 4096]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] with other modes than XTS; [`Error::DataLength`] if `size` is less
    /// than 16 bytes or more than 16 MiB, or if `data` is not a whole number of sectors. After an
    /// error nothing has changed.
    pub fn encrypt_sectors<'i, 'o>(
        &self,
        first: u128,
        size: usize,
        data: impl Buffers<'i, 'o>,
    ) -> Result<(), Error> {
        self.sectors::<true>(first, size, data.in_out())
    }

    /// Decrypts consecutive sectors, the inverse of [`encrypt_sectors`](Self::encrypt_sectors).
    ///
    /// # Errors
    ///
    /// Same as [`encrypt_sectors`](Self::encrypt_sectors).
    pub fn decrypt_sectors<'i, 'o>(
        &self,
        first: u128,
        size: usize,
        data: impl Buffers<'i, 'o>,
    ) -> Result<(), Error> {
        self.sectors::<false>(first, size, data.in_out())
    }

    fn sectors<const ENCRYPT: bool>(
        &self,
        first: u128,
        size: usize,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        macro_rules! crypt {
            ($xts:expr) => {{
                data_unit(size)?;
                if !data.len().is_multiple_of(size) {
                    return Err(Error::DataLength);
                }
                if ENCRYPT {
                    $xts.encrypt_sectors(first, size, data);
                } else {
                    $xts.decrypt_sectors(first, size, data);
                }
                Ok(())
            }};
        }
        match &self.key {
            ExpandedKey::Aes128Xts(xts) => crypt!(xts),
            ExpandedKey::Aes256Xts(xts) => crypt!(xts),
            _ => Err(Error::Unsupported),
        }
    }
}
