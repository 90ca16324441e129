//! Many messages through a kernel with a few lanes.

use super::blocks::Rest;
use crate::wipe;

/// A compression function of one or several blocks of `N` bytes side by side.
pub(super) trait Kernel<const N: usize> {
    /// A word of a state.
    type Word: Copy + Default;
    /// How many messages run side by side: at most eight.
    const LANES: usize;
    /// The fewest messages that take less time side by side than one by one.
    const FEWEST: usize;
    /// Whether `states[i][j]` is word `i` of lane `j`, and not word `j` of lane `i`.
    const BY_WORDS: bool;

    /// The state as the functions below have it.
    #[inline(always)]
    fn enter(state: [Self::Word; 8]) -> [Self::Word; 8] {
        state
    }

    /// The opposite of [`enter`](Self::enter).
    #[inline(always)]
    fn leave(state: [Self::Word; 8]) -> [Self::Word; 8] {
        state
    }

    /// Absorbs a block of each of the first `count` lanes. The states of others may change.
    fn compress(states: &mut [[Self::Word; 8]; 8], blocks: &[&[u8; N]; 8], count: usize);

    /// Absorbs a block of one message.
    fn compress_one(state: &mut [Self::Word; 8], block: &[u8; N]);
}

/// Messages in parts, which follow `absorbed` bytes, and their states so far.
pub(crate) struct Jobs<'a, W> {
    pub(super) messages: &'a [&'a [&'a [u8]]],
    pub(super) absorbed: u64,
    pub(super) states: &'a mut [[W; 8]],
}

/// Absorbs all messages. A lane whose message ends takes the next message; when too few are left,
/// they go one by one.
#[inline(always)]
pub(super) fn run<K: Kernel<N>, const N: usize>(jobs: Jobs<'_, K::Word>) {
    let Jobs { messages, absorbed, states } = jobs;
    let mut lanes = [None; 8];
    let started = if messages.len() < K::FEWEST {
        0
    } else {
        side_by_side::<K, N>(messages, absorbed, states, &mut lanes)
    };
    let others = messages.iter().enumerate().skip(started);
    let others = others.map(|(place, parts)| Lane { place, rest: Rest::new(parts, absorbed) });
    let mut room = [0; N];
    for Lane { place, mut rest } in lanes.into_iter().flatten().chain(others) {
        let mut state = K::enter(states[place]);
        while !rest.is_done() {
            K::compress_one(&mut state, rest.block(&mut room));
        }
        states[place] = K::leave(state);
    }
    wipe::memory(&mut room);
}

/// A message that has been started.
#[derive(Clone, Copy)]
struct Lane<'a> {
    place: usize,
    rest: Rest<'a>,
}

/// One register after another.
#[repr(align(64))]
struct Aligned<T>(T);

/// Absorbs messages until fewer are left than gain, which stay in `lanes`. Returns how many have
/// been started.
#[inline(always)]
fn side_by_side<'a, K: Kernel<N>, const N: usize>(
    messages: &'a [&'a [&'a [u8]]],
    absorbed: u64,
    states: &mut [[K::Word; 8]],
    lanes: &mut [Option<Lane<'a>>; 8],
) -> usize {
    let mut registers = Aligned([[K::Word::default(); 8]; 8]);
    let registers = &mut registers.0;
    let mut room = [[0; N]; 8];
    let (mut count, mut started) = (0, 0);
    loop {
        while count < K::LANES && started < messages.len() {
            let rest = Rest::new(messages[started], absorbed);
            lanes[count] = Some(Lane { place: started, rest });
            put::<K, N>(registers, count, K::enter(states[started]));
            (count, started) = (count + 1, started + 1);
        }
        if count < K::FEWEST {
            break;
        }
        let mut blocks = [&[0; N]; 8];
        let running = lanes.iter_mut().flatten();
        for ((block, lane), room) in blocks.iter_mut().zip(running).zip(&mut room) {
            *block = lane.rest.block(room);
        }
        K::compress(registers, &blocks, count);
        // From the last lane down: the last one moves to the place of one that ends.
        for i in (0..count).rev() {
            if let Some(lane) = lanes[i]
                && lane.rest.is_done()
            {
                states[lane.place] = K::leave(get::<K, N>(registers, i));
                count -= 1;
                if i < count {
                    put::<K, N>(registers, i, get::<K, N>(registers, count));
                }
                lanes[i] = lanes[count];
                lanes[count] = None;
            }
        }
    }
    for (i, lane) in lanes.iter().flatten().enumerate() {
        states[lane.place] = K::leave(get::<K, N>(registers, i));
    }
    wipe::words(registers.as_flattened_mut());
    wipe::memory(room.as_flattened_mut());
    started
}

/// Absorbs one block of each message.
#[inline(always)]
pub(super) fn step<K: Kernel<N>, const N: usize>(states: &mut [[K::Word; 8]], blocks: &[[u8; N]]) {
    for (states, blocks) in states.chunks_mut(K::LANES).zip(blocks.chunks(K::LANES)) {
        if states.len() < K::FEWEST {
            for (state, block) in states.iter_mut().zip(blocks) {
                let mut registers = K::enter(*state);
                K::compress_one(&mut registers, block);
                *state = K::leave(registers);
            }
            continue;
        }
        let mut registers = Aligned([[K::Word::default(); 8]; 8]);
        let registers = &mut registers.0;
        let mut refs = [&blocks[0]; 8];
        for (lane, (state, block)) in states.iter().zip(blocks).enumerate() {
            put::<K, N>(registers, lane, K::enter(*state));
            refs[lane] = block;
        }
        K::compress(registers, &refs, states.len());
        for (lane, state) in states.iter_mut().enumerate() {
            *state = K::leave(get::<K, N>(registers, lane));
        }
        wipe::words(registers.as_flattened_mut());
    }
}

#[inline(always)]
fn put<K: Kernel<N>, const N: usize>(
    states: &mut [[K::Word; 8]; 8],
    lane: usize,
    state: [K::Word; 8],
) {
    if K::BY_WORDS {
        for (words, word) in states.iter_mut().zip(state) {
            words[lane] = word;
        }
    } else {
        states[lane] = state;
    }
}

#[inline(always)]
fn get<K: Kernel<N>, const N: usize>(states: &[[K::Word; 8]; 8], lane: usize) -> [K::Word; 8] {
    if K::BY_WORDS { states.map(|words| words[lane]) } else { states[lane] }
}
