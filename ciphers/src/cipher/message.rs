//! One message in pieces.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::pieces::Pieces;
use super::{AeadKey, AnyKey};
use crate::{Buffers, Error};

/// One message that is sealed in pieces, under the key of a [`Cipher`](crate::Cipher) or of a
/// type with one algorithm.
///
/// Any split of the message gives the same result as
/// [`seal_detached`](crate::Cipher::seal_detached) of the whole.
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
pub type Sealer<'c, K = AnyKey> = AeadMessage<'c, K, true>;

/// One message that is opened in pieces, under the key of a [`Cipher`](crate::Cipher) or of a
/// type with one algorithm.
///
/// **Do not use the plaintext until `finish` has succeeded.** Until then, only
/// store it where nobody else can see it. If `finish` fails, the caller must discard all of it. An
/// attacker who can change a message chooses which bits of the plaintext change. Programs that
/// acted on plaintext too early, mail readers among them, have been made to reveal their secrets in
/// this way. [`Cipher::open`](crate::Cipher::open) cannot be misused like this, so it is better to
/// cut long data into packets, each with its own nonce and tag. **For files** `lanecrypt::stream`
/// does that, and gives only plaintext that is verified.
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
pub type Opener<'c, K = AnyKey> = AeadMessage<'c, K, false>;

/// One message that is sealed or opened in pieces, see [`Sealer`] and [`Opener`].
///
/// The associated data, if there is any, comes first, and then the data. Each may be split
/// anywhere. A call that is refused changes nothing, and the message can go on. The state is wiped
/// on drop.
#[must_use = "before `finish`, a sealed message has no tag, and an opened one is not authentic"]
pub struct AeadMessage<'c, K: AeadKey, const SEAL: bool>(Pieces<'c, K>);

impl<'c, K: AeadKey, const SEAL: bool> AeadMessage<'c, K, SEAL> {
    #[inline]
    pub(super) fn new(key: &'c K, nonce: &[u8]) -> Result<Self, Error> {
        Pieces::new(key, nonce).map(Self)
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

    fn check_length(&self, tag: &[u8]) -> Result<(), Error> {
        if tag.len() == self.0.key().facts().tag_length { Ok(()) } else { Err(Error::TagLength) }
    }
}

impl<K: AeadKey> Sealer<'_, K> {
    /// Encrypts the next piece of the data, of any length: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the message becomes too long. After an error nothing has changed.
    #[inline]
    pub fn encrypt<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.0.encrypt(data.in_out())
    }

    /// Ends the message and writes its tag, of [`Cipher::tag_length`](crate::Cipher::tag_length)
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`]; the message is lost then.
    pub fn finish(self, tag: &mut [u8]) -> Result<(), Error> {
        self.check_length(tag)?;
        self.0.finish(tag);
        Ok(())
    }
}

impl<K: AeadKey> Opener<'_, K> {
    /// Decrypts the next piece of the data, of any length: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another. **The result may be the work of a
    /// forger**: do not use it before `finish` succeeds.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if the message becomes too long. After an error nothing has changed.
    #[inline]
    pub fn decrypt_unverified<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.0.decrypt(data.in_out())
    }

    /// Ends the message, and checks by its tag, of
    /// [`Cipher::tag_length`](crate::Cipher::tag_length) bytes, that all of it is authentic.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] or [`Error::TagLength`]: the caller must discard what has been
    /// decrypted.
    pub fn finish(self, tag: &[u8]) -> Result<(), Error> {
        self.check_length(tag)?;
        self.0.verify(tag)
    }
}

impl<K: AeadKey, const SEAL: bool> fmt::Debug for AeadMessage<'_, K, SEAL> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if SEAL { "Sealer" } else { "Opener" };
        let algorithm = self.0.key().facts().algorithm;
        f.debug_struct(name).field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

// The kernel's state wipes itself.
impl<K: AeadKey, const SEAL: bool> ZeroizeOnDrop for AeadMessage<'_, K, SEAL> {}
