//! One message in pieces: the common part of encrypting and decrypting.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{BlockEncrypt, add_to_counter, wipe};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::Padding;
use super::block_modes::{MAX_BLOCK, both, cbc, copy, ecb, first, no_iv, sized};
use super::expanded_key::{ExpandedKey, by_mode, by_mode_of};
use super::padding::{pad, unpad};
use super::raw_cipher::RawCipher;
use super::running_stream::RunningStream;
use super::table::raw_ciphers;
use crate::{Error, Mode};

/// The state of one message that is encrypted or decrypted.
pub(super) struct MessageState<'c, const ENCRYPT: bool> {
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

impl<'c, const ENCRYPT: bool> MessageState<'c, ENCRYPT> {
    pub(super) fn new(
        cipher: &'c RawCipher,
        iv: &[u8],
        padding: Padding,
        first: u64,
    ) -> Result<Self, Error> {
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

    pub(super) fn restart(&mut self, iv: &[u8]) -> Result<(), Error> {
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

    #[inline]
    pub(super) fn apply(&mut self, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
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

    /// Encrypts or decrypts all whole blocks, and holds the rest back.
    pub(super) fn update(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Error> {
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

    /// Writes the bytes that are held back, with padding or without, and ends the message.
    pub(super) fn finish(&mut self, output: &mut [u8]) -> Result<usize, Error> {
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

impl<const ENCRYPT: bool> fmt::Debug for MessageState<'_, ENCRYPT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if ENCRYPT { "Encryptor" } else { "Decryptor" };
        f.debug_struct(name).field("algorithm", &self.cipher.algorithm()).finish_non_exhaustive()
    }
}

impl<const ENCRYPT: bool> Drop for MessageState<'_, ENCRYPT> {
    fn drop(&mut self) {
        // Streams wipe themselves. Chains and counters are public.
        wipe::memory(&mut self.part);
    }
}

impl<const ENCRYPT: bool> ZeroizeOnDrop for MessageState<'_, ENCRYPT> {}
