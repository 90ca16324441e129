//! Groups the messages of a batch by class, without moving them.

use core::slice::{Iter, IterMut};

use crate::class::Class;
use crate::session::entry::Entry;

/// The most messages that are grouped at once.
pub(super) const AT_ONCE: usize = 256;

/// The gap after the last message of a class: larger than any batch.
const END: u16 = u16::MAX;

/// The messages of a batch by class, for those that this processor serves.
pub(super) struct Groups {
    /// The distance from each message to the next of its class.
    gaps: [u16; AT_ONCE],
    /// The first and the last message of each class in the batch, and their number.
    spans: [Span; Class::COUNT],
    /// The classes in the batch, in the order of their first messages.
    classes: [Class; AT_ONCE],
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Span {
    first: u8,
    last: u8,
    count: u16,
}

impl Groups {
    /// Groups a batch of at most [`AT_ONCE`] messages.
    pub(super) fn new<'a, E: Entry<'a>>(batch: &[E]) -> Self {
        let mut groups = Self {
            gaps: [END; AT_ONCE],
            spans: [Span::default(); Class::COUNT],
            classes: [Class::ELSEWHERE; AT_ONCE],
            count: 0,
        };
        for (at, entry) in (0..=u8::MAX).zip(batch) {
            let state = entry.state();
            if state.outcome.is_none() && state.class.is_here() {
                groups.add(at, state.class);
            }
        }
        groups
    }

    #[inline]
    fn add(&mut self, at: u8, class: Class) {
        let span = &mut self.spans[class.number()];
        if span.count == 0 {
            span.first = at;
            self.classes[self.count] = class;
            self.count += 1;
        } else {
            self.gaps[usize::from(span.last)] = u16::from(at - span.last);
        }
        span.last = at;
        span.count += 1;
    }

    /// The classes, each with its number of messages.
    pub(super) fn classes(&self) -> impl Iterator<Item = (Class, usize)> {
        let classes = self.classes.iter().take(self.count);
        classes.map(|&class| (class, usize::from(self.spans[class.number()].count)))
    }

    /// The messages of a class. `batch` must be the batch that was grouped.
    pub(super) fn members<'b, 'a, E: Entry<'a>>(
        &'b self,
        class: Class,
        batch: &'b mut [E],
    ) -> Members<'b, IterMut<'b, E>> {
        self.of_class(class, batch.iter_mut())
    }

    /// Same as `members`, but read only.
    pub(super) fn shared<'b, 'a, E: Entry<'a>>(
        &'b self,
        class: Class,
        batch: &'b [E],
    ) -> Members<'b, Iter<'b, E>> {
        self.of_class(class, batch.iter())
    }

    fn of_class<I>(&self, class: Class, rest: I) -> Members<'_, I> {
        let first = usize::from(self.spans[class.number()].first);
        Members { rest, gaps: &self.gaps, at: first, skip: first }
    }
}

/// The messages of one class.
pub(super) struct Members<'b, I> {
    rest: I,
    gaps: &'b [u16; AT_ONCE],
    /// The position of the next message in the batch, and the number of messages before it in
    /// `rest`.
    at: usize,
    skip: usize,
}

impl<I: Iterator> Iterator for Members<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let entry = self.rest.nth(self.skip)?;
        // The batch has at most `AT_ONCE` messages.
        let gap = usize::from(self.gaps[self.at % AT_ONCE]);
        self.at += gap;
        self.skip = gap - 1;
        Some(entry)
    }
}
