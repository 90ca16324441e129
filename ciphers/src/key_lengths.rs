//! The lengths of the keys of an algorithm.

use core::fmt;

/// The lengths in bytes of an algorithm's keys: one, either of two, or all of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyLengths {
    shortest: usize,
    longest: usize,
    /// The difference from one length to the next; not 0.
    step: usize,
}

impl KeyLengths {
    pub(crate) const fn one(length: usize) -> Self {
        Self { shortest: length, longest: length, step: 1 }
    }

    /// `short` is less than `long`.
    pub(crate) const fn either(short: usize, long: usize) -> Self {
        Self { shortest: short, longest: long, step: long - short }
    }

    /// As many lengths, each longer by so many bytes.
    pub(crate) const fn longer_by(self, bytes: usize) -> Self {
        let Self { shortest, longest, step } = self;
        Self { shortest: shortest + bytes, longest: longest + bytes, step }
    }

    #[cfg(any(feature = "legacy", test))]
    pub(crate) const fn range(shortest: usize, longest: usize) -> Self {
        Self { shortest, longest, step: 1 }
    }

    /// Whether keys may have `length` bytes.
    #[must_use]
    pub const fn contains(self, length: usize) -> bool {
        self.shortest <= length
            && length <= self.longest
            && (length - self.shortest).is_multiple_of(self.step)
    }

    /// Bytes of the shortest key.
    #[must_use]
    pub const fn shortest(self) -> usize {
        self.shortest
    }

    /// Bytes of the longest key.
    #[must_use]
    pub const fn longest(self) -> usize {
        self.longest
    }

    /// Every length, shortest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (self.shortest..=self.longest).step_by(self.step)
    }
}

/// For example `16`, `16 or 32`, `5 to 256`.
impl fmt::Display for KeyLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shortest)?;
        match self.longest - self.shortest {
            0 => Ok(()),
            span if span == self.step => write!(f, " or {}", self.longest),
            _ => write!(f, " to {}", self.longest),
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_contained_if_it_is_listed() {
        let cases = [
            (KeyLengths::one(24), "24", 1),
            (KeyLengths::either(16, 32), "16 or 32", 2),
            (KeyLengths::range(5, 256), "5 to 256", 252),
        ];
        for (lengths, text, count) in cases {
            assert_eq!(lengths.to_string(), text);
            assert_eq!(lengths.iter().count(), count);
            assert_eq!(lengths.iter().next(), Some(lengths.shortest()));
            assert_eq!(lengths.iter().last(), Some(lengths.longest()));
            for length in (0..300).chain([usize::MAX]) {
                let listed = lengths.iter().any(|each| each == length);
                assert_eq!(lengths.contains(length), listed, "{text}: {length}");
            }
        }
    }
}
