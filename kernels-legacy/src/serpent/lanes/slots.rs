//! The messages of a batch: those in progress, their lanes, and their progress.

use core::marker::PhantomData;
use core::ptr;
use core::slice;

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;

use crate::serpent::Serpent;

/// The fewest blocks of a message for which a change to a narrower form pays.
const WORTH: usize = 4;

/// Messages in progress, one a lane, and those that wait. `MOST` is the number of lanes of the
/// widest form, at most 32.
///
/// Blocks are counted through the batch: all lanes are at block `now`, whatever its number in their
/// own messages, and pointers lead to where block 0 would be. So a step changes only `now`.
///
/// Lanes whose bit in `live` is set have a message: blocks from `now` to before `ends` may be read
/// at `input` and written at `output` for the lifetime `'a`, for which the batch is borrowed. After
/// [`lend`](Self::lend), other lanes read the input of one of these, so that reading needs no
/// condition.
pub(in crate::serpent) struct Slots<'a, 'b, const MOST: usize> {
    waiting: slice::IterMut<'a, Lane<'b, Serpent, 16>>,
    live: u32,
    now: usize,
    input: [*const [u8; 16]; MOST],
    output: [*mut [u8; 16]; MOST],
    /// One past the last block; a lane without a message never ends.
    ends: [usize; MOST],
    /// Round keys; in a lane without a message, those of any message.
    keys: [&'a [[u32; 4]; 33]; MOST],
    /// The chain value, which is XORed into the next block.
    chains: [[u8; 16]; MOST],
    /// The pointers are those of buffers that are borrowed so.
    buffers: PhantomData<InOutBuf<'a, 'a, [u8; 16]>>,
}

impl<'a, 'b, const MOST: usize> Slots<'a, 'b, MOST> {
    /// The first messages that are not empty, as many as there are lanes. None if there is none.
    #[inline]
    pub(in crate::serpent) fn new(lanes: &'a mut [Lane<'b, Serpent, 16>]) -> Option<Self> {
        const { assert!(MOST <= 32) };
        let any: &'a Serpent = lanes.first()?.key;
        let mut slots = Self {
            waiting: lanes.iter_mut(),
            live: 0,
            now: 0,
            input: [ptr::null(); MOST],
            output: [ptr::null_mut(); MOST],
            ends: [usize::MAX; MOST],
            keys: [&any.keys; MOST],
            chains: [[0; 16]; MOST],
            buffers: PhantomData,
        };
        for lane in 0..MOST {
            if !slots.take_next(lane) {
                break;
            }
        }
        (slots.live > 0).then_some(slots)
    }

    /// Puts the next message that is not empty into a lane.
    #[inline]
    fn take_next(&mut self, lane: usize) -> bool {
        let Some(next) = self.waiting.find(|next| !next.blocks.is_empty()) else { return false };
        let key: &'a Serpent = next.key;
        self.keys[lane] = &key.keys;
        self.chains[lane] = *next.iv;
        self.ends[lane] = self.now + next.blocks.len();
        let (input, output) = next.blocks.reborrow().into_raw();
        self.input[lane] = input.wrapping_sub(self.now);
        self.output[lane] = output.wrapping_sub(self.now);
        self.live |= 1 << lane;
        true
    }

    /// The number of messages in progress.
    #[inline]
    pub(in crate::serpent) fn count(&self) -> u32 {
        self.live.count_ones()
    }

    /// Moves all messages to the first lanes.
    #[inline]
    pub(in crate::serpent) fn close_up(&mut self) {
        let count = self.live.count_ones();
        while self.live.trailing_ones() < count {
            let to = self.live.trailing_ones() as usize;
            let from = self.live.ilog2() as usize;
            self.input[to] = self.input[from];
            self.output[to] = self.output[from];
            self.keys[to] = self.keys[from];
            self.chains[to] = self.chains[from];
            self.ends[to] = self.ends[from];
            self.ends[from] = usize::MAX;
            self.live ^= 1 << to | 1 << from;
        }
    }

    /// Gives the lanes without a message, of the first `width`, the input of a lane that has one.
    /// It goes before the first block of lanes of a form.
    #[inline(always)]
    pub(in crate::serpent) fn lend(&mut self, width: usize) {
        let any = self.input[self.live.trailing_zeros() as usize % MOST];
        for (lane, input) in self.input[..width].iter_mut().enumerate() {
            *input = if self.live >> lane & 1 == 1 { *input } else { any };
        }
    }

    /// Takes the rest of a message out of the first lane that has one: its key, its chain, its
    /// data.
    #[inline]
    #[expect(clippy::type_complexity, reason = "the arguments of the serial kernel")]
    pub(in crate::serpent) fn take_out(
        &mut self,
    ) -> Option<(&'a [[u32; 4]; 33], &mut [u8; 16], InOutBuf<'a, 'a, [u8; 16]>)> {
        let lane = self.live.trailing_zeros() as usize;
        if lane == 32 {
            return None;
        }
        self.live &= self.live - 1;
        let input = self.input[lane].wrapping_add(self.now);
        let output = self.output[lane].wrapping_add(self.now);
        let count = self.ends[lane] - self.now;
        // SAFETY: the lane had `count` blocks at both places, borrowed for the lifetime; its bit is
        // clear now, so that nothing else reaches them.
        let rest = unsafe { InOutBuf::from_raw(input, output, count) };
        Some((self.keys[lane], &mut self.chains[lane], rest))
    }

    /// The current block of all lanes.
    #[inline]
    pub(in crate::serpent) fn now(&self) -> usize {
        self.now
    }

    /// The block where the first of the messages in the first `width` lanes ends.
    #[inline]
    pub(in crate::serpent) fn first_end(&self, width: usize) -> usize {
        self.ends[..width].iter().copied().min().unwrap_or(self.now)
    }

    /// Whether there is one message at most, or two, one of which has fewer than `blocks` blocks
    /// left.
    #[inline]
    pub(in crate::serpent) fn are_short(&self, blocks: usize) -> bool {
        let count = self.count();
        count < 2 || count == 2 && self.first_end(2) - self.now < blocks
    }

    /// Whether at most `fewer` messages are left, one of them long enough that a narrower form,
    /// which transposes its keys anew, pays.
    #[inline]
    pub(in crate::serpent) fn suit(&self, fewer: u32) -> bool {
        let long = |lane: usize| self.live >> lane & 1 == 1 && self.ends[lane] - self.now >= WORTH;
        self.live == 0 || self.count() <= fewer && (0..MOST).any(long)
    }

    /// Advances to block `now`, at most [`first_end`](Self::first_end). Messages that end there,
    /// all in the first `width` lanes, make room for the next ones. The result has a bit for each
    /// lane whose key has changed.
    ///
    /// Inlined, for wide registers.
    #[inline(always)]
    pub(in crate::serpent) fn pass(&mut self, width: usize, now: usize) -> u32 {
        self.now = now;
        let mut ended = 0;
        for (lane, end) in self.ends[..width].iter().enumerate() {
            ended |= u32::from(*end == now) << lane;
        }
        let before = self.live;
        let mut changed = 0;
        while ended > 0 {
            let lane = ended.trailing_zeros() as usize;
            ended &= ended - 1;
            self.live &= !(1 << lane);
            self.ends[lane] = usize::MAX;
            let key = self.keys[lane];
            if self.take_next(lane) {
                changed |= u32::from(!ptr::eq(key, self.keys[lane])) << lane;
            }
        }
        if self.live != before {
            self.lend(width);
        }
        changed
    }

    /// The round keys of a group of lanes.
    #[inline]
    pub(in crate::serpent) fn keys<const N: usize>(&self, group: usize) -> &[&[[u32; 4]; 33]; N] {
        self.keys[group * N..].first_chunk().expect("groups are whole")
    }

    /// The chains of a group of lanes.
    #[inline]
    pub(in crate::serpent) fn chains<const N: usize>(
        &mut self,
        group: usize,
    ) -> &mut [[u8; 16]; N] {
        self.chains[group * N..].first_chunk_mut().expect("groups are whole")
    }

    /// The lanes that have a message, a bit each.
    #[inline]
    pub(in crate::serpent) fn live(&self) -> u32 {
        self.live
    }

    /// A block of a lane, by its number times 16. A lane without a message reads that of the
    /// message whose input it has been lent.
    ///
    /// # Safety
    ///
    /// The lane must have a message, or have been [lent](Self::lend) an input since the last
    /// message ended or came. The block must be one that all messages have, `now` or after it.
    #[inline]
    pub(in crate::serpent) unsafe fn block(&self, lane: usize, at: usize) -> [u8; 16] {
        debug_assert!(!self.input[lane].is_null() && self.live > 0);
        debug_assert!((self.now..self.first_end(MOST)).contains(&(at / 16)));
        let place = self.input[lane].wrapping_byte_add(at);
        // SAFETY: the blocks of a message from now to where the first one ends may be read.
        unsafe { place.read() }
    }

    /// Writes a block of a lane, by its number times 16.
    ///
    /// # Safety
    ///
    /// The lane must have a message, and the block must be one that the message has, `now` or after
    /// it.
    #[inline]
    pub(in crate::serpent) unsafe fn set_block(&self, lane: usize, at: usize, block: [u8; 16]) {
        debug_assert!(self.live >> lane & 1 == 1);
        debug_assert!((self.now..self.ends[lane]).contains(&(at / 16)));
        let place = self.output[lane].wrapping_byte_add(at);
        // SAFETY: the blocks of a message from now to its end may be written.
        unsafe { place.write(block) }
    }
}
