//! Passes against plain code.

use super::{ByPasses, Pass, Passes};
use crate::montgomery::context::Context;
use crate::montgomery::exponentiation::Arithmetic as _;
use crate::montgomery::limbs::{add_product, halves, multiply, square};
use crate::montgomery::workspace::Workspace;

/// Limbs that are all zeros, all ones, next to them, or any (`SplitMix64`).
pub(crate) struct Limbs(pub(crate) u64);

impl Limbs {
    fn limb(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        match mixed >> 61 {
            0 => 0,
            1 => 1,
            2 | 3 => u64::MAX,
            4 => u64::MAX - 1,
            _ => mixed,
        }
    }

    pub(crate) fn limbs(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.limb()).collect()
    }
}

/// One row in plain code: the two chains, one after the other. Returns whether both carry into
/// the highest limb.
fn row(registers: &mut [u64], sum: &mut u64, x: u64, y: &[u64]) -> bool {
    let (mut below, mut upper, mut lower) = (*sum, 0, 0);
    for (i, &y) in y.iter().enumerate() {
        let [low, high] = halves(u128::from(x) * u128::from(y));
        let limb = registers[i];
        // The limb below has the upper half of the product before.
        let [first, second];
        [first, upper] = halves(u128::from(below) + u128::from(limb) + u128::from(upper));
        [second, lower] = halves(u128::from(first) + u128::from(low) + u128::from(lower));
        *(if i == 0 { &mut *sum } else { &mut registers[i - 1] }) = second;
        below = high;
    }
    let last = registers.last_mut().expect("at least one");
    *last = below + upper + lower;
    upper + lower == 2
}

/// Passes of W limbs against plain code, with limbs at their ends. Both chains carry into the
/// highest limb often enough.
fn compared<P: Pass<W>, const W: usize>(limbs: &mut Limbs) {
    let mut both = 0;
    for count in (W..=26).chain([31, 32]) {
        for _ in 0..200 {
            let (x, y) = (limbs.limbs(count), limbs.limbs(W));
            let sum = limbs.limbs(count + W);
            let mut expected = sum.clone();
            let mut registers = [0; W];
            for (sum, &x) in expected.iter_mut().zip(&x) {
                both += usize::from(row(&mut registers, sum, x, &y));
            }
            expected[count..].copy_from_slice(&registers);
            let mut plain = sum.clone();
            plain[count..].fill(0);
            for (i, &y) in y.iter().enumerate() {
                let carry = add_product(&mut plain[i..i + count], &x, y);
                plain[i + count] = plain[i + count].wrapping_add(carry);
            }
            assert_eq!(expected, plain, "the two chains");
            let mut product = sum.clone();
            P::multiply(&mut product, &x, &y);
            assert_eq!(product, expected, "{count} limbs by {W}");

            let mut expected = sum.clone();
            expected[count..].fill(0);
            for i in 0..W {
                let rest = &x[i + 1..];
                let carry = add_product(&mut expected[2 * i + 1..i + count], rest, x[i]);
                let top = &mut expected[i + count];
                *top = top.wrapping_add(carry);
            }
            let mut square = sum.clone();
            P::square(&mut square, &x);
            assert_eq!(square, expected, "{count} limbs, {W} of them");
        }
    }
    assert!(both > 100, "{both} rows have both carries");
}

/// Passes of every width.
pub(in super::super) fn passes_at_the_ends_of_limbs<P: Passes>() {
    let mut limbs = Limbs(1);
    compared::<P, 1>(&mut limbs);
    compared::<P, 4>(&mut limbs);
    compared::<P, 8>(&mut limbs);
}

/// Products, squares and reductions of every number of limbs against the portable kernel, with
/// limbs at their ends, where numbers may be the modulus or greater; and differences, with and
/// without a borrow.
pub(in super::super) fn products_at_the_ends_of_limbs<P: Passes>() {
    let mut limbs = Limbs(2);
    let mut workspace = Workspace::new();
    let mut over = [0; 2];
    for length in (4..=41).chain([47, 48, 64, 128]) {
        for round in 0..64_u32 {
            // Each of the three is all ones or any, in all combinations.
            let [mut n, one, other] = [round & 1, round & 2, round & 4]
                .map(|bit| if bit == 0 { vec![u64::MAX; length] } else { limbs.limbs(length) });
            n[0] |= 1;
            n[length - 1] = n[length - 1].max(1);
            let bits = 64 * length - n[length - 1].leading_zeros() as usize;
            let [mut room, mut product] = [(); 2].map(|()| vec![0; 2 * length]);
            let mut power = vec![0; length];
            let modulus = Context::new(&n, bits, &mut power, &mut product);
            let mut same = |number: &[u64], portable: &[u64]| {
                let [mut a, mut b] = [(); 2].map(|()| vec![0; length]);
                modulus.remainder(number, &mut a, &mut workspace);
                modulus.remainder(portable, &mut b, &mut workspace);
                assert_eq!(a, b, "{n:x?}: {one:x?} by {other:x?}");
            };
            let mut number = one.clone();
            ByPasses::<P>::multiply(&modulus, &mut number, &other, &mut room);
            multiply(&one, &other, &mut product);
            modulus.reduce(&mut product, &mut power);
            same(&number, &power);
            number.copy_from_slice(&one);
            ByPasses::<P>::square(&modulus, &mut number, &mut room);
            square(&one, &mut product);
            modulus.reduce(&mut product, &mut power);
            same(&number, &power);
            room[..length].copy_from_slice(&one);
            room[length..].copy_from_slice(&other);
            product.copy_from_slice(&room);
            ByPasses::<P>::reduce(&modulus, &mut room, &mut number);
            modulus.reduce(&mut product, &mut power);
            same(&number, &power);
            P::subtract_if(0, &one, &other, &mut number);
            assert_eq!(number, one);
            P::subtract_if(1, &one, &other, &mut number);
            let borrow = number.iter_mut().zip(&other).fold(0, |carry, (limb, &other)| {
                let sum = u128::from(*limb) + u128::from(other) + u128::from(carry);
                [*limb, _] = halves(sum);
                halves(sum)[1]
            });
            assert_eq!(number, one);
            over[usize::from(borrow == 1)] += 1;
        }
    }
    assert!(over.into_iter().all(|count| count > 100), "with and without a borrow");
}
