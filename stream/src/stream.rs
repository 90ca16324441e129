//! Single chunks, by their numbers.

use core::fmt;

use lanecrypt_ciphers::{Algorithm, Buffers, Cipher, Error};

use crate::ChunkCipher;

/// The bytes of a nonce behind the prefix: the number of the chunk, and whether it is the last one.
const OVERHEAD: usize = 5;

/// The longest nonce of any algorithm.
const LONGEST_NONCE: usize = 32;

/// The shortest tag.
const TAG: usize = 16;

/// The length in bytes of the prefix of a stream's nonces, 5 bytes less than that of nonces: 7 for
/// AES-GCM and ChaCha20-Poly1305, 19 for XChaCha20-Poly1305; 0 if the algorithm seals no streams.
#[must_use]
pub const fn prefix_length(algorithm: Algorithm) -> usize {
    let length = algorithm.nonce_length();
    if !algorithm.is_aead()
        || algorithm.needs_random_nonces()
        || length <= OVERHEAD
        || length > LONGEST_NONCE
    {
        return 0;
    }
    length - OVERHEAD
}

/// A cipher and the prefix of one stream: seals and opens its chunks, in any order.
///
/// It has no state, so that threads may share it. **Each number must be sealed once.** What numbers
/// the chunks in order is [`ChunkSealer`](crate::ChunkSealer) and
/// [`ChunkOpener`](crate::ChunkOpener).
pub struct Stream<C = Cipher> {
    cipher: C,
    /// Prefix, and room for the rest.
    nonce: [u8; LONGEST_NONCE],
    prefix: usize,
}

impl<C: ChunkCipher> Stream<C> {
    /// A stream under the key of `cipher`, with this prefix of its nonces. **The prefix must not
    /// have been used before under this key**: see [the crate](crate#prefixes).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the algorithm needs random nonces (CBC with an HMAC);
    /// [`Error::TagLength`] if tags were set to less than 16 bytes; [`Error::NonceLength`] if the
    /// prefix does not have [`prefix_length`] bytes.
    pub fn new(cipher: C, prefix: &[u8]) -> Result<Self, Error> {
        let length = prefix_length(cipher.algorithm());
        if length == 0 {
            return Err(Error::Unsupported);
        }
        if cipher.tag_length() < TAG {
            return Err(Error::TagLength);
        }
        if prefix.len() != length {
            return Err(Error::NonceLength);
        }
        let mut nonce = [0; LONGEST_NONCE];
        nonce[..length].copy_from_slice(prefix);
        Ok(Self { cipher, nonce, prefix: length })
    }

    /// The length of a chunk's tag in bytes.
    #[must_use]
    pub fn tag_length(&self) -> usize {
        self.cipher.tag_length()
    }

    /// Encrypts the chunk `number`, a slice in place or an
    /// [`InOutBuf`](lanecrypt_ciphers::InOutBuf) from one buffer to another, and writes its tag.
    /// `last` means that no chunk follows.
    ///
    /// # Errors
    ///
    /// Those of [`Cipher::seal_detached`]. After an error nothing has changed.
    #[inline]
    pub fn seal_chunk<'i, 'o>(
        &self,
        number: u32,
        last: bool,
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let (nonce, length) = self.nonce(number, last);
        self.cipher.seal(&nonce[..length], aad, data.in_out(), tag)
    }

    /// Decrypts the chunk `number`, if it was sealed as such, and as the last one or not.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`]: the output has been wiped. Otherwise those of
    /// [`Cipher::open_detached`], after which nothing has changed.
    #[inline]
    pub fn open_chunk<'i, 'o>(
        &self,
        number: u32,
        last: bool,
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let (nonce, length) = self.nonce(number, last);
        self.cipher.open(&nonce[..length], aad, data.in_out(), tag)
    }

    /// The nonce of a chunk, and how many of the bytes are it.
    fn nonce(&self, number: u32, last: bool) -> ([u8; LONGEST_NONCE], usize) {
        let mut nonce = self.nonce;
        nonce[self.prefix..][..4].copy_from_slice(&number.to_be_bytes());
        nonce[self.prefix + 4] = u8::from(last);
        (nonce, self.prefix + OVERHEAD)
    }
}

/// Without key and prefix.
impl<C: ChunkCipher> fmt::Debug for Stream<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithm = self.cipher.algorithm();
        f.debug_struct("Stream").field("algorithm", &algorithm).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_five_bytes_shorter_than_a_nonce() {
        assert_eq!(prefix_length(Algorithm::AES_128_GCM), 7);
        assert_eq!(prefix_length(Algorithm::AES_256_GCM), 7);
        assert_eq!(prefix_length(Algorithm::CHACHA20_POLY1305), 7);
        assert_eq!(prefix_length(Algorithm::XCHACHA20_POLY1305), 19);
        for algorithm in Algorithm::ALL.iter().copied() {
            let is_served = prefix_length(algorithm) != 0;
            assert_eq!(is_served, algorithm.is_aead() && !algorithm.needs_random_nonces());
            assert!(!is_served || prefix_length(algorithm) + 5 == algorithm.nonce_length());
        }
    }

    #[test]
    fn a_nonce_is_prefix_number_and_flag() {
        let cipher = Cipher::new(Algorithm::AES_128_GCM, &[1; 16]).expect("a key");
        let stream = Stream::new(cipher, &[9; 7]).expect("a prefix");
        let (nonce, length) = stream.nonce(0x0102_0304, true);
        assert_eq!(nonce[..length], [9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 4, 1]);
        let (nonce, length) = stream.nonce(u32::MAX, false);
        assert_eq!(nonce[..length], [9, 9, 9, 9, 9, 9, 9, 255, 255, 255, 255, 0]);
    }
}
