//! The messages in lanes, and the order in which others follow.
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

use inout::InOutBuf;

use crate::Isa;
use crate::aes::RoundKeys;
use crate::aes::lanes::{Chain, alone};
use crate::aes::round_keys::MAX_KEYS;

/// The most blocks of a message that goes alone in a batch of `messages` messages, with registers
/// of `W` lanes.
///
/// With few messages side by side the gain is smaller and the preparation the same. The processor
/// overlaps short messages by itself, the end of one with the next.
#[inline(always)]
fn longest_alone<const W: usize>(messages: usize) -> usize {
    match messages {
        0..=1 => usize::MAX,
        2 => 18,
        3 => 11,
        4..=5 => 8,
        6..=8 if W == 1 => 6,
        9..=12 if W == 1 => 7,
        13.. if W == 1 => 5,
        6..=10 => 5,
        16.. if W == 4 => 3,
        _ => 4,
    }
}

/// The count of blocks of a lane without a message. It limits no run.
const IDLE: usize = 128;

/// The input of lanes without a message.
static ZEROS: [[u8; 16]; IDLE] = [[0; 16]; IDLE];

/// The messages of one register, in `W` lanes of 16 bytes.
///
/// In each lane, `left` blocks from `input` and `output` on can be read and written. Those of
/// different messages do not overlap, and a lane without a message has its own places, too. Round
/// keys lie as in registers.
#[repr(C, align(64))]
pub(crate) struct Group<'a, const W: usize> {
    pub(crate) keys: [[[u8; 16]; W]; MAX_KEYS],
    /// The chain values, which are XORed into the next blocks.
    pub(crate) chain: [[u8; 16]; W],
    pub(crate) left: [usize; W],
    pub(crate) input: [*const [u8; 16]; W],
    pub(crate) output: [*mut [u8; 16]; W],
    /// The sources of the keys.
    pub(crate) schedule: [&'a RoundKeys; W],
    /// Whether they have changed since the keys were put together.
    pub(crate) stale: bool,
    data: PhantomData<InOutBuf<'a, 'a, [u8; 16]>>,
}

impl<'a, const W: usize> Group<'a, W> {
    #[inline(always)]
    fn idle(dump: *mut [u8; 16]) -> Self {
        Self {
            keys: [[[0; 16]; W]; MAX_KEYS],
            chain: [[0; 16]; W],
            left: [IDLE; W],
            input: [ZEROS.as_ptr(); W],
            output: [dump; W],
            schedule: [const { &RoundKeys::empty(128, Isa::PORTABLE) }; W],
            stale: true,
            data: PhantomData,
        }
    }

    #[inline(always)]
    fn put(&mut self, lane: usize, message: RestOfMessage<'a>) {
        self.chain[lane] = message.chain;
        self.left[lane] = message.data.len();
        self.schedule[lane] = message.schedule;
        self.stale = true;
        (self.input[lane], self.output[lane]) = message.data.into_raw();
    }

    /// The message of a lane, which is idle afterwards.
    #[inline(always)]
    fn take(&mut self, lane: usize, dump: *mut [u8; 16]) -> RestOfMessage<'a> {
        let input = core::mem::replace(&mut self.input[lane], ZEROS.as_ptr());
        let output = core::mem::replace(&mut self.output[lane], dump);
        let left = core::mem::replace(&mut self.left[lane], IDLE);
        // SAFETY: `left` blocks are left there, and only the message that is made here continues
        // with them.
        let data = unsafe { InOutBuf::from_raw(input, output, left) };
        RestOfMessage { schedule: self.schedule[lane], chain: self.chain[lane], data }
    }
}

/// The rest of a message.
struct RestOfMessage<'a> {
    schedule: &'a RoundKeys,
    chain: [u8; 16],
    data: InOutBuf<'a, 'a, [u8; 16]>,
}

/// Blocks that every lane of `groups` has.
#[cfg(all(target_arch = "x86_64", any(feature = "isa-avx2", feature = "isa-avx512")))]
#[inline(always)]
pub(crate) fn blocks<const W: usize>(groups: &[Group<'_, W>]) -> usize {
    groups.iter().flat_map(|group| group.left).fold(usize::MAX, usize::min)
}

/// Encrypts the messages of `lanes` up to the first that is worth a lane, or has a key that is not
/// for `isa`, and returns the others.
#[inline(always)]
pub(crate) fn skip_short<'l, 'a, const W: usize>(
    isa: Isa,
    lanes: &'l mut [Chain<'a>],
    mut serial: impl FnMut(&RoundKeys, &mut [u8; 16], InOutBuf<'_, '_, [u8; 16]>),
) -> &'l mut [Chain<'a>] {
    let short = longest_alone::<W>(lanes.len());
    let mut first = 0;
    while let Some(lane) = lanes.get_mut(first) {
        if lane.blocks.len() > short || lane.key.isa() != isa {
            break;
        }
        serial(lane.key, &mut { *lane.iv }, lane.blocks.reborrow());
        first += 1;
    }
    &mut lanes[first..]
}

/// The number of messages to begin with.
///
/// Messages of the same length are done in turns: 20 as 12 and 8, which is faster than 16 and 4.
#[inline(always)]
fn at_a_time(messages: usize, lanes: usize, groups: usize) -> usize {
    let all = lanes * groups;
    // Kernels must not have divisions, even of lengths.
    let share = if messages <= all {
        messages
    } else if messages <= 2 * all {
        messages.div_ceil(2)
    } else if messages <= 3 * all {
        messages.div_ceil(3)
    } else if messages <= 4 * all {
        messages.div_ceil(4)
    } else {
        all
    };
    share.next_multiple_of(lanes)
}

/// Takes all messages of `lanes` through `count` groups, at most `G`, except for short ones.
///
/// `run` takes the groups and the number of messages in them, which lie in the first lanes. It
/// encrypts as many blocks as all of those have, or as all lanes of their groups, and returns that
/// number. `serial` encrypts one message. Messages whose keys are not for `isa` go alone.
//
// Compiled into each kernel, with its instructions.
#[inline(always)]
pub(crate) fn drive<'a, const W: usize, const G: usize>(
    isa: Isa,
    lanes: &'a mut [Chain<'_>],
    count: usize,
    mut run: impl FnMut(&mut [Group<'a, W>], usize) -> usize,
    mut serial: impl FnMut(&RoundKeys, &mut [u8; 16], InOutBuf<'_, '_, [u8; 16]>),
) {
    let short = longest_alone::<W>(lanes.len());
    let most = if W == 1 { count } else { at_a_time(lanes.len(), W, count) };
    let mut dump = MaybeUninit::<[[u8; 16]; IDLE]>::uninit();
    let dump: *mut [u8; 16] = dump.as_mut_ptr().cast();
    let mut room = [const { MaybeUninit::<Group<'a, W>>::uninit() }; G];
    let room = &mut room[..count];
    for place in &mut *room {
        place.write(Group::idle(dump));
    }
    // SAFETY: all of them have been written.
    let groups: &mut [Group<'a, W>] =
        unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), count) };
    let mut waiting = lanes.iter_mut();
    let mut next = || {
        loop {
            let lane = waiting.next()?;
            if lane.key.isa() != isa {
                alone(lane);
            } else if lane.blocks.len() <= short {
                serial(lane.key, &mut { *lane.iv }, lane.blocks.reborrow());
            } else {
                let (schedule, chain) = (lane.key, *lane.iv);
                return Some(RestOfMessage { schedule, chain, data: lane.blocks.reborrow() });
            }
        }
    };
    let mut live = 0;
    while live < most {
        let Some(message) = next() else { break };
        groups[live / W].put(live % W, message);
        live += 1;
    }
    while live > 1 {
        let blocks = run(groups, live);
        // From the last one on, so that a message that moves into a lane has already been checked.
        for lane in (0..live).rev() {
            let group = &mut groups[lane / W];
            let i = lane % W;
            if blocks < group.left[i] {
                group.left[i] -= blocks;
                group.input[i] = group.input[i].wrapping_add(blocks);
                group.output[i] = group.output[i].wrapping_add(blocks);
            } else if let Some(message) = next() {
                group.put(i, message);
            } else {
                live -= 1;
                let last = groups[live / W].take(live % W, dump);
                if lane < live {
                    groups[lane / W].put(i, last);
                }
            }
        }
    }
    if live == 1 {
        let mut message = groups[0].take(0, dump);
        serial(message.schedule, &mut message.chain, message.data);
    }
}
