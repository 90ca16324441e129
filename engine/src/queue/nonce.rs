//! Nonces that are stored by value.

use crate::session::waiting::{half_word, some_bytes, word};

/// A nonce of up to 24 bytes, in words, which are stored and loaded at the same width. Its length
/// is stored outside of this type, where it needs no additional room.
//
// It is aligned, so that the compiler moves whole words.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct KeptNonce([[u8; 8]; Self::LONGEST / 8]);

impl KeptNonce {
    /// The longest nonce that is kept, in bytes.
    pub(super) const LONGEST: usize = 24;
    /// Keeps nothing.
    pub(super) const NONE: Self = Self([[0; 8]; Self::LONGEST / 8]);

    /// Keeps a nonce, and returns its length: more than [`LONGEST`](Self::LONGEST) if it is longer.
    #[inline(always)]
    pub(super) fn new(nonce: &[u8]) -> (Self, u8) {
        let words = match nonce.len() {
            0 => return (Self::NONE, 0),
            12 => [word(nonce, 0), half_word(nonce, 8), [0; 8]],
            8 => [word(nonce, 0), [0; 8], [0; 8]],
            16 => [word(nonce, 0), word(nonce, 8), [0; 8]],
            24 => [word(nonce, 0), word(nonce, 8), word(nonce, 16)],
            _ => [some_bytes(nonce, 0), some_bytes(nonce, 8), some_bytes(nonce, 16)],
        };
        (Self(words), u8::try_from(nonce.len()).unwrap_or(u8::MAX))
    }

    /// Its first `length` bytes; none if it was too long to be stored.
    #[inline(always)]
    pub(super) fn bytes(&self, length: u8) -> Option<&[u8]> {
        self.0.as_flattened().get(..usize::from(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_kept_or_refused() {
        let nonce: [u8; 300] = core::array::from_fn(|at| at.to_le_bytes()[0] ^ 0x5a);
        for length in 0..nonce.len() {
            let (kept, bytes) = KeptNonce::new(&nonce[..length]);
            let expected = (length <= KeptNonce::LONGEST).then_some(&nonce[..length]);
            assert_eq!(kept.bytes(bytes), expected, "{length}");
        }
    }
}
