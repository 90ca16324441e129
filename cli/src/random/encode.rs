//! Bytes as text.

use base64ct::{Base64, Encoding as _};
use clap::ValueEnum;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// As they are
    Raw,
    /// Lower-case hexadecimal on one line
    Hex,
    /// Padded base64 (RFC 4648) on one line
    Base64,
}

impl Format {
    /// The number of bytes that are encoded at a time. A piece of base64 is a whole number of
    /// groups, so that padding is only at the very end.
    pub(crate) const fn piece(self) -> usize {
        match self {
            Self::Raw => 1 << 20,
            Self::Hex => 1 << 19,
            Self::Base64 => 3 << 18,
        }
    }

    /// The length of `bytes` bytes as text, without the final newline.
    pub(crate) const fn encoded(self, bytes: usize) -> usize {
        match self {
            Self::Raw => bytes,
            Self::Hex => 2 * bytes,
            Self::Base64 => bytes.div_ceil(3) * 4,
        }
    }

    /// Whether the output is text and ends with a newline.
    pub(crate) fn is_text(self) -> bool {
        self != Self::Raw
    }

    /// Writes the text of `bytes` over all of `out`. Constant time: it depends on the length only.
    pub(crate) fn encode(self, bytes: &[u8], out: &mut [u8]) {
        match self {
            Self::Raw => out.copy_from_slice(bytes),
            Self::Hex => {
                for (pair, byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
                    *pair = [digit(byte >> 4), digit(byte & 15)];
                }
            }
            Self::Base64 => {
                Base64::encode(bytes, out).expect("`encoded` says how much room it needs");
            }
        }
    }
}

/// The hexadecimal digit of a number below 16, without a table or a branch.
const fn digit(nibble: u8) -> u8 {
    // Above nine the subtraction borrows, and the digits continue at 'a'.
    let letter = 9_u8.wrapping_sub(nibble) >> 7;
    b'0' + nibble + letter * (b'a' - b'0' - 10)
}

#[cfg(test)]
mod tests {
    use super::digit;

    #[test]
    fn digits() {
        let digits: Vec<u8> = (0..16).map(digit).collect();
        assert_eq!(digits, b"0123456789abcdef");
    }
}
