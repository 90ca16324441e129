//! A test case, and running it.

use lanecrypt_ciphers::hazmat::{Ecb, Stream};
use lanecrypt_ciphers::{Algorithm, Error, Isa, Mode};

use super::request::Refusal;

/// A message, and what is to be done with it.
pub(crate) struct Case {
    pub(crate) algorithm: Algorithm,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    /// Byte offset into the keystream.
    pub(crate) skip: u64,
    /// The first block.
    pub(crate) counter: u64,
    /// The sizes of successive calls; none means one call.
    pub(crate) chunks: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Case {
    /// Encrypts the data, call by call.
    pub(crate) fn encrypt(mut self, isa: Isa) -> Result<Vec<u8>, Refusal> {
        let mut data = core::mem::take(&mut self.data);
        let calls = self.calls(data.len())?;
        if self.algorithm.is_stream() {
            let mut stream = self.stream(isa)?;
            each(&mut data, calls, |piece| stream.xor(piece))?;
        } else {
            self.check_position()?;
            let ecb = Ecb::new(isa, self.algorithm, &self.key)?;
            if !self.nonce.is_empty() {
                return Err(Error::NonceLength.into());
            }
            each(&mut data, calls, |piece| ecb.encrypt(piece))?;
        }
        Ok(data)
    }

    /// The stream that the case begins with.
    pub(crate) fn stream(&self, isa: Isa) -> Result<Stream, Refusal> {
        self.check_position()?;
        let mut stream =
            Stream::at_block(isa, self.algorithm, &self.key, &self.nonce, self.counter)?;
        stream.seek(self.skip)?;
        Ok(stream)
    }

    /// Refuses a counter where blocks have none, and a position where there is no stream.
    fn check_position(&self) -> Result<(), Refusal> {
        let counts = match self.algorithm.mode() {
            // The counter of CTR is the nonce itself.
            Mode::Ctr => false,
            _ => self.algorithm.is_seekable(),
        };
        let none = |field| Refusal(format!("{field}: {} has none", self.algorithm));
        if self.counter != 0 && !counts {
            return Err(none("counter"));
        }
        if self.skip != 0 && !self.algorithm.is_stream() {
            return Err(none("skip"));
        }
        Ok(())
    }

    /// The sizes of the calls that take `len` bytes of data.
    fn calls(&self, len: usize) -> Result<&[usize], Refusal> {
        let sum = self.chunks.iter().try_fold(0_usize, |sum, &chunk| sum.checked_add(chunk));
        if self.chunks.is_empty() || sum == Some(len) {
            return Ok(&self.chunks);
        }
        Err(Refusal(String::from("chunks: their sum is not the length of the data")))
    }
}

/// Passes pieces of `data` of the given sizes, which sum up to all of it, or all of it at once if
/// no sizes are given.
fn each(
    mut data: &mut [u8],
    sizes: &[usize],
    mut call: impl FnMut(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    if sizes.is_empty() {
        return call(data);
    }
    for &size in sizes {
        let (piece, rest) = data.split_at_mut(size);
        call(piece)?;
        data = rest;
    }
    Ok(())
}
