//! Padding of whole messages (PKCS #7; RFC 5652, section 6.3).

use super::BLOCK;

/// Fills a block behind its first `filled` bytes with their number.
pub(super) fn pad(block: &mut [u8; BLOCK], filled: usize) {
    let (_, padding) = block.split_at_mut(filled.min(BLOCK));
    let [length, ..] = padding.len().to_le_bytes();
    padding.fill(length);
}

/// The bytes before the padding of a last block, or none if there is no right padding.
///
/// All bytes are looked at, whatever the padding is. What callers tell of the answer is enough to
/// decrypt messages that are not authenticated ("padding oracle", 2002).
pub(super) fn padded(block: &[u8; BLOCK]) -> Option<usize> {
    let [.., last] = *block;
    let length = usize::from(last);
    let mut wrong = usize::from(length == 0) | usize::from(length > BLOCK);
    for (at, &byte) in block.iter().rev().enumerate() {
        wrong |= usize::from(at < length) & usize::from(byte != last);
    }
    if core::hint::black_box(wrong) == 0 { BLOCK.checked_sub(length) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_padded_is_found() {
        for filled in 0..BLOCK {
            let mut block = [0xaa; BLOCK];
            pad(&mut block, filled);
            assert_eq!(padded(&block), Some(filled));
            for at in filled..BLOCK {
                let mut block = block;
                block[at] ^= 0x40;
                assert_eq!(padded(&block), None, "{filled}, {at}");
            }
        }
        assert_eq!(padded(&[0; BLOCK]), None);
        assert_eq!(padded(&[17; BLOCK]), None);
    }
}
