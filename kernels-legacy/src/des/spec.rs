//! The tables of FIPS 46-3, and the order in which the kernels keep bits.
//!
//! Bits of a half block are numbered from 0 at the most significant one, one less than in the
//! standard. A half is kept *spread*: eight bytes, one for each S-box, whose low six bits are the
//! S-box's input, so that the expansion E has been done. Round keys have the same form.

/// The place of S-box `box` in a spread half: the even ones above the odd ones, because one
/// rotation of the half gives each four of them.
pub(super) const fn place(sbox: usize) -> usize {
    if sbox.is_multiple_of(2) { 7 - sbox / 2 } else { 3 - sbox / 2 }
}

/// The S-box at a place of a spread half.
pub(super) const fn sbox_at(place: usize) -> usize {
    if place >= 4 { 2 * (7 - place) } else { 2 * (3 - place) + 1 }
}

/// The bits of a half that are the six inputs of an S-box, most significant input first (E).
pub(super) const fn inputs(sbox: usize) -> [usize; 6] {
    let mut bits = [0; 6];
    let mut i = 0;
    while i < 6 {
        bits[i] = (4 * sbox + i + 31) % 32;
        i += 1;
    }
    bits
}

/// The S-box that a bit of a half comes from, and which of its outputs, most significant first (P).
pub(super) const fn source(bit: usize) -> (usize, usize) {
    let output = P[bit] as usize - 1;
    (output / 4, output % 4)
}

/// The bits of a half to which the outputs of an S-box go, most significant output first.
pub(super) const fn outputs(sbox: usize) -> [usize; 4] {
    let mut bits = [0; 4];
    let mut bit = 0;
    while bit < 32 {
        let (from, output) = source(bit);
        if from == sbox {
            bits[output] = bit;
        }
        bit += 1;
    }
    bits
}

/// The output of S-box `sbox` for six bits, the first of them the most significant.
pub(super) const fn substitute(sbox: usize, x: usize) -> u8 {
    let row = x >> 4 & 2 | x & 1;
    S[sbox][row][x >> 1 & 15]
}

/// The bits of the key, numbered from 0 at its first, that are the six key bits of an S-box in a
/// round (PC-1, the rotations and PC-2), most significant first.
pub(super) const fn key_bits(round: usize, sbox: usize) -> [usize; 6] {
    let mut rotation = 0;
    let mut i = 0;
    while i <= round {
        rotation += if matches!(i, 0 | 1 | 8 | 15) { 1 } else { 2 };
        i += 1;
    }
    let mut bits = [0; 6];
    let mut i = 0;
    while i < 6 {
        let bit = PC2[6 * sbox + i] as usize - 1;
        let half = bit / 28 * 28;
        bits[i] = PC1[half + (bit - half + rotation) % 28] as usize - 1;
        i += 1;
    }
    bits
}

/// The permutation after the S-boxes: which of their outputs, from 1, each bit is.
const P: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19,
    13, 30, 6, 22, 11, 4, 25,
];

/// The key bits, from 1, in the registers C and D.
const PC1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60,
    52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29,
    21, 13, 5, 28, 20, 12, 4,
];

/// The bits of C and D, from 1, in a round key.
const PC2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52,
    31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

/// The S-boxes: four rows of sixteen.
const S: [[[u8; 16]; 4]; 8] = [
    [
        [14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7],
        [0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8],
        [4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0],
        [15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13],
    ],
    [
        [15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10],
        [3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5],
        [0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15],
        [13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9],
    ],
    [
        [10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8],
        [13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1],
        [13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7],
        [1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12],
    ],
    [
        [7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15],
        [13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9],
        [10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4],
        [3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14],
    ],
    [
        [2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9],
        [14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6],
        [4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14],
        [11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3],
    ],
    [
        [12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11],
        [10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8],
        [9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6],
        [4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13],
    ],
    [
        [4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1],
        [13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6],
        [1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2],
        [6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12],
    ],
    [
        [13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7],
        [1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2],
        [7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8],
        [2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11],
    ],
];
