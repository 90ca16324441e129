//! AEGIS for every processor, and the specification of the other kernels: all rounds of a step at
//! once, bitsliced, without tables. Constant time in key and data.
//!
//! The state stays in planes: block `j` of it is bit `j` of each byte. So the block to the left is
//! the next lower bit, and a block of data is added at one bit.

use core::array;

use inout::InOutBuf;

use super::{CONSTANTS, SEAL, State, keystream, rate};
use crate::aes::portable::Planes;
use crate::isa::Mode;
use crate::wipe;

/// The lowest bit of each byte.
const ONES: u32 = 0x0101_0101;

/// A whole message (sections `Encrypt` and `Decrypt` of both ciphers).
pub(super) fn run<const KEY: usize, const MODE: bool>(
    key: &[u8; KEY],
    nonce: &[u8; KEY],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
) -> [u8; 16] {
    let (bits_of_aad, bits_of_data) = (8 * aad.len() as u64, 8 * data.len() as u64);
    let mut state = Sliced::<KEY>::new(key, nonce);
    state.absorb(aad);
    state.crypt::<MODE>(data);
    state.tag(bits_of_aad, bits_of_data)
}

pub(super) fn begin<const KEY: usize>(key: &[u8; KEY], nonce: &[u8; KEY], state: &mut State<KEY>) {
    Sliced::<KEY>::new(key, nonce).0.unpack(&mut state.0);
}

/// Takes associated data, or plaintext; zeros fill a last step.
pub(super) fn absorb<const KEY: usize>(state: &mut State<KEY>, bytes: &[u8]) {
    let mut sliced = Sliced::<KEY>(Planes::pack(&state.0));
    sliced.absorb(bytes);
    sliced.0.unpack(&mut state.0);
}

pub(super) fn crypt<const KEY: usize, const MODE: bool>(
    state: &mut State<KEY>,
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
) {
    let mut sliced = Sliced::<KEY>(Planes::pack(&state.0));
    sliced.crypt::<MODE>(data);
    sliced.0.unpack(&mut state.0);
}

/// The tag, of these numbers of bits.
pub(super) fn tag<const KEY: usize>(state: &State<KEY>, aad: u64, data: u64) -> [u8; 16] {
    Sliced::<KEY>(Planes::pack(&state.0)).tag(aad, data)
}

/// A state in planes, wiped on drop.
struct Sliced<const KEY: usize>(Planes);

impl<const KEY: usize> Sliced<KEY> {
    /// `Init`.
    fn new(key: &[u8; KEY], nonce: &[u8; KEY]) -> Self {
        let [key, nonce] = [key, nonce].map(|it| blocks(it));
        let both = [xor(key[0], nonce[0]), xor(key[1], nonce[1])];
        let [zero, one] = CONSTANTS;
        if KEY == 16 {
            let ([k, _], [both, _]) = (key, both);
            let keys = [xor(k, zero), xor(k, one), xor(k, zero)];
            let mut state =
                Self(Planes::pack(&[both, one, zero, one, both, keys[0], keys[1], keys[2]]));
            for _ in 0..10 {
                state.update(&[nonce[0], k]);
            }
            state
        } else {
            let keys = [xor(key[0], zero), xor(key[1], one)];
            let none = [0; 16];
            let mut state =
                Self(Planes::pack(&[both[0], both[1], one, zero, keys[0], keys[1], none, none]));
            for _ in 0..4 {
                for block in [key[0], key[1], both[0], both[1]] {
                    state.update(&[block, none]);
                }
            }
            state
        }
    }

    /// `Update`: a round of each block and its right neighbour make that neighbour, and two blocks
    /// of data, or one, are added.
    fn update(&mut self, data: &[[u8; 16]; 2]) {
        let before = self.0;
        self.0.whole_round();
        let words = |block: &[u8; 16]| -> [u32; 4] {
            array::from_fn(|c| u32::from_le_bytes(array::from_fn(|r| block[4 * c + r])))
        };
        let [first, second] = data.each_ref().map(words);
        for (i, (plane, before)) in self.0.0.iter_mut().zip(before.0).enumerate() {
            for (c, word) in plane.iter_mut().enumerate() {
                let bit = |word: u32| (word >> i) & ONES;
                let next = if KEY == 16 {
                    (*word & !(ONES << 7)) << 1 | (*word >> 7) & ONES
                } else {
                    (*word & (0x1f * ONES)) << 1 | (*word >> 5) & ONES
                };
                *word = next ^ before[c] ^ bit(first[c]) ^ bit(second[c]) << 4;
            }
        }
    }

    /// `Absorb`.
    fn absorb(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(rate(KEY)) {
            self.update(&blocks(part));
        }
    }

    /// `Enc` and `Dec`; of a last part, what is left of the plaintext and zeros are taken.
    fn crypt<const MODE: bool>(&mut self, data: InOutBuf<'_, '_, u8>) {
        let mut data = data;
        while !data.is_empty() {
            let length = data.len().min(rate(KEY));
            let (mut part, rest) = data.split_at(length);
            data = rest;
            let mut stream = self.keystream();
            let mut text = blocks(part.get_in());
            part.xor_in2out(&stream.as_flattened()[..length]);
            if MODE != SEAL {
                text = blocks(part.get_out());
            }
            self.update(&text);
            wipe::memory(stream.as_flattened_mut());
            wipe::memory(text.as_flattened_mut());
        }
    }

    fn keystream(&self) -> [[u8; 16]; 2] {
        let mut words = [[0; 4]; 2];
        for (i, plane) in self.0.0.iter().enumerate() {
            for (c, word) in plane.iter().enumerate() {
                let bits = keystream::<KEY, u32>(array::from_fn(|j| word >> j));
                words[0][c] |= (bits[0] & ONES) << i;
                words[1][c] |= (bits[1] & ONES) << i;
            }
        }
        words.map(|words| array::from_fn(|at| words[at / 4].to_le_bytes()[at % 4]))
    }

    /// `Finalize`.
    fn tag(mut self, aad: u64, data: u64) -> [u8; 16] {
        let mut state = [[0; 16]; 8];
        self.0.unpack(&mut state);
        let lengths = (u128::from(data) << 64 | u128::from(aad)).to_le_bytes();
        let last = xor(state[if KEY == 16 { 2 } else { 3 }], lengths);
        for _ in 0..7 {
            self.update(&[last, if KEY == 16 { last } else { [0; 16] }]);
        }
        self.0.unpack(&mut state);
        let [first, rest @ ..] = &state;
        let count = if KEY == 16 { 6 } else { 5 };
        let tag = rest[..count].iter().fold(*first, |sum, block| xor(sum, *block));
        wipe::memory(state.as_flattened_mut());
        tag
    }
}

impl<const KEY: usize> Drop for Sliced<KEY> {
    fn drop(&mut self) {
        wipe::words(self.0.0.as_flattened_mut());
    }
}

/// At most 32 bytes, with zeros behind them.
fn blocks(bytes: &[u8]) -> [[u8; 16]; 2] {
    let mut blocks = [[0; 16]; 2];
    blocks.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
    blocks
}

fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}
