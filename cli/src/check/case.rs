//! A message to encrypt or decrypt, without authentication.

use lanecrypt_ciphers::hazmat::{Padding, RawCipher, Stream};
use lanecrypt_ciphers::{Algorithm, Error, Isa, Mode};

use super::calls;
use super::refusal::Refusal;

/// The operation on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// A message and the operation on it.
pub(crate) struct Case {
    pub(crate) algorithm: Algorithm,
    pub(crate) direction: Direction,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    /// Byte offset into the keystream.
    pub(crate) skip: u64,
    /// The number of the first block.
    pub(crate) counter: u64,
    /// The sizes of successive calls; an empty list means one call.
    pub(crate) chunks: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Case {
    /// Encrypts or decrypts the data, call by call.
    pub(crate) fn run(mut self, isa: Isa) -> Result<Vec<u8>, Refusal> {
        let data = core::mem::take(&mut self.data);
        calls::check(&self.chunks, data.len())?;
        if self.algorithm.is_stream() {
            self.run_stream(isa, data)
        } else if self.algorithm.mode() == Mode::Xts {
            self.run_data_unit(isa, data)
        } else {
            self.run_blocks(isa, &data)
        }
    }

    /// Both directions are the same.
    fn run_stream(&self, isa: Isa, mut data: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let mut stream = self.stream(isa)?;
        let mut rest = data.as_mut_slice();
        for size in calls::sizes(&self.chunks, rest.len()) {
            let (piece, after) = rest.split_at_mut(size);
            stream.xor(piece)?;
            rest = after;
        }
        Ok(data)
    }

    /// One call for the whole message.
    fn run_data_unit(&self, isa: Isa, mut data: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        self.check_position()?;
        if self.chunks.len() > 1 {
            return Err(Refusal(format!("chunks: {} takes one call", self.algorithm)));
        }
        let cipher = RawCipher::with_isa(isa, self.algorithm, &self.key)?;
        match self.direction {
            Direction::Encrypt => cipher.encrypt(&self.nonce, &mut data[..])?,
            Direction::Decrypt => cipher.decrypt(&self.nonce, &mut data[..])?,
        }
        Ok(data)
    }

    /// Calls may split blocks.
    fn run_blocks(&self, isa: Isa, data: &[u8]) -> Result<Vec<u8>, Refusal> {
        self.check_position()?;
        let cipher = RawCipher::with_isa(isa, self.algorithm, &self.key)?;
        let mut out = vec![0; data.len()];
        match self.direction {
            Direction::Encrypt => {
                let mut encryptor = cipher.encryptor(&self.nonce, Padding::None)?;
                let at = self.pass(data, &mut out, |from, to| encryptor.update(from, to))?;
                encryptor.finish(&mut out[at..])?;
            }
            Direction::Decrypt => {
                let mut decryptor = cipher.decryptor(&self.nonce, Padding::None)?;
                let at = self.pass(data, &mut out, |from, to| decryptor.update(from, to))?;
                decryptor.finish(&mut out[at..])?;
            }
        }
        Ok(out)
    }

    /// Passes the data to `call`, piece by piece. `call` returns the number of bytes that it has
    /// written to `out`.
    fn pass(
        &self,
        mut data: &[u8],
        out: &mut [u8],
        mut call: impl FnMut(&[u8], &mut [u8]) -> Result<usize, Error>,
    ) -> Result<usize, Error> {
        let mut at = 0;
        for size in calls::sizes(&self.chunks, data.len()) {
            let (piece, rest) = data.split_at(size);
            at += call(piece, &mut out[at..])?;
            data = rest;
        }
        Ok(at)
    }

    /// The stream at the position where the case begins.
    pub(crate) fn stream(&self, isa: Isa) -> Result<Stream, Refusal> {
        self.check_position()?;
        let mut stream =
            Stream::at_block(isa, self.algorithm, &self.key, &self.nonce, self.counter)?;
        stream.seek(self.skip)?;
        Ok(stream)
    }

    /// Refuses a counter if blocks have no number, and an offset if there is no keystream.
    fn check_position(&self) -> Result<(), Refusal> {
        let counts = match self.algorithm.mode() {
            // In CTR mode the nonce is the counter.
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
}
