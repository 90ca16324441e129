//! Classes: which requests of a batch can run in lanes together.

use lanecrypt_ciphers::Algorithm;

use crate::Operation;

/// One algorithm and one operation, served by this processor. Requests of one class can run in
/// lanes together. It is one byte, so that carrying and comparing it costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u8);

impl Class {
    /// The number of possible values.
    pub(crate) const COUNT: usize = 256;
    /// The class of sessions that other drivers serve.
    pub(crate) const ELSEWHERE: Self = Self(62 << 2);

    /// The class of a session of this algorithm, before the operation is known.
    pub(crate) fn of(algorithm: Algorithm) -> Self {
        const { assert!(Algorithm::ALL.len() <= Self::ELSEWHERE.0 as usize >> 2) };
        let at = Algorithm::ALL.iter().position(|&row| row == algorithm);
        let at = at.and_then(|at| u8::try_from(at).ok());
        Self(at.expect("every algorithm stands in the table, which is shorter than 63 rows") << 2)
    }

    /// The class with this operation.
    #[inline]
    pub(crate) const fn with(self, operation: Operation) -> Self {
        Self(self.0 | operation as u8)
    }

    /// Whether this processor serves its requests.
    #[inline]
    pub(crate) const fn is_here(self) -> bool {
        self.0 < Self::ELSEWHERE.0
    }

    /// Whether other drivers serve its requests.
    #[inline]
    pub(crate) const fn is_elsewhere(self) -> bool {
        self.0 | 3 == Self::ELSEWHERE.0 | 3
    }

    #[inline]
    pub(crate) fn operation(self) -> Operation {
        Operation::ALL[usize::from(self.0 & 3)]
    }

    /// The algorithm, if this processor serves it.
    #[inline]
    pub(crate) fn algorithm(self) -> Option<Algorithm> {
        Algorithm::ALL.get(usize::from(self.0 >> 2)).copied()
    }

    /// Its number, below [`COUNT`](Self::COUNT).
    #[inline]
    pub(crate) const fn number(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_are_the_same() {
        let mut seen = Vec::new();
        for &algorithm in Algorithm::ALL {
            for operation in Operation::ALL {
                let class = Class::of(algorithm).with(operation);
                assert!(class.is_here() && !class.is_elsewhere());
                assert_eq!(class.algorithm(), Some(algorithm));
                assert_eq!(class.operation(), operation);
                assert!(!seen.contains(&class));
                seen.push(class);
            }
        }
        for operation in Operation::ALL {
            let class = Class::ELSEWHERE.with(operation);
            assert!(class.is_elsewhere() && !class.is_here());
            assert_eq!(class.algorithm(), None);
            assert!(!seen.contains(&class));
        }
    }
}
