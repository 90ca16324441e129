//! The operations that sessions may be used for.

use lanecrypt_engine::{Algorithm, Operation};

/// The operations that a session may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uses(u8);

impl Uses {
    pub(super) const ALL: Self = Self(u8::MAX);

    pub(super) fn of(operations: impl IntoIterator<Item = Operation>) -> Self {
        let places = operations.into_iter().filter_map(place);
        Self(places.fold(0, |uses, place| uses | 1 << place))
    }

    /// Whether the operation at this place is among them. The session need not have it.
    #[inline]
    pub(super) fn has(self, place: usize) -> bool {
        self.0 >> (place & 7) & 1 != 0
    }
}

/// The place of an operation, those of ciphers first; `None` if a later version of the engine has
/// it.
#[inline]
pub(super) fn place(operation: Operation) -> Option<usize> {
    Some(match operation {
        Operation::Encrypt => 0,
        Operation::Decrypt => 1,
        Operation::Seal => 2,
        Operation::Open => 3,
        Operation::Sign => 4,
        Operation::Verify => 5,
        Operation::Agree => 6,
        _ => return None,
    })
}

/// The operations of sessions with this algorithm.
pub(super) fn operations(algorithm: Algorithm) -> &'static [Operation] {
    match algorithm.is_aead() {
        true => &[Operation::Seal, Operation::Open],
        false => &[Operation::Encrypt, Operation::Decrypt],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_operations_are_allowed() {
        for operation in Operation::ALL {
            let uses = Uses::of([operation]);
            for other in Operation::ALL {
                assert_eq!(uses.has(place(other).expect("it has one")), other == operation);
            }
            let place = place(operation).expect("it has one");
            assert!(Uses::ALL.has(place) && !Uses::of([]).has(place));
        }
    }
}
