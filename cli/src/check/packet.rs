//! A message to seal or open: ciphertext followed by its tag.

use lanecrypt_ciphers::{Algorithm, Cipher, Error, Isa};
use zeroize::Zeroize as _;

use super::calls;
use super::refusal::Refusal;

/// The operation on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    Seal,
}

/// A message, or a sealed one with its tag, and the operation on it.
pub(crate) struct Packet {
    pub(crate) algorithm: Algorithm,
    pub(crate) way: Way,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    /// The length of the tag in bytes.
    pub(crate) tag: usize,
    /// The sizes of successive calls; an empty list means one call with the whole message.
    pub(crate) chunks: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Packet {
    /// Seals or opens the data.
    pub(crate) fn run(mut self, isa: Isa) -> Result<Vec<u8>, Refusal> {
        let data = core::mem::take(&mut self.data);
        let mut cipher = Cipher::with_isa(isa, self.algorithm, &self.key)?;
        cipher.set_tag_length(self.tag)?;
        match self.way {
            Way::Open => self.open(&cipher, data),
            Way::Seal => self.seal(&cipher, data),
        }
    }

    fn seal(&self, cipher: &Cipher, mut data: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let len = data.len();
        calls::check(&self.chunks, len)?;
        data.resize(len + self.tag, 0);
        if self.chunks.is_empty() {
            cipher.seal(&self.nonce, &self.aad, &mut data)?;
            return Ok(data);
        }
        let (mut rest, tag) = data.split_at_mut(len);
        let mut sealer = cipher.sealer(&self.nonce)?;
        sealer.associate(&self.aad)?;
        for size in calls::sizes(&self.chunks, len) {
            let (piece, after) = rest.split_at_mut(size);
            sealer.encrypt(piece)?;
            rest = after;
        }
        sealer.finish(tag)?;
        Ok(data)
    }

    fn open(&self, cipher: &Cipher, mut data: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let whole = data.len();
        let len = whole.checked_sub(self.tag);
        // The sizes may include the tag or not.
        if len.is_none() || calls::sum(&self.chunks) != len {
            calls::check(&self.chunks, whole)?;
        }
        let len = len.ok_or(Error::Authentication)?;
        if self.chunks.is_empty() {
            cipher.open(&self.nonce, &self.aad, &mut data)?;
            data.truncate(len);
            return Ok(data);
        }
        let tag = data.split_off(len);
        let mut opener = cipher.opener(&self.nonce)?;
        opener.associate(&self.aad)?;
        let mut rest = data.as_mut_slice();
        for size in calls::sizes(&self.chunks, whole) {
            let (piece, after) = rest.split_at_mut(size.min(rest.len()));
            opener.decrypt_unverified(piece)?;
            rest = after;
        }
        match opener.finish(&tag) {
            Ok(()) => Ok(data),
            Err(error) => {
                data.zeroize();
                Err(error.into())
            }
        }
    }
}
