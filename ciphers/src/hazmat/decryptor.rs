//! Decrypting one message in pieces.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::Padding;
use super::message::MessageState;
use super::raw_cipher::RawCipher;
use crate::Error;

/// One message that is decrypted in pieces, under the key of a [`RawCipher`].
///
/// Any split of the message into calls gives the same bytes. [`apply`](Self::apply) is the fast
/// way for whole blocks and for streams; [`update`](Self::update) and
/// [`finish`](Self::finish) take any pieces. A call that is refused has changed nothing, and the
/// message goes on. Bytes that are held back are wiped.
///
/// With [`Padding::Pkcs7`](super::Padding::Pkcs7) the last block is always held back, so that
/// `finish` can look at how it ends. The warning of [`Padding`] applies.
pub struct Decryptor<'c>(MessageState<'c, false>);

/// One message in pieces.
impl RawCipher {
    /// Begins to decrypt a message that comes in pieces.
    ///
    /// # Errors
    ///
    /// As [`encryptor`](Self::encryptor).
    #[inline]
    pub fn decryptor(&self, iv: &[u8], padding: Padding) -> Result<Decryptor<'_>, Error> {
        MessageState::new(self, iv, padding, 0).map(Decryptor)
    }

    /// Begins to decrypt in the middle of a stream, with its block `first`.
    ///
    /// # Errors
    ///
    /// As [`encryptor_at_block`](Self::encryptor_at_block).
    pub fn decryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Decryptor<'_>, Error> {
        MessageState::new(self, iv, Padding::None, first).map(Decryptor)
    }
}

impl Decryptor<'_> {
    /// Begins another message, whether or not this one is finished. The padding stays the same; a
    /// stream begins at block 0.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; nothing has changed then.
    #[inline]
    pub fn restart(&mut self, iv: &[u8]) -> Result<(), Error> {
        self.0.restart(iv)
    }

    /// Decrypts the next bytes: a slice in place, or an [`InOutBuf`] from one buffer to another.
    ///
    /// ECB and CBC take whole blocks; streams and CTR take any number of bytes. A last block that
    /// is padded must come by [`update`](Self::update).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `data` are not whole blocks, or
    /// [`update`](Self::update) holds back part of one; [`Error::KeystreamExhausted`] if they run
    /// past the end of the keystream; [`Error::Finished`]. Nothing has changed then.
    #[inline]
    pub fn apply<'i, 'o>(&mut self, data: impl Into<InOutBuf<'i, 'o, u8>>) -> Result<(), Error> {
        self.0.apply(data.into())
    }

    /// Decrypts the next bytes of a message that is cut anywhere, and answers the number of bytes
    /// written to the front of `output`.
    ///
    /// With ECB and CBC, fewer bytes than a block, or a whole one that may be the last of a padded
    /// message are held back. With streams and CTR all that comes goes out.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if `output` is too short, which it never is if it is a block longer
    /// than `input`; [`Error::KeystreamExhausted`]; [`Error::Finished`]. Nothing has changed then.
    #[inline]
    pub fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.0.update(input, output)
    }

    /// Ends the message: writes what its last block holds before the padding, or nothing without
    /// padding, and answers the number of bytes of the message that were written.
    /// Afterwards everything is [`Error::Finished`], until [`restart`](Self::restart).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if part of a block is held back, or nothing where there must be
    /// padding; [`Error::Padding`] if that is not what the message ends with;
    /// [`Error::OutputLength`] if there is padding and `output` is shorter than a block, all of
    /// which is written. The message goes on then.
    pub fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        self.0.finish(output)
    }
}

impl fmt::Debug for Decryptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ZeroizeOnDrop for Decryptor<'_> {}
