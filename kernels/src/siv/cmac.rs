//! CMAC (NIST SP 800-38B): its subkeys, and strings as it takes them. Blocks are little-endian
//! numbers here, so that a shift moves their bytes.

/// K1 and K2, which are added to the last block of a string.
pub(super) struct Subkeys {
    /// For a last block that is whole.
    pub(super) whole: u128,
    /// For one that is filled up.
    pub(super) part: u128,
}

/// A string: blocks as they are, a block that has been changed, and the last one with its subkey.
pub(super) struct Blocks<'a> {
    pub(super) body: &'a [[u8; 16]],
    pub(super) next: Option<u128>,
    pub(super) last: u128,
}

impl Subkeys {
    pub(super) const EMPTY: Self = Self { whole: 0, part: 0 };

    /// The subkeys for the block of zeros encrypted (section 6.1).
    pub(super) fn new(zeros: u128) -> Self {
        let whole = doubled(zeros);
        Self { whole, part: doubled(whole) }
    }

    /// A string as it is.
    #[inline(always)]
    pub(super) fn plain<'a>(&self, string: &'a [u8]) -> Blocks<'a> {
        let (body, rest) = string.as_chunks();
        match body.split_last() {
            Some((last, body)) if rest.is_empty() => {
                Blocks { body, next: None, last: u128::from_le_bytes(*last) ^ self.whole }
            }
            _ => Blocks { body, next: None, last: filled_up(rest) ^ self.part },
        }
    }

    /// The last string of S2V (RFC 5297, section 2.4): `sum`, what there is of the others, is added
    /// to its last 16 bytes, or doubled and added to all of it if it is shorter.
    #[inline(always)]
    pub(super) fn last<'a>(&self, sum: u128, string: &'a [u8]) -> Blocks<'a> {
        let (blocks, rest) = string.as_chunks();
        let Some((before, body)) = blocks.split_last() else {
            let last = filled_up(rest) ^ doubled(sum) ^ self.whole;
            return Blocks { body: &[], next: None, last };
        };
        let before = u128::from_le_bytes(*before);
        if rest.is_empty() {
            return Blocks { body, next: None, last: before ^ sum ^ self.whole };
        }
        let bits = 8 * rest.len();
        let last = filled_up(rest) ^ sum >> (128 - bits) ^ self.part;
        Blocks { body, next: Some(before ^ sum << bits), last }
    }
}

impl Blocks<'_> {
    /// Block `at`, if there is one.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Option<u128> {
        if let Some(block) = self.body.get(at) {
            return Some(u128::from_le_bytes(*block));
        }
        match (at - self.body.len(), self.next) {
            (0, Some(next)) => Some(next),
            (0, None) | (1, Some(_)) => Some(self.last),
            _ => None,
        }
    }
}

/// Times x. The first byte of a block is its most significant one.
#[inline(always)]
pub(super) fn doubled(block: u128) -> u128 {
    let number = block.swap_bytes();
    let out = (number >> 127).wrapping_neg() & 0x87;
    (number << 1 ^ out).swap_bytes()
}

/// Fewer than 16 bytes, a bit after them, and zeros.
#[inline(always)]
fn filled_up(bytes: &[u8]) -> u128 {
    short(bytes) | 0x80 << (8 * bytes.len())
}

/// Fewer than 16 bytes, and zeros after them.
///
/// Two loads that overlap: a copy of so many bytes is a call, and what it stores in parts would be
/// loaded as a whole.
#[inline(always)]
pub(super) fn short(bytes: &[u8]) -> u128 {
    let bits = 8 * bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|half| u128::from(u64::from_le_bytes(*half)));
        first | last << (bits - 64)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let [first, last] = [first, last].map(|word| u64::from(u32::from_le_bytes(*word)));
        u128::from(first | last << (bits - 32))
    } else if let ([first, ..], [.., last]) = (bytes, bytes) {
        let middle = u32::from(bytes[bytes.len() / 2]) << (8 * (bytes.len() / 2));
        u128::from(u32::from(*first) | middle | u32::from(*last) << (bits - 8))
    } else {
        0
    }
}

/// Stores the first bytes of a block, fewer than 16, in the same way.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lower bytes are meant")]
pub(super) fn put_short(bytes: &mut [u8], block: u128) {
    let (length, bits) = (bytes.len(), 8 * bytes.len());
    if let Some(first) = bytes.first_chunk_mut() {
        *first = (block as u64).to_le_bytes();
        if let Some(last) = bytes.last_chunk_mut() {
            *last = ((block >> (bits - 64)) as u64).to_le_bytes();
        }
    } else if let Some(first) = bytes.first_chunk_mut() {
        *first = (block as u32).to_le_bytes();
        if let Some(last) = bytes.last_chunk_mut() {
            *last = ((block >> (bits - 32)) as u32).to_le_bytes();
        }
    } else {
        for (byte, at) in bytes.iter_mut().zip(0..length) {
            *byte = (block >> (8 * at)) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_numbers() {
        let bytes: [u8; 15] = core::array::from_fn(|at| 0x81 + at.to_le_bytes()[0]);
        for length in 0..=15 {
            let mut block = [0; 16];
            block[..length].copy_from_slice(&bytes[..length]);
            assert_eq!(short(&bytes[..length]).to_le_bytes(), block);
            let mut out = [0; 16];
            put_short(&mut out[..length], u128::from_le_bytes(block) | u128::MAX << (8 * length));
            assert_eq!(out, block);
        }
    }
}
