//! Opening a message that comes in pieces.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::pieces::Pieces;
use super::{Cipher, tag};
use crate::Error;

impl Cipher {
    /// Begins to open a message that comes in pieces.
    ///
    /// **Read what [`Opener`] says about its plaintext.**
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`].
    #[inline]
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<'_>, Error> {
        Pieces::new(self, nonce).map(Opener)
    }
}

/// One message that is opened in pieces, under the key of a [`Cipher`].
///
/// **Until [`finish`](Self::finish) has said yes, nothing may be done with the plaintext** but to
/// keep it where nobody else sees it, and if it says no, all of it has to be thrown away, which is
/// up to the caller. Whoever can change a message chooses which bits of the plaintext change;
/// programs that acted on plaintext before its end, mail readers among them, have sent their secrets
/// to whoever asked that way. [`Cipher::open`] cannot be misused so: long data are better cut into
/// packets, each with its own nonce and tag.
///
/// First its associated data, if there are any, then its data, each split anywhere. A call that is
/// refused has changed nothing, and the message goes on. The state is wiped on drop.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// # let mut film = [1; 1000];
/// # let mut tag = [0; 16];
/// let cipher = Cipher::new(Algorithm::AES_128_GCM, &[7; 16])?;
/// # cipher.seal_detached(&[0; 12], b"header", &mut film[..], &mut tag)?;
/// let mut opener = cipher.opener(&[0; 12])?;
/// opener.associate(b"header")?;
/// for piece in film.chunks_mut(400) {
///     opener.decrypt_unverified(piece)?;
/// }
/// if opener.finish(&tag).is_err() {
///     film.fill(0);
/// }
/// # assert_eq!(film, [1; 1000]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a message is not authentic before `finish` says so"]
pub struct Opener<'c>(Pieces<'c>);

impl Opener<'_> {
    /// Takes the next piece of the associated data, of any length.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] if data have come already, [`Error::AadLength`], or
    /// [`Error::DataLength`] if short tags limit both together; nothing has changed then.
    pub fn associate(&mut self, aad: &[u8]) -> Result<(), Error> {
        self.0.associate(aad)
    }

    /// Decrypts the next piece of the data, of any length: a slice in place, or an [`InOutBuf`] from
    /// one buffer to another. **What comes out may be a forger's work**: nothing may be done with it
    /// before [`finish`](Self::finish) says yes.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the message gets longer than it may; nothing has changed then.
    #[inline]
    pub fn decrypt_unverified<'i, 'o>(
        &mut self,
        data: impl Into<InOutBuf<'i, 'o, u8>>,
    ) -> Result<(), Error> {
        self.0.decrypt(data.into())
    }

    /// Ends the message and says whether all of it is authentic, by its tag, of
    /// [`Cipher::tag_length`] bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] or [`Error::TagLength`]: what has been decrypted has to be thrown
    /// away.
    pub fn finish(self, tag: &[u8]) -> Result<(), Error> {
        if tag.len() != self.0.cipher().tag_length() {
            return Err(Error::TagLength);
        }
        tag::compare(&self.0.tag(), tag)
    }
}

impl fmt::Debug for Opener<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.0.cipher().algorithm();
        f.debug_struct("Opener").field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

// The kernel's state wipes itself.
impl ZeroizeOnDrop for Opener<'_> {}
