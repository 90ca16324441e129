//! The sessions of a client.

use std::sync::Arc;

#[cfg(feature = "rsa")]
use lanecrypt_engine::RsaKey;
use lanecrypt_engine::{Algorithm, Engine, Error, Operation, Session};
#[cfg(feature = "rsa")]
use lanecrypt_rsa::Padding;

/// The operations that a session may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uses(u8);

impl Uses {
    pub(super) const ALL: Self = Self(u8::MAX);

    pub(super) fn of(operations: impl IntoIterator<Item = Operation>) -> Self {
        let places = operations.into_iter().filter_map(place);
        Self(places.fold(0, |uses, place| uses | 1 << place))
    }

    /// Whether an operation is among them. The session need not have it.
    #[inline]
    pub(super) fn allow(self, operation: Operation) -> bool {
        place(operation).is_some_and(|place| self.0 & 1 << place != 0)
    }
}

/// The place of an operation, those of ciphers first; `None` if a later version of the engine has
/// it.
#[inline]
fn place(operation: Operation) -> Option<usize> {
    Some(match operation {
        Operation::Encrypt => 0,
        Operation::Decrypt => 1,
        Operation::Seal => 2,
        Operation::Open => 3,
        Operation::Sign => 4,
        Operation::Verify => 5,
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

/// An open session. Sessions of a named key share it.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    // Its key is expanded on the heap, and stays there: a move would leave a residue.
    #[expect(clippy::redundant_allocation, reason = "the session is not moved")]
    session: Arc<Box<Session>>,
    pub(super) uses: Uses,
    /// For each operation the longest data that is served faster in lanes, in bytes.
    longest: [usize; Operation::OF_CIPHERS.len()],
}

impl Opened {
    /// Whether messages of this length may be served faster in lanes.
    #[inline]
    pub(super) fn gains(&self, operation: Operation, bytes: usize) -> bool {
        let longest = place(operation).and_then(|place| self.longest.get(place));
        longest.is_some_and(|&longest| bytes <= longest)
    }

    /// Whether it has an RSA key.
    pub(super) fn has_signatures(&self) -> bool {
        self.session.signature_length() > 0
    }

    pub(super) fn for_uses(self, uses: Uses) -> Self {
        Self { uses, ..self }
    }

    #[inline]
    pub(super) fn session(&self) -> &Session {
        &self.session
    }
}

/// Opens a session for all operations.
pub(super) fn open(engine: &Engine, algorithm: Algorithm, key: &[u8]) -> Result<Opened, Error> {
    let session = match algorithm.is_aead() {
        true => engine.boxed_session(algorithm, key)?,
        false => engine.boxed_raw_session(algorithm, key)?,
    };
    let mut longest = [0; Operation::OF_CIPHERS.len()];
    for row in engine.lanes().ranges().filter(|row| row.algorithm == algorithm) {
        if let Some(longest) = place(row.operation).and_then(|place| longest.get_mut(place)) {
            // Packets include their tag.
            *longest = (*longest).max(row.longest.saturating_add(algorithm.tag_length()));
        }
    }
    Ok(Opened { session: Arc::new(session), uses: Uses::ALL, longest })
}

/// Opens a session with an RSA key.
#[cfg(feature = "rsa")]
pub(super) fn open_rsa(engine: &Engine, key: RsaKey, padding: Padding) -> Opened {
    // The key is already on the heap.
    let session = Arc::new(Box::new(engine.rsa_session(key, padding)));
    Opened { session, uses: Uses::ALL, longest: [0; Operation::OF_CIPHERS.len()] }
}

/// The operations of sessions with this RSA key.
#[cfg(feature = "rsa")]
pub(super) fn rsa_operations(key: &RsaKey) -> &'static [Operation] {
    match key.private_key() {
        Some(_) => &[Operation::Sign, Operation::Verify],
        None => &[Operation::Verify],
    }
}

/// The sessions of a client, by number: 16 bits of index, and 16 that count the uses of the place.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    places: Vec<(u32, Option<Opened>)>,
    /// The number of places in use.
    open: usize,
}

impl Sessions {
    /// The largest possible number of sessions.
    pub(super) const MOST: usize = 1 << 16;

    pub(super) fn len(&self) -> usize {
        self.open
    }

    /// Stores a session, if there are fewer than `most`, and returns its number.
    pub(super) fn add(&mut self, opened: Opened, most: usize) -> Option<u32> {
        if self.len() >= most.min(Self::MOST) {
            return None;
        }
        if self.open < self.places.len()
            && let Some((number, place)) =
                self.places.iter_mut().find(|(_, opened)| opened.is_none())
        {
            *number = number.wrapping_add(1 << 16);
            *place = Some(opened);
            self.open += 1;
            return Some(*number);
        }
        let number = u32::try_from(self.places.len()).ok()?;
        self.places.push((number, Some(opened)));
        self.open += 1;
        Some(number)
    }

    /// Ends a session; false if there is none of this number.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        let place = self.places.get_mut(number as usize & (Self::MOST - 1));
        match place.filter(|(its, opened)| *its == number && opened.is_some()) {
            Some((_, opened)) => {
                *opened = None;
                self.open -= 1;
                true
            }
            None => false,
        }
    }

    #[inline]
    pub(super) fn find(&self, number: u32) -> Option<&Opened> {
        match self.places.get(number as usize & (Self::MOST - 1)) {
            Some((its, opened)) if *its == number => opened.as_ref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_closed_sessions_find_nothing() {
        let engine = Engine::new();
        let open = || open(&engine, Algorithm::AES_128_GCM, &[1; 16]).expect("it is a key");
        let mut sessions = Sessions::default();
        let first = sessions.add(open(), 2).expect("there is room");
        let second = sessions.add(open(), 2).expect("there is room");
        assert_eq!(sessions.add(open(), 2), None);
        assert!(sessions.find(first).is_some() && sessions.find(second).is_some());
        assert!(sessions.remove(first) && !sessions.remove(first));
        assert!(sessions.find(first).is_none());
        let third = sessions.add(open(), 2).expect("there is room");
        assert!(third != first && sessions.find(third).is_some() && sessions.find(first).is_none());
        for number in [first, 2, u32::MAX, third + (1 << 16)] {
            assert!(sessions.find(number).is_none() && !sessions.remove(number));
        }
        assert_eq!(sessions.len(), 2);
    }

    #[test]
    fn only_the_named_operations_are_allowed() {
        for operation in Operation::ALL {
            let uses = Uses::of([operation]);
            for other in Operation::ALL {
                assert_eq!(uses.allow(other), other == operation);
            }
            assert!(Uses::ALL.allow(operation) && !Uses::of([]).allow(operation));
        }
    }
}
