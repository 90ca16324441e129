//! Encrypting one message in pieces.

use core::fmt;

use zeroize::ZeroizeOnDrop;

use super::Padding;
use super::message::MessageState;
use super::raw_cipher::RawCipher;
use crate::{Buffers, Error};

/// One message that is encrypted in pieces, under the key of a [`RawCipher`].
///
/// Any split of the message into calls gives the same bytes. [`apply`](Self::apply) is the fast way
/// for whole blocks and for streams; [`update`](Self::update) and [`finish`](Self::finish) take any
/// pieces. A call that is refused changes nothing, and the message can go on. Bytes that are held
/// back are wiped.
///
/// ```
/// use lanecrypt_ciphers::hazmat::{RawCipher, Padding};
/// use lanecrypt_ciphers::{Algorithm, Isa};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// let cipher = RawCipher::new(Algorithm::AES_256_CBC, &[7; 32])?;
/// let mut encryptor = cipher.encryptor(&[1; 16], Padding::Pkcs7)?;
/// let mut output = [0; 64];
/// let mut written = 0;
/// for piece in ["one message ", "in several ", "pieces"] {
///     written += encryptor.update(piece.as_bytes(), &mut output[written..])?;
/// }
/// written += encryptor.finish(&mut output[written..])?;
/// assert_eq!(written, 32);
/// # Ok(())
/// # }
/// ```
pub struct Encryptor<'c>(MessageState<'c, true>);

/// One message in pieces.
impl RawCipher {
    /// Begins to encrypt a message in pieces.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; [`Error::Unsupported`] if a stream is to be padded, and with XTS,
    /// whose data units cannot be split.
    #[inline]
    pub fn encryptor(&self, iv: &[u8], padding: Padding) -> Result<Encryptor<'_>, Error> {
        MessageState::new(self, iv, padding, 0).map(Encryptor)
    }

    /// Begins to encrypt in the middle of a stream, at block `first`: RFC 8439, for example, begins
    /// at block 1. Blocks have [`Primitive::block_size`](crate::Primitive::block_size) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; [`Error::KeystreamExhausted`] if there is no such block;
    /// [`Error::Unsupported`] if `first` is not 0 and the algorithm
    /// [does not number its blocks](crate::Algorithm::is_seekable).
    pub fn encryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Encryptor<'_>, Error> {
        MessageState::new(self, iv, Padding::None, first).map(Encryptor)
    }
}

impl Encryptor<'_> {
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

    /// Encrypts the next bytes: a slice in place, or an [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// ECB and CBC take whole blocks; streams and CTR take any number of bytes.
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

    /// Encrypts the next bytes of a message that is split anywhere, and returns the number of bytes
    /// written to the front of `output`.
    ///
    /// With ECB and CBC, an incomplete block is held back. With streams and CTR nothing is held
    /// back.
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

    /// Ends the message. With padding, writes the last, padded block; without padding, writes
    /// nothing. Returns the number of bytes written. Afterwards every call returns
    /// [`Error::Finished`] until [`restart`](Self::restart).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if part of a block is held back and there is no padding;
    /// [`Error::OutputLength`] if there is padding and `output` is shorter than a block. The
    /// message can go on then.
    pub fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        self.0.finish(output)
    }
}

impl fmt::Debug for Encryptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ZeroizeOnDrop for Encryptor<'_> {}
