//! Classes: which requests of a batch can run in lanes together.

use lanecrypt_ciphers::Algorithm;

use crate::Operation;

/// One algorithm and one operation, served by this processor. Requests of one class can run in
/// lanes together. It is one small number, so that carrying and comparing it costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class(u16);

impl Class {
    /// The number of possible values.
    pub(crate) const COUNT: usize = Self::LAST as usize + 1;
    const LAST: u16 = 511;
    /// The most algorithms.
    const ALGORITHMS: u16 = 125;
    /// The class of sessions that other drivers serve.
    pub(crate) const ELSEWHERE: Self = Self(126 << 2);
    /// The class of sessions with asymmetric keys, on any driver. With an operation of ciphers it
    /// is the class of messages that this processor refuses.
    #[cfg(feature = "_asymmetric")]
    pub(crate) const ASYMMETRIC: Self = Self(Self::ALGORITHMS << 2);

    /// The class of a session of this algorithm, before the operation is known.
    pub(crate) fn of(algorithm: Algorithm) -> Self {
        const { assert!(Algorithm::ALL.len() <= Self::ALGORITHMS as usize) };
        let at = Algorithm::ALL.iter().position(|&row| row == algorithm);
        let at = at.and_then(|at| u16::try_from(at).ok());
        Self(at.expect("every algorithm stands in the table, which has at most 125 rows") << 2)
    }

    /// The class with this operation. Each operation of asymmetric keys is one class for all
    /// sessions.
    #[inline]
    pub(crate) const fn with(self, operation: Operation) -> Self {
        Self(self.0 | Self::bits(operation))
    }

    /// The operations of asymmetric keys have the bits of all classes, so that the class no longer
    /// matters: their numbers are negative, and extended by their sign.
    #[inline]
    const fn bits(operation: Operation) -> u16 {
        (operation as u8).cast_signed() as u16 & Self::LAST
    }

    /// Whether this processor serves its requests.
    #[inline]
    pub(crate) const fn is_here(self) -> bool {
        self.0 < Self::ELSEWHERE.0
    }

    /// Whether other drivers serve its requests.
    #[cfg(test)]
    pub(crate) const fn is_elsewhere(self) -> bool {
        self.0 | 3 == Self::ELSEWHERE.0 | 3
    }

    /// Whether its requests are of asymmetric keys. The session determines the driver.
    #[inline]
    pub(crate) const fn is_asymmetric(self) -> bool {
        self.0 >= Self::bits(Operation::Sign)
    }

    #[inline]
    pub(crate) fn operation(self) -> Operation {
        match (self.is_asymmetric(), self.0 & 3) {
            (false, _) => self.operation_of_cipher(),
            (true, 0) => Operation::Sign,
            (true, 1) => Operation::Verify,
            (true, _) => Operation::Agree,
        }
    }

    /// The operation of a class that is not one of asymmetric keys.
    #[inline]
    pub(crate) fn operation_of_cipher(self) -> Operation {
        Operation::OF_CIPHERS[usize::from(self.0 & 3)]
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
            for operation in Operation::OF_CIPHERS {
                let class = Class::of(algorithm).with(operation);
                assert!(class.is_here() && !class.is_elsewhere() && !class.is_asymmetric());
                assert_eq!(class.algorithm(), Some(algorithm));
                assert_eq!(class.operation(), operation);
                assert!(!seen.contains(&class));
                seen.push(class);
            }
        }
        for operation in Operation::OF_CIPHERS {
            let class = Class::ELSEWHERE.with(operation);
            assert!(class.is_elsewhere() && !class.is_here() && !class.is_asymmetric());
            assert_eq!((class.algorithm(), class.operation()), (None, operation));
            assert!(!seen.contains(&class));
            seen.push(class);
        }
        #[cfg(feature = "_asymmetric")]
        for operation in Operation::OF_CIPHERS {
            let class = Class::ASYMMETRIC.with(operation);
            assert!(class.is_here() && !class.is_elsewhere() && !class.is_asymmetric());
            assert_eq!((class.algorithm(), class.operation()), (None, operation));
            assert!(!seen.contains(&class));
            seen.push(class);
        }
        for operation in [Operation::Sign, Operation::Verify, Operation::Agree] {
            let class = Class::of(Algorithm::ALL[0]).with(operation);
            assert!(class.is_asymmetric() && !class.is_here() && !class.is_elsewhere());
            assert_eq!((class.algorithm(), class.operation()), (None, operation));
            assert_eq!(Class::of(Algorithm::ALL[3]).with(operation), class);
            assert_eq!(Class::ELSEWHERE.with(operation), class);
            #[cfg(feature = "_asymmetric")]
            assert_eq!(Class::ASYMMETRIC.with(operation), class);
            assert!(!seen.contains(&class));
            seen.push(class);
        }
    }
}
