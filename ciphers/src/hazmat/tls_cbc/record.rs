//! The parts of a decrypted record, whose lengths are secret. Constant time in the plaintext.

use subtle::Choice;

use crate::masks::{byte, equal, less, select};

/// The longest code.
const LONGEST_CODE: usize = 48;
/// The longest padding with its last byte, which is the number of the others.
pub(super) const LONGEST_PADDING: usize = 256;

/// Where the content of a record ends.
pub(super) struct Parts {
    /// The length of the content. If the padding is wrong, that of a record with the shortest one.
    pub(super) content: usize,
    /// The shortest content that a record of this length may have.
    pub(super) shortest: usize,
    /// The longest one.
    longest: usize,
    /// All ones if the padding is right.
    padded: usize,
}

impl Parts {
    /// Of a record that is longer than its code of `tag` bytes.
    pub(super) fn of(record: &[u8], tag: usize) -> Self {
        let others = record.last().map_or(0, |&last| usize::from(last));
        let longest = record.len() - tag - 1;
        let mut padded = !less(longest, others);
        // As many bytes are looked at as there may be, whatever the padding says.
        for (at, &found) in record.iter().rev().take(LONGEST_PADDING).enumerate() {
            let is_padding = !less(others, at);
            padded &= !is_padding | equal(usize::from(found), others);
        }
        Self {
            content: longest - (padded & others),
            shortest: (record.len() - tag).saturating_sub(LONGEST_PADDING),
            longest,
            padded,
        }
    }

    /// The content that a record may have at most.
    pub(super) fn longest<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        &record[..self.longest]
    }

    /// Whether the padding is right and the content no longer than `most`.
    pub(super) fn is_good(&self, most: usize) -> Choice {
        Choice::from(byte(self.padded & !less(most, self.content)) & 1)
    }
}

/// The `tag` bytes behind the content, of which only the end of the record may be.
pub(super) fn code_at(record: &[u8], content: usize, tag: usize) -> [u8; LONGEST_CODE] {
    let first = (record.len() - tag).saturating_sub(LONGEST_PADDING);
    // Each byte of the code goes to its place in the record, modulo the length of the code.
    let mut code = [0; LONGEST_CODE];
    let (mut place, mut turns) = (0, 0);
    for (at, &found) in record.iter().enumerate().skip(first) {
        turns |= equal(at, content) & place;
        code[place] |= found & byte(!less(at, content) & less(at, content + tag));
        place += 1;
        if place == tag {
            place = 0;
        }
    }
    // They are turned back by the bits of the number of turns.
    for bit in (0..).take_while(|bit| 1 << bit < tag) {
        let is_set = equal(turns >> bit & 1, 1);
        let mut turned = code;
        turned[..tag].rotate_left(1 << bit);
        for (to, turned) in code.iter_mut().zip(turned) {
            *to = byte(select(is_set, usize::from(turned), usize::from(*to)));
        }
    }
    code
}

/// The value of padding bytes: how many others there are.
#[expect(clippy::cast_possible_truncation, reason = "padding is at most a block")]
pub(super) const fn padded(length: usize) -> u8 {
    (length - 1) as u8
}
