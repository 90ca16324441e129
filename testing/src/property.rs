//! Properties that hold for any input. Tests check them on inputs that are the same in every run,
//! and fuzz targets search for inputs that break them.

mod nonce_sequence;
#[cfg(feature = "engine")]
mod process;
mod seal_open;
mod streaming_splits;

pub use nonce_sequence::nonce_sequence;
#[cfg(feature = "engine")]
pub use process::process;
pub use seal_open::seal_open;
pub use streaming_splits::streaming_splits;

/// Bytes of an input, which continues with zeros.
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Below 65,536.
    pub fn length(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    pub fn take(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    pub fn choice<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[usize::from(self.byte()) % of.len()]
    }

    /// So many bytes: what is left of the input, again and again.
    pub fn repeated(&mut self, len: usize) -> Vec<u8> {
        let rest = self.take(self.0.len().clamp(1, len.max(1)));
        rest.into_iter().cycle().take(len).collect()
    }
}
