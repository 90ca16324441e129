//! Plaintext in memory that is wiped.

use lanecrypt_kernels::wipe;

/// At most one chunk of plaintext, of which the beginning may have been given out. It is allocated
/// with the first bytes, does not move afterwards, and is wiped on drop.
#[derive(Default)]
pub(crate) struct Plain {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Plain {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Appends as much of `data` as there is room for in a chunk, and returns the rest.
    pub(crate) fn fill<'d>(&mut self, chunk: usize, data: &'d [u8]) -> &'d [u8] {
        let (now, later) = data.split_at(data.len().min(chunk - self.end));
        self.allocate(chunk);
        self.buffer[self.end..][..now.len()].copy_from_slice(now);
        self.end += now.len();
        later
    }

    /// The place of a message, of which nothing is given out yet.
    pub(crate) fn room(&mut self, chunk: usize, message: usize) -> &mut [u8] {
        self.allocate(chunk);
        (self.start, self.end) = (0, 0);
        &mut self.buffer[..message]
    }

    /// Gives out what is in the place of the message.
    pub(crate) fn give(&mut self, message: usize) {
        self.end = message;
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start = self.start.saturating_add(bytes).min(self.end);
    }

    pub(crate) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    fn allocate(&mut self, chunk: usize) {
        if self.buffer.is_empty() {
            self.buffer = vec![0; chunk];
        }
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        wipe::memory(&mut self.buffer);
    }
}
