//! Decrypting one message in pieces.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::Padding;
use super::message::MessageState;
use super::raw_cipher::RawCipher;
use crate::{Buffers, Error};

/// One message that is decrypted in pieces, under the key of a [`RawCipher`].
///
/// Any split of the message into calls gives the same bytes. [`apply`](Self::apply) is the fast way
/// for whole blocks and for streams; [`update`](Self::update) and [`finish`](Self::finish) take any
/// pieces. A call that is refused changes nothing, and the message can go on. Bytes that are held
/// back are wiped.
///
/// With [`Padding::Pkcs7`](super::Padding::Pkcs7) the last block so far is always held back,
/// because `finish` must check its end. The warning of [`Padding`] applies.
pub struct Decryptor<'c>(MessageState<'c, false>);

/// One message in pieces.
impl RawCipher {
    /// Begins to decrypt a message in pieces.
    ///
    /// # Errors
    ///
    /// Same as [`encryptor`](Self::encryptor).
    #[inline]
    pub fn decryptor(&self, iv: &[u8], padding: Padding) -> Result<Decryptor<'_>, Error> {
        MessageState::new(self, iv, padding, 0).map(Decryptor)
    }

    /// Begins to decrypt in the middle of a stream, at block `first`.
    ///
    /// # Errors
    ///
    /// Same as [`encryptor_at_block`](Self::encryptor_at_block).
    pub fn decryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Decryptor<'_>, Error> {
        MessageState::new(self, iv, Padding::None, first).map(Decryptor)
    }
}

impl Decryptor<'_> {
    /// Begins another message, whether or not this one is finished. The padding stays the same, and
    /// a stream begins at block 0.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]. After an error nothing has changed.
    #[inline]
    pub fn restart(&mut self, iv: &[u8]) -> Result<(), Error> {
        self.0.restart(iv)
    }

    /// Decrypts the next bytes: a slice in place, or an [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// ECB and CBC take whole blocks; streams and CTR take any number of bytes. The last block of a
    /// padded message must go through [`update`](Self::update).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `data` is not a whole number of blocks, or if
    /// [`update`](Self::update) holds back part of a block; [`Error::KeystreamExhausted`] if `data`
    /// runs past the end of the keystream; [`Error::Finished`]. After an error nothing has changed.
    #[inline]
    pub fn apply<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        self.0.apply(data.in_out())
    }

    /// Decrypts the next bytes of a message that is split anywhere, and returns the number of bytes
    /// written to the front of `output`.
    ///
    /// With ECB and CBC, an incomplete block is held back, and with padding also a whole block that
    /// may be the last one. With streams and CTR nothing is held back.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if `output` is too short (a block more than `input` is always
    /// enough); [`Error::KeystreamExhausted`]; [`Error::Finished`]. After an error nothing has
    /// changed.
    #[inline]
    pub fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        self.0.update(input, output)
    }

    /// Ends the message. With padding, writes the bytes of the last block before the padding and
    /// returns their number; without padding, writes nothing. Afterwards every call returns
    /// [`Error::Finished`] until [`restart`](Self::restart).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if part of a block is held back, or if nothing is and there must be
    /// padding; [`Error::Padding`] if the message does not end with padding;
    /// [`Error::OutputLength`] if there is padding and `output` is shorter than a block, all of
    /// which is written. The message can go on then.
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
