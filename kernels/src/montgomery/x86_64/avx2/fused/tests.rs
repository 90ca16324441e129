//! Products against rows in plain code, and against the portable kernel.

use super::super::has_adx;
use super::{Number, multiply, square};
use crate::montgomery::context::Context;
use crate::montgomery::limbs::{self, add, add_product, mask};
use crate::montgomery::passes::tests::Limbs;
use crate::montgomery::workspace::Workspace;

/// The carries of both parts of a row, in all rows.
#[derive(Default)]
struct Carries {
    products: u64,
    multiples: u64,
}

/// Rows in plain code: ten limbs, so that no carry is left out.
fn plain(modulus: &Context, a: &Number, b: &Number, carries: &mut Carries) -> Number {
    let mut sum = [0; 10];
    for &limb in b {
        let carry = add_product(&mut sum[..8], a, limb);
        add(&mut sum[8..], &[carry]);
        carries.products += sum[9];
        let before = sum[9];
        let factor = sum[0].wrapping_mul(modulus.inverse[0]);
        let carry = add_product(&mut sum[..8], &modulus.limbs, factor);
        add(&mut sum[8..], &[carry]);
        carries.multiples += sum[9] - before;
        assert!(sum[0] == 0 && sum[9] <= 1, "a bit");
        sum.rotate_left(1);
    }
    // Modulo 2^512, minus the modulus if there is a ninth limb.
    let [result @ .., _, _] = sum;
    let mut borrow = 0;
    let mut result: Number = result;
    for (limb, &n) in result.iter_mut().zip(&modulus.limbs) {
        (*limb, borrow) = limbs::less_with(*limb, n & mask(sum[8]), borrow);
    }
    assert_eq!(borrow, sum[8], "less than the modulus and 2^512");
    result
}

/// Numbers that may be the modulus or greater, with limbs at their ends. Both carries occur.
#[test]
fn products_at_the_ends_of_limbs() {
    if !has_adx() {
        return;
    }
    let mut limbs = Limbs(2);
    let mut number = |ones: bool| -> Number {
        if ones { [u64::MAX; 8] } else { limbs.limbs(8).try_into().expect("eight") }
    };
    let mut carries = Carries::default();
    let mut workspace = Workspace::new();
    for i in 0..4000_u32 {
        // Each of the three is all ones or any, in all combinations.
        let [mut n, a, b] = [i & 1, i & 2, i & 4].map(|bit| number(bit == 0));
        n[0] |= 1;
        n[7] = n[7].max(1);
        let bits = 512 - n[7].leading_zeros() as usize;
        let mut product = [0; 16];
        let modulus = Context::new(&n, bits, &mut [0; 8], &mut product);
        let expected = plain(&modulus, &a, &b, &mut carries);
        assert_eq!(multiply(&modulus, &a, &b), expected, "{n:x?}: {a:x?} by {b:x?}");
        let mut room = product;
        let expected_square = plain(&modulus, &a, &a, &mut carries);
        assert_eq!(square(&modulus, &a, &mut room), expected_square, "{n:x?}: {a:x?} squared");

        let mut portable = [0; 8];
        limbs::multiply(&a, &b, &mut product);
        modulus.reduce(&mut product, &mut portable);
        let [mut one, mut other] = [[0; 8]; 2];
        modulus.remainder(&expected, &mut one, &mut workspace);
        modulus.remainder(&portable, &mut other, &mut workspace);
        assert_eq!(one, other, "{n:x?}: {a:x?} by {b:x?}");
    }
    assert!(carries.products > 100 && carries.multiples > 100, "both carries");
}
