//! Clearing the stack and the registers after a computation.

use lanecrypt_kernels::wipe;

/// Bytes of stack that [`burn_stack`] clears: more than any algorithm of this build uses.
pub const BURN_DEPTH: usize = wipe::DEPTH;

/// Clears the stack below the caller's frame, down to [`BURN_DEPTH`], and all vector registers.
///
/// Kernels leave words of their state there: round keys, keystream, plaintext. Keyed objects wipe
/// what they own when they are dropped, and nothing more, because clearing the rest costs as much
/// as encrypting a short message. libgcrypt does it after every call; call this after each, or
/// once where secrets are done with. Stack that was used below the caller before it called is
/// reached only if the caller's own caller does it, and in no way what the system copied
/// elsewhere: swapped pages, saved contexts.
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
