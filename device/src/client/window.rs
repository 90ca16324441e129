//! The requests in flight of one client, and the bytes of the arena that they take.
//!
//! Slow requests have a window and a part of the arena of their own. In one window they would keep
//! all later requests from returning their bytes. Only those that are too long for that part are
//! placed among the others.

use core::ops::Range;

/// The requests in flight, in the order of submission. Bytes of the arena are also allocated and
/// released in that order.
#[derive(Debug)]
pub(super) struct Window {
    /// Their number is a power of two. A place's index is the lowest bits of a request's number.
    places: Box<[Place]>,
    /// The number of the oldest request that is not completed, and that of the next.
    oldest: u64,
    next: u64,
    /// The length of the arena, and the bytes that were ever allocated and released, including
    /// bytes skipped at its end.
    arena: u64,
    taken: u64,
    returned: u64,
    /// The offset of the next allocation: the remainder of the bytes taken, or the arena's end.
    at: u64,
    /// The start of its part of the arena.
    base: u32,
}

/// The record of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    pending: Option<Pending>,
    /// The bytes that were ever taken, including its own.
    taken: u64,
}

/// A request that is not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// Its owner.
    pub(super) owner: Owner,
    /// The offset of the answer.
    pub(super) offset: u32,
    /// Whether it is of an asymmetric key.
    pub(super) is_asymmetric: bool,
}

/// The receiver of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A message with a buffer.
    Message,
    /// The part with this index of an unfinished call.
    Part(usize),
}

/// Allocations begin at a cache line.
const LINE: u64 = 64;

impl Window {
    /// For this many requests, a power of two, and these bytes of the arena.
    pub(super) fn new(depth: u32, bytes: Range<u32>) -> Self {
        let places = vec![Place::default(); depth as usize].into_boxed_slice();
        let (arena, base) = (u64::from(bytes.end - bytes.start), bytes.start);
        Self { places, oldest: 0, next: 0, arena, taken: 0, returned: 0, at: 0, base }
    }

    /// The most requests.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.places.len()
    }

    /// The number of its bytes of the arena.
    pub(super) fn arena(&self) -> u64 {
        self.arena
    }

    /// The number of requests from the oldest pending one on.
    #[inline]
    pub(super) fn len(&self) -> usize {
        // There are never more than places.
        usize::try_from(self.next - self.oldest).unwrap_or(usize::MAX)
    }

    /// Whether a request of this length fits into an empty arena.
    #[inline]
    pub(super) fn could_take(&self, span: u32) -> bool {
        u64::from(span) <= self.arena
    }

    /// Takes a number and bytes for a request; `None` if there is no room now.
    #[inline]
    pub(super) fn take(&mut self, span: u32) -> Option<(u64, u32)> {
        if self.len() >= self.places.len() {
            return None;
        }
        if self.oldest == self.next {
            // From the beginning, where the memory is still in the cache.
            (self.taken, self.returned, self.at) = (0, 0, 0);
        }
        let (mut begin, mut at) = (self.taken, self.at);
        if at + u64::from(span) > self.arena {
            begin += self.arena - at;
            at = 0;
        }
        // The arena has whole lines, so that a line never passes its end.
        let lines = u64::from(span).next_multiple_of(LINE);
        let end = begin + lines;
        if end - self.returned > self.arena {
            return None;
        }
        let number = self.next;
        (self.next, self.taken, self.at) = (number + 1, end, at + lines);
        Some((number, self.base + u32::try_from(at).ok()?))
    }

    /// Sets the owner of a request that was just [taken](Self::take), and the offset of its answer.
    #[inline]
    pub(super) fn wait(&mut self, number: u64, pending: Pending) {
        let taken = self.taken;
        if let Some(place) = self.place(number) {
            *place = Place { pending: Some(pending), taken };
        }
    }

    /// Removes the request of this number, which is completed; `None` if there is none. Its bytes
    /// may be read until the next [`take`](Self::take).
    #[inline]
    pub(super) fn answered(&mut self, number: u64) -> Option<Pending> {
        if number.wrapping_sub(self.oldest) >= self.next - self.oldest {
            return None;
        }
        let pending = self.place(number)?.pending.take()?;
        while self.oldest < self.next {
            let oldest = self.oldest;
            let Some(&mut Place { pending: None, taken }) = self.place(oldest) else { break };
            (self.oldest, self.returned) = (oldest + 1, taken);
        }
        Some(pending)
    }

    #[inline]
    fn place(&mut self, number: u64) -> Option<&mut Place> {
        // Only bits above the index are truncated.
        #[expect(clippy::cast_possible_truncation, reason = "only the lowest bits count")]
        let at = number as usize & (self.places.len() - 1);
        self.places.get_mut(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(window: &mut Window, (number, offset): (u64, u32)) -> u64 {
        window.wait(number, Pending { owner: Owner::Message, offset, is_asymmetric: false });
        number
    }

    #[test]
    fn bytes_in_use_are_given_to_nobody_else() {
        // Spans in the order of their numbers, answered in another order.
        let (depth, base, arena) = (8, 640, 4096);
        let mut window = Window::new(depth, base..base + arena);
        let mut live: Vec<(u64, u32, u32)> = Vec::new();
        let mut state = 9_u64;
        let (mut full, mut wrapped) = (0, 0);
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let span = match (state >> 33) % 8 {
                0 => 4096,
                1 => 0,
                _ => (state >> 40) as u32 % 1500,
            };
            match window.take(span) {
                Some(place) => {
                    let (number, offset) = place;
                    assert!(base <= offset && offset + span <= base + arena);
                    for &(_, other, length) in &live {
                        assert!(offset + span <= other || other + length <= offset);
                    }
                    wrapped += u32::from(offset == base);
                    wait(&mut window, place);
                    live.push((number, offset, span));
                }
                None => {
                    full += 1;
                    assert!(!live.is_empty(), "an empty arena has room");
                    let at = (state >> 20) as usize % live.len();
                    let (number, offset, _) = live.swap_remove(at);
                    let pending = Pending { owner: Owner::Message, offset, is_asymmetric: false };
                    assert_eq!(window.answered(number), Some(pending));
                    assert_eq!(window.answered(number), None, "answered once");
                }
            }
            assert!(window.len() <= depth as usize);
        }
        assert!(full > 1000 && wrapped > 1000);
    }

    #[test]
    fn answers_to_nothing_are_noticed() {
        let mut window = Window::new(2, 0..4096);
        assert_eq!(window.answered(0), None);
        let place = window.take(1).expect("there is room");
        let number = wait(&mut window, place);
        for other in [number + 1, number + 2, u64::MAX] {
            assert_eq!(window.answered(other), None);
        }
        assert!(window.answered(number).is_some());
        assert_eq!(window.len(), 0);
        assert!(!window.could_take(4097) && window.could_take(4096));
    }
}
