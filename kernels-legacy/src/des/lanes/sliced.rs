//! Messages in lanes of a bit: a round key bit is a plane of its own, one bit for each lane.
//! Constant time in keys and data.
//!
//! A key of DES is 56 planes; the choice of those that a round adds is public.

use lanecrypt_kernels::lanes::Lane;
use lanecrypt_kernels::wipe;

use super::super::sliced::{RoundKey, Word, permuted};
use super::super::spec;
use super::slots::{Messages, STEPS, Slots};
use super::{KEYS, Times, scalar};

/// A register's worth of bits of each of 64 rows: `LANES` blocks.
pub(super) trait Wide<const LANES: usize>: Word + Default {
    /// Adds the chain to a block of each lane and encrypts it; the result is the next chain.
    fn encrypt(keys: &[[Self; 64]], chain: &mut [[u8; 8]; LANES], blocks: &mut [[u8; 8]; LANES]);

    /// The planes of a word of 64 bits of each lane.
    fn planes(words: &[[u8; 8]; LANES], planes: &mut [Self; 64]);
}

/// Encrypts the messages of all lanes while at least `FEWEST` are in lanes.
#[inline(always)]
pub(super) fn cbc_encrypt_lanes<W, C, const N: usize, const LANES: usize, const FEWEST: usize>(
    lanes: &mut [Lane<'_, C, 8>],
) where
    W: Wide<LANES>,
    C: Times<N>,
{
    let mut messages = Messages::of(lanes);
    if messages.most() < FEWEST {
        return scalar::in_pairs::<C, N>(messages.rest());
    }
    let mut slots = Slots::<C, LANES>::new(messages);
    slots.refill();
    if slots.live() >= FEWEST {
        in_lanes::<W, C, N, LANES, FEWEST>(&mut slots);
    }
    scalar::in_pairs::<C, N>(slots.rest());
}

/// Encrypts until few messages are left.
#[inline(never)]
fn in_lanes<W, C, const N: usize, const LANES: usize, const FEWEST: usize>(
    slots: &mut Slots<'_, '_, C, LANES>,
) where
    W: Wide<LANES>,
    C: Times<N>,
{
    let mut words = [[0; 8]; LANES];
    let mut keys = [[W::fill(0); 64]; N];
    let mut chain = [[0; 8]; LANES];
    let mut blocks = [[[0; 8]; LANES]; STEPS / 2];
    while slots.live() >= FEWEST {
        let steps = slots.steps().min(blocks.len());
        let mut changed = false;
        for (i, lane) in slots.lanes().iter().enumerate() {
            let Some(message) = lane else { continue };
            if let Some(iv) = message.start() {
                changed = true;
                chain[i] = *iv;
            }
            for (step, block) in blocks.iter_mut().zip(message.input(steps)) {
                step[i] = *block;
            }
        }
        if changed {
            for (time, planes) in keys.iter_mut().enumerate() {
                for (word, lane) in words.iter_mut().zip(slots.lanes()) {
                    let Some(message) = lane else { continue };
                    *word = key_bits(&message.keys()[time], is_backwards(time)).to_le_bytes();
                }
                W::planes(&words, planes);
            }
        }
        for blocks in &mut blocks[..steps] {
            W::encrypt(&keys, &mut chain, blocks);
        }
        slots.advance(steps, |i, output| {
            for (block, step) in output.iter_mut().zip(&blocks) {
                *block = step[i];
            }
        });
        slots.refill();
    }
    wipe::memory(words.as_flattened_mut());
    wipe::words(keys.as_flattened_mut());
    wipe::memory(chain.as_flattened_mut());
    wipe::memory(blocks.as_flattened_mut().as_flattened_mut());
}

/// The second of three times DES is decryption.
const fn is_backwards(time: usize) -> bool {
    time == 1
}

/// All rounds on blocks, the first byte of each the lowest of a lane.
#[inline(always)]
pub(super) fn encrypt<W: Word>(keys: &[[W; 64]], blocks: &mut [W; 64]) {
    W::transpose(blocks);
    let (mut left, mut right) = ([blocks[0]; 32], [blocks[0]; 32]);
    for bit in 0..32 {
        let (l, r) = permuted(bit);
        (left[bit], right[bit]) = (blocks[l], blocks[r]);
    }
    for (time, planes) in keys.iter().enumerate() {
        for [first, second] in &ROUNDS[usize::from(is_backwards(time))] {
            W::round(&mut left, &right, &Chosen { planes, places: first });
            W::round(&mut right, &left, &Chosen { planes, places: second });
        }
        (left, right) = (right, left);
    }
    for bit in 0..32 {
        let (l, r) = permuted(bit);
        (blocks[l], blocks[r]) = (left[bit], right[bit]);
    }
    W::transpose(blocks);
}

/// A round key, as its places among the planes of a key.
struct Chosen<'a, W> {
    planes: &'a [W; 64],
    places: &'a [u8; 48],
}

impl<W: Word> RoundKey<W> for Chosen<'_, W> {
    #[inline(always)]
    fn plane(&self, input: usize) -> W {
        self.planes[usize::from(self.places[input] & 63)]
    }
}

/// All bits of a key, each at its [`place_of`]: the first round key, spread; the two high bits of
/// its bytes have the bits that only the second one has.
#[inline(always)]
fn key_bits(schedule: &[u64; KEYS], backwards: bool) -> u64 {
    let [first, second] = if backwards { [KEYS - 1, KEYS - 2] } else { [0, 1] };
    let second = schedule[second];
    let mut bits = schedule[first];
    for (i, from) in OTHERS.iter().enumerate() {
        bits |= (second >> from & 1) << (8 * i + 6);
    }
    bits
}

/// The place in the second round key, spread, of each key bit that is not in the first one.
const OTHERS: [usize; 8] = {
    let mut others = [0; 8];
    let mut found = 0;
    let mut at = 0;
    while at < 64 {
        if at % 8 < 6 && first_round(bit_at(1, at)) == 64 {
            others[found] = at;
            found += 1;
        }
        at += 1;
    }
    assert!(found == 8);
    others
};

/// For encryption and for decryption, two rounds at a time: the place of each bit of the round
/// key, in the order of the S-boxes and their inputs.
static ROUNDS: [[[[u8; 48]; 2]; 8]; 2] = {
    let mut rounds = [[[[0; 48]; 2]; 8]; 2];
    let mut i = 0;
    while i < 768 {
        let (round, bit) = (i / 48, i % 48);
        let place = place_of(spec::key_bits(round, bit / 6)[bit % 6]);
        rounds[0][round / 2][round % 2][bit] = place;
        rounds[1][(15 - round) / 2][(15 - round) % 2][bit] = place;
        i += 1;
    }
    rounds
};

/// The place at which [`key_bits`] puts a bit of the key.
#[expect(clippy::cast_possible_truncation, reason = "numbers below 64")]
const fn place_of(bit: usize) -> u8 {
    let mut place = first_round(bit);
    let mut i = 0;
    while place == 64 {
        if bit_at(1, OTHERS[i]) == bit {
            place = 8 * i + 6;
        }
        i += 1;
    }
    place as u8
}

/// The place of a bit of the key in the first round key, spread; 64 if it is not there.
const fn first_round(bit: usize) -> usize {
    let mut at = 0;
    while at < 64 && (at % 8 >= 6 || bit_at(0, at) != bit) {
        at += 1;
    }
    at
}

/// The bit of the key at a place of a spread round key.
const fn bit_at(round: usize, at: usize) -> usize {
    spec::key_bits(round, spec::sbox_at(at / 8))[5 - at % 8]
}
