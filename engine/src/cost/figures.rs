//! Figures, and what follows from them.

use lanecrypt_ciphers::lanes::Lengths;

use super::rows::ROWS;

/// How many messages there are at least in a batch whose figures are these.
pub(super) const DEPTHS: [usize; 5] = [2, 4, 8, 16, 64];

/// The lengths in bytes that are measured.
pub(super) const SIZES: [u32; 6] = [16, 64, 128, 256, 512, 1024];

/// Less is no gain. Messages of mixed lengths gain less than those of one length, which are measured;
/// and where another thread runs on the same core, registers that are full have less to gain.
const GAIN: f32 = 0.85;

/// What messages cost, in nanoseconds: those of each kind that has kernels for many.
#[derive(Clone, Debug)]
pub(super) struct Figures(pub(super) [Kind; ROWS]);

/// What messages of one kind cost: a figure for each of the [`SIZES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// One after the other, each by a call of its session.
    pub(super) alone: [f32; SIZES.len()],
    /// Side by side, at each of the [`DEPTHS`], the making of the requests included.
    pub(super) beside: [[f32; SIZES.len()]; DEPTHS.len()],
}

/// Which of the [`DEPTHS`] a batch has; none if it is too small for any.
#[inline]
pub(super) fn depth(messages: usize) -> Option<usize> {
    match messages {
        0..2 => None,
        2..4 => Some(0),
        4..8 => Some(1),
        8..16 => Some(2),
        16..64 => Some(3),
        64.. => Some(4),
    }
}

/// The lengths from which on, and up to which, it pays to go side by side, at each depth.
pub(super) fn lengths(kind: &Kind) -> [Lengths; DEPTHS.len()] {
    kind.beside.map(|beside| {
        // Below 0 where it pays.
        let mut loss = [0.0; SIZES.len()];
        for ((loss, beside), alone) in loss.iter_mut().zip(beside).zip(kind.alone) {
            // Nothing takes no time: what says so was not measured.
            if beside > 0.0 {
                *loss = beside - GAIN * alone;
            }
        }
        let Some(first) = loss.iter().position(|&loss| loss < 0.0) else { return Lengths::NONE };
        let paying = loss[first..].iter().take_while(|&&loss| loss < 0.0).count();
        // What lies between a length that pays and one that does not goes alone.
        let shortest = if first == 0 { 1 } else { SIZES[first] };
        let behind = first + paying;
        let longest = if behind == SIZES.len() { u32::MAX } else { SIZES[behind - 1] };
        Lengths { shortest, longest }
    })
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
        // A chain: it pays from somewhere on.
        let [long, ..] = lengths(&kind([12.0, 40.0, 50.0, 60.0, 70.0, 80.0]));
        assert_eq!(long.shortest, 128);
        assert_eq!(long.longest, u32::MAX);
        // A stream: it pays up to somewhere.
        let [short, ..] = lengths(&kind([2.0, 10.0, 30.0, 100.0, 320.0, 650.0]));
        assert_eq!(short.shortest, 1);
        assert_eq!(short.longest, 256);
        assert!(short.contain(256) && !short.contain(512) && !short.contain(0));
    }

    /// What was not measured is no gain, not even in part.
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

    /// What is measured decides, at each depth by itself.
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
