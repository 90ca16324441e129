//! Opening a message in pieces.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::keyed::Keyed;
use super::pieces::Pieces;
use super::{AeadCipher, Cipher};
use crate::{Buffers, Error};

/// One message that is opened in pieces, under the key of a [`Cipher`] or of a
/// type with one algorithm.
///
/// **Do not use the plaintext until [`finish`](Self::finish) has succeeded.** Until then, only
/// store it where nobody else can see it. If `finish` fails, the caller must discard all of it. An
/// attacker who can change a message chooses which bits of the plaintext change. Programs that
/// acted on plaintext too early, mail readers among them, have been made to reveal their secrets in
/// this way. [`Cipher::open`] cannot be misused like this, so it is better to cut long data into
/// packets, each with its own nonce and tag. **For files** `lanecrypt::stream` does that, and gives
/// only plaintext that is verified.
///
/// The associated data, if there is any, comes first, and then the data. Each may be split
/// anywhere. A call that is refused changes nothing, and the message can go on. The state is wiped
/// on drop.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let mut video = [1; 1000];
/// # let mut tag = [0; 16];
/// let cipher = Cipher::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// # cipher.seal_detached(&[0; 12], b"header", &mut video[..], &mut tag)?;
/// let mut opener = cipher.opener(&[0; 12])?;
/// opener.associate(b"header")?;
/// for piece in video.chunks_mut(400) {
///     opener.decrypt_unverified(piece)?;
/// }
/// if opener.finish(&tag).is_err() {
///     video.fill(0);
/// }
/// # assert_eq!(video, [1; 1000]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a message is not authentic before `finish` says so"]
pub struct Opener<'c, C: AeadCipher = Cipher>(Pieces<'c, C::Key>);

impl<'c, C: AeadCipher> Opener<'c, C> {
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

    /// Decrypts the next piece of the data, of any length: a slice in place, or an [`InOutBuf`](crate::InOutBuf)
    /// from one buffer to another. **The result may be the work of a forger**: do not use it before
    /// [`finish`](Self::finish) succeeds.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the message becomes too long. After an error nothing has changed.
    #[inline]
    pub fn decrypt_unverified<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.0.decrypt(data.in_out())
    }

    /// Ends the message, and checks by its tag, of [`Cipher::tag_length`] bytes, that all of it is
    /// authentic.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] or [`Error::TagLength`]: the caller must discard what has been
    /// decrypted.
    pub fn finish(self, tag: &[u8]) -> Result<(), Error> {
        if tag.len() != self.0.key().tag_length() {
            return Err(Error::TagLength);
        }
        self.0.verify(tag)
    }
}

impl<C: AeadCipher> fmt::Debug for Opener<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.0.key().algorithm();
        f.debug_struct("Opener").field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

// The kernel's state wipes itself.
impl<C: AeadCipher> ZeroizeOnDrop for Opener<'_, C> {}
