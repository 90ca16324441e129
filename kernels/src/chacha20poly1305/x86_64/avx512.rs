//! Encryption and authentication with 512-bit registers.
//!
//! A message of up to 1728 bytes takes one pass of ChaCha20 in the narrowest form that makes enough
//! blocks, the first of which is the one-time key; then Poly1305. Poly1305 reads the ciphertext
//! from the output; or, if it is the input, before the keystream is XORed in, since the data may be
//! in place. Long data are hashed between the rounds.

use core::arch::x86_64::*;

use inout::InOutBuf;

use crate::arx::{State, later, taken};
use crate::chacha::x86_64::avx512::{Lanes, Rows, double_round, rows_of_two};
use crate::chacha::{self, Key, last_row};
use crate::chacha20poly1305::{OPEN, SEAL};
use crate::isa::{Mode, XOR};
use crate::poly1305::Keep;
use crate::poly1305::x86_64::avx512::{LongMessageHash, MessageHash, Sum};
use crate::simd::{first_bytes, load512, load512_part, opaque_count, store512, store512_part};
use crate::{Isa, Level, into_blocks, wipe};

pub(crate) const NEEDS: Level = Level::Avx512;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
pub(crate) fn run<const MODE: bool, K: Keep>(
    _: Isa,
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
    keep: K,
) -> [u8; 16] {
    let mut data = data;
    let data = &mut data;
    match data.len() {
        0..=64 => short::<MODE, K>(key, nonce, aad, data, keep),
        65..=192 => one_pass::<MODE, 1, 0, 4, 1, K>(key, nonce, aad, data, keep),
        193..=448 => one_pass::<MODE, 2, 0, 8, 3, K>(key, nonce, aad, data, keep),
        449..=704 => one_pass::<MODE, 3, 0, 12, 7, K>(key, nonce, aad, data, keep),
        705..=960 => one_pass::<MODE, 0, 16, 16, 11, K>(key, nonce, aad, data, keep),
        961..=1216 => one_pass::<MODE, 1, 16, 20, 15, K>(key, nonce, aad, data, keep),
        1217..=1472 => one_pass::<MODE, 2, 16, 24, 19, K>(key, nonce, aad, data, keep),
        1473..=1728 => one_pass::<MODE, 3, 16, 28, 23, K>(key, nonce, aad, data, keep),
        _ => long::<MODE, K>(key, nonce, aad, data, keep),
    }
}

/// At most 64 bytes: two blocks in registers of 256 bits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn short<const MODE: bool, K: Keep>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    keep: K,
) -> [u8; 16] {
    let [counter, last] = last_row(nonce);
    let [a, b, c, d] = rows_of_two::<20>(&key.words, counter, last, false);
    let mut message = MessageHash::new(_mm256_permute2x128_si256::<0x20>(a, b));
    message.absorb_few(aad);
    // A masked access to nothing, at an address that need not be mapped, takes 200 cycles.
    if !data.is_empty() {
        let front = _mm256_permute2x128_si256::<0x31>(a, b);
        let back = _mm256_permute2x128_si256::<0x31>(c, d);
        let stream = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(front), back);

        let text = load512_part(data.get_in());
        let other = _mm512_xor_si512(text, stream);
        store512_part(data.get_out(), other);
        // Bytes past the end are zero, as in Poly1305.
        let mut copy = [0; 64];
        let mask = first_bytes(data.len());
        store512(&mut copy, _mm512_maskz_mov_epi8(mask, if MODE == SEAL { other } else { text }));
        let blocks = data.len().div_ceil(16);
        for block in copy.as_chunks::<16>().0.iter().take(blocks) {
            message.absorb_number(u128::from_le_bytes(*block));
        }
    }
    message.absorb_number(lengths(aad, data));
    message.tag(keep)
}

/// More bytes than `WHOLE` blocks have, and at most one block fewer than the `N` of the pass, whose
/// first block is the key. `LANES` blocks lie one a lane, four times `ROWS` blocks as rows.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn one_pass<
    const MODE: bool,
    const ROWS: usize,
    const LANES: usize,
    const N: usize,
    const WHOLE: usize,
    K: Keep,
>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    keep: K,
) -> [u8; 16] {
    let blocks: [__m512i; N] = pass::<K, MODE, 0, ROWS, LANES, N>(key, last_row(nonce));
    let mut message = MessageHash::new(_mm512_castsi512_si256(blocks[0]));
    if N == 4 {
        let mut copy = [[0; 64]; N];
        message.absorb_few(aad);
        put::<K, MODE, true, 1, N, WHOLE>(&blocks, data.reborrow(), &mut copy);
        let count = data.len().div_ceil(16);
        for block in copy.as_flattened().as_chunks::<16>().0.iter().take(count) {
            message.absorb_number(u128::from_le_bytes(*block));
        }
        message.absorb_number(lengths(aad, data));
        return message.tag(keep);
    }
    if MODE == SEAL {
        put::<K, MODE, false, 1, N, WHOLE>(&blocks, data.reborrow(), &mut [[0; 64]; N]);
        message.finish(aad, data.get_out(), keep)
    } else {
        let tag = message.finish(aad, data.get_in(), keep);
        put::<K, MODE, false, 1, N, WHOLE>(&blocks, data.reborrow(), &mut [[0; 64]; N]);
        tag
    }
}

/// More bytes than [`one_pass`] takes: a first pass over the key block and some data, so that whole
/// passes of sixteen blocks are left, the last of which may be incomplete.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn long<const MODE: bool, K: Keep>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    keep: K,
) -> [u8; 16] {
    match first_blocks(data.len()) {
        ..=15 => passes::<MODE, 0, 16, 11, K>(key, nonce, aad, data, keep),
        16..=19 => passes::<MODE, 1, 20, 15, K>(key, nonce, aad, data, keep),
        20..=23 => passes::<MODE, 2, 24, 19, K>(key, nonce, aad, data, keep),
        _ => passes::<MODE, 3, 28, 23, K>(key, nonce, aad, data, keep),
    }
}

/// The blocks of data in the first pass over `len` bytes: 12 to 27.
#[inline]
fn first_blocks(len: usize) -> usize {
    12 + (len.div_ceil(64) - 12) % 16
}

/// A long message whose first pass makes `N` blocks, of which the first is the key.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn passes<const MODE: bool, const ROWS: usize, const N: usize, const WHOLE: usize, K: Keep>(
    key: &Key,
    nonce: &[u8; 12],
    aad: &[u8],
    data: &mut InOutBuf<'_, '_, u8>,
    keep: K,
) -> [u8; 16] {
    let sizes = [aad.len() as u64, data.len() as u64];
    let len = data.len();
    let count = first_blocks(len);
    let [counter, last] = last_row(nonce);
    let blocks: [__m512i; N] = pass::<K, MODE, 1, ROWS, 16, N>(key, [counter, last]);
    let mut first = First([0; 64]);
    store512(&mut first.0, blocks[0]);
    let mut message = LongMessageHash::new(first.0.first_chunk().expect("64 bytes have 32"));
    if aad.len() < MUCH {
        message.absorb_few(aad);
    } else {
        message.absorb(aad);
    }

    let mut state = Start(State::new(key, [counter + 1 + count as u64, last]));
    if len < if MODE == SEAL { MANY_SEALED } else { MANY } {
        if MODE == OPEN {
            message.absorb(data.get_in());
        }
        let (front, back) = data.reborrow().split_at(64 * count);
        put::<K, MODE, false, 1, N, WHOLE>(&blocks, front, &mut [[0; 64]; N]);
        state.xor(back);
        if MODE == SEAL {
            message.absorb(data.get_out());
        }
        return message.tag(sizes, keep);
    }

    let (mut front, back) = data.reborrow().split_at(64 * count);
    let len = back.len();
    let (whole, mut rest) = back.split_at(len - len % 1024);
    if MODE == OPEN {
        let sum = message.begin(front.get_in());
        put::<K, MODE, false, 1, N, WHOLE>(&blocks, front, &mut [[0; 64]; N]);
        message.end(open_passes(&mut state, &message, sum, whole));
        if !rest.is_empty() {
            message.absorb(rest.get_in());
            state.xor(rest);
        }
    } else {
        put::<K, MODE, false, 1, N, WHOLE>(&blocks, front.reborrow(), &mut [[0; 64]; N]);
        let sum = message.begin(front.get_out());
        message.end(seal_passes(&mut state, &message, sum, whole));
        if !rest.is_empty() {
            state.xor(rest.reborrow());
            message.absorb(rest.get_out());
        }
    }
    message.tag(sizes, keep)
}

/// Bytes of associated data from which on a call of Poly1305 pays.
const MUCH: usize = 320;

/// Bytes from which on data are hashed between rounds; a second limit for sealing, where the last
/// pass has no rounds after it.
const MANY: usize = 4 << 10;
const MANY_SEALED: usize = 6 << 10;

/// Whole passes of sixteen blocks, with Poly1305 of the same bytes between their rounds: one works
/// while the other waits.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn open_passes(
    state: &mut Start,
    message: &LongMessageHash,
    sum: Sum,
    data: InOutBuf<'_, '_, u8>,
) -> Sum {
    let mut sum = sum;
    let passes = into_blocks::<1024>(data).0;
    let lanes = Lanes::of(&state.0.key, state.0.counter, state.0.nonce);
    let mut counters = lanes.counters();
    state.0.counter = later(state.0.counter, 16 * passes.len() as u64, false);
    for mut bytes in passes {
        let [three @ .., last] = pairs_of(bytes.get_in());
        let mut x = lanes.double_round::<false>(counters);
        for pair in three {
            x = double_round(x);
            x = double_round(x);
            x = double_round(x);
            sum = message.go_on(sum, pair);
        }
        sum = message.go_on(sum, last);
        for (i, block) in lanes.blocks::<false>(x, counters).into_iter().enumerate() {
            let other = _mm512_xor_si512(load512(&bytes.get_in().as_chunks().0[i]), block);
            store512(&mut bytes.get_out().as_chunks_mut().0[i], other);
        }
        counters = _mm512_add_epi32(counters, _mm512_set1_epi32(16));
    }
    sum
}

/// [`open_passes`] in the other direction: between the rounds of a pass, Poly1305 of the ciphertext
/// of the pass before.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn seal_passes(
    state: &mut Start,
    message: &LongMessageHash,
    sum: Sum,
    data: InOutBuf<'_, '_, u8>,
) -> Sum {
    let mut sum = sum;
    let mut passes = into_blocks::<1024>(data).0;
    let lanes = Lanes::of(&state.0.key, state.0.counter, state.0.nonce);
    let mut counters = lanes.counters();
    state.0.counter = later(state.0.counter, 16 * passes.len() as u64, false);
    for at in 0..passes.len() {
        let mut x = lanes.double_round::<false>(counters);
        if at == 0 {
            for _ in 0..opaque_count(3) {
                x = double_round(x);
                x = double_round(x);
                x = double_round(x);
            }
        } else {
            let [three @ .., last] = pairs_of(&passes.get_out()[at - 1]);
            for pair in three {
                x = double_round(x);
                x = double_round(x);
                x = double_round(x);
                sum = message.go_on(sum, pair);
            }
            sum = message.go_on(sum, last);
        }
        let mut bytes = passes.get(at);
        for (i, block) in lanes.blocks::<false>(x, counters).into_iter().enumerate() {
            let other = _mm512_xor_si512(load512(&bytes.get_in().as_chunks().0[i]), block);
            store512(&mut bytes.get_out().as_chunks_mut().0[i], other);
        }
        counters = _mm512_add_epi32(counters, _mm512_set1_epi32(16));
    }
    if let [.., last] = passes.get_out() {
        for pair in pairs_of(last) {
            sum = message.go_on(sum, pair);
        }
    }
    sum
}

/// The unit of Poly1305: all but the last run between the rounds of a pass.
#[inline(always)]
fn pairs_of(bytes: &[u8; 1024]) -> &[[[[u8; 64]; 2]; 2]; 4] {
    let pairs = bytes.as_chunks().0.as_chunks().0.as_chunks().0;
    pairs.first_chunk().expect("1024 bytes are four pairs")
}

/// The first block of a keystream, wiped on drop.
struct First([u8; 64]);

impl Drop for First {
    #[inline]
    fn drop(&mut self) {
        wipe::memory(&mut self.0);
    }
}

/// The place from which the keystream continues.
struct Start(State<20>);

impl Start {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
    fn xor(&mut self, data: InOutBuf<'_, '_, u8>) {
        let blocks = data.len().div_ceil(64) as u64;
        chacha::x86_64::avx512::apply(&self.0, false, data, XOR);
        self.0.counter = later(self.0.counter, blocks, false);
    }
}

/// The block with the last row `counter`, `last`, and those after it.
///
/// `K`, `MODE` and `FOR` have no effect. They distinguish the callers, so that this is inlined into
/// each, with the blocks in registers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn pass<
    K,
    const MODE: bool,
    const FOR: u8,
    const ROWS: usize,
    const LANES: usize,
    const N: usize,
>(
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

/// XORs the blocks from `FIRST` on into `data`, which has at least `WHOLE` blocks; the ciphertext
/// also goes into `copy`, if requested.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512ifma,bmi2")]
fn put<
    K,
    const MODE: bool,
    const COPY: bool,
    const FIRST: usize,
    const N: usize,
    const WHOLE: usize,
>(
    blocks: &[__m512i; N],
    data: InOutBuf<'_, '_, u8>,
    copy: &mut [[u8; 64]; N],
) {
    let (mut whole, mut rest) = taken(data).split_at(64 * WHOLE);
    for i in 0..WHOLE {
        let text = load512(&whole.get_in().as_chunks().0[i]);
        let other = _mm512_xor_si512(text, blocks[FIRST + i]);
        store512(&mut whole.get_out().as_chunks_mut().0[i], other);
        if COPY {
            store512(&mut copy[i], if MODE == SEAL { other } else { text });
        }
    }
    for i in WHOLE..N - FIRST {
        let block = blocks[FIRST + i];
        if rest.len() >= 64 {
            let (mut this, next) = rest.split_at(64);
            let text = load512(&this.get_in().as_chunks().0[0]);
            let other = _mm512_xor_si512(text, block);
            store512(&mut this.get_out().as_chunks_mut().0[0], other);
            if COPY {
                store512(&mut copy[i], if MODE == SEAL { other } else { text });
            }
            rest = next;
        } else {
            let text = load512_part(rest.get_in());
            let other = _mm512_xor_si512(text, block);
            store512_part(rest.get_out(), other);
            if COPY {
                let mask = first_bytes(rest.len());
                let text = if MODE == SEAL { _mm512_maskz_mov_epi8(mask, other) } else { text };
                store512(&mut copy[i], text);
            }
            break;
        }
    }
}

/// The last block that is absorbed.
#[inline]
fn lengths(aad: &[u8], data: &InOutBuf<'_, '_, u8>) -> u128 {
    aad.len() as u128 | (data.len() as u128) << 64
}
