//! The output to write, and its division into pieces.

use super::encode::Format;
use super::source::Source;

/// The output to write.
pub(crate) struct Plan {
    /// The total number of random bytes; none means endless.
    pub(crate) total: Option<u64>,
    pub(crate) format: Format,
    pub(crate) source: Box<dyn Source>,
}

impl Plan {
    /// The number of random bytes in the piece at `index`, and whether it is the last; none after
    /// the last.
    pub(crate) fn piece(&self, index: u64) -> Option<(usize, bool)> {
        let piece = self.format.piece();
        let Some(total) = self.total else { return Some((piece, false)) };
        // Even an empty output has one piece, because text ends with a newline.
        let last = total.div_ceil(piece as u64).saturating_sub(1);
        let left = total.saturating_sub(index.saturating_mul(piece as u64));
        let len = usize::try_from(left).map_or(piece, |left| left.min(piece));
        (index <= last).then_some((len, index == last))
    }

    /// The total length of the output in bytes, if it ends.
    pub(crate) fn output_bytes(&self) -> Option<u128> {
        let total = u128::from(self.total?);
        Some(match self.format {
            Format::Raw => total,
            Format::Hex => 2 * total + 1,
            Format::Base64 => total.div_ceil(3) * 4 + 1,
        })
    }
}
