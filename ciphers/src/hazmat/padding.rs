//! Padding: bytes that make a message a whole number of blocks.

use super::block_modes::MAX_BLOCK;
use crate::Error;

/// Bytes that make a message a whole number of blocks.
///
/// **Padding oracles.** An attacker who can send ciphertexts, and learns from the answer or its
/// timing whether the padding was right, can decrypt any CBC message with a few thousand tries
/// (Vaudenay, 2002). The padding is checked in constant time. But the result, [`Error::Padding`] or
/// not, is no secret, and what a program does next can hardly be one. Authenticate the ciphertext,
/// and check the authentication before decrypting anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Padding {
    /// No padding: messages are whole blocks.
    #[default]
    None,
    /// 1 to 16 bytes (1 to 8 with blocks of 8 bytes), each of which is the number of these bytes:
    /// PKCS #7 (RFC 5652, section 6.3). A message of whole blocks grows by one block.
    Pkcs7,
}

/// The last block of a padded message, at the front: `rest`, which is shorter than a block, and the
/// padding.
pub(super) fn pad(rest: &[u8], block: usize) -> [u8; MAX_BLOCK] {
    let mut padded = [padding_byte(block, rest.len()); MAX_BLOCK];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

/// The value of each byte of the padding that makes `len` bytes a multiple of `block`, which is at
/// most 16.
#[expect(clippy::cast_possible_truncation, reason = "from 1 to 16")]
pub(super) fn padding_byte(block: usize, len: usize) -> u8 {
    (block - len % block) as u8
}

/// The number of bytes before the padding at the end of `block`, the last block of a message.
///
/// Constant time in the content of the block, up to the result.
#[expect(clippy::cast_possible_truncation, reason = "a block has 16 bytes at most")]
pub(super) fn unpad(block: &[u8]) -> Result<usize, Error> {
    let last = block.last().copied().unwrap_or(0);
    let size = block.len() as u8;
    // All ones if the condition holds, else zero.
    let is_less = |a: u8, b: u8| (u16::from(a).wrapping_sub(u16::from(b)) >> 8) as u8;
    let mut wrong = is_less(last, 1) | is_less(size, last);
    for (from_end, &byte) in (0..size).zip(block.iter().rev()) {
        wrong |= is_less(from_end, last) & (byte ^ last);
    }
    // The compiler must not know earlier what is asked.
    if core::hint::black_box(wrong) == 0 {
        Ok(usize::from(size - last))
    } else {
        Err(Error::Padding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_padded_is_unpadded() {
        for len in 0..16 {
            let message: Vec<u8> = (40..40 + len).collect();
            let block = pad(&message, 16);
            assert_eq!(unpad(&block), Ok(usize::from(len)));
            assert_eq!(block[..usize::from(len)], message);
            assert!(block[usize::from(len)..].iter().all(|&byte| byte == 16 - len));
        }
        for len in 0..8 {
            assert_eq!(unpad(&pad(&[8; 7][..len], 8)[..8]), Ok(len));
        }
    }

    /// Compared with the plain definition, for every value of one wrong byte.
    #[test]
    fn every_wrong_byte_is_found() {
        let plain = |block: &[u8]| {
            let last = usize::from(block[block.len() - 1]);
            let whole = (1..=block.len()).contains(&last)
                && block[block.len() - last..].iter().all(|&byte| usize::from(byte) == last);
            if whole { Ok(block.len() - last) } else { Err(Error::Padding) }
        };
        for len in 0..16 {
            let good = pad(&[0xee; 15][..len], 16);
            for at in 0..16 {
                for byte in 0..=255 {
                    let mut block = good;
                    block[at] = byte;
                    assert_eq!(unpad(&block), plain(&block), "{block:?}");
                    assert_eq!(unpad(&block[8..]), plain(&block[8..]), "{block:?}");
                }
            }
        }
    }
}
