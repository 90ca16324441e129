//! Reading a stream.

use core::fmt;
use std::io::{self, BufRead, ErrorKind, Read};

use lanecrypt_ciphers::Cipher;

use crate::buffer::Plain;
use crate::layout::Layout;
use crate::opening::Opening;
use crate::{ChunkCipher, Error, Stream};

/// A reader that decrypts what it reads from another reader, and gives each chunk once it is
/// verified.
///
/// **A stream is whole only if reading came to its end**, which is `Ok(0)`. Data that was given out
/// before an error is authentic, but it is not all of it.
///
/// A read with room for a whole chunk decrypts into the caller's slice; smaller ones are served
/// from a buffer. If a chunk is not authentic, what was decrypted of it is wiped, and the call
/// returns what came before it, or [`Error`]. The error stays: every later call returns it, too.
///
/// A read that is interrupted is repeated. Other errors of the inner reader, such as
/// [`WouldBlock`](ErrorKind::WouldBlock), lose nothing: the next call continues.
///
/// The inner reader is read to its end, which tells the last chunk. Where something follows the
/// stream, limit the reader by [`Read::take`].
pub struct Decryptor<R, C = Cipher> {
    inner: R,
    opening: Opening<C>,
    sealed: Sealed,
    opened: Plain,
    /// What the inner reader has in memory, if chunks are opened there.
    peek: Option<Peek<R>>,
    /// Why nothing more comes: the end, or an error.
    end: Option<Result<(), Error>>,
}

impl<R: Read, C: ChunkCipher> Decryptor<R, C> {
    /// Chunks of [`CHUNK_SIZE`](crate::CHUNK_SIZE) bytes, without associated data.
    pub fn new(stream: Stream<C>, inner: R) -> Self {
        let layout = Layout::usual(stream.tag_length());
        Self::with_layout(stream, layout, inner)
    }

    /// Chunks of `bytes` of plaintext, from 1 to [`LONGEST_CHUNK`](crate::LONGEST_CHUNK), with this
    /// associated data: the same as they were written with.
    ///
    /// It allocates the size of two chunks.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`](lanecrypt_ciphers::Error::DataLength) for other sizes.
    pub fn with_chunk_size(
        stream: Stream<C>,
        bytes: usize,
        aad: &[u8],
        inner: R,
    ) -> Result<Self, lanecrypt_ciphers::Error> {
        let layout = Layout::new(bytes, stream.tag_length(), aad)?;
        Ok(Self::with_layout(stream, layout, inner))
    }

    fn with_layout(stream: Stream<C>, layout: Layout, inner: R) -> Self {
        Self {
            sealed: Sealed::new(&layout),
            opening: Opening::new(stream, layout),
            opened: Plain::default(),
            peek: None,
            end: None,
            inner,
        }
    }

    /// Counts offsets from the beginning of a file that has so many bytes before the stream.
    #[cfg(feature = "file")]
    pub(crate) fn behind(mut self, header: u64) -> Self {
        self.opening.offset = header;
        self
    }

    /// The plaintext of a full chunk, in bytes.
    #[cfg(feature = "file")]
    pub(crate) fn chunk_size(&self) -> usize {
        self.opening.layout.chunk
    }

    /// The inner reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// The inner reader. Bytes read from it directly are missing in the stream.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// The inner reader. It may have been read further than the chunks that were given out.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Opens the next chunk: to `room`, if it is long enough, otherwise to the buffer. If less than
    /// a chunk is there, it reads once. It does neither of the two if it `may` only use `room`.
    fn step(&mut self, room: &mut [u8], may: May) -> io::Result<Step> {
        if let Some(end) = self.end {
            return Ok(end.map(|()| Step::End)?);
        }
        let layout = &self.opening.layout;
        let (chunk, full, tag) = (layout.chunk, layout.sealed(), layout.tag);
        let mut peeked = None;
        let (sealed, last) = if let Some(ready) = self.sealed.ready(full) {
            ready
        } else if may == May::OnlyGive {
            return Ok(Step::Nothing);
        } else if let Some(peek) = &self.peek
            && self.sealed.is_empty()
            && let there = (peek.fill)(&mut self.inner)?
            && there.len() > full
        {
            peeked = Some(peek.consume);
            (&there[..full], false)
        } else {
            self.sealed.fill(&mut self.inner, full)?;
            return Ok(Step::Nothing);
        };
        let opened = match sealed.len().checked_sub(tag) {
            // Without a whole tag it cannot be a chunk.
            None => Err(self.opening.truncated()),
            Some(message) => match room.get_mut(..message) {
                Some(room) => self.opening.open(sealed, last, room).map(|()| Step::Gave(message)),
                None if may == May::OnlyGive => return Ok(Step::Nothing),
                None => {
                    let place = self.opened.room(chunk, message);
                    self.opening.open(sealed, last, place).map(|()| {
                        self.opened.give(message);
                        Step::Nothing
                    })
                }
            },
        };
        let length = sealed.len();
        match peeked {
            Some(consume) => consume(&mut self.inner, length),
            None => self.sealed.start += length,
        }
        self.end = match &opened {
            Ok(_) => last.then_some(Ok(())),
            Err(error) => Some(Err(*error)),
        };
        Ok(opened?)
    }
}

impl<R: BufRead, C: ChunkCipher> Decryptor<R, C> {
    /// Opens chunks from where the inner reader has them in memory, if it has a whole one and a
    /// byte more, and copies only the others. This saves up to a third of the time with a fast
    /// cipher and a slice, or a [`Cursor`](io::Cursor). A [`BufReader`](io::BufReader) gains
    /// nothing.
    #[must_use]
    pub fn without_copy(mut self) -> Self {
        self.peek = Some(Peek { fill: R::fill_buf, consume: R::consume });
        self
    }
}

impl<R: Read, C: ChunkCipher> Read for Decryptor<R, C> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut given = 0;
        while given < out.len() {
            let room = &mut out[given..];
            let opened = self.opened.bytes();
            let bytes = opened.len().min(room.len());
            if bytes > 0 {
                room[..bytes].copy_from_slice(&opened[..bytes]);
                self.opened.consume(bytes);
                given += bytes;
                continue;
            }
            // What is there does not wait for what may come.
            let may = if given == 0 { May::Read } else { May::OnlyGive };
            match self.step(room, may) {
                Ok(Step::Gave(bytes)) => given += bytes,
                Ok(Step::Nothing) if may == May::Read => {}
                Ok(Step::Nothing | Step::End) => break,
                // It comes again with the next call.
                Err(_) if given > 0 => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(given)
    }

    fn read_to_end(&mut self, out: &mut Vec<u8>) -> io::Result<usize> {
        let before = out.len();
        out.extend_from_slice(self.opened.bytes());
        self.opened.consume(usize::MAX);
        let mut end = out.len();
        let outcome = loop {
            // Only what the last chunk has taken is set again.
            out.resize(end + self.opening.layout.chunk, 0);
            match self.step(&mut out[end..], May::Read) {
                Ok(Step::Gave(bytes)) => end += bytes,
                Ok(Step::Nothing) => {}
                Ok(Step::End) => break Ok(end - before),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        out.truncate(end);
        outcome
    }
}

impl<R: Read, C: ChunkCipher> BufRead for Decryptor<R, C> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.opened.bytes().is_empty() {
            match self.step(&mut [], May::Read) {
                Ok(Step::End) => break,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.opened.bytes())
    }

    fn consume(&mut self, bytes: usize) {
        self.opened.consume(bytes);
    }
}

impl<R: fmt::Debug, C: ChunkCipher> fmt::Debug for Decryptor<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Decryptor");
        debug.field("stream", &self.opening.stream).field("inner", &self.inner);
        debug.field("number", &self.opening.number.0).finish_non_exhaustive()
    }
}

/// The limits of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    /// Read, and open a chunk to the buffer.
    Read,
    /// Only open a chunk that is there and for which there is room.
    OnlyGive,
}

/// The result of a step.
enum Step {
    /// So many bytes have been decrypted to where the caller said.
    Gave(usize),
    /// Something was read, or is in the buffer now, or nothing could be done.
    Nothing,
    /// The stream is whole.
    End,
}

/// How to see what a reader has in memory.
struct Peek<R> {
    fill: fn(&mut R) -> io::Result<&[u8]>,
    consume: fn(&mut R, usize),
}

/// Sealed bytes that have been read.
struct Sealed {
    bytes: Box<[u8]>,
    /// `start..end` has not been opened yet.
    start: usize,
    end: usize,
    /// The reader has come to its end.
    is_ended: bool,
}

impl Sealed {
    fn new(layout: &Layout) -> Self {
        // A byte more tells that another chunk follows.
        let bytes = vec![0; layout.gathered() + 1].into();
        Self { bytes, start: 0, end: 0, is_ended: false }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The next chunk, if it is known where it ends, and whether it is the last one. At the end it
    /// may be less than a tag.
    fn ready(&self, full: usize) -> Option<(&[u8], bool)> {
        let there = &self.bytes[self.start..self.end];
        match there.len() > full {
            true => Some((&there[..full], false)),
            false => self.is_ended.then_some((there, true)),
        }
    }

    /// Reads once. No chunk may be ready.
    fn fill(&mut self, inner: &mut impl Read, full: usize) -> io::Result<()> {
        if self.bytes.len() - self.start <= full || self.is_empty() {
            // Mostly a single byte: the one that announced another chunk.
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let read = inner.read(&mut self.bytes[self.end..])?;
        self.is_ended = read == 0;
        // Not beyond the buffer, whatever the reader claims.
        self.end = (self.end + read).min(self.bytes.len());
        Ok(())
    }
}
