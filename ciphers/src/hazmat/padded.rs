//! Whole messages with padding.

use zeroize::Zeroizing;

use super::block_modes::{MAX_BLOCK, both};
use super::padding::{pad, padding_byte, unpad};
use super::raw_cipher::RawCipher;
use crate::{Error, Mode};

/// Padding of PKCS #7 (RFC 5652, section 6.3), only with ECB and CBC. The warning of
/// [`Padding`](super::Padding) applies.
impl RawCipher {
    /// Encrypts one whole message of any length with padding, from one buffer to another, and
    /// returns the number of bytes written: the length of `input` rounded up to the next multiple
    /// of a block. Whole blocks grow by one block.
    ///
    /// ```compile_fail,E0502
    /// # use lanecrypt_ciphers::{Algorithm, Isa, hazmat::RawCipher};
    /// # let cipher = RawCipher::new(Algorithm::AES_128_CBC, &[7; 16]).unwrap();
    /// let mut data = [0; 48];
    /// cipher.encrypt_padded(&[0; 16], &data[..31], &mut data).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] in other modes; [`Error::NonceLength`]; [`Error::OutputLength`] if
    /// `output` is too short. After an error nothing has changed.
    pub fn encrypt_padded(
        &self,
        iv: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Error> {
        let block = self.check_padded(iv)?;
        let (body, rest) = input.split_at(input.len() - input.len() % block);
        let written = body.len() + block;
        let output = output.get_mut(..written).ok_or(Error::OutputLength)?;
        let (front, last) = output.split_at_mut(body.len());
        self.whole::<true>(iv, both(body, front)?)?;
        let padded = Zeroizing::new(pad(rest, block));
        last.copy_from_slice(&padded[..block]);
        self.whole::<true>(self.chain(iv, front, block), last.into())?;
        Ok(written)
    }

    /// Encrypts one whole message with padding in place. The message is the first `len` bytes of
    /// `buffer`, and the padding follows. Returns the number of bytes written, like
    /// [`encrypt_padded`](Self::encrypt_padded).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] in other modes; [`Error::NonceLength`]; [`Error::OutputLength`] if
    /// `buffer` has no room for the padding. After an error nothing has changed.
    pub fn encrypt_padded_in_place(
        &self,
        iv: &[u8],
        buffer: &mut [u8],
        len: usize,
    ) -> Result<usize, Error> {
        let block = self.check_padded(iv)?;
        let padding = padding_byte(block, len);
        let written = len.checked_add(usize::from(padding)).ok_or(Error::OutputLength)?;
        let padded = buffer.get_mut(..written).ok_or(Error::OutputLength)?;
        padded[len..].fill(padding);
        self.whole::<true>(iv, padded.into())?;
        Ok(written)
    }

    /// Decrypts one whole message with padding, from one buffer to another, and returns the number
    /// of bytes before the padding, which is less than the length of `input`.
    ///
    /// `output` must be at least as long as `input`: the padding is written too, so that the length
    /// of the padding does not affect what is written.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] in other modes; [`Error::NonceLength`]; [`Error::DataLength`] if
    /// `input` is empty or not a whole number of blocks; [`Error::OutputLength`] if `output` is
    /// shorter; [`Error::Padding`] if the message does not end with padding. After an error nothing
    /// has changed.
    pub fn decrypt_padded(
        &self,
        iv: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Error> {
        let block = self.check_padded(iv)?;
        let body = check_whole(input.len(), block)?;
        let output = output.get_mut(..input.len()).ok_or(Error::OutputLength)?;
        let mut last = Zeroizing::new([0; MAX_BLOCK]);
        let left = self.open_last(iv, input, &mut last[..block])?;
        let (front, end) = output.split_at_mut(body);
        self.whole::<false>(iv, both(&input[..body], front)?)?;
        end.copy_from_slice(&last[..block]);
        Ok(body + left)
    }

    /// Decrypts one whole message with padding in place, and returns the number of bytes before the
    /// padding, which is decrypted too.
    ///
    /// # Errors
    ///
    /// Same as [`decrypt_padded`](Self::decrypt_padded), except for the length of the output.
    pub fn decrypt_padded_in_place(&self, iv: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
        let block = self.check_padded(iv)?;
        let body = check_whole(buffer.len(), block)?;
        let mut last = Zeroizing::new([0; MAX_BLOCK]);
        let left = self.open_last(iv, buffer, &mut last[..block])?;
        let (front, end) = buffer.split_at_mut(body);
        self.whole::<false>(iv, front.into())?;
        end.copy_from_slice(&last[..block]);
        Ok(body + left)
    }

    /// Decrypts the last block before all others, so that nothing is written if the padding is
    /// wrong.
    fn open_last(&self, iv: &[u8], message: &[u8], last: &mut [u8]) -> Result<usize, Error> {
        let (front, end) = message.split_at(message.len() - last.len());
        let chain = self.chain(iv, front, last.len());
        self.whole::<false>(chain, both(end, last)?)?;
        unpad(last)
    }

    /// The block that is XORed with the block after `ciphertext`; empty with ECB.
    fn chain<'a>(&self, iv: &'a [u8], ciphertext: &'a [u8], block: usize) -> &'a [u8] {
        match self.algorithm().mode() {
            Mode::Cbc if !ciphertext.is_empty() => &ciphertext[ciphertext.len() - block..],
            _ => iv,
        }
    }

    /// The length of a block, if this mode can be padded and `iv` has the right length.
    fn check_padded(&self, iv: &[u8]) -> Result<usize, Error> {
        let algorithm = self.algorithm();
        if !matches!(algorithm.mode(), Mode::Cbc | Mode::Ecb) {
            Err(Error::Unsupported)
        } else if iv.len() != algorithm.nonce_length() {
            Err(Error::NonceLength)
        } else {
            Ok(algorithm.granularity())
        }
    }
}

/// The number of bytes before the last block of a message of `len` bytes.
fn check_whole(len: usize, block: usize) -> Result<usize, Error> {
    if len.is_multiple_of(block) {
        len.checked_sub(block).ok_or(Error::DataLength)
    } else {
        Err(Error::DataLength)
    }
}
