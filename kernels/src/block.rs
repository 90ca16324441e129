//! The interface of block ciphers, at the granularity of a request.

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::{Isa, opaque};

/// A keyed block cipher with blocks of `N` bytes: the forward direction, and the modes that need
/// only that.
///
/// The key schedule is wiped on drop. Every method works on whole requests: one dispatch on the
/// instruction set per call, never per block. Requests read the key only, so that any number of
/// threads can share it.
pub trait BlockEncrypt<const N: usize>: Sized + ZeroizeOnDrop {
    /// The key, parsed from bytes once; every key size of the cipher.
    type Key;

    /// A place for a key: call [`set_key`](Self::set_key) before any other method.
    ///
    /// It is for a cipher that is part of a larger value: a key that is expanded in place leaves no
    /// copy elsewhere, and a copy costs as much as the expansion.
    fn empty(isa: Isa) -> Self;

    /// Expands `key` for the kernels of `isa`.
    #[inline]
    fn new(isa: Isa, key: &Self::Key) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set_key(key);
        cipher
    }

    /// Expands another key in the place of the current one, for the same kernels.
    ///
    /// Cheaper than a new cipher, because overwritten data need no wiping.
    fn set_key(&mut self, key: &Self::Key);

    /// Encrypts each block by itself (ECB; NIST SP 800-38A, section 6.1), in place or from one
    /// buffer to another.
    fn encrypt(&self, blocks: InOutBuf<'_, '_, [u8; N]>);

    /// Encrypts a chain of blocks (CBC; NIST SP 800-38A, section 6.2).
    ///
    /// `iv` is XORed into the first block; afterwards it is the last ciphertext block, so that the
    /// next call continues the chain.
    fn cbc_encrypt(&self, iv: &mut [u8; N], blocks: InOutBuf<'_, '_, [u8; N]>);

    /// XORs the counter keystream into `data` (CTR; NIST SP 800-38A, section 6.5).
    ///
    /// `counter` is the first counter block, a big-endian number that wraps as a whole; afterwards
    /// it is the first unused one. The rest of an incomplete last block is dropped.
    fn ctr(&self, counter: &mut [u8; N], data: InOutBuf<'_, '_, u8>);

    /// Writes the keystream of [`ctr`](Self::ctr) over `out`, which is never read.
    fn ctr_keystream(&self, counter: &mut [u8; N], out: &mut [u8]);
}

/// A block cipher in both directions.
pub trait BlockCipher<const N: usize>: BlockEncrypt<N> {
    /// Decrypts each block by itself (ECB), in place or from one buffer to another.
    fn decrypt(&self, blocks: InOutBuf<'_, '_, [u8; N]>);

    /// Decrypts a chain of blocks (CBC; NIST SP 800-38A, section 6.2).
    ///
    /// `iv` is XORed into the first decrypted block; afterwards it is the last ciphertext block, so
    /// that the next call continues the chain.
    fn cbc_decrypt(&self, iv: &mut [u8; N], blocks: InOutBuf<'_, '_, [u8; N]>);
}

/// Cuts data into whole blocks and the rest, fewer than `N` bytes.
#[must_use]
#[inline]
pub fn into_blocks<'i, 'o, const N: usize>(
    data: InOutBuf<'i, 'o, u8>,
) -> (InOutBuf<'i, 'o, [u8; N]>, InOutBuf<'i, 'o, u8>) {
    const { assert!(N > 0) };
    let len = data.len();
    let (whole, rest) = data.split_at(len - len % N);
    let (input, output) = whole.into_raw();
    // The compiler would otherwise load it and the next pointer together into a vector register.
    // Such a load waits when its halves have just been stored one by one, as arguments are. It
    // costs 20 cycles a call.
    let input = opaque::pointer(input);
    // SAFETY: both pointers are valid for `len / N * N` bytes, for the lifetimes that the buffer
    // had; arrays of bytes have the alignment of bytes and no invalid values.
    let blocks = unsafe { InOutBuf::from_raw(input.cast(), output.cast(), len / N) };
    (blocks, rest)
}

/// The same data, with separate loads of the two pointers and the length, as in [`into_blocks`]:
/// for a buffer that lies in memory and may just have been stored there.
#[must_use]
#[inline(always)]
pub fn in_parts<'i, 'o>(data: InOutBuf<'i, 'o, u8>) -> InOutBuf<'i, 'o, u8> {
    let len = data.len();
    let (input, output) = data.into_raw();
    // This hides the middle one, which also separates the other two.
    let output = opaque::pointer(output.cast_const()).cast_mut();
    // SAFETY: they are the pointers and the length of the buffer.
    unsafe { InOutBuf::from_raw(input, output, len) }
}
