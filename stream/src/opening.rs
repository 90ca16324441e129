//! Opening the chunks of a stream in order, and telling what is wrong with it.
//!
//! A refused chunk is tried once more with the other value of the flag for the last chunk. So a
//! stream that was cut and one that was extended have errors of their own.

use lanecrypt_ciphers::InOutBuf;
use lanecrypt_kernels::wipe;

use crate::chunks::{Number, refusal};
use crate::layout::Layout;
use crate::{ChunkCipher, Error, Stream};

/// The next chunk of a stream.
pub(crate) struct Opening<C> {
    pub(crate) stream: Stream<C>,
    pub(crate) layout: Layout,
    pub(crate) number: Number,
    /// Bytes of the sealed stream before it, and of the header of its file.
    pub(crate) offset: u64,
}

impl<C: ChunkCipher> Opening<C> {
    pub(crate) fn new(stream: Stream<C>, layout: Layout) -> Self {
        Self { stream, layout, number: Number::default(), offset: 0 }
    }

    /// The state of a stream that ends before the next chunk, or in its tag.
    pub(crate) fn truncated(&self) -> Error {
        Error::Truncated { chunk: self.number.0, offset: self.offset }
    }

    /// Opens the next chunk with its tag to `out`, which has the length of its message. After an
    /// error `out` has been wiped.
    pub(crate) fn open(&mut self, sealed: &[u8], last: bool, out: &mut [u8]) -> Result<(), Error> {
        let following = if last { self.number } else { self.number.following()? };
        self.try_open(sealed, last, out).map_err(|error| self.judge(error, sealed, last, out))?;
        self.number = following;
        self.offset += sealed.len() as u64;
        Ok(())
    }

    fn try_open(
        &self,
        sealed: &[u8],
        last: bool,
        out: &mut [u8],
    ) -> Result<(), lanecrypt_ciphers::Error> {
        let (message, tag) = sealed.split_at(out.len());
        let refused = |_| lanecrypt_ciphers::Error::OutputLength;
        let data = InOutBuf::new(message, out).map_err(refused)?;
        self.stream.open_chunk(self.number.0, last, &self.layout.aad, data, tag)
    }

    /// A whole chunk that is only wrong in being the last one, or in not being it, tells what
    /// happened to the stream.
    #[cold]
    fn judge(
        &self,
        error: lanecrypt_ciphers::Error,
        sealed: &[u8],
        last: bool,
        out: &mut [u8],
    ) -> Error {
        let error = refusal(error, self.number, self.offset);
        let Error::Authentication { chunk, offset } = error else { return error };
        let is_whole = sealed.len() == self.layout.sealed();
        let is_misplaced = is_whole && self.try_open(sealed, !last, out).is_ok();
        wipe::memory(out);
        match (is_misplaced, last) {
            (false, _) => error,
            (true, false) => Error::Extended { chunk, offset },
            (true, true) => Error::Truncated {
                chunk: chunk.saturating_add(1),
                offset: offset + sealed.len() as u64,
            },
        }
    }
}
