//! Constants of the transform, in the order in which rows have them.
#![expect(clippy::cast_possible_truncation, reason = "places and parts of numbers are small")]

use crate::mlkem::row::{Q, Q_INVERSE};

/// A row of factors times 2^16, between −q/2 and q/2, and the same divided by q, modulo 2^16.
pub(super) type Pair = [[i16; 32]; 2];

/// The factors of a layer's pairs of rows.
pub(super) type Layer = [Pair; 4];

const Q_WIDE: i64 = Q as i64;

const fn power(base: i64, exponent: u32) -> i64 {
    let (mut power, mut i) = (1, 0);
    while i < exponent {
        power = power * base % Q_WIDE;
        i += 1;
    }
    power
}

/// The lowest seven bits in the opposite order.
const fn reversed(index: usize) -> u32 {
    (index as u32).reverse_bits() >> 25
}

/// 17 is a root of unity of order 256.
const fn zeta(index: usize) -> i64 {
    power(17, reversed(index))
}

/// A factor in both forms.
#[expect(clippy::cast_possible_truncation, reason = "it is at most half the modulus")]
const fn forms(factor: i64) -> [i16; 2] {
    let product = factor.rem_euclid(Q_WIDE) * (1 << 16) % Q_WIDE;
    let centred = if product > Q_WIDE / 2 { product - Q_WIDE } else { product } as i16;
    [centred, centred.wrapping_mul(Q_INVERSE)]
}

const fn set(pair: &mut Pair, column: usize, factor: i64) {
    let [centred, quotient] = forms(factor);
    pair[0][column] = centred;
    pair[1][column] = quotient;
}

const fn all(factor: i64) -> Pair {
    let mut pair = [[0; 32]; 2];
    let mut column = 0;
    while column < 32 {
        set(&mut pair, column, factor);
        column += 1;
    }
    pair
}

/// Which block of a layer of the transform a column of a pair of rows belongs to. Layer 0 has one
/// block.
const fn block(layer: usize, pair: usize, column: usize) -> usize {
    let group = column / 4;
    match layer {
        0 => 0,
        1 => pair / 2,
        2 => pair,
        3 => group,
        4 => 2 * group + pair / 2,
        5 => 4 * group + pair,
        _ => 8 * group + 2 * pair + column / 2 % 2,
    }
}

const fn layers(inverse: bool) -> [Layer; 7] {
    let mut layers = [[[[0; 32]; 2]; 4]; 7];
    let mut layer = 0;
    while layer < 7 {
        let blocks = 1 << layer;
        let mut pair = 0;
        while pair < 4 {
            let mut column = 0;
            while column < 32 {
                let block = block(layer, pair, column);
                if !inverse {
                    set(&mut layers[layer][pair], column, zeta(blocks + block));
                } else {
                    let factor = zeta(2 * blocks - 1 - block);
                    let factor = if layer == 0 { factor * HALVES % Q_WIDE } else { factor };
                    set(&mut layers[6 - layer][pair], column, factor);
                }
                column += 1;
            }
            pair += 1;
        }
        layer += 1;
    }
    layers
}

/// 2^16 / 128: what takes the halves of seven layers away, and the division by 2^16 of a product.
const HALVES: i64 = 512;

pub(super) static FORWARD: [Layer; 7] = layers(false);

/// The last layer first.
pub(super) static INVERSE: [Layer; 7] = layers(true);

pub(super) static FINISH: Pair = all(HALVES);

pub(super) static TO_MONTGOMERY: Pair = all(1 << 16);

/// For products of pairs of coefficients modulo X² − γ: one for even, γ for odd coefficients.
pub(super) static GAMMAS: [Pair; 8] = {
    let mut gammas = [[[0; 32]; 2]; 8];
    let mut index = 0;
    while index < 256 {
        let root = zeta(64 + index / 4);
        let factor = match index % 4 {
            1 => root,
            3 => Q_WIDE - root,
            _ => 1,
        };
        set(&mut gammas[index / 32], index % 32, factor);
        index += 1;
    }
    gammas
};
