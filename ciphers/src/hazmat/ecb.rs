//! The block function of a block cipher, block by block.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::Isa;
use lanecrypt_kernels::aes::Aes;
use zeroize::ZeroizeOnDrop;

use crate::{Algorithm, Error, Mode, Primitive};

/// Bytes of a block; all block ciphers of the table have the same.
const BLOCK: usize = 16;

/// One keyed block cipher, of which only the forward direction is built in.
pub struct Ecb(Core);

enum Core {
    Aes128(Aes<128>),
    Aes192(Aes<192>),
    Aes256(Aes<256>),
}

impl Ecb {
    /// Expands `key`.
    ///
    /// # Errors
    ///
    /// [`Error::KeyLength`], or [`Error::Unsupported`] if `algorithm` is not in ECB mode.
    pub fn new(isa: Isa, algorithm: Algorithm, key: &[u8]) -> Result<Self, Error> {
        if algorithm.mode() != Mode::Ecb {
            return Err(Error::Unsupported);
        }
        let wrong = |_| Error::KeyLength;
        Ok(Self(match algorithm.primitive() {
            Primitive::Aes128 => Core::Aes128(Aes::<128>::new(isa, key.try_into().map_err(wrong)?)),
            Primitive::Aes192 => Core::Aes192(Aes::<192>::new(isa, key.try_into().map_err(wrong)?)),
            Primitive::Aes256 => Core::Aes256(Aes::<256>::new(isa, key.try_into().map_err(wrong)?)),
            _ => return Err(Error::Unsupported),
        }))
    }

    /// Encrypts whole blocks in place.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `data` are not whole blocks of 16 bytes; they are unchanged then.
    pub fn encrypt(&self, data: &mut [u8]) -> Result<(), Error> {
        match data.as_chunks_mut::<BLOCK>() {
            (blocks, []) => self.blocks(blocks.into()),
            _ => return Err(Error::DataLength),
        }
        Ok(())
    }

    /// Encrypts whole blocks from one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::DataLength`] if `input` are not whole blocks of 16 bytes or `output` is not
    /// exactly as long; nothing is written then.
    pub fn encrypt_to(&self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let (input, []) = input.as_chunks::<BLOCK>() else { return Err(Error::DataLength) };
        let (output, []) = output.as_chunks_mut::<BLOCK>() else { return Err(Error::DataLength) };
        self.blocks(InOutBuf::new(input, output).map_err(|_| Error::DataLength)?);
        Ok(())
    }

    fn blocks(&self, blocks: InOutBuf<'_, '_, [u8; BLOCK]>) {
        match &self.0 {
            Core::Aes128(cipher) => cipher.encrypt(blocks),
            Core::Aes192(cipher) => cipher.encrypt(blocks),
            Core::Aes256(cipher) => cipher.encrypt(blocks),
        }
    }
}

impl fmt::Debug for Ecb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ecb").finish_non_exhaustive()
    }
}

impl ZeroizeOnDrop for Ecb {}
