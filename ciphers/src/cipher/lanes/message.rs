//! Messages for lanes, and how they are served alone.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::in_parts;

use crate::Error;
use crate::cipher::Cipher;

/// Messages that a kernel gets at once.
pub(in crate::cipher) const AT_ONCE: usize = 64;

/// The lengths in bytes of the messages that run in lanes. Other messages run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is two numbers")]
pub struct Lengths {
    /// The shortest.
    pub shortest: u32,
    /// The longest; less than the shortest if no messages run in lanes.
    pub longest: u32,
}

impl Lengths {
    /// Every message runs alone.
    pub const NONE: Self = Self { shortest: 1, longest: 0 };
    /// All messages that are not empty run in lanes, if there is a kernel for that.
    pub const ALL: Self = Self { shortest: 1, longest: u32::MAX };

    /// Whether a message with this many bytes runs in lanes.
    #[must_use]
    #[inline]
    pub fn contains(&self, bytes: usize) -> bool {
        bytes >= self.shortest as usize && bytes <= self.longest as usize
    }
}

/// A message to seal: the arguments of [`Cipher::seal_detached`].
#[expect(clippy::exhaustive_structs, reason = "the owner of a batch makes it, field by field")]
pub struct Sealing<'a> {
    /// Its key.
    pub cipher: &'a Cipher,
    /// Its nonce, which must not have been used before under this key.
    pub nonce: &'a [u8],
    /// The associated data.
    pub aad: &'a [u8],
    /// The data to encrypt, in place or from one buffer to another.
    pub data: InOutBuf<'a, 'a, u8>,
    /// The room for the tag, of [`Cipher::tag_length`] bytes.
    pub tag: &'a mut [u8],
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

/// A message to open: the arguments of [`Cipher::open_detached`].
#[expect(clippy::exhaustive_structs, reason = "the owner of a batch makes it, field by field")]
pub struct Opening<'a> {
    /// Its key.
    pub cipher: &'a Cipher,
    /// Its nonce.
    pub nonce: &'a [u8],
    /// The associated data.
    pub aad: &'a [u8],
    /// The data to decrypt, in place or from one buffer to another.
    pub data: InOutBuf<'a, 'a, u8>,
    /// Its tag, of [`Cipher::tag_length`] bytes.
    pub tag: &'a [u8],
    /// The place for an error. Nothing is written there without an error.
    pub outcome: &'a mut Result<(), Error>,
}

// Messages are passed by value. If the address of a message were taken anywhere, even on a rare
// path, the whole message would be stored each time and read again at other widths, which stalls on
// the stores.

/// Serves a message of any algorithm alone. Returns 1 if it is refused.
#[inline(never)]
pub(in crate::cipher) fn seal_alone(message: Sealing<'_>) -> usize {
    let Sealing { cipher, nonce, aad, data, tag, outcome } = message;
    match cipher.seal_detached(nonce, aad, in_parts(data), tag) {
        Ok(()) => 0,
        Err(error) => refuse(outcome, error),
    }
}

/// Serves a message of any algorithm alone. Returns 1 if it is refused.
#[inline(never)]
pub(in crate::cipher) fn open_alone(message: Opening<'_>) -> usize {
    let Opening { cipher, nonce, aad, data, tag, outcome } = message;
    match cipher.open_detached(nonce, aad, in_parts(data), tag) {
        Ok(()) => 0,
        Err(error) => refuse(outcome, error),
    }
}

#[cold]
pub(in crate::cipher) fn refuse(outcome: &mut Result<(), Error>, error: Error) -> usize {
    *outcome = Err(error);
    1
}

/// Without key and data.
impl fmt::Debug for Sealing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing").field("cipher", self.cipher).finish_non_exhaustive()
    }
}

/// Without key and data.
impl fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("cipher", self.cipher).finish_non_exhaustive()
    }
}
