//! What every block cipher offers, at the granularity of a request.

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use crate::Isa;

/// A keyed block cipher with blocks of `N` bytes: the forward direction, and the modes that need
/// no other.
///
/// The key schedule is wiped on drop. Every method works on whole requests: one dispatch on the
/// instruction set per call, never per block. Requests read the key only, so that any number of
/// threads can share it.
pub trait BlockEncrypt<const N: usize>: Sized + ZeroizeOnDrop {
    /// The key, parsed from bytes once; every key size of the cipher.
    type Key;

    /// The place of a key: nothing may be asked of it before [`set_key`](Self::set_key).
    ///
    /// For whoever keeps a cipher inside of something larger: a key that is expanded where it stays
    /// leaves no copy elsewhere, and making one costs as much as expanding it.
    fn empty(isa: Isa) -> Self;

    /// Expands `key` for the kernels of `isa`.
    #[inline]
    fn new(isa: Isa, key: &Self::Key) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set_key(key);
        cipher
    }

    /// Expands another key in the place of the one that is there, for the same kernels.
    ///
    /// Cheaper than a new cipher, for what is overwritten needs no wiping.
    fn set_key(&mut self, key: &Self::Key);

    /// Encrypts each block by itself (ECB; NIST SP 800-38A, section 6.1), in place or from one
    /// buffer to another.
    fn encrypt(&self, blocks: InOutBuf<'_, '_, [u8; N]>);

    /// Encrypts a chain of blocks (CBC; NIST SP 800-38A, section 6.2).
    ///
    /// `iv` is what the first block is XORed with; afterwards it is the last ciphertext block, so
    /// that a next call continues the chain.
    fn cbc_encrypt(&self, iv: &mut [u8; N], blocks: InOutBuf<'_, '_, [u8; N]>);

    /// XORs the counter keystream into `data` (CTR; NIST SP 800-38A, section 6.5).
    ///
    /// `counter` is the first counter block, a big-endian number that wraps as a whole; afterwards
    /// it is the next one that has not been used. The rest of a last part block is dropped.
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
    /// `iv` is what the first decrypted block is XORed with; afterwards it is the last ciphertext
    /// block, so that a next call continues the chain.
    fn cbc_decrypt(&self, iv: &mut [u8; N], blocks: InOutBuf<'_, '_, [u8; N]>);
}

/// Cuts data into whole blocks and what is left of them, fewer than `N` bytes.
#[must_use]
#[inline]
pub fn into_blocks<'i, 'o, const N: usize>(
    data: InOutBuf<'i, 'o, u8>,
) -> (InOutBuf<'i, 'o, [u8; N]>, InOutBuf<'i, 'o, u8>) {
    const { assert!(N > 0) };
    let len = data.len();
    let (whole, rest) = data.split_at(len - len % N);
    let (input, output) = whole.into_raw();
    let input = opaque(input);
    // SAFETY: both pointers are valid for `len / N * N` bytes, for the lifetimes that the buffer
    // had; arrays of bytes have the alignment of bytes and no invalid values.
    let blocks = unsafe { InOutBuf::from_raw(input.cast(), output.cast(), len / N) };
    (blocks, rest)
}

/// The same data, read part by part: for what lies in memory and may have been stored there a moment
/// ago, as with the pointers of [`into_blocks`].
#[must_use]
#[inline(always)]
pub fn in_parts<'i, 'o>(data: InOutBuf<'i, 'o, u8>) -> InOutBuf<'i, 'o, u8> {
    let len = data.len();
    let (input, output) = data.into_raw();
    // The one in the middle parts the other two.
    let output = opaque(output.cast_const()).cast_mut();
    // SAFETY: they are the pointers and the length of the buffer.
    unsafe { InOutBuf::from_raw(input, output, len) }
}

/// Hides a pointer from the compiler, which would otherwise move it and the next one together, in
/// a vector register: a load that waits where its two halves have just been stored one by one, as
/// arguments are. It costs 20 cycles a call.
#[inline(always)]
fn opaque<T>(mut pointer: *const T) -> *const T {
    // SAFETY: the assembly is empty and leaves the register as it was.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) pointer,
            options(pure, readonly, nostack, preserves_flags));
    }
    pointer
}
