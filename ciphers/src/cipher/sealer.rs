//! Sealing a message that comes in pieces.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::pieces::Pieces;
use super::{Cipher, tag};
use crate::Error;

impl Cipher {
    /// Begins to seal a message that comes in pieces.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`].
    #[inline]
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<'_>, Error> {
        Pieces::new(self, nonce).map(Sealer)
    }
}

/// One message that is sealed in pieces, under the key of a [`Cipher`].
///
/// First its associated data, if there are any, then its data; any split of either gives what
/// [`seal_detached`](Cipher::seal_detached) does of the whole. A call that is refused has changed
/// nothing, and the message goes on. The state is wiped on drop.
///
/// Who receives such a message as a whole has nothing to do with before its last byte: many short
/// packets, each with a tag of its own, are often better.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let mut film = [1; 1000];
/// let cipher = Cipher::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// let mut sealer = cipher.sealer(&[0; 12])?;
/// sealer.associate(b"header")?;
/// for piece in film.chunks_mut(400) {
///     sealer.encrypt(piece)?;
/// }
/// let mut tag = [0; 16];
/// sealer.finish(&mut tag)?;
/// # cipher.open_detached(&[0; 12], b"header", &mut film[..], &tag)?;
/// # assert_eq!(film, [1; 1000]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a message has no tag before it is finished"]
pub struct Sealer<'c>(Pieces<'c>);

impl Sealer<'_> {
    /// Takes the next piece of the associated data, of any length.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] if data have come already, [`Error::AadLength`], or
    /// [`Error::DataLength`] if short tags limit both together; nothing has changed then.
    pub fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        self.0.associate(aad)
    }

    /// Encrypts the next piece of the data, of any length: a slice in place, or an [`InOutBuf`] from
    /// one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the message gets longer than it may; nothing has changed then.
    #[inline]
    pub fn encrypt<'i, 'o>(&mut self, data: impl Into<InOutBuf<'i, 'o, u8>>) -> Result<(), Error> {
        self.0.encrypt(data.into())
    }

    /// Ends the message and writes its tag, of [`Cipher::tag_length`] bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]; the message is lost then.
    pub fn finish(self, tag: &mut [u8]) -> Result<(), Error> {
        if tag.len() != self.0.cipher().tag_length() {
            return Err(Error::TagLength);
        }
        tag::put(&self.0.tag(), tag);
        Ok(())
    }
}

impl fmt::Debug for Sealer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.0.cipher().algorithm();
        f.debug_struct("Sealer").field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

// The kernel's state wipes itself.
impl ZeroizeOnDrop for Sealer<'_> {}
