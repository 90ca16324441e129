//! AES for every processor, and the specification of the other kernels: bitsliced, four blocks at
//! a time, without tables. Constant time in key and data.
//!
//! Four blocks are held in eight 64-bit planes. Plane `i` has bit `i` of each of the 64 bytes; the
//! byte of row `r` and column `c` of the state (FIPS 197, section 3.4) of block `b` is at bit
//! `16 r + 4 c + b`. So the rows are the four 16-bit fields of a plane: `ShiftRows` rotates within
//! a field, and `MixColumns` rotates whole fields.

mod sbox;

use inout::InOutBuf;

use self::sbox::sub_bytes;
use super::MAX_KEYS;
use crate::wipe;

/// One bit of each byte of four blocks, in each of eight planes.
#[derive(Clone, Copy)]
struct Planes([u64; 8]);

pub(super) fn expand128(key: &[u8; 16]) -> [[u8; 16]; MAX_KEYS] {
    expand::<11>(key)
}

pub(super) fn expand192(key: &[u8; 24]) -> [[u8; 16]; MAX_KEYS] {
    expand::<13>(key)
}

pub(super) fn expand256(key: &[u8; 32]) -> [[u8; 16]; MAX_KEYS] {
    expand::<15>(key)
}

/// `KeyExpansion` (FIPS 197, section 5.2).
fn expand<const N: usize>(key: &[u8]) -> [[u8; 16]; MAX_KEYS] {
    let mut keys = [[0; 16]; MAX_KEYS];
    let (words, _) = keys[..N].as_flattened_mut().as_chunks_mut::<4>();
    let (key, _) = key.as_chunks::<4>();
    words[..key.len()].copy_from_slice(key);
    let mut rcon = 1;
    for i in key.len()..words.len() {
        let mut word = words[i - 1];
        if i % key.len() == 0 {
            word.rotate_left(1);
            word = sub_word(word);
            word[0] ^= rcon;
            rcon = (rcon << 1) ^ ((rcon >> 7) * 0x1b);
        } else if key.len() > 6 && i % key.len() == 4 {
            word = sub_word(word);
        }
        for (byte, before) in word.iter_mut().zip(words[i - key.len()]) {
            *byte ^= before;
        }
        words[i] = word;
    }
    keys
}

/// The S-box on each byte of a word.
fn sub_word(word: [u8; 4]) -> [u8; 4] {
    let mut block = [0; 16];
    block[..4].copy_from_slice(&word);
    let mut planes = Planes::pack(&[block, [0; 16], [0; 16], [0; 16]]);
    sub_bytes(&mut planes.0);
    let [block, ..] = planes.unpack();
    [block[0], block[1], block[2], block[3]]
}

pub(super) fn encrypt(keys: &[[u8; 16]], mut data: InOutBuf<'_, '_, [u8; 16]>) {
    with_planes(keys, move |keys| {
        while !data.is_empty() {
            let count = data.len().min(4);
            let (mut part, rest) = data.split_at(count);
            let mut blocks = [[0; 16]; 4];
            blocks[..count].copy_from_slice(part.get_in());
            let blocks = encrypt4(keys, &blocks);
            part.get_out().copy_from_slice(&blocks[..count]);
            data = rest;
        }
    });
}

pub(super) fn keystream(keys: &[[u8; 16]], mut counter: u128, out: &mut [u8]) {
    with_planes(keys, move |keys| {
        for part in out.chunks_mut(64) {
            let mut stream = encrypt4(keys, &next4(&mut counter));
            part.copy_from_slice(&stream.as_flattened()[..part.len()]);
            wipe::memory(stream.as_flattened_mut());
        }
    });
}

pub(super) fn xor(keys: &[[u8; 16]], mut counter: u128, mut data: InOutBuf<'_, '_, u8>) {
    with_planes(keys, move |keys| {
        while !data.is_empty() {
            let count = data.len().min(64);
            let (mut part, rest) = data.split_at(count);
            let mut stream = encrypt4(keys, &next4(&mut counter));
            part.xor_in2out(&stream.as_flattened()[..count]);
            wipe::memory(stream.as_flattened_mut());
            data = rest;
        }
    });
}

/// The next four counter blocks.
fn next4(counter: &mut u128) -> [[u8; 16]; 4] {
    let blocks = [0, 1, 2, 3].map(|i| counter.wrapping_add(i).to_be_bytes());
    *counter = counter.wrapping_add(4);
    blocks
}

/// Calls `f` with the round keys as planes, once for all blocks of a request, and wipes them.
fn with_planes(keys: &[[u8; 16]], f: impl FnOnce(&[Planes])) {
    let mut planes = [Planes([0; 8]); MAX_KEYS];
    pack_all(&mut planes, keys);
    f(&planes[..keys.len()]);
    for planes in &mut planes {
        wipe::words(&mut planes.0);
    }
}

#[inline(never)]
fn pack_all(planes: &mut [Planes], keys: &[[u8; 16]]) {
    for (planes, key) in planes.iter_mut().zip(keys) {
        *planes = Planes::pack(&[*key; 4]);
    }
}

/// `Cipher` (FIPS 197, section 5.1) on four blocks.
#[inline(never)]
fn encrypt4(keys: &[Planes], blocks: &[[u8; 16]; 4]) -> [[u8; 16]; 4] {
    let mut state = Planes::pack(blocks);
    let mut rounds = keys.iter();
    if let Some(key) = rounds.next() {
        state.add(key);
    }
    while let Some(key) = rounds.next() {
        sub_bytes(&mut state.0);
        state.shift_rows();
        // The last round has no `MixColumns`.
        if !rounds.as_slice().is_empty() {
            state.mix_columns();
        }
        state.add(key);
    }
    state.unpack()
}

impl Planes {
    /// Columns 0 and 2 of block `b` go to word `b`, 1 and 3 to word `b + 4`, byte by byte in turn:
    /// from there, exchanging bit numbers with word numbers takes each bit to its place.
    #[inline(never)]
    fn pack(blocks: &[[u8; 16]; 4]) -> Self {
        let mut planes = Self([0; 8]);
        for (b, block) in blocks.iter().enumerate() {
            let (columns, _) = block.as_chunks();
            let [c0, c1, c2, c3] = [0, 1, 2, 3].map(|c| spread(u32::from_le_bytes(columns[c])));
            planes.0[b] = c0 | (c2 << 8);
            planes.0[b + 4] = c1 | (c3 << 8);
        }
        planes.transpose();
        planes
    }

    /// The inverse of `pack`.
    fn unpack(mut self) -> [[u8; 16]; 4] {
        self.transpose();
        let mut blocks = [[0; 16]; 4];
        for (b, block) in blocks.iter_mut().enumerate() {
            let (even, odd) = (self.0[b], self.0[b + 4]);
            let (columns, _) = block.as_chunks_mut();
            for (column, word) in columns.iter_mut().zip([even, odd, even >> 8, odd >> 8]) {
                *column = gather(word).to_le_bytes();
            }
        }
        blocks
    }

    /// Exchanges bit `i` of each byte of word `j` with bit `j` of the same byte of word `i`.
    #[inline(never)]
    fn transpose(&mut self) {
        let masks: [u64; 3] = [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f];
        for (log, mask) in masks.into_iter().enumerate() {
            let step = 1 << log;
            for low in (0..8).filter(|word| word & step == 0) {
                let (a, b) = (self.0[low], self.0[low + step]);
                self.0[low] = (a & mask) | ((b & mask) << step);
                self.0[low + step] = ((a >> step) & mask) | (b & !mask);
            }
        }
    }

    /// `AddRoundKey`.
    fn add(&mut self, key: &Self) {
        for (plane, key) in self.0.iter_mut().zip(&key.0) {
            *plane ^= key;
        }
    }

    /// Row `r` moves `r` columns, each of four bits, to the left.
    fn shift_rows(&mut self) {
        for plane in &mut self.0 {
            let p = *plane;
            *plane = (p & 0x0000_0000_0000_ffff)
                | ((p >> 4) & 0x0000_0000_0fff_0000)
                | ((p << 12) & 0x0000_0000_f000_0000)
                | ((p >> 8) & 0x0000_00ff_0000_0000)
                | ((p << 8) & 0x0000_ff00_0000_0000)
                | ((p >> 12) & 0x000f_0000_0000_0000)
                | ((p << 4) & 0xfff0_0000_0000_0000);
        }
    }

    /// Each byte `a` with `b`, `c`, `d` below it in its column, cyclically, becomes
    /// `2 (a + b) + b + c + d`, where doubling is that of GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
    fn mix_columns(&mut self) {
        let a = self.0;
        let b = a.map(|plane| plane.rotate_right(16));
        let sum: [u64; 8] = core::array::from_fn(|i| a[i] ^ b[i]);
        for i in 0..8 {
            let reduced = if matches!(i, 1 | 3 | 4) { sum[7] } else { 0 };
            let doubled = if i == 0 { sum[7] } else { sum[i - 1] ^ reduced };
            self.0[i] = doubled ^ b[i] ^ sum[i].rotate_right(32);
        }
    }
}

/// The bytes of `word` at every second place.
fn spread(word: u32) -> u64 {
    let pairs = u64::from(word) | (u64::from(word) << 16);
    let pairs = pairs & 0x0000_ffff_0000_ffff;
    (pairs | (pairs << 8)) & 0x00ff_00ff_00ff_00ff
}

/// The bytes at even places of `word`.
fn gather(word: u64) -> u32 {
    let pairs = word & 0x00ff_00ff_00ff_00ff;
    let pairs = (pairs | (pairs >> 8)) & 0x0000_ffff_0000_ffff;
    let [a, b, _, _, c, d, _, _] = pairs.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}
