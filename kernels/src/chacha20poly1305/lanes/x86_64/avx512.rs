//! Groups of sixteen messages: one pass of ChaCha20 makes their one-time keys, further passes take
//! sixteen blocks of any of them; Poly1305 takes a message a lane.
//!
//! Poly1305 reads the ciphertext in place: the input before it is decrypted, the output after all
//! of it is encrypted. Messages are ordered by length, so that those side by side end together.
//! Messages of one block have a form of their own.

mod hash;
mod passes;
mod short;

use crate::chacha20poly1305::lanes::{Lane, OPEN, SEAL, one};
use crate::isa::Mode;
use crate::{Level, wipe};
use passes::Passes;

pub(crate) const NEEDS: Level = Level::Avx512;

/// Messages that are ordered by length at a time.
const MANY: usize = 64;

/// Messages side by side.
const GROUP: usize = 16;

/// The most bytes of associated data of messages side by side.
const MOST_AAD: usize = 64;

/// The most bytes of a message that goes side by side with others.
const LONGEST: usize = 2048;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
pub(crate) fn run<const MODE: bool>(lanes: &mut [Lane<'_>], _: Mode<MODE>) {
    for lanes in lanes.chunks_mut(MANY) {
        ordered::<MODE>(lanes);
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn ordered<const MODE: bool>(lanes: &mut [Lane<'_>]) {
    // The number of bytes by which a message is shorter than the longest possible one, and its
    // index.
    let mut keys = [0_u32; MANY];
    let mut count = 0;
    let (mut sorted, mut before) = (true, 0);
    for (at, lane) in (0..).zip(&mut *lanes) {
        let bytes = lane.data.len();
        if bytes > LONGEST || lane.aad.len() > MOST_AAD {
            one::<MODE>(lane);
            continue;
        }
        let key = word(LONGEST - bytes) << 8 | at;
        keys[count] = key;
        count += 1;
        sorted &= before <= key;
        before = key;
    }
    let keys = &mut keys[..count];
    if !sorted {
        keys.sort_unstable();
    }
    let mut order = [0; MANY];
    for (at, key) in order.iter_mut().zip(&*keys) {
        [*at, ..] = key.to_le_bytes();
    }
    for group in order[..count].chunks(GROUP) {
        if lanes[usize::from(group[0])].data.len() <= 64 && group.len() >= FEWEST_SHORT {
            short::side_by_side::<MODE>(lanes, group);
        } else if gains(lanes, group) {
            side_by_side::<MODE>(lanes, group);
        } else {
            group.iter().for_each(|&at| one::<MODE>(&mut lanes[usize::from(at)]));
        }
    }
}

/// The fewest messages of at most one block that are faster side by side than one after the other.
const FEWEST_SHORT: usize = 4;

/// Whether messages, the longest first, are faster side by side: a model of measurements, in
/// cycles. One after the other, a message has a pass of its own, of four blocks or a multiple. Side
/// by side, Poly1305 of eight takes as long as that of the longest.
#[inline]
fn gains(lanes: &[Lane<'_>], group: &[u8]) -> bool {
    let (mut alone, mut beside) = (0, 1000);
    for (rank, &at) in group.iter().enumerate() {
        let bytes = lanes[usize::from(at)].data.len();
        let blocks = 1 + bytes.div_ceil(64);
        alone += 190 + 42 * blocks.next_multiple_of(4);
        beside += 70 + 36 * blocks;
        if rank % 8 == 0 {
            beside += 120 + bytes;
        }
    }
    beside < alone
}

/// The messages in their order, the first [`GROUP`] of them.
//
// A separate call, for the baseline: with AVX-512 the compiler would scatter pointers, and scatters
// are forbidden in kernels.
#[inline(never)]
fn places<'l, 'a>(lanes: &'l mut [Lane<'a>], order: &[u8]) -> [Option<&'l mut Lane<'a>>; GROUP] {
    let mut ranks = [usize::MAX; MANY];
    for (rank, &at) in order.iter().enumerate() {
        ranks[usize::from(at)] = rank;
    }
    let mut places = [const { None }; GROUP];
    for (lane, &rank) in lanes.iter_mut().zip(&ranks) {
        if let Some(place) = places.get_mut(rank) {
            *place = Some(lane);
        }
    }
    places
}

/// Messages side by side, the longest first.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn side_by_side<const MODE: bool>(lanes: &mut [Lane<'_>], order: &[u8]) {
    let mut places = places(lanes, order);
    let mut keys = [[0; 64]; GROUP];
    let Some(mut passes) = Passes::new(&mut places[..order.len()]) else { return };
    let stream = passes.begin(&mut keys);
    let mut tags = [[0; 16]; GROUP];
    if MODE == OPEN {
        tags = hash::tags::<MODE>(&keys, passes.group);
    }
    passes.put(order.len(), &stream);
    passes.finish();
    if MODE == SEAL {
        tags = hash::tags::<MODE>(&keys, passes.group);
    }
    for (lane, tag) in passes.group.iter_mut().flatten().zip(tags) {
        *lane.tag = tag;
    }
    wipe::memory(keys.as_flattened_mut());
}

/// The first eight and the others.
#[inline(always)]
fn halves<T>(all: &[T; GROUP]) -> (&[T; 8], &[T; 8]) {
    match all.as_chunks().0 {
        [front, back] => (front, back),
        _ => unreachable!("sixteen are twice eight"),
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "a message has at most `LONGEST` bytes")]
const fn word(number: usize) -> u32 {
    number as u32
}
