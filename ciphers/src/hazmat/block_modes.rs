//! The modes of raw ciphers on bytes: lengths are checked here, and nowhere below.

use inout::InOutBuf;
use lanecrypt_kernels::xts::{LONGEST, SHORTEST};
use lanecrypt_kernels::{BlockCipher, into_blocks};

use crate::Error;

/// The largest block of any block cipher of the table, in bytes.
pub(super) const MAX_BLOCK: usize = 16;

/// Encrypts or decrypts whole blocks, each on its own.
#[inline]
pub(super) fn ecb<const ENCRYPT: bool, C: BlockCipher<N>, const N: usize>(
    cipher: &C,
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let (blocks, rest) = into_blocks(data);
    if !rest.is_empty() {
        return Err(Error::DataLength);
    }
    if ENCRYPT {
        cipher.encrypt(blocks);
    } else {
        cipher.decrypt(blocks);
    }
    Ok(())
}

/// Encrypts or decrypts a chain of whole blocks. `chain` is the ciphertext block before them.
#[inline]
pub(super) fn cbc<const ENCRYPT: bool, C: BlockCipher<N>, const N: usize>(
    cipher: &C,
    chain: &mut [u8; N],
    data: InOutBuf<'_, '_, u8>,
) -> Result<(), Error> {
    let (blocks, rest) = into_blocks(data);
    if !rest.is_empty() {
        return Err(Error::DataLength);
    }
    if ENCRYPT {
        cipher.cbc_encrypt(chain, blocks);
    } else {
        cipher.cbc_decrypt(chain, blocks);
    }
    Ok(())
}

/// The first `N` bytes of an array that has room for the largest block.
#[inline]
pub(super) fn first<const N: usize>(bytes: &mut [u8; MAX_BLOCK]) -> &mut [u8; N] {
    const { assert!(N <= MAX_BLOCK) };
    bytes.first_chunk_mut().expect("asserted: no block is larger")
}

/// An initialization vector, a first counter block or a nonce.
#[inline]
pub(super) fn sized<const N: usize>(iv: &[u8]) -> Result<&[u8; N], Error> {
    iv.try_into().map_err(|_| Error::NonceLength)
}

/// Refuses an initialization vector for a mode that has none.
#[inline]
pub(super) fn no_iv(iv: &[u8]) -> Result<(), Error> {
    if iv.is_empty() { Ok(()) } else { Err(Error::NonceLength) }
}

/// Refuses lengths that a data unit cannot have (NIST SP 800-38E, section 4).
#[inline]
pub(super) fn data_unit(length: usize) -> Result<(), Error> {
    if (SHORTEST..=LONGEST).contains(&length) { Ok(()) } else { Err(Error::DataLength) }
}

/// The null cipher: it copies from one buffer to another, and does nothing in place.
#[inline]
pub(super) fn copy(data: InOutBuf<'_, '_, u8>) {
    let _copied = data.into_out_with_copied_in();
}

/// Input and output, which must have the same length.
#[inline]
pub(super) fn both<'i, 'o>(
    input: &'i [u8],
    output: &'o mut [u8],
) -> Result<InOutBuf<'i, 'o, u8>, Error> {
    InOutBuf::new(input, output).map_err(|_| Error::OutputLength)
}
