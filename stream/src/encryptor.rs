//! Writing a stream.

use core::fmt;
use std::io::{self, ErrorKind, Write};

use lanecrypt_ciphers::{Cipher, InOutBuf};

use crate::buffer::Plain;
use crate::chunks::Number;
use crate::layout::Layout;
use crate::{ChunkCipher, Error, Stream};

/// A writer that encrypts what is written to it, and writes the chunks to another writer.
///
/// **Call [`finish`](Self::finish).** Only that writes the last chunk; a stream without it is
/// refused as [`Error::Truncated`]. So an encryptor that is dropped, by an error or a panic, leaves
/// a file that every reader refuses as incomplete.
///
/// Plaintext is encrypted from the caller's slice to a buffer of sealed chunks, which goes to the
/// inner writer when it is full: a `BufWriter` around the inner writer gains nothing, one around
/// the encryptor avoids a call for each small piece. The last bytes that were written, up to a
/// whole chunk, are held back, because they may be the end of the stream.
///
/// A write that is interrupted is repeated. Errors of the inner writer, such as
/// [`WouldBlock`](ErrorKind::WouldBlock), lose nothing: the call that got one took nothing, or as
/// much as it says, and the next one continues where the writer stopped.
///
/// After a `fork`, only one of the two processes may go on with an encryptor: both would use the
/// same nonces. This is not checked.
pub struct Encryptor<W, C = Cipher> {
    inner: W,
    stream: Stream<C>,
    layout: Layout,
    number: Number,
    /// Plaintext that is not sealed yet, at most one chunk.
    held: Plain,
    sealed: Sealed,
    /// Room at the end of the inner writer, if chunks are sealed there.
    room: Option<fn(&mut W, usize) -> &mut [u8]>,
    is_finished: bool,
}

impl<W: Write, C: ChunkCipher> Encryptor<W, C> {
    /// Chunks of [`CHUNK_SIZE`](crate::CHUNK_SIZE) bytes, without associated data.
    pub fn new(stream: Stream<C>, inner: W) -> Self {
        let layout = Layout::usual(stream.tag_length());
        Self::with_layout(stream, layout, inner)
    }

    /// Chunks of `bytes` of plaintext, from 1 to [`LONGEST_CHUNK`](crate::LONGEST_CHUNK), and
    /// associated data that every chunk is authenticated with. The reader needs the same.
    ///
    /// It allocates the size of two chunks. Chunks of less than 4 KiB cost noticeable time and
    /// space for their tags.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`](lanecrypt_ciphers::Error::DataLength) for other sizes.
    pub fn with_chunk_size(
        stream: Stream<C>,
        bytes: usize,
        aad: &[u8],
        inner: W,
    ) -> Result<Self, lanecrypt_ciphers::Error> {
        let layout = Layout::new(bytes, stream.tag_length(), aad)?;
        Ok(Self::with_layout(stream, layout, inner))
    }

    fn with_layout(stream: Stream<C>, layout: Layout, inner: W) -> Self {
        Self {
            held: Plain::default(),
            sealed: Sealed::default(),
            number: Number::default(),
            room: None,
            is_finished: false,
            stream,
            layout,
            inner,
        }
    }

    /// Seals the last chunk, writes what is left, flushes the inner writer and returns it.
    ///
    /// # Errors
    ///
    /// Those of the inner writer. The rest of the stream is then lost: where the inner writer may
    /// block, use [`try_finish`](Self::try_finish).
    pub fn finish(mut self) -> io::Result<W> {
        self.try_finish()?;
        Ok(self.inner)
    }

    /// Same as [`finish`](Self::finish), but may be called again after an error, and continues. No
    /// more data is taken from then on.
    ///
    /// # Errors
    ///
    /// Those of the inner writer.
    pub fn try_finish(&mut self) -> io::Result<()> {
        if !self.is_finished {
            self.sealed.drain(&mut self.inner)?;
            let held = core::mem::take(&mut self.held);
            self.seal(true, held.bytes())?;
            self.is_finished = true;
        }
        self.flush()
    }

    /// The inner writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// The inner writer. Bytes written to it directly damage the stream.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Takes as much of `data` as can be sealed or held back without writing, and returns the rest.
    fn take<'d>(&mut self, mut data: &'d [u8]) -> (&'d [u8], Result<(), Error>) {
        let chunk = self.layout.chunk;
        while !data.is_empty() {
            // More has come, so what is held is not the last chunk.
            let is_full = self.held.bytes().len() == chunk;
            let sealed = if is_full || (self.held.bytes().is_empty() && data.len() > chunk) {
                if !self.has_room() {
                    break;
                }
                if is_full {
                    let mut held = core::mem::take(&mut self.held);
                    let sealed = self.seal(false, held.bytes());
                    if sealed.is_ok() {
                        held.clear();
                    }
                    self.held = held;
                    sealed
                } else {
                    let (next, rest) = data.split_at(chunk);
                    self.seal(false, next).inspect(|()| data = rest)
                }
            } else {
                data = self.held.fill(chunk, data);
                Ok(())
            };
            if sealed.is_err() {
                return (data, sealed);
            }
        }
        (data, Ok(()))
    }

    fn has_room(&self) -> bool {
        self.room.is_some() || self.layout.gathered() - self.sealed.filled >= self.layout.sealed()
    }

    /// Seals the next chunk, for which there must be room.
    fn seal(&mut self, last: bool, data: &[u8]) -> Result<(), Error> {
        let following = if last { self.number } else { self.number.following()? };
        let length = data.len() + self.layout.tag;
        let place = match self.room {
            Some(room) => room(&mut self.inner, length),
            None => self.sealed.place(&self.layout, length),
        };
        let (chunk, tag) = place.split_at_mut(data.len());
        let refused = |_| lanecrypt_ciphers::Error::OutputLength;
        InOutBuf::new(data, chunk)
            .map_err(refused)
            .and_then(|data| {
                self.stream.seal_chunk(self.number.0, last, &self.layout.aad, data, tag)
            })
            .map_err(Error::Refused)?;
        if self.room.is_none() {
            self.sealed.filled += length;
        }
        self.number = following;
        Ok(())
    }
}

impl<C: ChunkCipher> Encryptor<Vec<u8>, C> {
    /// Seals whole chunks in the vector itself, and not in a buffer that is then copied. This
    /// saves up to a third of the time with a fast cipher.
    #[must_use]
    pub fn without_copy(mut self) -> Self {
        // What is sealed already comes first. A vector takes everything.
        let _ = self.sealed.drain(&mut self.inner);
        self.room = Some(|vector, bytes| {
            let end = vector.len();
            vector.resize(end + bytes, 0);
            &mut vector[end..]
        });
        self
    }
}

impl<W: Write, C: ChunkCipher> Write for Encryptor<W, C> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.is_finished && !data.is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the stream is finished"));
        }
        let mut rest = data;
        loop {
            let (left, outcome) = self.take(rest);
            rest = left;
            let outcome = outcome.map_err(io::Error::from);
            let outcome = match outcome {
                Ok(()) if rest.is_empty() => return Ok(data.len()),
                Ok(()) => self.sealed.drain(&mut self.inner),
                Err(error) => Err(error),
            };
            // An error that comes after something was taken comes again with the next call.
            match outcome {
                Ok(()) => {}
                Err(_) if rest.len() < data.len() => return Ok(data.len() - rest.len()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes all chunks that are whole. The bytes that are held back stay, because they may be the
    /// end of the stream.
    fn flush(&mut self) -> io::Result<()> {
        self.sealed.drain(&mut self.inner)?;
        self.inner.flush()
    }
}

impl<W: fmt::Debug, C: ChunkCipher> fmt::Debug for Encryptor<W, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Encryptor");
        debug.field("stream", &self.stream).field("inner", &self.inner);
        debug.field("number", &self.number.0).finish_non_exhaustive()
    }
}

/// Sealed chunks on their way to the writer.
#[derive(Default)]
struct Sealed {
    /// Allocated with the first chunk.
    bytes: Box<[u8]>,
    /// `written..filled` has not been written yet.
    written: usize,
    filled: usize,
}

impl Sealed {
    /// The place of a chunk behind the others. There must be room.
    fn place(&mut self, layout: &Layout, bytes: usize) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = vec![0; layout.gathered()].into();
        }
        &mut self.bytes[self.filled..][..bytes]
    }

    /// Writes everything.
    fn drain(&mut self, inner: &mut impl Write) -> io::Result<()> {
        while self.written < self.filled {
            match inner.write(&self.bytes[self.written..self.filled]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => self.written += bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        (self.written, self.filled) = (0, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::Algorithm;

    use super::*;

    #[test]
    fn after_the_largest_number_nothing_is_taken() {
        let cipher = Cipher::new(Algorithm::AES_256_GCM, &[1; 32]).expect("a key");
        let stream = Stream::new(&cipher, &[2; 7]).expect("a prefix");
        let mut encryptor = Encryptor::with_chunk_size(stream, 4, b"", Vec::new()).expect("a size");
        encryptor.number = Number(u32::MAX - 1);
        // One chunk, and the last one.
        assert_eq!(encryptor.write(&[7; 8]).expect("it has room"), 8);
        let error = encryptor.write(&[7]).expect_err("there are no more numbers");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(error.downcast::<Error>().expect("of the stream"), Error::TooLong);
        let error = encryptor.write(&[7; 9]).expect_err("neither for whole chunks");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert_eq!(encryptor.finish().expect("it is whole").len(), 2 * (4 + 16));
    }
}
