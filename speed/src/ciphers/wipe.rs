//! Clearing the stack after a message.

use lanecrypt_ciphers::hazmat::{BURN_DEPTH, burn_stack};
use lanecrypt_kernels::wipe;

/// Bytes that libgcrypt clears after a call with triple DES, or with AES in plain code. It clears
/// 64 after one with Serpent or DES, and nothing where AES instructions do the work. (Seen in its
/// stack after a call; version 1.10.)
const LIBGCRYPT: usize = 128;

/// The stack that a caller clears after each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wipe {
    /// None: the other two are compared with this.
    Nothing,
    /// As much as libgcrypt does.
    Little,
    /// All that our kernels may have used, and the registers: [`burn_stack`].
    Everything,
}

impl Wipe {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::Little, Self::Everything];

    /// The name in a point's id.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Little => "little",
            Self::Everything => "everything",
        }
    }

    /// Bytes of stack.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Little => LIBGCRYPT,
            Self::Everything => BURN_DEPTH,
        }
    }

    /// Clears them, below the caller's frame.
    #[inline]
    pub(crate) fn run(self) {
        match self {
            Self::Nothing => {}
            Self::Little => wipe::stack::<LIBGCRYPT>(),
            Self::Everything => burn_stack(),
        }
    }
}
