//! The messages of one class, whatever their storage.

use core::slice::IterMut;

use super::Session;
use super::entry::Entry;
use super::job::{Job, Jobs, List};
use super::request::Request;
use super::waiting::Waiting;
use super::work::Work;

/// The most messages that are grouped at once.
pub(crate) const AT_ONCE: usize = 256;

/// A message: its session, its nonce and its work.
pub(crate) type Member<'b, 'a> = (&'b Session, &'b [u8], &'b mut Work<'a>);

/// The messages of one class, one after another.
//
// One type for all storages and for whole batches and groups, so that the code for each cipher is
// compiled once.
pub(crate) struct Members<'b, 'a> {
    rest: Rest<'b, 'a>,
    /// `None` if no message is skipped.
    way: Option<&'b mut Way<'b>>,
}

enum Rest<'b, 'a> {
    Requests(IterMut<'b, Request<'a>>),
    Waiting(IterMut<'b, Waiting<'a>>),
    Lent(IterMut<'b, Option<Job<'b, 'a>>>),
}

impl<'b, 'a> Members<'b, 'a> {
    /// All messages, or those to which the way leads.
    pub(crate) fn of(jobs: Jobs<'b, 'a>, way: Option<&'b mut Way<'b>>) -> Self {
        let rest = match jobs.into_list() {
            List::Requests(requests) => Rest::Requests(requests.iter_mut()),
            List::Waiting(waiting) => Rest::Waiting(waiting.iter_mut()),
            List::Lent(jobs) => Rest::Lent(jobs.iter_mut()),
        };
        Self { rest, way }
    }
}

impl<'b, 'a> Iterator for Members<'b, 'a> {
    type Item = Member<'b, 'a>;

    // `nth` would divide by the size of a message, also without a way.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match (&mut self.rest, &mut self.way) {
            (Rest::Requests(requests), None) => requests.next().map(Entry::parts),
            (Rest::Waiting(waiting), None) => waiting.next().map(Entry::parts),
            (Rest::Requests(requests), Some(way)) => requests.nth(way.step()).map(Entry::parts),
            (Rest::Waiting(waiting), Some(way)) => waiting.nth(way.step()).map(Entry::parts),
            // They are not grouped.
            (Rest::Lent(jobs), _) => jobs.find_map(Option::as_mut).map(Entry::parts),
        }
    }
}

/// The way from each message of a class to the next.
#[derive(Clone, Copy)]
pub(crate) struct Way<'g> {
    /// The distance from each message to the next.
    gaps: &'g [u16; AT_ONCE],
    /// The position of the next message in the batch, and the number of messages before it that
    /// were not reached.
    at: usize,
    skip: usize,
}

impl<'g> Way<'g> {
    /// Begins at a position.
    #[inline]
    pub(crate) fn from(first: usize, gaps: &'g [u16; AT_ONCE]) -> Self {
        Self { gaps, at: first, skip: first }
    }

    /// The number of messages to skip before the next one.
    #[inline(always)]
    fn step(&mut self) -> usize {
        // The batch has at most `AT_ONCE` messages.
        let gap = usize::from(self.gaps[self.at % AT_ONCE]);
        self.at += gap;
        core::mem::replace(&mut self.skip, gap - 1)
    }

    /// The messages to which it leads.
    pub(crate) fn through<E>(mut self, batch: &[E]) -> impl Iterator<Item = &E> {
        let mut rest = batch.iter();
        core::iter::from_fn(move || rest.nth(self.step()))
    }
}
