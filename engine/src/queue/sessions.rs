//! The sessions of a queue.

use crate::Session;

/// A session that is attached to a queue, by number.
///
/// It is valid for this queue only. After the session is detached, its number is never reused by
/// the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionHandle(u32);

/// The bits of a number that are the index of a place; the others count the uses of the place.
const INDEX_BITS: u32 = 20;
/// The bit of an index that selects the session's class of operations.
const LONG: u32 = 1 << (INDEX_BITS - 1);

impl SessionHandle {
    /// No session.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Whether the session is for [long operations](super::WorkerQueue::attach_slow).
    #[inline(always)]
    pub(super) fn is_long(self) -> bool {
        self.0 & LONG != 0
    }

    /// The index among the sessions of its class.
    #[inline(always)]
    fn index(self) -> usize {
        (self.0 & (LONG - 1)) as usize
    }

    /// The next number of the same place, unless they are exhausted.
    fn next(self) -> Option<Self> {
        self.0.checked_add(1 << INDEX_BITS).map(Self).filter(|next| *next != Self::NONE)
    }
}

/// Assigns numbers to the sessions of a class, and tracks those in use.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    class: u32,
    /// For each place its number, and whether it is in use.
    places: Vec<(SessionHandle, bool)>,
    free: Vec<SessionHandle>,
}

impl Numbers {
    /// For sessions of long operations.
    pub(super) fn long() -> Self {
        Self { class: LONG, ..Self::default() }
    }

    /// A number for a session; none if the queue has as many sessions as it can have.
    pub(super) fn take(&mut self) -> Option<SessionHandle> {
        if let Some(number) = self.free.pop() {
            *self.places.get_mut(number.index())? = (number, true);
            return Some(number);
        }
        let index = u32::try_from(self.places.len()).ok().filter(|index| *index < LONG)?;
        let number = SessionHandle(self.class | index);
        self.places.push((number, true));
        Some(number)
    }

    /// Whether a number is in use.
    pub(super) fn has(&self, number: SessionHandle) -> bool {
        self.places.get(number.index()) == Some(&(number, true))
    }

    /// Takes a number out of use; false if it is not in use.
    pub(super) fn give_back(&mut self, number: SessionHandle) -> bool {
        let place = self.places.get_mut(number.index()).filter(|place| **place == (number, true));
        let Some((_, used)) = place else { return false };
        *used = false;
        self.free.extend(number.next());
        true
    }
}

/// The sessions by number.
#[derive(Debug, Default)]
pub(super) struct Sessions(Vec<Place>);

#[derive(Debug)]
struct Place {
    number: SessionHandle,
    session: Option<Box<Session>>,
}

impl Sessions {
    pub(super) fn attach(&mut self, number: SessionHandle, session: Box<Session>) {
        while self.0.len() <= number.index() {
            self.0.push(Place { number, session: None });
        }
        if let Some(place) = self.0.get_mut(number.index()) {
            *place = Place { number, session: Some(session) };
        }
    }

    pub(super) fn detach(&mut self, number: SessionHandle) -> Option<Box<Session>> {
        self.0.get_mut(number.index()).filter(|place| place.number == number)?.session.take()
    }

    #[inline(always)]
    pub(super) fn find(&self, number: SessionHandle) -> Option<&Session> {
        let place = self.0.get(number.index())?;
        if place.number != number {
            return None;
        }
        place.session.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_given_twice() {
        let mut numbers = Numbers::default();
        let kept = numbers.take().expect("places are free");
        let mut seen = std::collections::HashSet::from([kept]);
        for _ in 0..3 << (32 - INDEX_BITS) {
            let number = numbers.take().expect("places are free");
            assert!(seen.insert(number));
            assert!(numbers.give_back(number));
            assert!(!numbers.give_back(number));
        }
        assert!(numbers.places.len() >= 3);
    }

    #[test]
    fn places_are_exhausted_at_last() {
        let mut numbers = Numbers::long();
        let taken = (0..2 * LONG).filter_map(|_| numbers.take());
        let last = taken.last().expect("places are free");
        assert_eq!(numbers.take(), None);
        assert!(numbers.give_back(last));
        assert_eq!(numbers.take(), last.next());
        assert!(last.is_long() && !Numbers::default().take().is_some_and(SessionHandle::is_long));
    }
}
