//! The message of each lane, and its progress.

use core::slice::IterMut;

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;

use super::{KEYS, Times};

/// Blocks of each lane that are read, encrypted and written at a time.
pub(super) const STEPS: usize = 8;

/// A message in progress.
pub(super) struct InProgress<'a, 'b, C> {
    lane: &'a mut Lane<'b, C, 8>,
    /// Blocks that are done.
    done: usize,
}

impl<'b, C> InProgress<'_, 'b, C> {
    pub(super) fn keys<const N: usize>(&self) -> &'b [[u64; KEYS]; N]
    where
        C: Times<N>,
    {
        self.lane.key.keys()
    }

    /// The initialization vector, as long as no block is done.
    #[inline(always)]
    pub(super) fn start(&self) -> Option<&[u8; 8]> {
        if self.done == 0 { Some(self.lane.iv) } else { None }
    }

    /// The chain value, which is added to the next block.
    pub(super) fn chain(&mut self) -> [u8; 8] {
        match self.done {
            0 => *self.lane.iv,
            done => self.lane.blocks.get_out()[done - 1],
        }
    }

    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        self.lane.blocks.len() - self.done
    }

    /// The next blocks, as many as there are but no more than `most`.
    #[inline(always)]
    pub(super) fn input(&self, most: usize) -> &[[u8; 8]] {
        let rest = &self.lane.blocks.get_in()[self.done..];
        &rest[..most.min(rest.len())]
    }

    /// The places of the next blocks, at most `most`. They count as done.
    #[inline(always)]
    pub(super) fn output(&mut self, most: usize) -> &mut [[u8; 8]] {
        let rest = &mut self.lane.blocks.get_out()[self.done..];
        let len = most.min(rest.len());
        self.done += len;
        &mut rest[..len]
    }

    /// The next blocks, `count` times [`STEPS`] of them. They count as done.
    #[cfg(feature = "isa-avx512")]
    fn take_rows(&mut self, count: usize) -> InOutBuf<'_, '_, [u8; 64]> {
        const { assert!(STEPS == 8) };
        let (input, output) = self.take(STEPS * count).into_raw();
        // SAFETY: both pointers are valid for `STEPS * count` blocks, as long as the buffer was;
        // arrays of bytes have the alignment of bytes and no invalid values.
        unsafe { InOutBuf::from_raw(input.cast(), output.cast(), count) }
    }

    /// The next `len` blocks. They count as done.
    pub(super) fn take(&mut self, len: usize) -> InOutBuf<'_, '_, [u8; 8]> {
        let (_, rest) = self.lane.blocks.reborrow().split_at(self.done);
        self.done += len;
        rest.split_at(len).0
    }
}

/// Messages that are not empty, one after the other.
pub(super) struct Messages<'a, 'b, C>(IterMut<'a, Lane<'b, C, 8>>);

impl<'a, 'b, C> Messages<'a, 'b, C> {
    pub(super) fn of(lanes: &'a mut [Lane<'b, C, 8>]) -> Self {
        Self(lanes.iter_mut())
    }

    fn next(&mut self) -> Option<InProgress<'a, 'b, C>> {
        let lane = self.0.find(|lane| !lane.blocks.is_empty())?;
        Some(InProgress { lane, done: 0 })
    }

    /// Blocks of all messages, and of the longest one.
    #[cfg(feature = "isa-avx512")]
    pub(super) fn blocks(&self) -> (usize, usize) {
        let lens = self.0.as_slice().iter().map(|lane| lane.blocks.len());
        lens.fold((0, 0), |(all, longest), len| (all + len, longest.max(len)))
    }

    /// At least as many as there are messages; empty ones may be among them.
    pub(super) fn most(&self) -> usize {
        self.0.len()
    }

    pub(super) fn rest(&mut self) -> impl Iterator<Item = InProgress<'a, 'b, C>> {
        core::iter::from_fn(|| self.next())
    }
}

/// `W` lanes with a message each, or none, and the messages that wait for one.
pub(super) struct Slots<'a, 'b, C, const W: usize> {
    lanes: [Option<InProgress<'a, 'b, C>>; W],
    waiting: Messages<'a, 'b, C>,
    /// Messages in lanes.
    live: usize,
    /// The lanes whose message has ended; `W` of them at first.
    ended: [u8; W],
    ends: usize,
}

impl<'a, 'b, C, const W: usize> Slots<'a, 'b, C, W> {
    // Functions that read all lanes are separate calls, without the instruction set of their
    // caller: the compiler would use gathers, which are forbidden in code that has secrets.

    pub(super) fn new(waiting: Messages<'a, 'b, C>) -> Self {
        let lanes = [const { None }; W];
        Self { lanes, waiting, live: 0, ended: const { numbers() }, ends: W }
    }

    /// Puts waiting messages into lanes whose message has ended; returns the numbers of the lanes.
    #[inline(never)]
    pub(super) fn refill(&mut self) -> &[u8] {
        let mut filled = 0;
        for &i in &self.ended[..self.ends] {
            let message = self.waiting.next();
            filled += usize::from(message.is_some());
            self.lanes[usize::from(i)] = message;
        }
        self.live += filled;
        self.ends = 0;
        &self.ended[..filled]
    }

    pub(super) fn live(&self) -> usize {
        self.live
    }

    pub(super) fn lanes(&self) -> &[Option<InProgress<'a, 'b, C>>; W] {
        &self.lanes
    }

    /// How many blocks of each lane to encrypt before the next refill, one to [`STEPS`].
    ///
    /// While messages wait: as many as at least half of the lanes have. Otherwise: as many as the
    /// longest has.
    #[inline(never)]
    pub(super) fn steps(&self) -> usize {
        let lefts = self.lanes.iter().flatten().map(InProgress::left);
        let (mut least, mut most) = (usize::MAX, 0);
        for left in lefts.clone() {
            least = least.min(left);
            most = most.max(left);
        }
        if least >= STEPS || self.waiting.most() == 0 {
            return most.min(STEPS);
        }
        let mut lanes = [0; STEPS + 1];
        for left in lefts {
            lanes[left.min(STEPS)] += 1;
        }
        let mut reach = 0;
        for steps in (1..=STEPS).rev() {
            reach += lanes[steps];
            if 2 * reach >= self.live {
                return steps;
            }
        }
        1
    }

    /// The number of times [`STEPS`] blocks that every message still has.
    #[cfg(feature = "isa-avx512")]
    #[inline(never)]
    pub(super) fn whole(&self) -> usize {
        self.lanes.iter().flatten().map(|message| message.left() / STEPS).min().unwrap_or(0)
    }

    /// The next blocks of each message, `count` times [`STEPS`] of them, and none of lanes without
    /// one. They count as done; [`advance`](Self::advance) finds the messages that end with them.
    #[cfg(feature = "isa-avx512")]
    pub(super) fn take_rows(&mut self, count: usize) -> [InOutBuf<'_, '_, [u8; 64]>; W] {
        let mut lanes = self.lanes.iter_mut();
        core::array::from_fn(|_| match lanes.next() {
            Some(Some(message)) => message.take_rows(count),
            _ => InOutBuf::from(&mut [][..]),
        })
    }

    /// Passes the places of the next `steps` blocks of each message to `write`, and records the
    /// messages that end with them.
    #[inline(always)]
    pub(super) fn advance(&mut self, steps: usize, mut write: impl FnMut(usize, &mut [[u8; 8]])) {
        for (i, (number, lane)) in
            const { numbers::<W>() }.into_iter().zip(&mut self.lanes).enumerate()
        {
            let Some(message) = lane else { continue };
            write(i, message.output(steps));
            if message.left() == 0 {
                *lane = None;
                self.ended[self.ends] = number;
                self.ends += 1;
                self.live -= 1;
            }
        }
    }

    /// The rest of all messages.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = InProgress<'a, 'b, C>> {
        self.lanes.iter_mut().filter_map(Option::take).chain(self.waiting.rest())
    }
}

/// All numbers below `W`, which is 256 at most.
#[expect(clippy::cast_possible_truncation, reason = "numbers below 256")]
const fn numbers<const W: usize>() -> [u8; W] {
    assert!(W <= 256);
    let mut numbers = [0; W];
    let mut i = 0;
    while i < W {
        numbers[i] = i as u8;
        i += 1;
    }
    numbers
}
