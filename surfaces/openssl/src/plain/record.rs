//! Decrypted records of TLS in CBC: MAC, then padding (RFC 5246, section 6.2.3.2).
//!
//! OpenSSL's library for TLS computes the code itself. From the cipher it wants the content without
//! its padding, and the code apart; where they end is secret until the code is checked ("Lucky
//! Thirteen", 2013). If the padding is wrong, it gets random bytes as the code, and takes the same
//! time. With the extension `encrypt_then_mac` there is no code, and wrong padding is an error.

use lanecrypt_random as random;

use super::BLOCK;

/// SSL 3.0, whose padding has any bytes but the last.
const SSL3: u32 = 0x0300;
const TLS1: u32 = 0x0301;
/// TLS 1.1 and 1.2, DTLS 1.0 and 1.2 and the one before: a random block comes first.
const WITH_VECTOR: [u32; 5] = [0x0302, 0x0303, 0xfeff, 0xfefd, 0x0100];
/// The longest padding with its last byte.
const LONGEST_PADDING: usize = 256;
/// The longest code.
const LONGEST_CODE: usize = 64;

/// Fills the padding of a record.
pub(super) fn pad(padding: &mut [u8], version: u32) {
    let [others, ..] = (padding.len().wrapping_sub(1)).to_le_bytes();
    padding.fill(if version == SSL3 { 0 } else { others });
    if let Some(last) = padding.last_mut() {
        *last = others;
    }
}

/// Takes vector, padding and code off a decrypted record: the length of the content, or none if it
/// is publicly wrong. `code` is as long as the code.
///
/// The content stays behind the vector. OpenSSL skips that.
pub(super) fn open(version: u32, record: &[u8], code: &mut [u8]) -> Option<usize> {
    let content = match version {
        SSL3 | TLS1 => record,
        _ if WITH_VECTOR.contains(&version) => record.get(BLOCK..)?,
        _ => return None,
    };
    if content.len() < code.len() + 1 || code.len() > LONGEST_CODE {
        return None;
    }
    let others = usize::from(*content.last()?);
    let mut good = !less(content.len(), code.len() + 1 + others);
    if version == SSL3 {
        // No more than a block; the bytes may be any.
        good &= !less(BLOCK, others + 1);
    } else {
        for (at, &byte) in content.iter().rev().take(LONGEST_PADDING).enumerate() {
            let is_padding = !less(others, at);
            good &= !is_padding | equal(usize::from(byte), others);
        }
    }
    let padded = content.len() - (good & (others + 1));
    if code.is_empty() {
        // Nobody else learns from the answer: the code around the record has been checked.
        return (good != 0).then_some(padded);
    }
    let mut instead = [0; LONGEST_CODE];
    random::try_fill(instead.get_mut(..code.len())?).ok()?;
    let end = padded - code.len();
    copy_code(content, end, code);
    for (byte, instead) in code.iter_mut().zip(instead) {
        *byte = byte_of(usize::from(*byte) & good | usize::from(instead) & !good);
    }
    Some(end)
}

/// Copies the code that begins at `start`, a secret, from wherever it may be.
fn copy_code(content: &[u8], start: usize, code: &mut [u8]) {
    let length = code.len();
    let first = (content.len() - length).saturating_sub(LONGEST_PADDING);
    // Each byte goes to its place modulo the length, and is turned back afterwards.
    let mut turned = [0; LONGEST_CODE];
    let (mut place, mut turns) = (0, 0);
    for (at, &found) in content.iter().enumerate().skip(first) {
        turns |= equal(at, start) & place;
        let inside = !less(at, start) & less(at, start + length);
        turned[place] |= byte_of(usize::from(found) & inside);
        place = if place + 1 == length { 0 } else { place + 1 };
    }
    for bit in (0..).take_while(|bit| 1 << bit < length) {
        let is_set = equal(turns >> bit & 1, 1);
        let mut further = turned;
        further[..length].rotate_left((1 << bit) % length);
        for (to, further) in turned.iter_mut().zip(further) {
            *to = byte_of(usize::from(further) & is_set | usize::from(*to) & !is_set);
        }
    }
    code.copy_from_slice(&turned[..length]);
}

/// All ones if the first is less, otherwise zero, without a branch. Numbers are below 2^63.
#[inline]
fn less(a: usize, b: usize) -> usize {
    let sign = core::hint::black_box(a.wrapping_sub(b)) >> (usize::BITS - 1);
    sign.wrapping_neg()
}

/// All ones if both are the same, otherwise zero, without a branch.
#[inline]
fn equal(a: usize, b: usize) -> usize {
    let difference = core::hint::black_box(a ^ b);
    less(difference, 1)
}

#[inline]
fn byte_of(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_code_are_found_wherever_they_end() {
        for length in [20, 32, 48, 64] {
            for content in (0..600).step_by(7) {
                for more in [0, 1, 5, 14] {
                    check(content, length, more);
                }
            }
        }
    }

    fn check(content: usize, length: usize, more: usize) {
        let mut record = vec![0xee; BLOCK];
        record.extend((0..content).map(|i| (i % 251).to_le_bytes()[0]));
        let expected: Vec<_> = (0..length).map(|i| (100 + i).to_le_bytes()[0]).collect();
        record.extend(&expected);
        let padding = BLOCK - record.len() % BLOCK + BLOCK * more;
        let padding = if padding > 256 { padding - BLOCK } else { padding };
        let start = record.len();
        record.resize(start + padding, 0);
        pad(&mut record[start..], 0x0303);
        let mut code = vec![0; length];
        assert_eq!(open(0x0303, &record, &mut code), Some(content));
        assert_eq!(code, expected, "{content} {length} {more}");
        // Any wrong byte of the padding gives a record with the shortest one and a random code.
        let wrong = start + padding / 2;
        if wrong + 1 < record.len() {
            record[wrong] ^= 1;
            let end = record.len() - BLOCK - length;
            assert_eq!(open(0x0303, &record, &mut code), Some(end));
            assert_ne!(code, expected);
            assert_eq!(open(0x0303, &record, &mut []), None);
        }
    }

    #[test]
    fn publicly_wrong_records_are_refused() {
        assert_eq!(open(0x0303, &[0; 16], &mut [0; 20]), None);
        assert_eq!(open(0x0303, &[0; 32], &mut [0; 20]), None);
        assert_eq!(open(0x0304, &[0; 64], &mut [0; 20]), None);
        assert_eq!(open(0x0301, &[], &mut []), None);
    }
}
