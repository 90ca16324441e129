//! The requests of a batch by class, without moving any.

use core::slice::IterMut;

use crate::Request;
use crate::class::Class;

/// Requests that are sorted at once.
pub(super) const AT_ONCE: usize = 256;

/// Behind the last request of a class: further than any batch goes.
const END: u16 = u16::MAX;

/// Which requests of a batch are of which class.
pub(super) struct Groups {
    /// How far behind each request the next of its class stands.
    gaps: [u16; AT_ONCE],
    /// The first and the last request of each class that there is, and how many there are.
    spans: [Span; Class::COUNT],
    /// The classes that there are, in the order of their first requests.
    classes: [Class; Class::COUNT],
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Span {
    first: u8,
    last: u8,
    count: u16,
}

impl Groups {
    /// Sorts a batch, of [`AT_ONCE`] requests at most.
    pub(super) fn new(batch: &[Request<'_>]) -> Self {
        let mut groups = Self {
            gaps: [END; AT_ONCE],
            spans: [Span::default(); Class::COUNT],
            classes: [Class::SETTLED; Class::COUNT],
            count: 0,
        };
        for (at, request) in (0..=u8::MAX).zip(batch) {
            let class = request.state().class;
            let span = &mut groups.spans[class.number()];
            if span.count == 0 {
                span.first = at;
                groups.classes[groups.count] = class;
                groups.count += 1;
            } else {
                groups.gaps[usize::from(span.last)] = u16::from(at - span.last);
            }
            span.last = at;
            span.count += 1;
        }
        groups
    }

    /// The classes, and how many requests there are of each.
    pub(super) fn classes(&self) -> impl Iterator<Item = (Class, usize)> {
        let classes = self.classes.iter().take(self.count);
        classes.map(|&class| (class, usize::from(self.spans[class.number()].count)))
    }

    /// The requests of a class, of the batch that was sorted.
    pub(super) fn members<'b, 'a>(
        &'b self,
        class: Class,
        batch: &'b mut [Request<'a>],
    ) -> Members<'b, 'a> {
        let first = usize::from(self.spans[class.number()].first);
        Members { rest: batch.iter_mut(), gaps: &self.gaps, at: first, skip: first }
    }
}

/// The requests of one class at the front of a batch.
pub(super) struct Leading<'b, 'a> {
    class: Class,
    rest: &'b mut [Request<'a>],
}

impl<'b, 'a> Leading<'b, 'a> {
    #[inline]
    pub(super) fn new(class: Class, batch: &'b mut [Request<'a>]) -> Self {
        Self { class, rest: batch }
    }

    /// The most that there can be.
    #[inline]
    pub(super) fn most(&self) -> usize {
        self.rest.len()
    }

    /// The batch from the first request of another class on.
    #[inline]
    pub(super) fn rest(self) -> &'b mut [Request<'a>] {
        self.rest
    }
}

impl<'b, 'a> Iterator for Leading<'b, 'a> {
    type Item = &'b mut Request<'a>;

    #[inline]
    fn next(&mut self) -> Option<&'b mut Request<'a>> {
        if self.rest.first()?.state().class != self.class {
            return None;
        }
        self.rest.split_off_first_mut()
    }
}

/// The requests of one class.
pub(super) struct Members<'b, 'a> {
    rest: IterMut<'b, Request<'a>>,
    gaps: &'b [u16; AT_ONCE],
    /// Where the next one stands in the batch, and how many stand before it in `rest`.
    at: usize,
    skip: usize,
}

impl<'b, 'a> Iterator for Members<'b, 'a> {
    type Item = &'b mut Request<'a>;

    #[inline]
    fn next(&mut self) -> Option<&'b mut Request<'a>> {
        let request = self.rest.nth(self.skip)?;
        // The batch is no longer than that.
        let gap = usize::from(self.gaps[self.at % AT_ONCE]);
        self.at += gap;
        self.skip = gap - 1;
        Some(request)
    }
}
