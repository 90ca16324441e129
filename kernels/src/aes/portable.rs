//! AES for every processor, and the specification of the other kernels: bitsliced, eight blocks
//! at a time, without tables. Constant time in key and data.
//!
//! Eight blocks are held in eight planes of four words. Plane `i` has bit `i` of each of the 128
//! bytes: a word for each column of the state (FIPS 197, section 3.4), in it a byte for each row,
//! in that a bit for each block. All four columns are treated alike, in loops that a compiler can
//! turn into vector instructions.
//!
//! `ShiftRows` is left out of all rounds except the last. Bytes stay in place; `MixColumns` takes
//! the other bytes of a column from further and further to the right; and the last round moves all
//! bytes by the sum of the omitted shifts (A. Adomnicai and T. Peyrin, "Fixslicing AES-like
//! Ciphers", 2021). Round keys are stored to match.

mod keys;
mod sbox;

use core::array;

use inout::InOutBuf;

pub(super) use self::keys::{expand128, expand192, expand256, invert};
use self::sbox::{inv_sub_bytes, sub_bytes};
use super::FORWARD;
use super::round_keys::{MAX_KEYS, RoundKeys};
use crate::isa::{Mode, WRITE};
use crate::wipe;

/// One bit of each byte of eight blocks, in each of eight planes.
#[derive(Clone, Copy)]
pub(crate) struct Planes(pub(crate) [[u32; 4]; 8]);

pub(super) fn ecb<const MODE: bool>(
    keys: &RoundKeys,
    data: InOutBuf<'_, '_, [u8; 16]>,
    _: Mode<MODE>,
) {
    let crypt8 = if MODE == FORWARD { encrypt8 } else { decrypt8 };
    with_planes(keys, |keys| by_eight(data, |blocks, _| crypt8(keys, blocks)));
}

/// The first 8 bytes of an encrypted block.
pub(super) fn front(keys: &RoundKeys, block: &[u8; 16]) -> u64 {
    let mut block = [*block];
    ecb(keys, (&mut block[..]).into(), Mode::<FORWARD>);
    super::first_eight(&block[0])
}

/// A chain is serial: seven of eight blocks are idle.
pub(super) fn cbc_encrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    with_planes(keys, |keys| {
        let mut blocks = [[0; 16]; 8];
        for mut block in data {
            blocks[0] = *iv;
            add(&mut blocks[0], block.get_in());
            encrypt8(keys, &mut blocks);
            *iv = blocks[0];
            *block.get_out() = *iv;
        }
    });
}

pub(super) fn cbc_decrypt(keys: &RoundKeys, iv: &mut [u8; 16], data: InOutBuf<'_, '_, [u8; 16]>) {
    with_planes(keys, |keys| {
        by_eight(data, |blocks, count| {
            let input = *blocks;
            decrypt8(keys, blocks);
            for (block, next) in blocks.iter_mut().zip(&input[..count]) {
                add(block, iv);
                *iv = *next;
            }
        });
    });
}

/// Writes keystream over `out`, which is made a buffer here: it comes in registers.
pub(super) fn keystream(keys: &RoundKeys, counter: u128, out: &mut [u8]) {
    ctr(keys, counter, out.into(), WRITE);
}

/// Writes keystream, or if `XOR` adds it to the input.
#[inline]
pub(super) fn ctr<const XOR: bool>(
    keys: &RoundKeys,
    mut counter: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<XOR>,
) {
    let mut data = data;
    with_planes(keys, |keys| {
        while !data.is_empty() {
            let count = data.len().min(128);
            let (mut part, rest) = data.split_at(count);
            let mut stream = next8(&mut counter);
            encrypt8(keys, &mut stream);
            let keystream = &stream.as_flattened()[..count];
            if XOR {
                part.xor_in2out(keystream);
            } else {
                part.get_out().copy_from_slice(keystream);
            }
            wipe::memory(stream.as_flattened_mut());
            data = rest;
        }
    });
}

/// Calls `f` with the round keys as planes, once for all blocks of a request, and wipes them.
fn with_planes(keys: &RoundKeys, f: impl FnOnce(&[Planes])) {
    let mut planes = [Planes([[0; 4]; 8]); MAX_KEYS];
    let planes = &mut planes[..keys.all().len()];
    pack_keys(planes, keys.all());
    f(planes);
    for planes in planes {
        wipe::words(planes.0.as_flattened_mut());
    }
}

/// The same key for all eight blocks: each bit of it becomes a whole byte of its plane.
#[inline(never)]
fn pack_keys(planes: &mut [Planes], keys: &[[u8; 16]]) {
    for (planes, key) in planes.iter_mut().zip(keys) {
        let (words, _) = key.as_chunks();
        for (c, word) in words.iter().enumerate() {
            let word = u32::from_le_bytes(*word);
            for (i, plane) in planes.0.iter_mut().enumerate() {
                let bits = (word >> i) & 0x0101_0101;
                plane[c] = (bits << 8).wrapping_sub(bits);
            }
        }
    }
}

/// Calls `f` to change eight blocks at a time. It also gets the number of blocks that are in use.
fn by_eight(data: InOutBuf<'_, '_, [u8; 16]>, mut f: impl FnMut(&mut [[u8; 16]; 8], usize)) {
    let mut data = data;
    while !data.is_empty() {
        let count = data.len().min(8);
        let (mut part, rest) = data.split_at(count);
        let mut blocks = [[0; 16]; 8];
        blocks[..count].copy_from_slice(part.get_in());
        f(&mut blocks, count);
        part.get_out().copy_from_slice(&blocks[..count]);
        data = rest;
    }
}

/// The next eight counter blocks.
fn next8(counter: &mut u128) -> [[u8; 16]; 8] {
    let blocks = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| counter.wrapping_add(i).to_be_bytes());
    *counter = counter.wrapping_add(8);
    blocks
}

fn add(to: &mut [u8; 16], block: &[u8; 16]) {
    for (to, byte) in to.iter_mut().zip(block) {
        *to ^= byte;
    }
}

/// `Cipher` (FIPS 197, section 5.1) on eight blocks; a round is counted from one `ShiftRows` to
/// the next.
fn encrypt8(keys: &[Planes], blocks: &mut [[u8; 16]; 8]) {
    let [first, middle @ .., last] = keys else { return };
    let mut state = Planes::pack(blocks);
    state.first_round(first);
    for (i, key) in middle.iter().enumerate() {
        match i % 4 {
            0 => state.round::<1>(key),
            1 => state.round::<2>(key),
            2 => state.round::<3>(key),
            _ => state.round::<0>(key),
        }
    }
    state.last_round(middle.len() + 1, last);
    state.unpack(blocks);
}

/// `EqInvCipher` (FIPS 197, section 5.3.5) on eight blocks; the omitted shifts go in the other
/// direction.
fn decrypt8(keys: &[Planes], blocks: &mut [[u8; 16]; 8]) {
    let [first, middle @ .., last] = keys else { return };
    let mut state = Planes::pack(blocks);
    state.first_inv_round(first);
    for (i, key) in middle.iter().enumerate() {
        match i % 4 {
            0 => state.inv_round::<3>(key),
            1 => state.inv_round::<2>(key),
            2 => state.inv_round::<1>(key),
            _ => state.inv_round::<0>(key),
        }
    }
    state.last_round(middle.len() + 1, last);
    state.unpack(blocks);
}

impl Planes {
    /// Block `i` is at first in plane `i`; exchanging bit numbers with plane numbers takes each bit
    /// to its place.
    pub(crate) fn pack(blocks: &[[u8; 16]; 8]) -> Self {
        let mut planes = Self([[0; 4]; 8]);
        for (plane, block) in planes.0.iter_mut().zip(blocks) {
            for (word, bytes) in plane.iter_mut().zip(block.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
        planes.transpose();
        planes
    }

    /// The inverse of `pack`.
    pub(crate) fn unpack(mut self, blocks: &mut [[u8; 16]; 8]) {
        self.transpose();
        for (plane, block) in self.0.iter().zip(blocks) {
            for (word, bytes) in plane.iter().zip(block.as_chunks_mut().0) {
                *bytes = word.to_le_bytes();
            }
        }
    }

    /// Exchanges bit `i` of each byte of plane `j` with bit `j` of the same byte of plane `i`.
    #[inline(never)]
    fn transpose(&mut self) {
        let bits = |a, b| exchange(a, b, 1, 0x5555_5555);
        let pairs = |a, b| exchange(a, b, 2, 0x3333_3333);
        let halves = |a, b| exchange(a, b, 4, 0x0f0f_0f0f);
        for column in 0..4 {
            let [a, b, c, d, e, f, g, h] = self.column(column);
            let ((a, b), (c, d), (e, f), (g, h)) = (bits(a, b), bits(c, d), bits(e, f), bits(g, h));
            let ((a, c), (b, d)) = (pairs(a, c), pairs(b, d));
            let ((e, g), (f, h)) = (pairs(e, g), pairs(f, h));
            let ((a, e), (b, f)) = (halves(a, e), halves(b, f));
            let ((c, g), (d, h)) = (halves(c, g), halves(d, h));
            self.set_column(column, [a, b, c, d, e, f, g, h]);
        }
    }

    /// `AddRoundKey` and `SubBytes`.
    #[inline(never)]
    fn first_round(&mut self, key: &Self) {
        for column in 0..4 {
            let sum = xor8(self.column(column), key.column(column));
            self.set_column(column, sub_bytes(sum));
        }
    }

    /// `MixColumns`, where `SKEW` times `ShiftRows` has been left out, `AddRoundKey`, `SubBytes`.
    ///
    /// Each byte `a`, with `b`, `c` and `d` from the rows below, becomes `2 (a + b) + b + c + d`.
    #[inline(never)]
    fn round<const SKEW: usize>(&mut self, key: &Self) {
        let rows = self.rows::<SKEW>();
        for column in 0..4 {
            let [a, b, c, d] = below(&rows, column);
            let mixed = xor8(xor8(double(xor8(a, b)), b), xor8(c, d));
            self.set_column(column, sub_bytes(xor8(mixed, key.column(column))));
        }
    }

    /// `AddRoundKey` and `InvSubBytes`.
    #[inline(never)]
    fn first_inv_round(&mut self, key: &Self) {
        for column in 0..4 {
            let sum = xor8(self.column(column), key.column(column));
            self.set_column(column, inv_sub_bytes(sum));
        }
    }

    /// `InvMixColumns`, `AddRoundKey`, `InvSubBytes`.
    ///
    /// `InvMixColumns` is `MixColumns` once `4 (a + c)` has been added to `a` and to `c`, and
    /// `4 (b + d)` to `b` and to `d`.
    #[inline(never)]
    fn inv_round<const SKEW: usize>(&mut self, key: &Self) {
        let rows = self.rows::<SKEW>();
        for column in 0..4 {
            let [a, b, c, d] = below(&rows, column);
            let (ac, bd) = (xor8(a, c), xor8(b, d));
            let (four_ac, four_bd) = (double(double(ac)), double(double(bd)));
            let sum = xor8(xor8(a, b), xor8(four_ac, four_bd));
            let mixed = xor8(xor8(double(sum), four_ac), xor8(bd, c));
            self.set_column(column, inv_sub_bytes(xor8(mixed, key.column(column))));
        }
    }

    /// `SubBytes`, `ShiftRows` and `MixColumns`, all in their place, for ciphers made of single
    /// rounds.
    #[inline(never)]
    pub(crate) fn whole_round(&mut self) {
        for column in 0..4 {
            self.set_column(column, sub_bytes(self.column(column)));
        }
        for plane in &mut self.0 {
            let row = |r: usize, c: usize| plane[(c + r) % 4] & 0xff << (8 * r);
            *plane = array::from_fn(|c| row(0, c) | row(1, c) | row(2, c) | row(3, c));
        }
        let rows = self.rows::<0>();
        for column in 0..4 {
            let [a, b, c, d] = below(&rows, column);
            self.set_column(column, xor8(xor8(double(xor8(a, b)), b), xor8(c, d)));
        }
    }

    /// `ShiftRows` `times` times, then `AddRoundKey`.
    ///
    /// The number is even, so that only the second and the fourth row move, by two columns or not
    /// at all, and both directions are the same.
    fn last_round(&mut self, times: usize, key: &Self) {
        let moving = if times % 4 == 2 { 0xff00_ff00 } else { 0 };
        for (plane, key) in self.0.iter_mut().zip(&key.0) {
            let [a, b, c, d] = *plane;
            let (ac, bd) = ((a ^ c) & moving, (b ^ d) & moving);
            *plane = [a ^ ac ^ key[0], b ^ bd ^ key[1], c ^ ac ^ key[2], d ^ bd ^ key[3]];
        }
    }

    /// Each plane four times, each time `SKEW` columns further to the left.
    #[inline(always)]
    fn rows<const SKEW: usize>(&self) -> [[[u32; 4]; 4]; 8] {
        let mut rows = [[[0; 4]; 4]; 8];
        for (row, plane) in rows.iter_mut().zip(&self.0) {
            *row = [
                *plane,
                array::from_fn(|c| plane[(c + SKEW) % 4]),
                array::from_fn(|c| plane[(c + 2 * SKEW) % 4]),
                array::from_fn(|c| plane[(c + 3 * SKEW) % 4]),
            ];
        }
        rows
    }

    #[inline(always)]
    fn column(&self, c: usize) -> [u32; 8] {
        array::from_fn(|i| self.0[i][c])
    }

    #[inline(always)]
    fn set_column(&mut self, c: usize, words: [u32; 8]) {
        for (plane, word) in self.0.iter_mut().zip(words) {
            plane[c] = word;
        }
    }
}

/// The bytes of a column, and those in the three rows below, cyclically.
#[inline(always)]
fn below(rows: &[[[u32; 4]; 4]; 8], column: usize) -> [[u32; 8]; 4] {
    [
        array::from_fn(|i| rows[i][0][column]),
        array::from_fn(|i| rows[i][1][column].rotate_right(8)),
        array::from_fn(|i| rows[i][2][column].rotate_right(16)),
        array::from_fn(|i| rows[i][3][column].rotate_right(24)),
    ]
}

/// Exchanges the bits of `b` under `mask` with those of `a` that stand `shift` places higher.
#[inline(always)]
fn exchange(a: u32, b: u32, shift: u32, mask: u32) -> (u32, u32) {
    let change = ((a >> shift) ^ b) & mask;
    (a ^ (change << shift), b ^ change)
}

/// Doubles each byte in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
#[inline(always)]
fn double([a, b, c, d, e, f, g, h]: [u32; 8]) -> [u32; 8] {
    [h, a ^ h, b, c ^ h, d ^ h, e, f, g]
}

#[inline(always)]
fn xor8(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
    array::from_fn(|i| a[i] ^ b[i])
}
