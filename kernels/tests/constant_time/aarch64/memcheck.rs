//! Valgrind checks no level here: the traces do.

use lanecrypt_kernels::Level;

pub(crate) const fn sees(_: Level) -> bool {
    false
}

pub(crate) const fn is_here() -> bool {
    false
}

pub(crate) const fn hide(_: &mut [u8]) {}

/// Whether every one of the bytes depended on secrets: nobody knows.
pub(crate) const fn reveal(_: &mut [u8]) -> bool {
    true
}
