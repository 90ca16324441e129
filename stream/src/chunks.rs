//! Chunks in order, for formats with a frame of their own.

use core::fmt;

use lanecrypt_ciphers::{Buffers, Cipher};

use crate::{ChunkCipher, Error, Stream};

/// Seals the chunks of a stream in order.
///
/// Chunks may have any lengths, which the format has to keep. `Encryptor` of `aead-stream` makes
/// the same bytes.
///
/// ```
/// use lanecrypt_ciphers::{Algorithm, Cipher};
/// use lanecrypt_stream::{ChunkOpener, ChunkSealer, Stream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cipher = Cipher::boxed(Algorithm::AES_256_GCM, &[1; 32])?;
/// let (mut first, mut second, mut tags) = (*b"frame 0", *b"the end", [[0; 16]; 2]);
/// let mut sealer = ChunkSealer::new(Stream::new(&cipher, &[2; 7])?);
/// sealer.next(b"", &mut first[..], &mut tags[0])?;
/// sealer.last(b"", &mut second[..], &mut tags[1])?;
///
/// let mut opener = ChunkOpener::new(Stream::new(&cipher, &[2; 7])?);
/// opener.next(b"", &mut first[..], &tags[0])?;
/// opener.last(b"", &mut second[..], &tags[1])?;
/// assert_eq!((&first, &second), (b"frame 0", b"the end"));
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream without its last chunk is truncated"]
pub struct ChunkSealer<C = Cipher> {
    stream: Stream<C>,
    number: Number,
}

impl<C: ChunkCipher> ChunkSealer<C> {
    /// Begins with chunk 0.
    pub fn new(stream: Stream<C>) -> Self {
        Self { stream, number: Number::default() }
    }

    /// The number of the next chunk.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number.0
    }

    /// Encrypts the next chunk, which is not the last one, and writes its tag.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for the last number, which only the last chunk may have;
    /// [`Error::Refused`], as [`Stream::seal_chunk`] does. After an error nothing has changed.
    pub fn next<'i, 'o>(
        &mut self,
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let following = self.number.following()?;
        self.stream.seal_chunk(self.number.0, false, aad, data, tag).map_err(Error::Refused)?;
        self.number = following;
        Ok(())
    }

    /// Encrypts the last chunk, and writes its tag.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`], as [`Stream::seal_chunk`] does. Nothing has changed.
    pub fn last<'i, 'o>(
        self,
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        self.stream.seal_chunk(self.number.0, true, aad, data, tag).map_err(Error::Refused)
    }
}

/// Opens the chunks of a stream in order.
#[must_use = "a stream is not known to be whole before its last chunk is opened"]
pub struct ChunkOpener<C = Cipher> {
    stream: Stream<C>,
    number: Number,
    /// Bytes of the chunks before, with their tags.
    offset: u64,
}

impl<C: ChunkCipher> ChunkOpener<C> {
    /// Begins with chunk 0.
    pub fn new(stream: Stream<C>) -> Self {
        Self { stream, number: Number::default(), offset: 0 }
    }

    /// The number of the next chunk.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number.0
    }

    /// Decrypts the next chunk, if it was sealed as such and not as the last one.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`]: the output has been wiped. [`Error::TooLong`] for the last
    /// number, which only the last chunk may have; [`Error::Refused`], as [`Stream::open_chunk`]
    /// does. After any error the same number is next.
    pub fn next<'i, 'o>(
        &mut self,
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let following = self.number.following()?;
        let data = data.in_out();
        let length = (data.len() + tag.len()) as u64;
        self.stream
            .open_chunk(self.number.0, false, aad, data, tag)
            .map_err(|error| refusal(error, self.number, self.offset))?;
        self.number = following;
        self.offset += length;
        Ok(())
    }

    /// Decrypts the last chunk, if it was sealed as the last one. The stream is then whole.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`]: the output has been wiped. [`Error::Refused`], as
    /// [`Stream::open_chunk`] does.
    pub fn last<'i, 'o>(
        self,
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &[u8],
    ) -> Result<(), Error> {
        self.stream
            .open_chunk(self.number.0, true, aad, data, tag)
            .map_err(|error| refusal(error, self.number, self.offset))
    }
}

/// The meaning of a refused chunk for the stream.
pub(crate) fn refusal(error: lanecrypt_ciphers::Error, number: Number, offset: u64) -> Error {
    match error {
        lanecrypt_ciphers::Error::Authentication => {
            Error::Authentication { chunk: number.0, offset }
        }
        other => Error::Refused(other),
    }
}

/// The number of a chunk.
#[derive(Clone, Copy, Default)]
pub(crate) struct Number(pub(crate) u32);

impl Number {
    /// The number after this one. The largest number is for a last chunk only.
    pub(crate) fn following(self) -> Result<Self, Error> {
        self.0.checked_add(1).map(Self).ok_or(Error::TooLong)
    }
}

impl<C: ChunkCipher> fmt::Debug for ChunkSealer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ChunkSealer");
        debug.field("stream", &self.stream).field("number", &self.number.0).finish()
    }
}

impl<C: ChunkCipher> fmt::Debug for ChunkOpener<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ChunkOpener");
        debug.field("stream", &self.stream).field("number", &self.number.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::Algorithm;

    use super::*;

    #[test]
    fn the_largest_number_is_for_a_last_chunk() {
        let cipher = Cipher::new(Algorithm::CHACHA20_POLY1305, &[1; 32]).expect("a key");
        let stream = || Stream::new(&cipher, &[2; 7]).expect("a prefix");
        let almost = Number(u32::MAX - 1);
        let (mut data, mut tag) = ([7; 3], [[0; 16]; 2]);
        let mut sealer = ChunkSealer { stream: stream(), number: almost };
        assert_eq!(sealer.next(b"", &mut data[..], &mut tag[0]), Ok(()));
        let sealed = data;
        assert_eq!(sealer.next(b"", &mut data[..], &mut tag[1]), Err(Error::TooLong));
        assert_eq!((data, tag[1], sealer.number()), (sealed, [0; 16], u32::MAX));
        assert_eq!(sealer.last(b"", &mut data[..], &mut tag[1]), Ok(()));

        let mut opener = ChunkOpener { stream: stream(), number: Number(u32::MAX), offset: 5 };
        assert_eq!(opener.next(b"", &mut data[..], &tag[1]), Err(Error::TooLong));
        assert_eq!(opener.last(b"", &mut data[..], &tag[1]), Ok(()));
        let mut opener = ChunkOpener { stream: stream(), number: almost, offset: 5 };
        assert_eq!(opener.next(b"", &mut data[..], &tag[0]), Ok(()));
        assert_eq!((data, opener.number(), opener.offset), ([7; 3], u32::MAX, 24));
    }
}
