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
    let mut lanes = Lanes { rests: [const { Rest::new(&[], 0) }; 8], places: [0; 8], count: 0 };
    let mut room = [[0; N]; 8];
    let next = if messages.len() < K::FEWEST {
        0
    } else {
        lanes.run::<K, N>(messages, absorbed, states, &mut room)
    };
    let [room, ..] = &mut room;
    let started = lanes.rests.iter().zip(lanes.places).take(lanes.count);
    let started = started.map(|(&rest, place)| (rest, place));
    let others = messages.iter().enumerate().skip(next);
    let others = others.map(|(place, parts)| (Rest::new(parts, absorbed), place));
    for (mut rest, place) in started.chain(others) {
        let mut state = K::enter(states[place]);
        while !rest.is_done() {
            K::compress_one(&mut state, rest.block(room));
        }
        states[place] = K::leave(state);
    }
    wipe::memory(room);
}

/// Absorbs one block of each message.
#[inline(always)]
pub(super) fn step<K: Kernel<N>, const N: usize>(
    states: &mut [[K::Word; 8]],
    blocks: &[[u8; N]],
) {
    for (states, blocks) in states.chunks_mut(K::LANES).zip(blocks.chunks(K::LANES)) {
        let mut registers = Aligned([[K::Word::default(); 8]; 8]);
        let registers = &mut registers.0;
        let mut refs = [&blocks[0]; 8];
        for (lane, (state, block)) in states.iter().zip(blocks).enumerate() {
            put::<K, N>(registers, lane, K::enter(*state));
            refs[lane] = block;
        }
        if states.len() < K::FEWEST {
            for (state, block) in states.iter_mut().zip(blocks) {
                let mut registers = K::enter(*state);
                K::compress_one(&mut registers, block);
                *state = K::leave(registers);
            }
        } else {
            K::compress(registers, &refs, states.len());
            for (lane, state) in states.iter_mut().enumerate() {
                *state = K::leave(get::<K, N>(registers, lane));
            }
        }
        wipe::words(registers.as_flattened_mut());
    }
}

/// What is left of the messages that run, and their places; the first `count` count.
struct Lanes<'a> {
    rests: [Rest<'a>; 8],
    places: [usize; 8],
    count: usize,
}

/// One register after another.
#[repr(align(64))]
struct Aligned<T>(T);

impl<'a> Lanes<'a> {
    /// Absorbs messages until fewer are left than gain. Returns how many have been started.
    #[inline(always)]
    fn run<K: Kernel<N>, const N: usize>(
        &mut self,
        messages: &'a [&'a [&'a [u8]]],
        absorbed: u64,
        states: &mut [[K::Word; 8]],
        room: &mut [[u8; N]; 8],
    ) -> usize {
        let mut registers = Aligned([[K::Word::default(); 8]; 8]);
        let registers = &mut registers.0;
        let mut next = 0;
        loop {
            while self.count < K::LANES && next < messages.len() {
                self.rests[self.count] = Rest::new(messages[next], absorbed);
                self.places[self.count] = next;
                put::<K, N>(registers, self.count, K::enter(states[next]));
                (self.count, next) = (self.count + 1, next + 1);
            }
            if self.count < K::FEWEST {
                break;
            }
            let mut blocks = [&[0; N]; 8];
            let rests = &mut self.rests[..self.count];
            for ((block, rest), room) in blocks.iter_mut().zip(rests).zip(&mut *room) {
                *block = rest.block(room);
            }
            K::compress(registers, &blocks, self.count);
            // From the last lane down: the last one moves to the place of one that ends.
            for lane in (0..self.count).rev() {
                if self.rests[lane].is_done() {
                    states[self.places[lane]] = K::leave(get::<K, N>(registers, lane));
                    self.count -= 1;
                    if lane < self.count {
                        self.rests[lane] = self.rests[self.count];
                        self.places[lane] = self.places[self.count];
                        put::<K, N>(registers, lane, get::<K, N>(registers, self.count));
                    }
                }
            }
        }
        for (lane, &place) in self.places[..self.count].iter().enumerate() {
            states[place] = K::leave(get::<K, N>(registers, lane));
        }
        wipe::words(registers.as_flattened_mut());
        wipe::memory(room.as_flattened_mut());
        next
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
