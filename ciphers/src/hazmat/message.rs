//! One message in pieces.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{BlockEncrypt, add_to_counter, wipe};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::Padding;
use super::block_modes::{MAX_BLOCK, both, cbc, copy, ecb, first, no_iv, sized};
use super::expanded_key::{ExpandedKey, by_mode, by_mode_of};
use super::legacy::raw_ciphers;
use super::padding::{pad, unpad};
use super::raw_cipher::RawCipher;
use super::running_stream::RunningStream;
use crate::{Buffers, Error, Mode};

/// One message that is encrypted in pieces, see [`RawMessage`].
pub type Encryptor<'c> = RawMessage<'c, true>;
/// One message that is decrypted in pieces, see [`RawMessage`].
pub type Decryptor<'c> = RawMessage<'c, false>;

/// One message that is encrypted or decrypted in pieces, under the key of a [`RawCipher`].
///
/// Any split of the message into calls gives the same bytes. [`apply`](Self::apply) is the fast way
/// for whole blocks and for streams; [`update`](Self::update) and [`finish`](Self::finish) take any
/// pieces. A call that is refused changes nothing, and the message can go on. Bytes that are held
/// back are wiped.
///
/// Where [`Padding::Pkcs7`] is to be removed, the last block so far is always held back, because
/// `finish` must check its end. The warning of [`Padding`] applies.
///
/// ```
/// use lanecrypt_ciphers::hazmat::{RawCipher, Padding};
/// use lanecrypt_ciphers::{Algorithm, Isa};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// let cipher = RawCipher::new(Algorithm::AES_256_CBC, &[7; 32])?;
/// let mut encryptor = cipher.encryptor(&[1; 16], Padding::Pkcs7)?;
/// let mut output = [0; 64];
/// let mut written = 0;
/// for piece in ["one message ", "in several ", "pieces"] {
///     written += encryptor.update(piece.as_bytes(), &mut output[written..])?;
/// }
/// written += encryptor.finish(&mut output[written..])?;
/// assert_eq!(written, 32);
/// # Ok(())
/// # }
/// ```
pub struct RawMessage<'c, const ENCRYPT: bool> {
    cipher: &'c RawCipher,
    padding: Padding,
    finished: bool,
    /// With ECB and CBC, the number of bytes at the front of `part` that are held back: part of a
    /// block, or a whole block that may be the last of a padded message. With CTR, the number of
    /// unused keystream bytes at the end of `part`, less than a block. Otherwise zero.
    left: usize,
    part: [u8; MAX_BLOCK],
    /// The last ciphertext block of CBC, or the next counter block of CTR, at the front.
    chain: [u8; MAX_BLOCK],
    /// The number of blocks that CTR may still count before a counter of 64 bits would repeat.
    blocks: u64,
    /// The state of a stream cipher. `None` with other algorithms.
    running: Option<RunningStream>,
}

/// One message in pieces.
impl RawCipher {
    /// Begins to encrypt a message in pieces.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; [`Error::Unsupported`] if a stream is to be padded, and with XTS,
    /// whose data units cannot be split.
    #[inline]
    pub fn encryptor(&self, iv: &[u8], padding: Padding) -> Result<Encryptor<'_>, Error> {
        RawMessage::new(self, iv, padding, 0)
    }

    /// Begins to encrypt in the middle of a stream, at block `first`: RFC 8439, for example, begins
    /// at block 1. Blocks have [`Primitive::block_size`](crate::Primitive::block_size) bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]; [`Error::KeystreamExhausted`] if there is no such block;
    /// [`Error::Unsupported`] if `first` is not 0 and the algorithm
    /// [does not number its blocks](crate::Algorithm::is_seekable).
    pub fn encryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Encryptor<'_>, Error> {
        RawMessage::new(self, iv, Padding::None, first)
    }

    /// Begins to decrypt a message in pieces.
    ///
    /// # Errors
    ///
    /// Same as [`encryptor`](Self::encryptor).
    #[inline]
    pub fn decryptor(&self, iv: &[u8], padding: Padding) -> Result<Decryptor<'_>, Error> {
        RawMessage::new(self, iv, padding, 0)
    }

    /// Begins to decrypt in the middle of a stream, at block `first`.
    ///
    /// # Errors
    ///
    /// Same as [`encryptor_at_block`](Self::encryptor_at_block).
    pub fn decryptor_at_block(&self, iv: &[u8], first: u64) -> Result<Decryptor<'_>, Error> {
        RawMessage::new(self, iv, Padding::None, first)
    }
}

impl<'c, const ENCRYPT: bool> RawMessage<'c, ENCRYPT> {
    fn new(cipher: &'c RawCipher, iv: &[u8], padding: Padding, first: u64) -> Result<Self, Error> {
        let algorithm = cipher.algorithm();
        // The end of a data unit of XTS changes the block before it, so data units cannot be split.
        let whole = algorithm.mode() == Mode::Xts;
        if whole || padding != Padding::None && algorithm.is_stream() {
            return Err(Error::Unsupported);
        }
        let mut message = Self {
            cipher,
            padding,
            finished: false,
            left: 0,
            part: [0; MAX_BLOCK],
            chain: [0; MAX_BLOCK],
            blocks: 0,
            running: None,
        };
        message.start(iv, first)?;
        Ok(message)
    }

    /// Begins another message, whether or not this one is finished. The padding stays the same, and
    /// a stream begins at block 0.
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]. After an error nothing has changed.
    pub fn restart(&mut self, iv: &[u8]) -> Result<(), Error> {
        self.start(iv, 0)
    }

    /// Begins at block `at`, or refuses and changes nothing.
    #[inline]
    fn start(&mut self, iv: &[u8], at: u64) -> Result<(), Error> {
        let cipher = self.cipher;
        if at != 0 && !cipher.algorithm().is_seekable() {
            return Err(Error::Unsupported);
        }
        by_mode!(&cipher.key,
            cbc cipher => *chain_of(cipher, &mut self.chain) = *sized(iv)?,
            ctr cipher => {
                let counter = sized(iv)?;
                if at == u64::MAX {
                    return Err(Error::KeystreamExhausted);
                }
                let chain = chain_of(cipher, &mut self.chain);
                *chain = *counter;
                if at != 0 {
                    add_to_counter(chain, at);
                }
                self.blocks = u64::MAX - at;
            },
            ecb _cipher => no_iv(iv)?,
            stream key => RunningStream::start(&mut self.running, key, iv, at)?,
            xts _xts => return Err(Error::Unsupported),
            null => no_iv(iv)?,
        );
        self.forget();
        self.finished = false;
        Ok(())
    }

    /// Takes the next bytes: a slice in place, or an [`InOutBuf`] from one buffer to another.
    ///
    /// ECB and CBC take whole blocks; streams and CTR take any number of bytes. The last block of a
    /// message whose padding is to be removed must go through [`update`](Self::update).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `data` is not a whole number of blocks, or if
    /// [`update`](Self::update) holds back part of a block; [`Error::KeystreamExhausted`] if `data`
    /// runs past the end of the keystream; [`Error::Finished`]. After an error nothing has changed.
    #[inline]
    pub fn apply<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        let data = data.in_out();
        if self.finished || self.left != 0 {
            return self.resume(data);
        }
        self.pass(data)
    }

    /// The rest of [`apply`](Self::apply): the message is finished, or part of a block is held
    /// back.
    #[cold]
    fn resume(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        if self.finished {
            Err(Error::Finished)
        } else if self.cipher.algorithm().mode() == Mode::Ctr {
            self.pass(data)
        } else if data.is_empty() {
            Ok(())
        } else {
            Err(Error::DataLength)
        }
    }

    /// Encrypts or decrypts the next bytes; ECB and CBC take whole blocks.
    fn pass(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
        let cipher = self.cipher;
        by_mode!(&cipher.key,
            cbc cipher => cbc::<ENCRYPT, _, _>(cipher, first(&mut self.chain), data),
            ctr cipher => self.count(cipher, data),
            ecb cipher => ecb::<ENCRYPT, _, _>(cipher, data),
            stream _key => match &mut self.running {
                Some(running) => running.xor(data),
                None => Err(Error::Finished),
            },
            xts _xts => Err(Error::Unsupported),
            null => {
                copy(data);
                Ok(())
            },
        )
    }

    /// Counter mode on whole blocks, if no part of a block is left over.
    #[inline]
    fn count<C: BlockEncrypt<N>, const N: usize>(
        &mut self,
        cipher: &C,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        if self.left != 0 || !data.len().is_multiple_of(N) {
            return self.count_parts(cipher, data);
        }
        self.claim((data.len() / N) as u64)?;
        cipher.ctr(first(&mut self.chain), data);
        Ok(())
    }

    /// Counter mode on any number of bytes.
    #[inline(never)]
    fn count_parts<C: BlockEncrypt<N>, const N: usize>(
        &mut self,
        cipher: &C,
        data: InOutBuf<'_, '_, u8>,
    ) -> Result<(), Error> {
        let len = data.len();
        self.claim(len.saturating_sub(self.left).div_ceil(N) as u64)?;
        let (mut head, tail) = data.split_at(self.left.min(len));
        let len = head.len();
        head.xor_in2out(&self.part[N - self.left..][..len]);
        self.left -= len;
        let len = tail.len();
        let (body, mut end) = tail.split_at(len - len % N);
        if !body.is_empty() {
            cipher.ctr(first(&mut self.chain), body);
        }
        let len = end.len();
        if len != 0 {
            cipher.ctr_keystream(first(&mut self.chain), &mut self.part[..N]);
            end.xor_in2out(&self.part[..len]);
            self.left = N - len;
        }
        Ok(())
    }

    /// Counts the next blocks, or refuses them.
    #[inline]
    fn claim(&mut self, blocks: u64) -> Result<(), Error> {
        self.blocks = self.blocks.checked_sub(blocks).ok_or(Error::KeystreamExhausted)?;
        Ok(())
    }

    /// Takes the next bytes of a message that is split anywhere, and returns the number of bytes
    /// written to the front of `output`.
    ///
    /// With ECB and CBC, an incomplete block is held back, and where padding is to be removed also
    /// a whole block that may be the last one. With streams and CTR nothing is held back.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if `output` is too short (a block more than `input` is always
    /// enough); [`Error::KeystreamExhausted`]; [`Error::Finished`]. After an error nothing has
    /// changed.
    pub fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let algorithm = self.cipher.algorithm();
        if algorithm.is_stream() {
            let output = output.get_mut(..input.len()).ok_or(Error::OutputLength)?;
            self.pass(both(input, output)?)?;
            return Ok(input.len());
        }
        let block = algorithm.granularity();
        let total = self.left + input.len();
        let keep = match total % block {
            // It may be the last block, which ends with padding.
            0 if self.unpads() && total != 0 => block,
            rest => rest,
        };
        let written = total - keep;
        let mut output = output.get_mut(..written).ok_or(Error::OutputLength)?;
        let mut input = input;
        if written != 0 && self.left != 0 {
            let (fill, rest) = input.split_at(block - self.left);
            let (front, behind) = output.split_at_mut(block);
            self.part[self.left..block].copy_from_slice(fill);
            front.copy_from_slice(&self.part[..block]);
            self.forget();
            self.pass(front.into())?;
            (input, output) = (rest, behind);
        }
        let (body, rest) = input.split_at(output.len());
        self.pass(both(body, output)?)?;
        self.part[self.left..][..rest.len()].copy_from_slice(rest);
        self.left += rest.len();
        Ok(written)
    }

    /// Ends the message, and returns the number of bytes written. With padding, writes the last,
    /// padded block, or the bytes of the last block before the padding; without padding, writes
    /// nothing. Afterwards every call returns [`Error::Finished`] until [`restart`](Self::restart).
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if part of a block is held back and there is no padding, or if nothing
    /// is and there must be padding; [`Error::Padding`] if the message does not end with padding;
    /// [`Error::OutputLength`] if there is padding and `output` is shorter than a block, all of
    /// which is written. The message can go on then.
    pub fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let algorithm = self.cipher.algorithm();
        let block = algorithm.granularity();
        let written = match self.padding {
            _ if algorithm.is_stream() => 0,
            Padding::None if self.left != 0 => return Err(Error::DataLength),
            Padding::None => 0,
            Padding::Pkcs7 if !ENCRYPT && self.left != block => return Err(Error::DataLength),
            Padding::Pkcs7 => {
                let output = output.get_mut(..block).ok_or(Error::OutputLength)?;
                if ENCRYPT { self.finish_padded(output)? } else { self.finish_unpadded(output)? }
            }
        };
        self.forget();
        self.finished = true;
        Ok(written)
    }

    /// `output` is one block.
    fn finish_padded(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        let size = output.len();
        let mut padded = pad(&self.part[..self.left], size);
        output.copy_from_slice(&padded[..size]);
        wipe::memory(&mut padded);
        self.pass(output.into())?;
        Ok(size)
    }

    /// `output` is a block. All of it is written, whatever the padding is.
    fn finish_unpadded(&mut self, output: &mut [u8]) -> Result<usize, Error> {
        let (chain, size) = (self.chain, output.len());
        let mut last = Zeroizing::new(self.part);
        self.pass((&mut last[..size]).into())?;
        let written = unpad(&last[..size]).inspect_err(|_| self.chain = chain)?;
        output.copy_from_slice(&last[..size]);
        Ok(written)
    }

    /// Whether the message ends with padding that must be checked.
    fn unpads(&self) -> bool {
        !ENCRYPT && self.padding == Padding::Pkcs7
    }

    /// Wipes the bytes that are held back.
    #[inline]
    fn forget(&mut self) {
        self.left = 0;
        wipe::memory(&mut self.part);
    }
}

/// The part of `chain` that `cipher` uses.
#[inline]
fn chain_of<'a, C: BlockEncrypt<N>, const N: usize>(
    _cipher: &C,
    chain: &'a mut [u8; MAX_BLOCK],
) -> &'a mut [u8; N] {
    first(chain)
}

impl<const ENCRYPT: bool> fmt::Debug for RawMessage<'_, ENCRYPT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if ENCRYPT { "Encryptor" } else { "Decryptor" };
        f.debug_struct(name).field("algorithm", &self.cipher.algorithm()).finish_non_exhaustive()
    }
}

impl<const ENCRYPT: bool> Drop for RawMessage<'_, ENCRYPT> {
    fn drop(&mut self) {
        // Streams wipe themselves. Chains and counters are public.
        wipe::memory(&mut self.part);
    }
}

impl<const ENCRYPT: bool> ZeroizeOnDrop for RawMessage<'_, ENCRYPT> {}
