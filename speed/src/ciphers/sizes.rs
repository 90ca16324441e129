//! The lengths of a row's messages.

use core::fmt;

/// One length in bytes, or lengths spread evenly over a range, one for each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sizes {
    least: usize,
    most: usize,
    /// The unit that each length is a multiple of.
    unit: usize,
}

impl Sizes {
    /// The number of sessions after which the mixed lengths repeat. Sessions take turns in shuffled
    /// order, the same for all rows, so that the next length cannot be predicted.
    pub(crate) const LENGTHS: usize = 256;

    pub(crate) const fn one(size: usize) -> Self {
        Self { least: size, most: size, unit: 1 }
    }

    /// Lengths from `least` to `most`.
    pub(crate) const fn mixed(least: usize, most: usize) -> Self {
        Self { least, most, unit: 1 }
    }

    /// Each rounded up to a multiple of `unit`, as a mode needs it.
    pub(crate) const fn whole(self, unit: usize) -> Self {
        match self.is_mixed() {
            true => Self { unit, ..self },
            false => Self::one(self.most.next_multiple_of(unit)),
        }
    }

    pub(crate) const fn is_mixed(self) -> bool {
        self.least < self.most
    }

    /// The length of a session's message.
    pub(crate) const fn of(self, session: usize) -> usize {
        let steps = Self::LENGTHS - 1;
        let above = (self.most - self.least) * (session % Self::LENGTHS) / steps;
        (self.least + above).next_multiple_of(self.unit)
    }

    /// The longest.
    pub(crate) const fn longest(self) -> usize {
        self.most.next_multiple_of(self.unit)
    }

    /// The length, if there is only one.
    pub(crate) fn single(self) -> Option<usize> {
        (!self.is_mixed()).then_some(self.most)
    }

    /// The range, if it is one.
    pub(crate) fn range(self) -> Option<String> {
        self.is_mixed().then(|| self.to_string())
    }

    /// Splits consecutive messages, one of each session.
    pub(crate) fn parts(self, mut messages: &[u8]) -> impl Iterator<Item = &[u8]> {
        (0..).map_while(move |session| messages.split_off(..self.of(session)))
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_mixed() {
            true => write!(f, "{}-{}", self.least, self.most),
            false => write!(f, "{}", self.most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_spread_evenly_and_come_again() {
        let sizes = Sizes::mixed(60, 1400);
        let lengths: Vec<usize> = (0..Sizes::LENGTHS).map(|session| sizes.of(session)).collect();
        assert!(lengths.is_sorted() && (lengths[0], lengths[255]) == (60, 1400));
        let mean = lengths.iter().sum::<usize>() / lengths.len();
        assert!(mean.abs_diff(730) <= 1, "{mean}");
        assert_eq!(sizes.of(256 + 7), sizes.of(7));
        assert_eq!((sizes.to_string().as_str(), sizes.single()), ("60-1400", None));
        let blocks = sizes.whole(16);
        assert_eq!((blocks.of(0), blocks.of(255), blocks.longest()), (64, 1408, 1408));
        assert!((0..256).all(|session| blocks.of(session).is_multiple_of(16)));
        assert_eq!(Sizes::one(1500).whole(16).single(), Some(1504));
    }

    #[test]
    fn messages_are_parted_by_their_lengths() {
        let sizes = Sizes::mixed(60, 200);
        let memory = vec![0; sizes.of(0) + sizes.of(1) + sizes.of(2)];
        let lengths: Vec<usize> = sizes.parts(&memory).map(<[u8]>::len).collect();
        assert_eq!(lengths, [sizes.of(0), sizes.of(1), sizes.of(2)]);
        assert_eq!(Sizes::one(3).parts(&[0; 9]).count(), 3);
    }
}
