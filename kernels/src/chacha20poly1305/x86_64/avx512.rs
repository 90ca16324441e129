//! Encryption and authentication with 512-bit registers.
//!
//! The first pass of ChaCha20 has the narrowest form that makes enough blocks for a message of up
//! to 1728 bytes, the first of which is the one-time key; then Poly1305. Poly1305 reads the
//! ciphertext from the output; or, if it is the input, before the keystream is XORed in, since the
//! data may be in place. Longer messages have further passes of sixteen blocks. Long data are
//! hashed between their rounds.
//!
//! From 193 bytes on, all forms of the first pass share what follows it, and both directions share
//! it, too: copies would be most of a program. When opening, the blocks wait in memory for the
//! hash; when sealing, they are XORed in before it, as early as can be, since the hash then loads
//! what has just been stored.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::arx::{State, later, taken};
use crate::chacha::x86_64::avx512::{Lanes, Rows, double_round, rows_of_two, sixteens};
use crate::chacha::{Key, last_row};
use crate::chacha20poly1305::parts::Kept;
use crate::chacha20poly1305::{OPEN, SEAL};
use crate::poly1305::PartialHash;
use crate::poly1305::x86_64::avx512::{LongMessageHash, MessageHash, Sum};
use crate::simd::{first_bytes, load512, load512_part, opaque_count, store512, store512_part};
use crate::{Isa, Level, into_blocks};

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
pub(crate) fn run(
    _: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
    keep: Option<&mut Kept>,
) -> [u8; 16] {
    let mut data = data;
    let data = &mut data;
    let place = Kept::hash(keep);
    match data.len() {
        0..=64 if direction == SEAL => short::<SEAL>(key, nonce, aad, data, place),
        0..=64 => short::<OPEN>(key, nonce, aad, data, place),
        65..=192 if direction == SEAL => four_blocks::<SEAL>(key, nonce, aad, data, place),
        65..=192 => four_blocks::<OPEN>(key, nonce, aad, data, place),
        193..=448 => begin::<2, 0, 8, 3>(key, nonce, aad, data, direction, place),
        449..=704 => begin::<3, 0, 12, 7>(key, nonce, aad, data, direction, place),
        len => match first_blocks(len) {
            ..=15 => begin::<0, 16, 16, 11>(key, nonce, aad, data, direction, place),
            16..=19 => begin::<1, 16, 20, 15>(key, nonce, aad, data, direction, place),
            20..=23 => begin::<2, 16, 24, 19>(key, nonce, aad, data, direction, place),
            _ => begin::<3, 16, 28, 23>(key, nonce, aad, data, direction, place),
        },
    }
}

/// The blocks of data in the first pass over `len` bytes, more than 704: 12 to 27, so that whole
/// passes of sixteen blocks are left, the last of which may be incomplete.
#[inline]
fn first_blocks(len: usize) -> usize {
    12 + (len.div_ceil(64) - 12) % 16
}

/// The most bytes of a message that a first pass suffices for.
const LONGEST: usize = 27 * 64;

/// The bytes that the first pass takes of `len`.
#[inline]
fn front_bytes(len: usize) -> usize {
    if len > LONGEST { 64 * first_blocks(len) } else { len }
}

/// At most 64 bytes: two blocks in registers of 256 bits. Here and in the next form a direction has
/// code of its own: when opening, the hash waits for the key alone.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn short<const MODE: bool>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    place: Option<&mut PartialHash>,
) -> [u8; 16] {
    let [counter, last] = last_row(nonce);
    let [a, b, c, d] = rows_of_two(&key.words, counter, last, false, 10);
    let mut message = MessageHash::new(_mm256_permute2x128_si256::<0x20>(a, b));
    message.absorb_few(aad);
    // A masked access to nothing, at an address that need not be mapped, takes 200 cycles.
    if !data.is_empty() {
        let front = _mm256_permute2x128_si256::<0x31>(a, b);
        let back = _mm256_permute2x128_si256::<0x31>(c, d);
        let stream = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back);
        let mut copy = [0; 64];
        put_last::<MODE>(stream, data.reborrow(), &mut copy);
        absorb_copy(&mut message, &copy, data.len());
    }
    message.absorb_number(lengths(aad, data));
    message.tag(place)
}

/// 65 to 192 bytes: four blocks as rows, which stay in registers.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn four_blocks<const MODE: bool>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    place: Option<&mut PartialHash>,
) -> [u8; 16] {
    let [counter, last] = last_row(nonce);
    let start = Rows::of(&key.words, counter, last, false);
    let mut x = start;
    for _ in 0..opaque_count(10) {
        x = x.double_round();
    }
    let [first, one, two, three] = x.blocks(start);
    let mut message = MessageHash::new(_mm512_castsi512_si256(first));
    message.absorb_few(aad);
    let mut copy = [[0; 64]; 3];
    let [copy_one, copy_two, copy_three] = &mut copy;
    let (front, back) = taken(data.reborrow()).split_at(64);
    put_whole::<MODE>(one, front, copy_one);
    if back.len() < 64 {
        put_last::<MODE>(two, back, copy_two);
    } else {
        let (front, back) = back.split_at(64);
        put_whole::<MODE>(two, front, copy_two);
        if back.len() == 64 {
            put_whole::<MODE>(three, back, copy_three);
        } else if !back.is_empty() {
            put_last::<MODE>(three, back, copy_three);
        }
    }
    absorb_copy(&mut message, copy.as_flattened(), data.len());
    message.absorb_number(lengths(aad, data));
    message.tag(place)
}

/// XORs a block into as many bytes. The ciphertext also goes into `copy`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn put_whole<const MODE: bool>(block: __m512i, data: InOutBuf<'_, '_, u8>, copy: &mut [u8; 64]) {
    let mut data = data;
    let text = load512(&data.get_in().as_chunks().0[0]);
    let other = _mm512_xor_si512(text, block);
    store512(&mut data.get_out().as_chunks_mut().0[0], other);
    store512(copy, if MODE == SEAL { other } else { text });
}

/// The same for fewer bytes, at least one. In `copy` zeros follow them, as in Poly1305.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn put_last<const MODE: bool>(block: __m512i, data: InOutBuf<'_, '_, u8>, copy: &mut [u8; 64]) {
    let mut data = data;
    let text = load512_part(data.get_in());
    let other = _mm512_xor_si512(text, block);
    store512_part(data.get_out(), other);
    let sealed = _mm512_maskz_mov_epi8(first_bytes(data.len()), other);
    store512(copy, if MODE == SEAL { sealed } else { text });
}

/// Absorbs the blocks of a copy of `len` bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn absorb_copy(message: &mut MessageHash, copy: &[u8], len: usize) {
    for block in copy.as_chunks::<16>().0.iter().take(len.div_ceil(16)) {
        message.absorb_number(u128::from_le_bytes(*block));
    }
}

/// The last block that is absorbed.
#[inline]
fn lengths(aad: &[u8], data: &InOutBuf<'_, '_, u8>) -> u128 {
    aad.len() as u128 | (data.len() as u128) << 64
}

/// More bytes: a first pass of `N` blocks, of which the first is the key, and the data have at
/// least `WHOLE`, all but four of the others. `LANES` blocks lie one a lane, four times `ROWS`
/// blocks as rows.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn begin<const ROWS: usize, const LANES: usize, const N: usize, const WHOLE: usize>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    direction: bool,
    place: Option<&mut PartialHash>,
) -> [u8; 16] {
    const { assert!(N == WHOLE + 5) };
    let last = last_row(nonce);
    let blocks = pass::<ROWS, LANES, N>(key, last);
    let (point, pad) = MessageHash::new(_mm512_castsi512_si256(blocks[0])).key();
    if direction == SEAL {
        let front = front_bytes(data.len());
        put::<N, WHOLE>(&blocks, data.reborrow().split_at(front).0);
        let rest = Rest { key, last, aad, data, stream: &[], direction, place };
        go_on(point[0], point[1], pad, rest)
    } else {
        let rest = Rest { key, last, aad, data, stream: &blocks[1..], direction, place };
        go_on(point[0], point[1], pad, rest)
    }
}

/// XORs the blocks after the first into `data`, from registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn put<const N: usize, const WHOLE: usize>(blocks: &[__m512i; N], data: InOutBuf<'_, '_, u8>) {
    let (mut whole, mut rest) = taken(data).split_at(64 * WHOLE);
    for i in 0..WHOLE {
        let text = load512(&whole.get_in().as_chunks().0[i]);
        let other = _mm512_xor_si512(text, blocks[1 + i]);
        store512(&mut whole.get_out().as_chunks_mut().0[i], other);
    }
    // By index, so that the compiler unrolls it, and the blocks stay in registers.
    for i in WHOLE..N - 1 {
        let block = blocks[1 + i];
        if rest.len() >= 64 {
            let (mut this, next) = rest.split_at(64);
            let text = load512(&this.get_in().as_chunks().0[0]);
            store512(&mut this.get_out().as_chunks_mut().0[0], _mm512_xor_si512(text, block));
            rest = next;
        } else {
            let other = _mm512_xor_si512(load512_part(rest.get_in()), block);
            store512_part(rest.get_out(), other);
            break;
        }
    }
}

/// A message after its first pass.
struct Rest<'r, 'i, 'o> {
    key: &'r Key,
    last: [u64; 2],
    aad: &'r [u8],
    data: &'r mut InOutBuf<'i, 'o, u8>,
    /// The keystream of the first pass, unless it has been used.
    stream: &'r [__m512i],
    direction: bool,
    place: Option<&'r mut PartialHash>,
}

impl Rest<'_, '_, '_> {
    /// XORs the keystream into the data that the first pass takes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn xor(&mut self) {
        let front = front_bytes(self.data.len());
        let (whole, mut rest) = into_blocks::<64>(self.data.reborrow().split_at(front).0);
        let mut blocks = self.stream.iter();
        for (mut bytes, block) in whole.into_iter().zip(blocks.by_ref()) {
            let other = _mm512_xor_si512(load512(bytes.get_in()), *block);
            store512(bytes.get_out(), other);
        }
        if let (false, Some(block)) = (rest.is_empty(), blocks.next()) {
            let other = _mm512_xor_si512(load512_part(rest.get_in()), *block);
            store512_part(rest.get_out(), other);
        }
    }
}

/// The block with the last row `counter`, `last`, and those after it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn pass<const ROWS: usize, const LANES: usize, const N: usize>(
    key: &Key,
    [counter, last]: [u64; 2],
) -> [__m512i; N] {
    const { assert!(ROWS <= 3 && (LANES == 0 || LANES == 16) && N == 4 * ROWS + LANES) };
    let key = &key.words;
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
            x = double_round(x);
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

/// The tag of a message after its first pass, under a point and a pad, which come in registers: the
/// hash waits for them.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn go_on(r0: u64, r1: u64, pad: u128, rest: Rest<'_, '_, '_>) -> [u8; 16] {
    let mut rest = rest;
    if rest.data.len() > LONGEST {
        return long([r0, r1], pad, rest);
    }
    let (aad, place) = (rest.aad, rest.place.take());
    // One call, which is inlined.
    let text = if rest.direction == SEAL { &*rest.data.get_out() } else { rest.data.get_in() };
    let tag = MessageHash::under([r0, r1], pad).finish(aad, text, place);
    if rest.direction == OPEN {
        rest.xor();
    }
    tag
}

/// More bytes: further passes of sixteen blocks.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn long(point: [u64; 2], pad: u128, mut rest: Rest<'_, '_, '_>) -> [u8; 16] {
    let (aad, direction, len) = (rest.aad, rest.direction, rest.data.len());
    let sizes = [aad.len() as u64, len as u64];
    let mut message = LongMessageHash::under(point, pad);
    if aad.len() < MUCH {
        message.absorb_few(aad);
    } else {
        message.absorb(aad);
    }

    let count = first_blocks(len);
    let [counter, last] = rest.last;
    let mut start =
        Start(State::new::<20>(rest.key, [later(counter, 1 + count as u64, false), last]));
    if len < if direction == SEAL { MANY_SEALED } else { MANY } {
        if direction == OPEN {
            message.absorb(rest.data.get_in());
        }
        if direction == OPEN {
            rest.xor();
        }
        start.xor(rest.data.reborrow().split_at(64 * count).1);
        if direction == SEAL {
            message.absorb(rest.data.get_out());
        }
        return message.tag(sizes, rest.place);
    }

    let end = len - (len - 64 * count) % 1024;
    let sum = if direction == SEAL {
        message.begin(&rest.data.get_out()[..64 * count])
    } else {
        let sum = message.begin(&rest.data.get_in()[..64 * count]);
        rest.xor();
        sum
    };
    let (whole, mut back) = rest.data.reborrow().split_at(end);
    let (_, whole) = whole.split_at(64 * count);
    message.end(passes(&mut start, &message, sum, whole, direction));
    if !back.is_empty() {
        if direction == OPEN {
            message.absorb(back.get_in());
        }
        start.xor(back.reborrow());
        if direction == SEAL {
            message.absorb(back.get_out());
        }
    }
    message.tag(sizes, rest.place)
}

/// Bytes of associated data from which on a call of Poly1305 pays.
const MUCH: usize = 320;

/// Bytes from which on data are hashed between rounds; a second limit for sealing, where the last
/// pass has no rounds after it.
const MANY: usize = 4 << 10;
const MANY_SEALED: usize = 6 << 10;

/// Whole passes of sixteen blocks, with Poly1305 between their rounds: one works while the other
/// waits. When opening, Poly1305 of the same bytes; when sealing, of the ciphertext of the pass
/// before, so that the first pass has none, and the last is hashed after it.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn passes(
    start: &mut Start,
    message: &LongMessageHash,
    sum: Sum,
    data: InOutBuf<'_, '_, u8>,
    direction: bool,
) -> Sum {
    let (mut sum, mut data) = (sum, data);
    let first = usize::from(direction == SEAL);
    start.xor(data.reborrow().split_at(1024 * first).0);
    let mut passes = into_blocks::<1024>(data).0;
    let lanes = Lanes::of(&start.0.key, start.0.counter, start.0.nonce);
    let mut counters = lanes.counters();
    start.0.counter = later(start.0.counter, 16 * (passes.len() - first) as u64, false);
    for at in first..passes.len() {
        let ready =
            if direction == SEAL { &passes.get_out()[at - 1] } else { &passes.get_in()[at] };
        let [three @ .., last] = pairs_of(ready);
        let mut x = lanes.double_round::<false>(counters);
        for pair in three {
            x = double_round(x);
            x = double_round(x);
            x = double_round(x);
            sum = message.go_on(sum, pair);
        }
        sum = message.go_on(sum, last);
        let mut bytes = passes.get(at);
        for (i, block) in lanes.blocks::<false>(x, counters).into_iter().enumerate() {
            let other = _mm512_xor_si512(load512(&bytes.get_in().as_chunks().0[i]), block);
            store512(&mut bytes.get_out().as_chunks_mut().0[i], other);
        }
        counters = _mm512_add_epi32(counters, _mm512_set1_epi32(16));
    }
    if let (SEAL, [.., last]) = (direction, passes.get_out()) {
        for pair in pairs_of(last) {
            sum = message.go_on(sum, pair);
        }
    }
    sum
}

/// The place from which the keystream continues.
struct Start(State);

impl Start {
    /// Passes of sixteen blocks, the last of which may be incomplete.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        let blocks = data.len().div_ceil(64) as u64;
        if data.len() <= 1024 {
            sixteens::<true, true, false>(&self.0, self.0.counter, data);
        } else {
            sixteens::<true, false, false>(&self.0, self.0.counter, data);
        }
        self.0.counter = later(self.0.counter, blocks, false);
    }
}

/// The unit of Poly1305: all but the last run between the rounds of a pass.
#[inline(always)]
fn pairs_of(bytes: &[u8; 1024]) -> &[[[[u8; 64]; 2]; 2]; 4] {
    let pairs = bytes.as_chunks().0.as_chunks().0.as_chunks().0;
    pairs.first_chunk().expect("1024 bytes are four pairs")
}
