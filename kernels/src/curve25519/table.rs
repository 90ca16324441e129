//! Multiples of the base point, which the compiler computes.

use super::single::{Single, add, canonical, inverse, multiply, subtract};

/// The digits of a scalar have 5 bits. One table of the base point serves two of them.
pub(super) const WINDOWS: usize = 26;

/// The odd multiples 1 to 31 of a point: in row k limb k of y + x for each of them, in row 5 + k
/// that of y - x, in row 10 + k that of 2 d x y.
pub(super) type Multiples = [[u64; 16]; 15];

/// The odd multiples of the base point times each 2^(10 i).
pub(super) static BASE: [Multiples; WINDOWS] = multiples();

/// The constant d of the curve -x^2 + y^2 = 1 + d x^2 y^2.
pub(super) const D: Single = canonical(multiply(
    subtract([0; 5], [121_665, 0, 0, 0, 0]),
    inverse([121_666, 0, 0, 0, 0]),
));

/// Twice d.
pub(super) const D2: Single = canonical(add(D, D));

/// The base point.
const BASE_X: Single = [
    0x6_2d60_8f25_d51a,
    0x4_12a4_b4f6_592a,
    0x7_5b71_71a4_b31d,
    0x1_ff60_5271_18fe,
    0x2_1693_6d3c_d6e5,
];
const BASE_Y: Single = [
    0x6_6666_6666_6658,
    0x4_cccc_cccc_cccc,
    0x1_9999_9999_9999,
    0x3_3333_3333_3333,
    0x6_6666_6666_6666,
];

/// Coordinates x, y, z and t = x y / z.
type Point = [Single; 4];

const fn sum(a: Point, b: Point) -> Point {
    let p = multiply(subtract(a[1], a[0]), subtract(b[1], b[0]));
    let q = multiply(add(a[1], a[0]), add(b[1], b[0]));
    let c = multiply(multiply(a[3], b[3]), D2);
    let zz = multiply(a[2], b[2]);
    let d = add(zz, zz);
    let (e, f, g, h) = (subtract(q, p), subtract(d, c), add(d, c), add(q, p));
    [multiply(e, f), multiply(g, h), multiply(f, g), multiply(e, h)]
}

const fn multiples() -> [Multiples; WINDOWS] {
    const COUNT: usize = 16 * WINDOWS;
    const ONE: Single = [1, 0, 0, 0, 0];
    let mut points = [[ONE; 4]; COUNT];
    let mut power = [BASE_X, BASE_Y, ONE, multiply(BASE_X, BASE_Y)];
    let mut i = 0;
    while i < COUNT {
        let twice = sum(power, power);
        points[i] = power;
        let mut k = 1;
        while k < 16 {
            points[i + k] = sum(points[i + k - 1], twice);
            k += 1;
        }
        power = twice;
        k = 1;
        while k < 10 {
            power = sum(power, power);
            k += 1;
        }
        i += 16;
    }
    // One inversion for all: products[i] is the product of all z before i.
    let mut products = [ONE; COUNT];
    i = 1;
    while i < COUNT {
        products[i] = multiply(products[i - 1], points[i - 1][2]);
        i += 1;
    }
    let mut inverted = inverse(multiply(products[COUNT - 1], points[COUNT - 1][2]));
    let mut tables = [[[0; 16]; 15]; WINDOWS];
    while i > 0 {
        i -= 1;
        let [x, y, z, _] = points[i];
        let z_inverted = multiply(inverted, products[i]);
        inverted = multiply(inverted, z);
        let (x, y) = (multiply(x, z_inverted), multiply(y, z_inverted));
        let numbers = [add(y, x), subtract(y, x), multiply(multiply(x, y), D2)];
        let mut k = 0;
        while k < 15 {
            tables[i / 16][k][i % 16] = canonical(numbers[k / 5])[k % 5];
            k += 1;
        }
    }
    tables
}
