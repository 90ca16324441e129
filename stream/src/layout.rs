//! How a stream is cut.

use lanecrypt_ciphers::Error;

/// The usual size of a chunk in bytes of plaintext.
pub const CHUNK_SIZE: usize = 64 << 10;

/// The largest chunk in bytes of plaintext: 1 GiB.
pub const LONGEST_CHUNK: usize = 1 << 30;

/// Small chunks are gathered up to this many bytes, so that readers and writers are asked for large
/// pieces. More than this would not stay in the processor's nearer caches.
const GATHERED: usize = 64 << 10;

/// The sizes of a stream's chunks, and the associated data that all of them have.
pub(crate) struct Layout {
    /// Plaintext of a full chunk.
    pub(crate) chunk: usize,
    pub(crate) tag: usize,
    pub(crate) aad: Box<[u8]>,
}

impl Layout {
    pub(crate) fn new(chunk: usize, tag: usize, aad: &[u8]) -> Result<Self, Error> {
        if !(1..=LONGEST_CHUNK).contains(&chunk) {
            return Err(Error::DataLength);
        }
        Ok(Self { chunk, tag, aad: aad.into() })
    }

    /// Of the usual size, without associated data.
    pub(crate) fn usual(tag: usize) -> Self {
        Self { chunk: CHUNK_SIZE, tag, aad: Box::default() }
    }

    /// A full chunk with its tag.
    pub(crate) fn sealed(&self) -> usize {
        self.chunk + self.tag
    }

    /// The size of a buffer for sealed chunks: at least one.
    pub(crate) fn gathered(&self) -> usize {
        (GATHERED / self.sealed()).max(1) * self.sealed()
    }
}
