//! 64 messages in lanes of a byte: the rounds of the kernel for one key, with a byte of key for
//! each lane. Constant time in keys and data.
//!
//! A group of eight lanes stands in a register as eight blocks. Lane `i` of group `g` is byte
//! [`position`] of registers that hold a byte, or an S-box's input, of each lane.

mod keys;
mod order;

use core::arch::asm;
use core::arch::x86_64::*;
use core::array;

use inout::InOutBuf;
use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::simd::{
    load512, load512_part, opaque_count, opaque_place, store512, store512_part,
};
use lanecrypt_kernels::{Level, wipe};

use self::keys::{Keys, set_all, set_one};
use self::order::{exchange_all, interleave_rows, leaving, left_at, position, transpose_words};
use crate::des::lanes::slots::{InProgress, Messages, STEPS, Slots};
use crate::des::lanes::{KEYS, Times, scalar};
use crate::des::x86_64::avx512::{
    Halves, Masks, SPREAD, TABLES, UNITS, gather, permute, permuted, reversed, transpose,
};

pub(crate) const NEEDS: Level = Level::Avx512;

const LANES: usize = 64;

/// The fewest messages for which lanes are faster than tables for two at a time.
const FEWEST: usize = 5;

/// Blocks that tables finish, for two messages at a time, while lanes are set up.
const SETUP: usize = 16;

/// Lanes that get new keys more cheaply one by one than all 64 together, at most.
const ONE_BY_ONE: usize = 3;

/// Encrypts the messages of all lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,bmi2")]
pub(crate) fn cbc_encrypt_lanes<C: Times<N>, const N: usize>(lanes: &mut [Lane<'_, C, 8>]) {
    let mut messages = Messages::of(lanes);
    if messages.most() <= LANES {
        let (all, longest) = messages.blocks();
        if all <= (FEWEST - 1) * longest + SETUP {
            return scalar::in_pairs::<C, N>(messages.rest());
        }
    }
    let mut slots = Slots::<C, LANES>::new(messages);
    slots.refill();
    if slots.live() >= FEWEST {
        in_lanes(&mut slots);
    }
    scalar::in_pairs::<C, N>(slots.rest());
}

/// The next blocks of all lanes.
#[repr(align(64))]
struct Blocks([[[u8; 64]; 8]; STEPS]);

/// A block of each lane.
#[repr(align(64))]
struct Row([[u8; 64]; 8]);

/// The chain values, to which the next blocks are added: both halves, spread.
#[repr(align(64))]
struct Chain([[[u8; 64]; 8]; 2]);

/// Encrypts until few messages are left.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni,bmi2")]
fn in_lanes<C: Times<N>, const N: usize>(slots: &mut Slots<'_, '_, C, LANES>) {
    let mut keys = Keys([[[[0; 64]; 8]; KEYS]; N]);
    // First for each group the blocks of eight lanes, then for each step the blocks of all.
    let mut blocks = Blocks([[[0; 64]; 8]; STEPS]);
    let mut chain = Chain([[[0; 64]; 8]; 2]);
    set_all(&mut keys, &mut blocks, slots.lanes());
    loop {
        begin(&mut chain, slots.lanes());
        match slots.whole() {
            0 => {
                let steps = slots.steps();
                load(&mut blocks, slots.lanes(), steps);
                encrypt(&keys, &mut chain, &mut blocks.0[..steps]);
                store(slots, &mut blocks, steps);
            }
            count => {
                let mut rows = slots.take_rows(count);
                for i in 0..count {
                    load_rows(&mut blocks, &rows, i);
                    encrypt(&keys, &mut chain, &mut blocks.0);
                    store_rows(&mut rows, &blocks, i);
                }
                slots.advance(0, |_, _| {});
            }
        }
        let fresh = slots.refill();
        let count = fresh.len();
        let fresh: [_; ONE_BY_ONE] = array::from_fn(|i| fresh.get(i).copied());
        if slots.live() < FEWEST {
            break;
        }
        if count <= ONE_BY_ONE {
            for lane in fresh.into_iter().flatten().map(usize::from) {
                if let Some(message) = &slots.lanes()[lane] {
                    set_one(&mut keys, lane, message.keys());
                }
            }
        } else {
            set_all(&mut keys, &mut blocks, slots.lanes());
        }
    }
    wipe::memory(keys.0.as_flattened_mut().as_flattened_mut().as_flattened_mut());
    wipe::memory(blocks.0.as_flattened_mut().as_flattened_mut());
    wipe::memory(chain.0.as_flattened_mut().as_flattened_mut());
}

/// Encrypts one block of each lane after the other.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn encrypt<const N: usize>(keys: &Keys<N>, chain: &mut Chain, blocks: &mut [[[u8; 64]; 8]]) {
    let [left, right] = &chain.0;
    let mut halves = Halves { left: load_all(left), right: load_all(right) };
    let mut next = Chain([[[0; 64]; 8]; 2]);
    if let Some(first) = blocks.first() {
        spread(&mut next, &exchange_all(load_all(first)));
    }
    for i in 0..blocks.len() {
        plus(&mut halves.left, &next.0[0]);
        // With the first word of the schedule added, for the rounds.
        for ((half, next), word) in halves.right.iter_mut().zip(&next.0[1]).zip(&keys.0[0][0]) {
            *half = _mm512_ternarylogic_epi64::<0x96>(*half, load512(next), load512(word));
        }
        rounds(&mut halves, keys);
        // Before the end of this one, because the next one does not wait for the rounds.
        if let Some(following) = blocks.get(i + 1) {
            spread(&mut next, &exchange_all(load_all(following)));
        }
        store_all(&mut blocks[i], exchange_all(gather(&halves)));
    }
    wipe::memory(next.0.as_flattened_mut().as_flattened_mut());
    store_all(&mut chain.0[0], halves.left);
    store_all(&mut chain.0[1], halves.right);
}

/// Adds vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn plus(vectors: &mut [__m512i; 8], others: &[[u8; 64]; 8]) {
    for (vector, other) in vectors.iter_mut().zip(others) {
        *vector = _mm512_xor_si512(*vector, load512(other));
    }
}

/// E of both halves, from a vector for each byte of a block.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn spread(halves: &mut Chain, bytes: &[__m512i; 8]) {
    for (even, half) in halves.0.iter_mut().enumerate() {
        for (half, merge) in half.iter_mut().zip(&MERGES) {
            let [near, far] = merge.bytes.map(|byte| bytes[reversed(2 * byte + 1 - even)]);
            let both = _mm512_ternarylogic_epi64::<0xd8>(near, far, _mm512_set1_epi8(merge.far));
            let matrix = _mm512_set1_epi64(merge.matrix);
            store512(half, _mm512_gf2p8affine_epi64_epi8::<0>(both, matrix));
        }
    }
}

/// How the inputs of an S-box come from two bytes of a half.
struct Merge {
    bytes: [usize; 2],
    /// The bits from the second byte; their places differ from those of the first.
    far: i8,
    /// The bit matrix that puts all of them in their places.
    matrix: i64,
}

const MERGES: [Merge; 8] = {
    let mut merges = [const { Merge { bytes: [0; 2], far: 0, matrix: 0 } }; 8];
    let mut sbox = 0;
    while sbox < 8 {
        let [(near, to_near), (far, to_far)] = SPREAD[sbox];
        let (from_near, from_far) = (inputs_of(to_near), inputs_of(to_far));
        assert!(from_near & from_far == 0);
        merges[sbox] = Merge { bytes: [near, far], far: from_far, matrix: to_near | to_far };
        sbox += 1;
    }
    merges
};

/// The bits of a byte that a bit matrix takes.
const fn inputs_of(matrix: i64) -> i8 {
    let rows = matrix.to_le_bytes();
    let mut inputs = 0;
    let mut i = 0;
    while i < 8 {
        inputs |= rows[i];
        i += 1;
    }
    inputs.cast_signed()
}

/// All rounds, and the swap of the halves after each sixteen.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn rounds<const N: usize>(halves: &mut Halves, keys: &Keys<N>) {
    let masks = Masks::load();
    let (mut index, mut other) = (halves.right, halves.left);
    // Not unrolled: the processor's cache of decoded instructions would not hold three times the
    // code.
    let mut schedules = keys.0[..opaque_count(N).min(N)].iter().peekable();
    while let Some(words) = schedules.next() {
        let (pairs, _) = words[1..KEYS - 1].as_chunks();
        for [first, second] in pairs {
            add(&mut other, &index, first, &masks);
            add(&mut index, &other, second, &masks);
        }
        (index, other) = (other, index);
        match schedules.peek() {
            Some(following) => {
                for ((half, last), first) in
                    index.iter_mut().zip(&words[KEYS - 1]).zip(&following[0])
                {
                    *half = _mm512_ternarylogic_epi64::<0x96>(*half, load512(last), load512(first));
                }
            }
            None => plus(&mut index, &words[KEYS - 1]),
        }
    }
    *halves = Halves { left: other, right: index };
}

/// Adds the round function and a word of each lane's schedule to the other half.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn add(half: &mut [__m512i; 8], index: &[__m512i; 8], word: &[[u8; 64]; 8], masks: &Masks) {
    let mut answers = *index;
    for (answer, table) in answers.iter_mut().zip(&opaque_place(&TABLES).0) {
        *answer = _mm512_permutexvar_epi8(*answer, load512(table));
    }
    for ((half, sum), word) in half.iter_mut().zip(permuted(answers, masks)).zip(word) {
        *half = _mm512_ternarylogic_epi64::<0x96>(*half, sum, load512(word));
    }
}

/// Starts the chains of lanes with a new message.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn begin<C>(chain: &mut Chain, lanes: &[Option<InProgress<'_, '_, C>>; LANES]) {
    let mut vectors = Row([[0; 64]; 8]);
    let mut new = 0;
    for (group, lanes) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let places = vectors.0[group].as_chunks_mut::<8>().0;
        for (i, (lane, place)) in lanes.iter().zip(places).enumerate() {
            if let Some(iv) = lane.as_ref().and_then(InProgress::start) {
                *place = *iv;
                new |= 1 << position(group, i);
            }
        }
    }
    if new == 0 {
        return;
    }
    let mut start = Chain([[[0; 64]; 8]; 2]);
    spread(&mut start, &transpose(permute(&vectors.0)));
    for (half, start) in chain.0.iter_mut().zip(&start.0) {
        for (half, start) in half.iter_mut().zip(start) {
            let mixed = _mm512_mask_mov_epi8(load512(half), new, load512(start));
            store512(half, mixed);
        }
    }
}

/// Reads the next blocks of all lanes, [`STEPS`] of each.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn load_rows(blocks: &mut Blocks, lanes: &[InOutBuf<'_, '_, [u8; 64]>; LANES], at: usize) {
    for (group, lanes) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (row, lane) in rows.iter_mut().zip(lanes) {
            if let Some(bytes) = lane.get_in().get(at) {
                *row = load512(bytes);
            }
            prefetch(lane.get_in(), at + 1);
        }
        enter(blocks, group, rows);
    }
}

/// Prefetches a row that will be read, if there is one.
#[inline]
fn prefetch(rows: &[[u8; 64]], at: usize) {
    let place = rows.as_ptr().wrapping_add(at);
    // SAFETY: a prefetch changes nothing that a program sees and never faults, wherever it points.
    unsafe { asm!("prefetcht0 [{0}]", in(reg) place, options(readonly, nostack, preserves_flags)) };
}

/// Reads the next blocks of all lanes, up to `steps` of each.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,bmi2,gfni")]
fn load<C>(blocks: &mut Blocks, lanes: &[Option<InProgress<'_, '_, C>>; LANES], steps: usize) {
    for (group, lanes) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let mut rows = [_mm512_setzero_si512(); 8];
        for (row, lane) in rows.iter_mut().zip(lanes) {
            if let Some(message) = lane {
                *row = load512_part(message.input(steps).as_flattened());
            }
        }
        enter(blocks, group, rows);
    }
}

/// The initial permutation of eight blocks of each lane of a group, and the first half of their
/// way to vectors of a byte of all lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn enter(blocks: &mut Blocks, group: usize, rows: [__m512i; 8]) {
    let mut rows = rows;
    for row in &mut rows {
        *row = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(UNITS), *row);
    }
    for (step, vector) in blocks.0.iter_mut().zip(interleave_rows(&rows)) {
        store512(&mut step[group], vector);
    }
}

/// Eight blocks of each of eight lanes, those of [`leaving`], after the final permutation.
#[inline]
#[target_feature(enable = "avx512f,gfni")]
fn leave(blocks: &Blocks, group: usize) -> [__m512i; 8] {
    let mut steps = [_mm512_setzero_si512(); 8];
    for (vector, step) in steps.iter_mut().zip(&blocks.0) {
        let units = _mm512_set1_epi64(UNITS);
        *vector = _mm512_gf2p8affine_epi64_epi8::<0>(units, load512(&step[group]));
    }
    transpose_words(&steps)
}

/// Writes the next blocks of all lanes, [`STEPS`] of each.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn store_rows(lanes: &mut [InOutBuf<'_, '_, [u8; 64]>; LANES], blocks: &Blocks, at: usize) {
    for group in 0..8 {
        for (i, row) in leave(blocks, group).into_iter().enumerate() {
            if let Some(bytes) = lanes[leaving(group, i)].get_out().get_mut(at) {
                store512(bytes, row);
            }
        }
    }
}

/// Writes the next blocks of all lanes, up to `steps` of each.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,bmi2,gfni")]
fn store<C>(slots: &mut Slots<'_, '_, C, LANES>, blocks: &mut Blocks, steps: usize) {
    for group in 0..8 {
        for (row, step) in leave(blocks, group).into_iter().zip(&mut blocks.0) {
            store512(&mut step[group], row);
        }
    }
    slots.advance(steps, |lane, output| {
        let (group, at) = left_at(lane);
        store512_part(output.as_flattened_mut(), load512(&blocks.0[at][group]));
    });
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_all(places: &mut [[u8; 64]; 8], vectors: [__m512i; 8]) {
    for (place, vector) in places.iter_mut().zip(vectors) {
        store512(place, vector);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_all(vectors: &[[u8; 64]; 8]) -> [__m512i; 8] {
    let mut all = [_mm512_setzero_si512(); 8];
    for (vector, bytes) in all.iter_mut().zip(vectors) {
        *vector = load512(bytes);
    }
    all
}
