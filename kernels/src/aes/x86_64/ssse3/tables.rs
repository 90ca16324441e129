//! The tables of the vector-permute kernel, derived here from FIPS 197 when the program is
//! compiled.
//!
//! GF(2^8) is taken as GF(2^4)^2: a byte is `k + i h`, with `k` the low and `i` the high half, two
//! elements of GF(2^4), and `h` a root of `y^2 + c y + c`, which has none in GF(2^4). With
//! `n = k^2 + c i k + c i^2`, the norm, the inverse of the byte is `(k + c i + i h) / n`.
//!
//! M. Hamburg, "Accelerating AES with Vector Permute Instructions" (CHES 2009), finds it with
//! sums and tables of sixteen entries alone: with `j = i + k`, the two numbers
//! `p = 1 / (1 / i + c / k) + j` and `q = 1 / (1 / j + c / k) + i` are `n / (k + c i)` and
//! `n / (k + c k + c i)`, of whose reciprocals the inverse is a linear combination. Infinity is a
//! byte with its highest bit set: any table gives zero there, and sums keep the bit. The inverse
//! of zero comes out as zero.

/// A table that a byte shuffle looks up sixteen times at once.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(super) struct Table(pub(super) [u8; 16]);

/// Two tables; the result is the sum of their values.
#[derive(Clone, Copy)]
pub(super) struct Pair(pub(super) Table, pub(super) Table);

/// `1 / x` in GF(2^4).
pub(super) const RECIPROCALS: Table = quotients(1);
/// `c / x` in GF(2^4).
pub(super) const C_QUOTIENTS: Table = quotients(C);

/// From a byte as in FIPS 197, by halves, to one of the tower.
pub(super) const TO_TOWER: Pair = by_halves(TOWER);
/// The way back.
pub(super) const FROM_TOWER: Pair = by_halves(TOWER.inverse());

/// From `p` and `q` to the S-box without its constant, in the tower.
pub(super) const SBOX: Pair = by_reciprocals(TOWER.after(AFFINE));
/// The same, doubled as a byte of FIPS 197.
pub(super) const SBOX_DOUBLED: Pair = by_reciprocals(TOWER.after(times(2)).after(AFFINE));
/// The same as [`SBOX`], but as a byte of FIPS 197.
pub(super) const SBOX_OUT: Pair = by_reciprocals(AFFINE);

/// From a byte as in FIPS 197, by halves, to the input of the inversion in the inverse S-box, in
/// the tower.
pub(super) const TO_INVERSE: Pair = by_halves(INVERSE);
/// From `p` and `q` to the inverse S-box times a coefficient of `InvMixColumns`, then as
/// [`TO_INVERSE`]: first the coefficient of the byte three rows below, last that of its own row.
pub(super) const INVERSE_MIX: [Pair; 4] = [
    by_reciprocals(INVERSE.after(times(9))),
    by_reciprocals(INVERSE.after(times(13))),
    by_reciprocals(INVERSE.after(times(11))),
    by_reciprocals(INVERSE.after(times(14))),
];
/// From `p` and `q` to the inverse S-box, as a byte of FIPS 197.
pub(super) const INVERSE_OUT: Pair = by_reciprocals(times(1));
/// As [`INVERSE_MIX`], from bytes of the tower, by halves: for round keys.
pub(super) const KEY_MIX: [Pair; 4] = [
    by_halves(INVERSE.after(times(9)).after(TOWER.inverse())),
    by_halves(INVERSE.after(times(13)).after(TOWER.inverse())),
    by_halves(INVERSE.after(times(11)).after(TOWER.inverse())),
    by_halves(INVERSE.after(times(14)).after(TOWER.inverse())),
];

/// The constant of the S-box.
pub(super) const CONSTANT: u8 = 0x63;
/// The same in the tower.
pub(super) const CONSTANT_IN_TOWER: u8 = TOWER.apply(CONSTANT);

/// The round constants of the key schedule, in the tower.
pub(super) const RCON: [u8; 10] = {
    let mut bytes = [0; 10];
    let mut rcon = 1;
    let mut i = 0;
    while i < 10 {
        bytes[i] = TOWER.apply(rcon);
        rcon = product(rcon, 2);
        i += 1;
    }
    bytes
};

/// By the number of `ShiftRows` left out, modulo four: takes each byte from the row below.
///
/// After as many `ShiftRows` it would stand in the same column; before, in one further right.
pub(super) static BELOW: [Table; 4] =
    [moves(1, 0, 0), moves(1, 1, 0), moves(1, 2, 0), moves(1, 3, 0)];
/// The same for the row above.
pub(super) static ABOVE: [Table; 4] =
    [moves(3, 0, 0), moves(3, 3, 0), moves(3, 2, 0), moves(3, 1, 0)];
/// As many `ShiftRows`, modulo four; their inverses stand in the other direction.
pub(super) static SHIFT_ROWS: [Table; 4] =
    [moves(0, 0, 0), moves(0, 0, 1), moves(0, 0, 2), moves(0, 0, 3)];

/// The bytes of a register in the opposite order.
pub(super) const REVERSED: Table = Table([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);

/// The index of no entry of a table: lookups there give zero.
const INFINITY: u8 = 0x80;

/// A number that generates the multiplicative group of GF(2^4) within GF(2^8).
const G: u8 = power(3, 17);

/// The `c` of the module's documentation.
const C: u8 = {
    let mut c = 1;
    while has_root(nibble(c)) {
        c += 1;
    }
    nibble(c)
};

/// The `h` of the module's documentation.
const H: u8 = {
    let mut h = 0;
    while product(h, h) ^ product(C, h) ^ C != 0 {
        h += 1;
    }
    h
};

/// From a byte as in FIPS 197 to the tower.
const TOWER: Linear = {
    let mut bytes = [0; 8];
    let mut bit = 0;
    while bit < 4 {
        bytes[bit] = nibble(1 << bit);
        bytes[bit + 4] = product(nibble(1 << bit), H);
        bit += 1;
    }
    Linear(bytes).inverse()
};

/// The S-box without inversion and constant.
const AFFINE: Linear = Linear([0x1f, 0x3e, 0x7c, 0xf8, 0xf1, 0xe3, 0xc7, 0x8f]);

/// The inverse S-box undoes that first.
const INVERSE: Linear = TOWER.after(AFFINE.inverse());

/// The number in GF(2^8) that a half of a byte stands for.
const fn nibble(half: u8) -> u8 {
    Linear([1, G, power(G, 2), power(G, 3), 0, 0, 0, 0]).apply(half)
}

/// Whether `y^2 + c y + c` has a root in GF(2^4).
const fn has_root(c: u8) -> bool {
    let mut half = 0;
    let mut found = false;
    while half < 16 {
        let y = nibble(half);
        found |= product(y, y) ^ product(c, y) ^ c == 0;
        half += 1;
    }
    found
}

/// `numerator / x` in GF(2^4), from halves to halves.
const fn quotients(numerator: u8) -> Table {
    let mut table = [INFINITY; 16];
    let mut half = 1;
    while half < 16 {
        let quotient = product(numerator, power(nibble(half), 254));
        table[half as usize] = TOWER.apply(quotient);
        half += 1;
    }
    Table(table)
}

/// A linear map of bytes whose halves are looked up, first the low ones.
const fn by_halves(map: Linear) -> Pair {
    let (mut low, mut high) = ([0; 16], [0; 16]);
    let mut half = 0;
    while half < 16 {
        low[half as usize] = map.apply(half);
        high[half as usize] = map.apply(half << 4);
        half += 1;
    }
    Pair(Table(low), Table(high))
}

/// A linear map of the inverse of a byte, from `p` and `q` of the module's documentation.
///
/// With `P = 1 / p` and `Q = 1 / q` their sum is `c k / n`, so that `k / n = (P + Q) / c` and
/// `i / n = (P + k / n) / c`; the inverse is `P + h i / n`.
const fn by_reciprocals(map: Linear) -> Pair {
    let over_c = power(C, 254);
    let of_q = product(H, product(over_c, over_c));
    let of_p = 1 ^ of_q ^ product(H, over_c);
    let (mut p, mut q) = ([0; 16], [0; 16]);
    let mut half = 1;
    while half < 16 {
        let reciprocal = power(nibble(half), 254);
        p[half as usize] = map.apply(product(of_p, reciprocal));
        q[half as usize] = map.apply(product(of_q, reciprocal));
        half += 1;
    }
    Pair(Table(p), Table(q))
}

/// Takes each byte from `down` rows below and `right + skew * row` columns to the right,
/// cyclically.
const fn moves(down: u8, right: u8, skew: u8) -> Table {
    let mut table = [0; 16];
    let mut to = 0;
    while to < 16 {
        let (row, column) = (to % 4, to / 4);
        table[to as usize] = (row + down) % 4 + 4 * ((column + right + skew * row) % 4);
        to += 1;
    }
    Table(table)
}

/// Multiplication in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
const fn product(mut a: u8, b: u8) -> u8 {
    let mut sum = 0;
    let mut bit = 0;
    while bit < 8 {
        sum ^= a * ((b >> bit) & 1);
        a = (a << 1) ^ ((a >> 7) * 0x1b);
        bit += 1;
    }
    sum
}

const fn power(base: u8, exponent: u8) -> u8 {
    let mut result = 1;
    let mut i = 0;
    while i < exponent {
        result = product(result, base);
        i += 1;
    }
    result
}

/// Multiplication by `number`.
const fn times(number: u8) -> Linear {
    let mut bytes = [0; 8];
    let mut bit = 0;
    while bit < 8 {
        bytes[bit] = product(number, 1 << bit);
        bit += 1;
    }
    Linear(bytes)
}

/// A map of bytes that is linear over GF(2): where it takes each bit, the lowest first.
#[derive(Clone, Copy)]
struct Linear([u8; 8]);

impl Linear {
    const fn apply(self, byte: u8) -> u8 {
        let mut sum = 0;
        let mut bit = 0;
        while bit < 8 {
            sum ^= self.0[bit] * ((byte >> bit) & 1);
            bit += 1;
        }
        sum
    }

    /// This map of what `first` gives.
    const fn after(self, first: Self) -> Self {
        let mut bytes = [0; 8];
        let mut bit = 0;
        while bit < 8 {
            bytes[bit] = self.apply(first.0[bit]);
            bit += 1;
        }
        Self(bytes)
    }

    const fn inverse(self) -> Self {
        let mut bytes = [0; 8];
        let mut byte = 0_u8;
        loop {
            let image = self.apply(byte);
            if image.is_power_of_two() {
                bytes[image.trailing_zeros() as usize] = byte;
            }
            if byte == u8::MAX {
                return Self(bytes);
            }
            byte += 1;
        }
    }
}
