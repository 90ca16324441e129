//! Groups the messages of a batch by class, without moving them.

use crate::class::Class;
use crate::session::entry::Entry;
use crate::session::members::{AT_ONCE, Way};

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

    /// The way to the messages of a class, in the batch that was grouped.
    pub(super) fn way(&self, class: Class) -> Way<'_> {
        let first = usize::from(self.spans[class.number()].first);
        Way::from(first, &self.gaps)
    }
}
