//! Poly1305 on words of 64 bits between the rounds of ChaCha20 on eight blocks: ChaCha20 uses the
//! vector units, Poly1305 one chain of multiplications of words.
//!
//! Messages of up to seven blocks take one pass of ChaCha20 over these blocks and the one-time key,
//! in the narrowest form that suffices.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::arx::State;
use crate::arx::x86_64::avx2::{across, blocks, plus, splat, splat_all};
use crate::chacha::x86_64::avx2::{Rows, apply, double_rounds, double_rounds_beside};
use crate::chacha::{Key, ietf, words};
use crate::chacha20poly1305::parts::{self, Kept, Keystream, PASS};
use crate::chacha20poly1305::{OPEN, SEAL};
use crate::isa::WRITE;
use crate::opaque::observe;
use crate::poly1305::Poly1305;
use crate::simd::{load256, opaque_count, store256};
use crate::{Isa, Level, into_blocks, wipe};

pub(crate) const NEEDS: Level = Level::Avx2;

/// Bytes of data in a whole first pass, which makes the one-time key too.
const FRONT: usize = PASS - 64;

#[target_feature(enable = "avx2,bmi2")]
pub(crate) fn run(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
    keep: Option<&mut Kept>,
) -> [u8; 16] {
    if direction == SEAL {
        by_length::<SEAL>(isa, key, nonce, aad, data, keep)
    } else {
        by_length::<OPEN>(isa, key, nonce, aad, data, keep)
    }
}

/// Short messages have code of their own for each direction; longer ones share theirs.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn by_length<const MODE: bool>(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    keep: Option<&mut Kept>,
) -> [u8; 16] {
    match data.len() {
        0..=64 => short::<MODE, 128>(isa, key, nonce, aad, data, keep),
        65..=192 => short::<MODE, 256>(isa, key, nonce, aad, data, keep),
        193..=320 => short::<MODE, 384>(isa, key, nonce, aad, data, keep),
        321..=FRONT => short::<MODE, PASS>(isa, key, nonce, aad, data, keep),
        _ => long(isa, key, nonce, aad, data, MODE, keep),
    }
}

/// A message that needs, with its one-time key, at most `N` bytes of keystream.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn short<const MODE: bool, const N: usize>(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    mut keep: Option<&mut Kept>,
) -> [u8; 16] {
    let sizes = (aad.len() as u64, data.len() as u64);
    let state = ietf(key, nonce);
    let mut stream = [0; N];
    apply(&state, false, stream.as_mut_slice().into(), WRITE);
    let (block, rest) = stream.split_first_chunk().expect("block 0 is there");
    let mut hash = parts::begun(isa, block, aad);
    if let Some(kept) = &mut keep {
        kept.keystream.set(&rest[data.len()..]);
    }
    parts::apply(&mut hash, rest, data, MODE);
    wipe::memory(&mut stream);
    parts::tag(hash, sizes.0, sizes.1, Kept::hash(keep))
}

/// The words of eight blocks, one a lane.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn in_lanes(state: &State) -> [__m256i; 16] {
    let mut start = splat_all(&words(state, state.counter));
    start[12] = _mm256_add_epi32(start[12], _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    start
}

/// A message of more than one pass.
///
/// When sealing, each pass hashes the output of the pass before; when opening, its own input.
/// Nothing can be hashed beside the first pass. It is therefore short when opening, where its data
/// must be hashed before they are written.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn long(
    isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
    mut keep: Option<&mut Kept>,
) -> [u8; 16] {
    let sizes = (aad.len() as u64, data.len() as u64);
    let mut state = ietf(key, nonce);
    let mut stream = Keystream::empty();
    let first = if direction == SEAL { PASS } else { 2 * 64 };
    stream.fill(|bytes| {
        if direction == SEAL {
            // Nothing is there to be hashed.
            let mut hash = Poly1305::new(Isa::PORTABLE, &[0; 32]);
            pass(&mut in_lanes(&state), &mut hash, Some(&[]), bytes.as_mut_slice().into());
        } else {
            apply(&state, false, (&mut bytes[..first]).into(), WRITE);
        }
        first
    });
    // Taken here, where its length is known.
    let (block, left) = stream.left().split_first_chunk().expect("block 0 is there");
    let mut hash = parts::begun(isa, block, aad);
    let mut data = data;
    begin(&mut hash, left, data.reborrow(), direction);
    stream.skip(64);
    state.counter = state.counter.wrapping_add((first / 64) as u64);
    passes(state, &mut hash, &mut stream, 0, data, direction);
    if let Some(kept) = &mut keep {
        kept.keystream.set(stream.left());
    }
    parts::tag(hash, sizes.0, sizes.1, Kept::hash(keep))
}

/// [`two_pass::go_on`](crate::chacha20poly1305::two_pass), with both ciphers side by side.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
#[expect(clippy::too_many_arguments, reason = "a message so far, and what is to be done")]
pub(crate) fn go_on(
    _: Isa,
    key: &Key,
    nonce: &[u8; 12],
    next: u64,
    hash: &mut Poly1305,
    keystream: &mut Keystream,
    least: usize,
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let length = keystream.left().len();
    if data.len() <= length {
        let length = data.len();
        parts::apply(hash, keystream.left(), data, direction);
        return keystream.skip(length);
    }
    let mut state = ietf(key, nonce);
    state.counter = state.counter.wrapping_add(next);
    let mut data = data;
    begin(hash, keystream.left(), data.reborrow(), direction);
    passes(state, hash, keystream, least, data, direction);
}

/// Applies the keystream that is left to the front of longer data. When opening, that is hashed
/// before it is written; when sealing, the first pass hashes it.
#[inline(always)]
fn begin(hash: &mut Poly1305, left: &[u8], data: InOutBuf<'_, '_, u8>, direction: bool) {
    let (front, _) = data.split_at(left.len());
    if direction == OPEN {
        parts::apply(hash, left, front, OPEN);
    } else {
        parts::xor(left, front);
    }
}

/// The data after those that [`begin`] took: passes, then the rest, for which at least `least`
/// bytes of keystream are made.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn passes(
    state: State,
    hash: &mut Poly1305,
    stream: &mut Keystream,
    least: usize,
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) {
    let (mut state, mut data) = (state, data);
    let mut at = stream.left().len();
    let mut start = in_lanes(&state);
    // When sealing, the first of the data that are not hashed yet.
    let mut hashed = 0;
    while data.len() - at >= PASS {
        let (mut done, rest) = data.reborrow().split_at(at);
        let (part, _) = rest.split_at(PASS);
        let ready = if direction == SEAL { Some(unhashed(&mut done, hashed)) } else { None };
        pass(&mut start, hash, ready, part);
        hashed = at;
        at += PASS;
        state.counter = state.counter.wrapping_add(8);
    }
    let (mut done, rest) = data.split_at(at);
    let ready = if direction == SEAL { Some(unhashed(&mut done, hashed)) } else { None };
    end(&state, &mut start, hash, ready, stream, least, rest);
}

/// The ciphertext from `from` on.
#[inline(always)]
fn unhashed<'d>(done: &'d mut InOutBuf<'_, '_, u8>, from: usize) -> &'d [[u8; 16]] {
    done.get_out()[from..].as_chunks().0
}

/// XORs eight blocks of ChaCha20 into as much data, and hashes `ready` meanwhile; if that is none,
/// as when opening, the data themselves. `start` becomes that of the next blocks.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn pass(
    start: &mut [__m256i; 16],
    hash: &mut Poly1305,
    ready: Option<&[[u8; 16]]>,
    data: InOutBuf<'_, '_, u8>,
) {
    let ready = ready.unwrap_or(data.get_in().as_chunks().0);
    let (threes, _) = ready.as_chunks();
    let threes = &threes[..threes.len().min(10)];
    let mut x = *start;
    if !threes.is_empty() {
        x = double_rounds_beside(x, hash, threes);
    }
    if threes.len() < 10 {
        x = double_rounds(x, 10 - threes.len());
    }
    for block in &ready[3 * threes.len()..] {
        hash.absorb_number(u128::from_le_bytes(*block));
    }
    // So that the compiler loads the words again, and does not keep copies of them.
    observe(start);
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15] = x;
    let [s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15] = *start;
    let [a0, a1, a2, a3] = across(plus([x0, x1, x2, x3], [s0, s1, s2, s3]));
    let [b0, b1, b2, b3] = across(plus([x4, x5, x6, x7], [s4, s5, s6, s7]));
    let [c0, c1, c2, c3] = across(plus([x8, x9, x10, x11], [s8, s9, s10, s11]));
    let [d0, d1, d2, d3] = across(plus([x12, x13, x14, x15], [s12, s13, s14, s15]));
    let (mut data, _) = into_blocks::<64>(data);
    put_two([a0, b0, c0, d0], &mut data, 0);
    put_two([a1, b1, c1, d1], &mut data, 1);
    put_two([a2, b2, c2, d2], &mut data, 2);
    put_two([a3, b3, c3, d3], &mut data, 3);
    start[12] = _mm256_add_epi32(start[12], splat(8));
}

/// XORs the blocks of these rows into the data's blocks `at` and `at` + 4.
#[inline]
#[target_feature(enable = "avx2,bmi2")]
fn put_two(rows: [__m256i; 4], data: &mut InOutBuf<'_, '_, [u8; 64]>, at: usize) {
    let [first, second] = blocks(rows);
    for (block, at) in [(first, at), (second, at + 4)] {
        let mut place = data.get(at);
        let [mut front, mut back] = block;
        if let [text, more] = place.get_in().as_chunks().0 {
            front = _mm256_xor_si256(front, load256(text));
            back = _mm256_xor_si256(back, load256(more));
        }
        if let [out, more] = place.get_out().as_chunks_mut().0 {
            store256(out, front);
            store256(more, back);
        }
    }
}

/// The last data, less than a pass, while `ready` is hashed; if that is none, when opening, the
/// data themselves. If there are any, at least `least` bytes of keystream are made.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn end(
    state: &State,
    start: &mut [__m256i; 16],
    hash: &mut Poly1305,
    ready: Option<&[[u8; 16]]>,
    keystream: &mut Keystream,
    least: usize,
    data: InOutBuf<'_, '_, u8>,
) {
    let length = data.len();
    keystream.fill(|stream| {
        let (own, last) = data.get_in().as_chunks();
        let direction = if ready.is_some() { SEAL } else { OPEN };
        let ready = ready.unwrap_or(own);
        let wanted = if length == 0 { 0 } else { length.max(least) };
        let (rest, made) = match wanted {
            0 => (ready, 0),
            1..=128 => (rows::<1>(state, hash, ready, stream), 128),
            129..=256 => (rows::<2>(state, hash, ready, stream), 256),
            257..=384 => (rows::<3>(state, hash, ready, stream), 384),
            _ if direction == SEAL || least > 0 => {
                *stream = [0; PASS];
                pass(start, hash, Some(ready), stream.as_mut_slice().into());
                (&[][..], PASS)
            }
            _ => (rows::<4>(state, hash, ready, stream), PASS),
        };
        hash.absorb(rest);
        if direction == OPEN {
            hash.absorb_few(last);
            parts::xor(stream, data);
        } else {
            parts::apply(hash, stream, data, SEAL);
        }
        made
    });
    keystream.skip(length);
}

/// Keystream of 2 `N` blocks, in `N` groups of rows, while up to 30 blocks of `ready` are hashed.
/// Returns the blocks that are left.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2")]
fn rows<'a, const N: usize>(
    state: &State,
    hash: &mut Poly1305,
    ready: &'a [[u8; 16]],
    stream: &mut [u8; PASS],
) -> &'a [[u8; 16]] {
    let mut start = [Rows::of(state, state.counter, false); N];
    for at in 1..N {
        start[at] = start[at - 1].next(false);
    }
    let (threes, _) = ready.as_chunks::<3>();
    let threes = &threes[..threes.len().min(10)];
    let rest = &ready[3 * threes.len()..];
    let mut threes = threes.iter();
    let mut x = start;
    for _ in 0..opaque_count(10) {
        for rows in &mut x {
            *rows = rows.double_round();
        }
        if let Some([one, two, three]) = threes.next() {
            hash.absorb_number(u128::from_le_bytes(*one));
            hash.absorb_number(u128::from_le_bytes(*two));
            hash.absorb_number(u128::from_le_bytes(*three));
        }
    }
    let (places, _) = stream.as_chunks_mut::<32>();
    for ((x, start), places) in x.into_iter().zip(start).zip(places.as_chunks_mut::<4>().0) {
        for (place, half) in places.iter_mut().zip(blocks(x.sum(start)).as_flattened()) {
            store256(place, *half);
        }
    }
    rest
}
