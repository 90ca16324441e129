//! Poly1305 on words of 64 bits between the rounds of ChaCha20 on eight blocks: ChaCha20 uses the
//! vector units, Poly1305 one chain of multiplications of words.
//!
//! Messages of up to seven blocks take one pass of ChaCha20 over these blocks and the one-time key,
//! in the narrowest form that suffices. Up to six blocks stay in registers.

use core::arch::aarch64::*;

use inout::InOutBuf;

use crate::arx::State;
use crate::arx::aarch64::neon::{put, put_whole, store};
use crate::chacha::aarch64::neon::{
    BESIDE, Block, Start, apply, four_and, in_rows, rounds, rounds_beside,
};
use crate::chacha::{Key, ietf, words};
use crate::chacha20poly1305::parts::{self, Kept};
use crate::chacha20poly1305::{OPEN, SEAL};
use crate::isa::WRITE;
use crate::poly1305::Poly1305;
use crate::poly1305::aarch64::neon::{absorb, absorb_padded, tag};
use crate::{Isa, Level, wipe};

pub(crate) const NEEDS: Level = Level::Neon;

/// Bytes of a whole pass.
const PASS: usize = 8 * 64;

/// Bytes of data in a whole first pass, which makes the one-time key too.
const FRONT: usize = PASS - 64;

const _: () = assert!(16 * BESIDE <= FRONT, "so much is ready when a pass begins");

#[target_feature(enable = "neon")]
pub(crate) fn run(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
    keep: Option<&mut Kept>,
) -> [u8; 16] {
    let state = &ietf(key, nonce);
    let sizes = (aad.len() as u64, data.len() as u64);
    let hash = match data.len() {
        0..=64 => short::<2>(isa, state, aad, data, direction),
        65..=128 => short::<3>(isa, state, aad, data, direction),
        129..=192 => short::<4>(isa, state, aad, data, direction),
        193..=256 => short::<5>(isa, state, aad, data, direction),
        257..=320 => short::<6>(isa, state, aad, data, direction),
        321..=384 => short::<7>(isa, state, aad, data, direction),
        385..=FRONT => medium(isa, state, aad, data, direction),
        _ => long(isa, state, aad, data, direction),
    };
    tag(hash, sizes.0, sizes.1, Kept::hash(keep))
}

/// A message that needs, with its one-time key, exactly `N` blocks of keystream, two to seven.
#[inline(never)]
#[target_feature(enable = "neon")]
fn short<const N: usize>(
    isa: Isa,
    state: &State,
    aad: &[u8],
    mut data: InOutBuf<'_, '_, u8>,
    direction: bool,
) -> Poly1305 {
    let mut blocks = [[vdupq_n_u32(0); 4]; N];
    match N {
        4 => fill(&mut blocks, four_and::<0>(state, state.counter, false, || {})),
        5 => fill(&mut blocks, four_and::<1>(state, state.counter, false, || {})),
        6 => fill(&mut blocks, four_and::<2>(state, state.counter, false, || {})),
        7 => fill(&mut blocks, four_and::<3>(state, state.counter, false, || {})),
        _ => blocks = in_rows::<N>(state, state.counter, false, || {}),
    }
    let mut hash = begun(isa, &blocks[0], aad);
    if direction == OPEN {
        absorb_padded(&mut hash, data.get_in());
    }
    let mut rest = data.reborrow();
    for block in &blocks[1..N - 1] {
        let (front, back) = rest.split_at(64);
        put_whole::<true, 1>([*block], front);
        rest = back;
    }
    let last = blocks[N - 1];
    if rest.len() == 64 {
        put_whole::<true, 1>([last], rest);
    } else {
        let mut stream = stored(&last);
        parts::xor(&stream, rest);
        wipe::memory(&mut stream);
    }
    if direction == SEAL {
        absorb_padded(&mut hash, data.get_out());
    }
    hash
}

/// Puts blocks of lanes and of rows into their order.
#[inline(always)]
fn fill<const M: usize>(blocks: &mut [Block], (lanes, rows): ([Block; 4], [Block; M])) {
    blocks[..4].copy_from_slice(&lanes);
    blocks[4..].copy_from_slice(&rows);
}

/// A message that needs, with its one-time key, more blocks, but only one pass.
#[inline(never)]
#[target_feature(enable = "neon")]
fn medium(
    isa: Isa,
    state: &State,
    aad: &[u8],
    mut data: InOutBuf<'_, '_, u8>,
    direction: bool,
) -> Poly1305 {
    let mut stream = [0; PASS];
    let used = &mut stream[..64 + data.len().next_multiple_of(64)];
    apply(state, false, used.into(), WRITE);
    let (block, rest) = used.split_first_chunk().expect("block 0 is there");
    let mut hash = parts::begun(isa, block, aad);
    if direction == OPEN {
        absorb_padded(&mut hash, data.get_in());
    }
    parts::xor(rest, data.reborrow());
    wipe::memory(&mut stream);
    if direction == SEAL {
        absorb_padded(&mut hash, data.get_out());
    }
    hash
}

/// A message of more than one pass.
///
/// When sealing, each pass hashes the output of the pass before; when opening, its own input.
/// Nothing can be hashed beside the first pass.
#[inline(never)]
#[target_feature(enable = "neon")]
fn long(
    isa: Isa,
    state: &State,
    aad: &[u8],
    mut data: InOutBuf<'_, '_, u8>,
    direction: bool,
) -> Poly1305 {
    let mut start = Start::of(&words(state, state.counter));
    let (front, _) = data.reborrow().split_at(FRONT);
    let mut hash = if direction == SEAL {
        let (block, _) = start.pass::<true, true>(|x, _| rounds(x, 9), front);
        begun(isa, &block, aad)
    } else {
        let mut stream = [0; PASS];
        start.pass::<false, false>(|x, _| rounds(x, 9), stream.as_mut_slice().into());
        let (block, rest) = stream.split_first_chunk().expect("block 0 is there");
        let mut hash = parts::begun(isa, block, aad);
        absorb_padded(&mut hash, front.get_in());
        parts::xor(rest, front);
        wipe::memory(&mut stream);
        hash
    };

    let mut at = FRONT;
    let mut hashed = if direction == OPEN { at } else { 0 };
    while data.len() - at >= PASS {
        let (mut done, rest) = data.reborrow().split_at(at);
        let (part, _) = rest.split_at(PASS);
        let ready = if direction == SEAL { done.get_out()[hashed..].as_chunks().0 } else { &[] };
        pass(&mut start, &mut hash, ready, part, direction);
        hashed = if direction == SEAL { at } else { at + PASS };
        at += PASS;
    }
    let counter = state.counter + ((64 + at) / 64) as u64;
    let state =
        &State { key: state.key, counter, nonce: state.nonce, double_rounds: state.double_rounds };
    let (mut done, rest) = data.split_at(at);
    let ready = if direction == SEAL { done.get_out()[hashed..].as_chunks().0 } else { &[] };
    end(state, &mut start, &mut hash, ready, rest, direction);
    hash
}

/// The hash of a message, after its associated data, from block 0 of the keystream.
#[inline]
#[target_feature(enable = "neon")]
fn begun(isa: Isa, block: &Block, aad: &[u8]) -> Poly1305 {
    let [r, pad, ..] = *block;
    let mut key = [0; 32];
    let [front, back] = key.as_chunks_mut().0 else { unreachable!("two rows") };
    (*front, *back) = (bytes(r), bytes(pad));
    parts::under(isa, &key, aad)
}

/// The bytes of a row, which stay in registers.
#[inline]
#[target_feature(enable = "neon")]
fn bytes(row: uint32x4_t) -> [u8; 16] {
    let row = vreinterpretq_u64_u32(row);
    let (low, high) = (vgetq_lane_u64::<0>(row), vgetq_lane_u64::<1>(row));
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

#[inline]
#[target_feature(enable = "neon")]
fn stored(block: &Block) -> [u8; 64] {
    let mut stored = [0; 64];
    for (place, row) in stored.as_chunks_mut().0.iter_mut().zip(block) {
        store(place, *row);
    }
    stored
}

/// XORs eight blocks of ChaCha20 into as much data, and hashes `ready` meanwhile, at least
/// [`BESIDE`] blocks; when opening, `ready` is the data themselves. `start` becomes that of the
/// next blocks.
#[inline(never)]
#[target_feature(enable = "neon")]
fn pass(
    start: &mut Start,
    hash: &mut Poly1305,
    ready: &[[u8; 16]],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let rounds = |x, own: &[u8]| {
        let ready = if direction == OPEN { own.as_chunks().0 } else { ready };
        let (beside, rest) = ready.split_first_chunk().expect("enough is ready");
        let x = rounds_beside(x, hash, beside);
        absorb(hash.state(), rest);
        x
    };
    start.pass::<true, false>(rounds, data);
}

/// The last data, less than a pass, while `ready` is hashed; when opening, `ready` is the data
/// themselves.
#[inline(never)]
#[target_feature(enable = "neon")]
fn end(
    state: &State,
    start: &mut Start,
    hash: &mut Poly1305,
    ready: &[[u8; 16]],
    mut data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let (own, last) = data.get_in().as_chunks();
    let ready = if direction == OPEN { own } else { ready };
    let mut stream = [0; PASS];
    let rest = match data.len().div_ceil(64) {
        0 => ready,
        1 => rows::<1>(state, hash, ready, &mut stream),
        2 => rows::<2>(state, hash, ready, &mut stream),
        3 => rows::<3>(state, hash, ready, &mut stream),
        4 => lanes_and_rows::<0>(state, hash, ready, &mut stream),
        5 => lanes_and_rows::<1>(state, hash, ready, &mut stream),
        6 => lanes_and_rows::<2>(state, hash, ready, &mut stream),
        7 => lanes_and_rows::<3>(state, hash, ready, &mut stream),
        // Nothing is in the stream yet, so the pass may seal.
        _ => {
            pass(start, hash, ready, stream.as_mut_slice().into(), SEAL);
            &[]
        }
    };
    absorb(hash.state(), rest);
    if direction == OPEN {
        absorb_padded(hash, last);
    }
    parts::xor(&stream, data.reborrow());
    wipe::memory(&mut stream);
    if direction == SEAL {
        absorb_padded(hash, data.get_out());
    }
}

/// Keystream of `N` blocks in rows, while up to 30 blocks of `ready` are hashed. Returns the blocks
/// that are left.
#[inline(never)]
#[target_feature(enable = "neon")]
fn rows<'a, const N: usize>(
    state: &State,
    hash: &mut Poly1305,
    ready: &'a [[u8; 16]],
    stream: &mut [u8; PASS],
) -> &'a [[u8; 16]] {
    let mut ready = ready;
    let blocks = in_rows::<N>(state, state.counter, false, || ready = hash_three(hash, ready));
    put::<false, N>(&blocks, stream.as_mut_slice().into());
    ready
}

/// The same for four blocks lane by lane and `N` more in rows.
#[inline(never)]
#[target_feature(enable = "neon")]
fn lanes_and_rows<'a, const N: usize>(
    state: &State,
    hash: &mut Poly1305,
    ready: &'a [[u8; 16]],
    stream: &mut [u8; PASS],
) -> &'a [[u8; 16]] {
    let mut ready = ready;
    let (four, rows) =
        four_and::<N>(state, state.counter, false, || ready = hash_three(hash, ready));
    let rest = put::<false, 4>(&four, stream.as_mut_slice().into());
    put::<false, N>(&rows, rest);
    ready
}

/// Hashes three blocks, or as many as there are, and returns the others.
#[inline]
#[target_feature(enable = "neon")]
fn hash_three<'a>(hash: &mut Poly1305, ready: &'a [[u8; 16]]) -> &'a [[u8; 16]] {
    let (three, rest) = ready.split_at(ready.len().min(3));
    absorb(hash.state(), three);
    rest
}
