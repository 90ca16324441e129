//! Measured costs, and the lengths that run in lanes because of them.

use lanecrypt_ciphers::lanes::Lengths;

use super::rows::ROWS;

/// The numbers of messages that are measured. Each stands for batches of that many or more, up to
/// the next.
pub(crate) const DEPTHS: [usize; 5] = [2, 4, 8, 16, 64];

/// The lengths in bytes that are measured.
pub(crate) const SIZES: [u32; 6] = [16, 64, 128, 256, 512, 1024];

/// Lanes must cost at most this share of the time alone. Messages of mixed lengths gain less than
/// the measured ones, which all have one length. The gain is also smaller if another thread runs on
/// the same core and keeps the vector units busy.
const GAIN: f32 = 0.85;

/// The cost of messages in nanoseconds, for each kind that has lanes.
#[derive(Clone, Debug)]
pub(crate) struct Figures(pub(crate) [Kind; ROWS]);

/// The cost of messages of one kind: a figure for each of the [`SIZES`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Alone: one after the other, each by a call of its session.
    pub(crate) alone: [f32; SIZES.len()],
    /// In lanes, at each of the [`DEPTHS`], including the time to make the requests.
    pub(crate) beside: [[f32; SIZES.len()]; DEPTHS.len()],
}

/// The index into [`DEPTHS`] for a batch of this size; none if it is smaller than all of them.
#[inline]
pub(crate) fn depth(messages: usize) -> Option<usize> {
    match messages {
        0..2 => None,
        2..4 => Some(0),
        4..8 => Some(1),
        8..16 => Some(2),
        16..64 => Some(3),
        64.. => Some(4),
    }
}

/// The shortest and the longest message for which lanes pay, at each depth.
pub(crate) fn lengths(kind: &Kind) -> [Lengths; DEPTHS.len()] {
    kind.beside.map(|beside| {
        // Below 0 where lanes pay.
        let mut loss = [0.0; SIZES.len()];
        for ((loss, beside), alone) in loss.iter_mut().zip(beside).zip(kind.alone) {
            // A figure of 0 means that nothing was measured.
            if beside > 0.0 {
                *loss = beside - GAIN * alone;
            }
        }
        let Some(first) = loss.iter().position(|&loss| loss < 0.0) else { return Lengths::NONE };
        let paying = loss[first..].iter().take_while(|&&loss| loss < 0.0).count();
        // Between a length that pays and one that does not, messages run alone.
        let shortest = if first == 0 { 1 } else { SIZES[first] };
        let behind = first + paying;
        let longest = if behind == SIZES.len() { u32::MAX } else { SIZES[behind - 1] };
        Lengths { shortest, longest }
    })
}

/// The nanoseconds of one of `messages` messages of this many bytes each, alone or in lanes,
/// whichever is faster; none if that was not measured.
pub(crate) fn nanoseconds(kind: &Kind, messages: usize, bytes: usize) -> Option<f64> {
    let alone = at(&kind.alone, bytes)?;
    let beside = depth(messages).and_then(|depth| at(&kind.beside[depth], bytes));
    Some(beside.map_or(alone, |beside| beside.min(alone)))
}

/// The figure of a length: on the line between the two nearest, longer messages on that of the last.
#[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
fn at(figures: &[f32; SIZES.len()], bytes: usize) -> Option<f64> {
    let longer = SIZES.iter().position(|&size| size as usize >= bytes);
    let behind = longer.unwrap_or(SIZES.len() - 1).max(1);
    let [(x0, y0), (x1, y1)] =
        [behind - 1, behind].map(|at| (f64::from(SIZES[at]), f64::from(figures[at])));
    // A figure of 0 means that nothing was measured.
    let time = y0 + (y1 - y0) * (bytes as f64 - x0) / (x1 - x0);
    (y0 > 0.0 && y1 > 0.0).then(|| time.max(f64::from(figures[0]) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(beside: [f32; SIZES.len()]) -> Kind {
        let alone = [10.0, 40.0, 80.0, 160.0, 320.0, 640.0];
        Kind { alone, beside: [beside; DEPTHS.len()] }
    }

    #[test]
    fn lengths_are_where_it_pays() {
        let [none, ..] = lengths(&kind([10.0, 40.0, 80.0, 160.0, 320.0, 640.0]));
        assert_eq!(none, Lengths::NONE);
        let [all, ..] = lengths(&kind([5.0, 20.0, 40.0, 80.0, 160.0, 320.0]));
        assert_eq!(all, Lengths { shortest: 1, longest: u32::MAX });
        // A chained mode: lanes pay from some length on.
        let [long, ..] = lengths(&kind([12.0, 40.0, 50.0, 60.0, 70.0, 80.0]));
        assert_eq!(long.shortest, 128);
        assert_eq!(long.longest, u32::MAX);
        // A stream: lanes pay up to some length.
        let [short, ..] = lengths(&kind([2.0, 10.0, 30.0, 100.0, 320.0, 650.0]));
        assert_eq!(short.shortest, 1);
        assert_eq!(short.longest, 256);
        assert!(short.contain(256) && !short.contain(512) && !short.contain(0));
    }

    /// A size that was not measured is no gain, not even in part.
    #[test]
    fn figures_of_nothing_never_win() {
        let [none, ..] = lengths(&kind([0.0; SIZES.len()]));
        assert_eq!(none, Lengths::NONE);
        let [none, ..] = lengths(&Kind {
            alone: [0.0; SIZES.len()],
            beside: [[0.0; SIZES.len()]; DEPTHS.len()],
        });
        assert_eq!(none, Lengths::NONE);
        let [some, ..] = lengths(&kind([0.0, 20.0, 40.0, 0.0, 0.0, 0.0]));
        assert_eq!(some.shortest, 64);
        assert_eq!(some.longest, 128);
    }

    #[test]
    fn a_time_is_on_the_line_between_figures() {
        let kind = kind([5.0, 20.0, 40.0, 80.0, 160.0, 0.0]);
        let time = |messages, bytes| nanoseconds(&kind, messages, bytes);
        assert_eq!(time(1, 64), Some(40.0));
        assert_eq!(time(1, 96), Some(60.0));
        assert_eq!(time(1, 4096), Some(2560.0));
        assert_eq!(time(16, 64), Some(20.0));
        // Not measured in lanes, so alone.
        assert_eq!(time(16, 1024), Some(640.0));
        assert!(time(2, 0).is_some_and(|time| time > 0.0));
    }

    /// Each depth is decided by its own figures.
    #[test]
    fn each_depth_has_its_own_lengths() {
        let mut kind = kind([12.0, 50.0, 90.0, 170.0, 330.0, 650.0]);
        kind.beside[3] = [12.0, 20.0, 30.0, 40.0, 50.0, 60.0];
        let lengths = lengths(&kind);
        for (at, lengths) in lengths.into_iter().enumerate() {
            assert_eq!(lengths != Lengths::NONE, at == 3);
        }
        for (at, messages) in DEPTHS.into_iter().enumerate() {
            assert_eq!(depth(messages), Some(at));
            assert_eq!(depth(messages - 1), at.checked_sub(1));
        }
        assert_eq!(depth(0), None);
        assert_eq!(depth(usize::MAX), Some(DEPTHS.len() - 1));
    }
}
