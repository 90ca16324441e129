//! Sealing a message in pieces.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::keyed::Keyed;
use super::pieces::Pieces;
use super::{AeadCipher, Cipher};
use crate::{Buffers, Error};

/// One message that is sealed in pieces, under the key of a [`Cipher`] or of a
/// type with one algorithm.
///
/// The associated data, if there is any, comes first, and then the data. Any split of either gives
/// the same result as [`seal_detached`](Cipher::seal_detached) of the whole. A call that is refused
/// changes nothing, and the message can go on. The state is wiped on drop.
///
/// The receiver cannot use any of the message before its last byte. Many short packets, each with
/// its own tag, are often better. **For files** there is `lanecrypt::stream`, which makes such
/// packets.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let mut video = [1; 1000];
/// let cipher = Cipher::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// let mut sealer = cipher.sealer(&[0; 12])?;
/// sealer.associate(b"header")?;
/// for piece in video.chunks_mut(400) {
///     sealer.encrypt(piece)?;
/// }
/// let mut tag = [0; 16];
/// sealer.finish(&mut tag)?;
/// # cipher.open_detached(&[0; 12], b"header", &mut video[..], &tag)?;
/// # assert_eq!(video, [1; 1000]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a message has no tag before it is finished"]
pub struct Sealer<'c, C: AeadCipher = Cipher>(Pieces<'c, C::Key>);

impl<'c, C: AeadCipher> Sealer<'c, C> {
    #[inline]
    pub(super) fn new(cipher: &'c C, nonce: &[u8]) -> Result<Self, Error> {
        Pieces::new(cipher.key(), nonce).map(Self)
    }

    /// Takes the next piece of the associated data, of any length.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] if data has already come; [`Error::AadLength`]; [`Error::DataLength`] if
    /// short tags limit associated data and data together. After an error nothing has changed.
    pub fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        self.0.associate(aad)
    }

    /// Encrypts the next piece of the data, of any length: a slice in place, or an [`InOutBuf`](crate::InOutBuf)
    /// from one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the message becomes too long. After an error nothing has changed.
    #[inline]
    pub fn encrypt<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.0.encrypt(data.in_out())
    }

    /// Ends the message and writes its tag, of [`Cipher::tag_length`] bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]; the message is lost then.
    pub fn finish(self, tag: &mut [u8]) -> Result<(), Error> {
        if tag.len() != self.0.key().tag_length() {
            return Err(Error::TagLength);
        }
        self.0.finish(tag);
        Ok(())
    }
}

impl<C: AeadCipher> fmt::Debug for Sealer<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.0.key().algorithm();
        f.debug_struct("Sealer").field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

// The kernel's state wipes itself.
impl<C: AeadCipher> ZeroizeOnDrop for Sealer<'_, C> {}
