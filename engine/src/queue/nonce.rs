//! Nonces that are kept by value.

use crate::waiting::{half_word, some_bytes, word};

/// A nonce of up to 24 bytes, in words: each is stored whole and not read at another width soon
/// after.
//
// It is aligned, so that the compiler moves words and not bytes of two of them.
#[derive(Clone, Copy)]
#[repr(align(8))]
pub(super) struct KeptNonce {
    words: [[u8; 8]; Self::LONGEST / 8],
    /// More than [`LONGEST`](Self::LONGEST) if the nonce was longer.
    length: u8,
}

impl KeptNonce {
    /// The longest nonce that is kept, in bytes.
    pub(super) const LONGEST: usize = 24;
    /// Keeps nothing.
    pub(super) const NONE: Self = Self { words: [[0; 8]; Self::LONGEST / 8], length: 0 };

    #[inline(always)]
    pub(super) fn new(nonce: &[u8]) -> Self {
        let words = match nonce.len() {
            0 => return Self::NONE,
            12 => [word(nonce, 0), half_word(nonce, 8), [0; 8]],
            8 => [word(nonce, 0), [0; 8], [0; 8]],
            16 => [word(nonce, 0), word(nonce, 8), [0; 8]],
            24 => [word(nonce, 0), word(nonce, 8), word(nonce, 16)],
            _ => [some_bytes(nonce, 0), some_bytes(nonce, 8), some_bytes(nonce, 16)],
        };
        Self { words, length: u8::try_from(nonce.len()).unwrap_or(u8::MAX) }
    }

    /// Its bytes; none if it is too long to be kept.
    #[inline(always)]
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.words.as_flattened().get(..usize::from(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_kept_or_refused() {
        let nonce: [u8; 300] = core::array::from_fn(|at| at.to_le_bytes()[0] ^ 0x5a);
        for length in 0..nonce.len() {
            let kept = KeptNonce::new(&nonce[..length]);
            let expected = (length <= KeptNonce::LONGEST).then_some(&nonce[..length]);
            assert_eq!(kept.bytes(), expected, "{length}");
        }
    }
}
