//! Many messages through a kernel with a few lanes.

use super::blocks::Rest;
use crate::wipe;

/// A message and the state that its blocks change.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a, W> {
    pub(super) state: [W; 8],
    pub(super) rest: Rest<'a>,
}

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

/// Absorbs all messages. A lane whose message ends takes the next message; when too few are left,
/// they go one by one.
#[inline(always)]
pub(super) fn run<K: Kernel<N>, const N: usize>(jobs: &mut [Job<'_, K::Word>]) {
    if jobs.len() >= K::FEWEST {
        side_by_side::<K, N>(jobs);
    }
    let mut room = [0; N];
    for job in jobs.iter_mut().filter(|job| !job.rest.is_done()) {
        let mut state = K::enter(job.state);
        while !job.rest.is_done() {
            K::compress_one(&mut state, job.rest.block(&mut room));
        }
        job.state = K::leave(state);
        wipe::words(&mut state);
    }
    wipe::memory(&mut room);
}

#[inline(always)]
fn side_by_side<K: Kernel<N>, const N: usize>(jobs: &mut [Job<'_, K::Word>]) {
    let mut room = [[0; N]; 8];
    let mut states = Aligned([[K::Word::default(); 8]; 8]);
    let states = &mut states.0;
    // The message of each lane; those of the first `count` lanes count.
    let (mut lanes, mut count, mut next) = ([0; 8], 0, 0);
    loop {
        while count < K::LANES && next < jobs.len() {
            lanes[count] = next;
            put::<K, N>(states, count, K::enter(jobs[next].state));
            (count, next) = (count + 1, next + 1);
        }
        if count < K::FEWEST {
            break;
        }
        let mut blocks = [&[0; N]; 8];
        for ((block, &job), room) in blocks.iter_mut().zip(&lanes[..count]).zip(&mut room) {
            *block = jobs[job].rest.block(room);
        }
        K::compress(states, &blocks, count);
        // From the last lane down: the last one moves to the place of one that ends.
        for lane in (0..count).rev() {
            let job = &mut jobs[lanes[lane]];
            if job.rest.is_done() {
                job.state = K::leave(get::<K, N>(states, lane));
                count -= 1;
                lanes[lane] = lanes[count];
                put::<K, N>(states, lane, get::<K, N>(states, count));
            }
        }
    }
    for (lane, &job) in lanes[..count].iter().enumerate() {
        jobs[job].state = K::leave(get::<K, N>(states, lane));
    }
    wipe::words(states.as_flattened_mut());
    wipe::memory(room.as_flattened_mut());
}

/// One register after another.
#[repr(align(64))]
struct Aligned<T>(T);

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
