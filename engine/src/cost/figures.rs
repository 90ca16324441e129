//! Figures, and what follows from them.

use lanecrypt_ciphers::lanes::Lengths;

use super::rows::ROWS;

/// How many messages there are at least in a batch whose figures are these.
pub(super) const DEPTHS: [usize; 5] = [2, 4, 8, 16, 64];

/// How many messages there are in the batches that are measured one by one.
pub(super) const ALONE: [usize; 2] = [8, 64];

/// The lengths in bytes that are measured.
pub(super) const SIZES: [usize; 6] = [16, 64, 128, 256, 512, 1024];

/// The most algorithms that a build has.
pub(super) const ALGORITHMS: usize = 43;

/// Less is no gain: it would be within the error of measurement, and lanes are work to prepare.
const GAIN: f32 = 0.95;

/// What messages cost, in nanoseconds: a figure for each of the [`SIZES`].
#[derive(Clone, Debug)]
pub(super) struct Figures {
    /// One by one, forward and backward, in the order of the table of algorithms.
    pub(super) alone: [[[f32; SIZES.len()]; 2]; ALGORITHMS],
    /// Those of each kind that has kernels for many.
    pub(super) lanes: [Lanes; ROWS],
}

/// What messages of one kind cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    /// One by one, in small batches and in large ones, which spread what a batch costs over more.
    pub(super) alone: [[f32; SIZES.len()]; ALONE.len()],
    /// Side by side, at each of the [`DEPTHS`].
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
pub(super) fn lengths(lanes: &Lanes) -> [Lengths; DEPTHS.len()] {
    let mut depths = DEPTHS.into_iter();
    lanes.beside.map(|beside| {
        let [small, large] = lanes.alone;
        let alone = if depths.next() > Some(ALONE[0]) { large } else { small };
        // Below 0 where it pays.
        let mut loss = [0.0; SIZES.len()];
        for ((loss, beside), alone) in loss.iter_mut().zip(beside).zip(alone) {
            // Nothing takes no time: what says so was not measured.
            if beside > 0.0 {
                *loss = beside - GAIN * alone;
            }
        }
        let Some(first) = loss.iter().position(|&loss| loss < 0.0) else { return Lengths::NONE };
        let paying = loss[first..].iter().take_while(|&&loss| loss < 0.0).count();
        let shortest = if first == 0 { 1 } else { crossing(&loss, first - 1) };
        let longest = match first + paying {
            behind if behind == SIZES.len() => u32::MAX,
            behind => crossing(&loss, behind - 1),
        };
        Lengths { shortest, longest }
    })
}

/// The length between this one of the [`SIZES`] and the next at which a loss turns to a gain.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between two lengths that are small"
)]
fn crossing(loss: &[f32; SIZES.len()], before: usize) -> u32 {
    let (low, high) = (SIZES[before] as f32, SIZES[before + 1] as f32);
    let (from, to) = (loss[before], loss[before + 1]);
    (low + (high - low) * from / (from - to)) as u32
}

/// What a message of so many bytes costs: on the straight line through the figures of the nearest
/// two lengths.
pub(super) fn between(line: &[f32; SIZES.len()], bytes: usize) -> f64 {
    let above = SIZES.iter().position(|&size| size > bytes).unwrap_or(SIZES.len() - 1).max(1);
    let (low, high) = (SIZES[above - 1] as f64, SIZES[above] as f64);
    let (from, to) = (f64::from(line[above - 1]), f64::from(line[above]));
    let slope = (to - from) / (high - low);
    (from + slope * (bytes as f64 - low)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(beside: [f32; SIZES.len()]) -> Lanes {
        let alone = [[10.0, 40.0, 80.0, 160.0, 320.0, 640.0]; ALONE.len()];
        Lanes { alone, beside: [beside; DEPTHS.len()] }
    }

    #[test]
    fn lengths_are_where_it_pays() {
        let [none, ..] = lengths(&lanes([10.0, 40.0, 80.0, 160.0, 320.0, 640.0]));
        assert_eq!(none, Lengths::NONE);
        let [all, ..] = lengths(&lanes([5.0, 20.0, 40.0, 80.0, 160.0, 320.0]));
        assert_eq!(all, Lengths { shortest: 1, longest: u32::MAX });
        // A chain: it pays from somewhere on.
        let [long, ..] = lengths(&lanes([12.0, 40.0, 50.0, 60.0, 70.0, 80.0]));
        assert!((65..128).contains(&long.shortest), "{long:?}");
        assert_eq!(long.longest, u32::MAX);
        // A stream: it pays up to somewhere.
        let [short, ..] = lengths(&lanes([2.0, 10.0, 30.0, 100.0, 320.0, 650.0]));
        assert_eq!(short.shortest, 1);
        assert!((256..512).contains(&short.longest), "{short:?}");
        assert!(short.contain(256) && !short.contain(512) && !short.contain(0));
    }

    /// What was not measured is no gain, not even in part.
    #[test]
    fn figures_of_nothing_never_win() {
        let [none, ..] = lengths(&lanes([0.0; SIZES.len()]));
        assert_eq!(none, Lengths::NONE);
        let [none, ..] = lengths(&Lanes {
            alone: [[0.0; SIZES.len()]; ALONE.len()],
            beside: [[0.0; SIZES.len()]; DEPTHS.len()],
        });
        assert_eq!(none, Lengths::NONE);
        let [some, ..] = lengths(&lanes([0.0, 20.0, 40.0, 0.0, 0.0, 0.0]));
        assert!((16..64).contains(&some.shortest), "{some:?}");
        assert!((128..=256).contains(&some.longest), "{some:?}");
    }

    /// What is measured decides, at each depth by itself.
    #[test]
    fn each_depth_has_its_own_lengths() {
        let mut lanes = lanes([12.0, 50.0, 90.0, 170.0, 330.0, 650.0]);
        lanes.beside[3] = [12.0, 20.0, 30.0, 40.0, 50.0, 60.0];
        let lengths = lengths(&lanes);
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

    #[test]
    fn lengths_between_and_beyond_are_on_the_line() {
        let line = [10.0, 40.0, 80.0, 160.0, 320.0, 640.0];
        for (bytes, cost) in
            [(0, 0.0), (16, 10.0), (40, 25.0), (64, 40.0), (1024, 640.0), (8192, 5120.0)]
        {
            assert_eq!(between(&line, bytes), cost, "{bytes}");
        }
    }
}
