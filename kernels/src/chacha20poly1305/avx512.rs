//! Encryption and authentication with 512-bit registers.
//!
//! A message of up to 1728 bytes takes one pass of ChaCha20, whose first block is the one-time key,
//! in the narrowest form that makes enough blocks; then Poly1305. Poly1305 reads the ciphertext
//! where it was written, or, when it is what came in, from a copy, since the data may be in place.

use core::arch::x86_64::*;

use inout::InOutBuf;

use super::{OPEN, SEAL};
use crate::arx::{State, taken};
use crate::chacha::avx512::{Lanes, Rows, columns, diagonals, rows_of_two};
use crate::chacha::{self, Key};
use crate::poly1305::avx512::{LongMessage, Message};
use crate::simd::{first_bytes, load512, load512_part, opaque_count, store512, store512_part};
use crate::{Isa, Level, into_blocks, wipe};

pub(super) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
pub(super) fn seal(
    _isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let mut data = data;
    run::<SEAL>(key, nonce, aad, &mut data)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
pub(super) fn open(
    _isa: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let mut data = data;
    run::<OPEN>(key, nonce, aad, &mut data)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn run<const WAY: bool>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    match data.len() {
        0..=64 => short::<WAY>(key, nonce, aad, data),
        65..=192 => one_pass::<WAY, 1, 0, 4, 1>(key, nonce, aad, data),
        193..=448 => one_pass::<WAY, 2, 0, 8, 3>(key, nonce, aad, data),
        449..=704 => one_pass::<WAY, 3, 0, 12, 7>(key, nonce, aad, data),
        705..=960 => one_pass::<WAY, 0, 16, 16, 11>(key, nonce, aad, data),
        961..=1216 => one_pass::<WAY, 1, 16, 20, 15>(key, nonce, aad, data),
        1217..=1472 => one_pass::<WAY, 2, 16, 24, 19>(key, nonce, aad, data),
        1473..=1728 => one_pass::<WAY, 3, 16, 28, 23>(key, nonce, aad, data),
        _ if WAY == SEAL => long::<SEAL, 1>(key, nonce, aad, data),
        _ => long::<OPEN, 28>(key, nonce, aad, data),
    }
}

/// At most 64 bytes: two blocks in registers of 256 bits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn short<const WAY: bool>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let [counter, last] = last_row(nonce);
    let [a, b, c, d] = rows_of_two::<20>(&key.words, counter, last, false);
    let mut message = Message::new(_mm256_permute2x128_si256::<0x20>(a, b));
    message.absorb_few(aad);
    let front = _mm256_permute2x128_si256::<0x31>(a, b);
    let back = _mm256_permute2x128_si256::<0x31>(c, d);
    let stream = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back);

    let text = load512_part(data.get_in());
    let other = _mm512_xor_si512(text, stream);
    store512_part(data.get_out(), other);
    // Bytes past the end are zeros, as Poly1305 wants them.
    let mut copy = [0; 64];
    let mask = first_bytes(data.len());
    store512(&mut copy, _mm512_maskz_mov_epi8(mask, if WAY == SEAL { other } else { text }));
    let blocks = data.len().div_ceil(16);
    for block in copy.as_chunks::<16>().0.iter().take(blocks) {
        message.absorb_number(u128::from_le_bytes(*block));
    }
    message.absorb_number(lengths(aad, data));
    message.tag()
}

/// More bytes than `WHOLE` blocks have, but at most one block fewer than the `N` of the pass: its
/// first is the key. `LANES` blocks lie one a lane, and `ROWS` times four as rows.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn one_pass<
    const WAY: bool,
    const ROWS: usize,
    const LANES: usize,
    const N: usize,
    const WHOLE: usize,
>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let blocks: [__m512i; N] = pass::<WAY, false, ROWS, LANES, N>(key, nonce);
    let mut message = Message::new(_mm512_castsi512_si256(blocks[0]));
    let mut copy = [[0; 64]; N];
    if N == 4 {
        message.absorb_few(aad);
        put::<WAY, true, N, WHOLE>(&blocks, data.reborrow(), &mut copy);
        let count = data.len().div_ceil(16);
        for block in copy.as_flattened().as_chunks::<16>().0.iter().take(count) {
            message.absorb_number(u128::from_le_bytes(*block));
        }
        message.absorb_number(lengths(aad, data));
        return message.tag();
    }
    let len = data.len();
    if WAY == SEAL {
        put::<WAY, false, N, WHOLE>(&blocks, data.reborrow(), &mut copy);
        message.finish(aad, data.get_out())
    } else {
        put::<WAY, true, N, WHOLE>(&blocks, data.reborrow(), &mut copy);
        message.finish(aad, &copy.as_flattened()[..len])
    }
}

/// The first blocks of a keystream, wiped on drop.
struct First<const BLOCKS: usize>([[u8; 64]; BLOCKS]);

impl<const BLOCKS: usize> Drop for First<BLOCKS> {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(self.0.as_flattened_mut());
    }
}

/// Any number of bytes from 768 on: a first pass over the key block and so many of data that whole
/// passes of sixteen blocks are left for the kernel of ChaCha20 alone. Poly1305 follows, or goes
/// before, by pieces that stay in the cache.
///
/// The `KEPT` blocks that are kept of the first pass are the key, and when data are opened all, as
/// Poly1305 has to read data before they are changed.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn long<const WAY: bool, const KEPT: usize>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let sizes = [aad.len() as u64, data.len() as u64];
    let blocks = 12 + (data.len().div_ceil(64) - 12) % 16;
    let mut data = data.reborrow();
    let mut first = First([[0; 64]; KEPT]);
    let (mut front, _) = data.reborrow().split_at(64 * blocks);
    match blocks {
        ..=15 => first_pass::<WAY, KEPT, 0, 16, 11>(key, nonce, &mut front, &mut first),
        16..=19 => first_pass::<WAY, KEPT, 1, 20, 15>(key, nonce, &mut front, &mut first),
        20..=23 => first_pass::<WAY, KEPT, 2, 24, 19>(key, nonce, &mut front, &mut first),
        _ => first_pass::<WAY, KEPT, 3, 28, 23>(key, nonce, &mut front, &mut first),
    }
    let [block, stream @ ..] = first.0.as_slice() else { unreachable!("KEPT is not zero") };
    let mut message = LongMessage::new(block.first_chunk().expect("64 bytes have 32"), aad);

    let [counter, last] = last_row(nonce);
    let counter = counter + 1 + blocks as u64;
    let mut state = Start(State { key: key.words, counter, nonce: last });
    let mut ahead = 64 * blocks;
    while !data.is_empty() {
        let len = data.len().min(PIECE);
        let (mut piece, rest) = data.split_at(len);
        if WAY == OPEN {
            message.absorb(piece.get_in());
        }
        let (front, back) = piece.reborrow().split_at(ahead);
        if WAY == OPEN {
            xor_with(stream, front);
        }
        let blocks = back.len().div_ceil(64) as u64;
        chacha::avx512::xor::<20>(&state.0, false, back);
        state.0.counter = chacha::later(state.0.counter, blocks, false);
        if WAY == SEAL {
            message.absorb(piece.get_out());
        }
        ahead = 0;
        data = rest;
    }
    message.tag(sizes)
}

/// The first pass of a long message: XORs keystream into `data`, or keeps it.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn first_pass<
    const WAY: bool,
    const KEPT: usize,
    const ROWS: usize,
    const N: usize,
    const WHOLE: usize,
>(
    key: &Key,
    nonce: &[u8; 12],
    data: &mut InOutBuf<'_, '_, u8>,
    first: &mut First<KEPT>,
) {
    let blocks = pass::<WAY, true, ROWS, 16, N>(key, nonce);
    for (bytes, block) in first.0.iter_mut().zip(blocks) {
        store512(bytes, block);
    }
    if WAY == SEAL {
        put::<SEAL, false, N, WHOLE>(&blocks, data.reborrow(), &mut [[0; 64]; N]);
    }
}

/// Bytes that are encrypted or hashed at a time.
const PIECE: usize = 16 << 10;

struct Start(State<20>);

impl Drop for Start {
    #[inline]
    fn drop(&mut self) {
        wipe::words(&mut self.0.key);
    }
}

/// XORs keystream into as many whole blocks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn xor_with(stream: &[[u8; 64]], data: InOutBuf<'_, '_, u8>) {
    for (stream, mut block) in stream.iter().zip(into_blocks::<64>(data).0) {
        let other = _mm512_xor_si512(load512(block.get_in()), load512(stream));
        store512(block.get_out(), other);
    }
}

/// Block 0 and the following.
///
/// `WAY` and `LONG` change nothing: they tell the callers apart, so that each has this inlined and
/// the blocks in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn pass<
    const WAY: bool,
    const LONG: bool,
    const ROWS: usize,
    const LANES: usize,
    const N: usize,
>(
    key: &Key,
    nonce: &[u8; 12],
) -> [__m512i; N] {
    const { assert!(ROWS <= 3 && (LANES == 0 || LANES == 16) && N == 4 * ROWS + LANES) };
    let key = &key.words;
    let [counter, last] = last_row(nonce);
    let y0 = Rows::of(key, counter, last, false);
    let z0 = if LANES == 0 { y0.next(false) } else { Rows::of(key, counter + 20, last, false) };
    let w0 = z0.next(false);
    let (mut y, mut z, mut w) = (y0, z0, w0);
    let lanes = Lanes::of(key, counter + 4 * (ROWS.min(1) as u64), last);
    let counters = lanes.counters();
    let mut x = [counters; 16];
    if LANES != 0 {
        x = lanes.double_round::<true>(counters);
        y = y.double_round();
        z = z.double_round();
        w = w.double_round();
    }
    for _ in usize::from(LANES != 0)..opaque_count(10) {
        if LANES != 0 {
            x = diagonals(columns(x));
        }
        if ROWS > 0 {
            y = y.double_round();
        }
        if ROWS > 1 {
            z = z.double_round();
        }
        if ROWS > 2 {
            w = w.double_round();
        }
    }
    let mut blocks = [_mm512_setzero_si512(); N];
    if ROWS > 0 {
        blocks[..4].copy_from_slice(&y.blocks(y0));
    }
    let mut at = 4 * ROWS.min(1);
    if LANES != 0 {
        blocks[at..at + 16].copy_from_slice(&lanes.blocks::<true>(x, counters));
        at += 16;
    }
    if ROWS > 1 {
        blocks[at..at + 4].copy_from_slice(&z.blocks(z0));
        at += 4;
    }
    if ROWS > 2 {
        blocks[at..at + 4].copy_from_slice(&w.blocks(w0));
    }
    blocks
}

/// XORs the blocks after the first into `data`, which has `WHOLE` blocks at least; into `copy`, if
/// it is wanted, goes the ciphertext.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi2")]
fn put<const WAY: bool, const COPY: bool, const N: usize, const WHOLE: usize>(
    blocks: &[__m512i; N],
    data: InOutBuf<'_, '_, u8>,
    copy: &mut [[u8; 64]; N],
) {
    let (mut whole, mut rest) = taken(data).split_at(64 * WHOLE);
    for i in 0..WHOLE {
        let text = load512(&whole.get_in().as_chunks().0[i]);
        let other = _mm512_xor_si512(text, blocks[1 + i]);
        store512(&mut whole.get_out().as_chunks_mut().0[i], other);
        if COPY {
            store512(&mut copy[i], if WAY == SEAL { other } else { text });
        }
    }
    for i in WHOLE..N - 1 {
        let block = blocks[1 + i];
        if rest.len() >= 64 {
            let (mut this, next) = rest.split_at(64);
            let text = load512(&this.get_in().as_chunks().0[0]);
            let other = _mm512_xor_si512(text, block);
            store512(&mut this.get_out().as_chunks_mut().0[0], other);
            if COPY {
                store512(&mut copy[i], if WAY == SEAL { other } else { text });
            }
            rest = next;
        } else {
            let text = load512_part(rest.get_in());
            let other = _mm512_xor_si512(text, block);
            store512_part(rest.get_out(), other);
            if COPY {
                let mask = first_bytes(rest.len());
                let text = if WAY == SEAL { _mm512_maskz_mov_epi8(mask, other) } else { text };
                store512(&mut copy[i], text);
            }
            break;
        }
    }
}

/// The last row of block 0.
#[inline]
fn last_row(&[a, b, c, d, ref rest @ ..]: &[u8; 12]) -> [u64; 2] {
    [u64::from(u32::from_le_bytes([a, b, c, d])) << 32, u64::from_le_bytes(*rest)]
}

/// The last block that is absorbed.
#[inline]
fn lengths(aad: &[u8], data: &InOutBuf<'_, '_, u8>) -> u128 {
    aad.len() as u128 | (data.len() as u128) << 64
}
