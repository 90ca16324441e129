//! Clearing the stack and the registers after a computation.

use lanecrypt_kernels::wipe;

use super::legacy::DEPTH;

/// The number of bytes of stack that [`burn_stack`] clears: more than any algorithm of this build
/// uses.
pub const BURN_DEPTH: usize = DEPTH;

/// Clears the stack below the caller's frame, down to [`BURN_DEPTH`], and all vector registers.
///
/// Kernels leave parts of their state there: round keys, keystream, plaintext. Keyed objects wipe
/// only their own memory when they are dropped, because clearing the rest costs as much as
/// encrypting some kilobytes (`lanecrypt speed calls` measures it). libgcrypt clears 64 or 128
/// bytes after calls of ciphers in plain code. Call this function once, after the last use of
/// secrets. It does not reach stack that the caller itself used before: the caller's caller has to
/// call it for that. It cannot reach copies that the system made elsewhere, such as swapped pages
/// and saved contexts.
///
/// ```
/// use lanecrypt_ciphers::hazmat::{RawCipher, burn_stack};
/// use lanecrypt_ciphers::{Algorithm, Isa};
///
/// # fn main() -> Result<(), lanecrypt_ciphers::Error> {
/// let cipher = RawCipher::new(Algorithm::AES_128_CTR, &[7; 16])?;
/// cipher.encrypt(&[0; 16], &mut [1; 100][..])?;
/// drop(cipher);
/// burn_stack();
/// # Ok(())
/// # }
/// ```
#[inline]
pub fn burn_stack() {
    wipe::stack::<BURN_DEPTH>();
    wipe::registers();
}
