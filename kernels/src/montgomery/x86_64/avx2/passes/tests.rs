//! Passes against plain code.

use super::super::has_adx;
use super::Pass;
use crate::montgomery::limbs::{add_product, halves};

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
    let (mut below, mut of_products, mut of_limbs) = (*sum, 0, 0);
    for (i, &y) in y.iter().enumerate() {
        let [low, high] = halves(u128::from(x) * u128::from(y));
        let limb = registers[i];
        let [first, second];
        [first, of_products] =
            halves(u128::from(low) + u128::from(below) + u128::from(of_products));
        [second, of_limbs] = halves(u128::from(first) + u128::from(limb) + u128::from(of_limbs));
        *(if i == 0 { &mut *sum } else { &mut registers[i - 1] }) = second;
        below = high;
    }
    let last = registers.last_mut().expect("at least one");
    *last = below + of_products + of_limbs;
    of_products + of_limbs == 2
}

/// Passes against plain code, with limbs at their ends. Both chains carry into the highest limb
/// often enough.
macro_rules! compared {
    ($w:tt, $limbs:ident) => {
        let mut both = 0;
        for count in ($w..=26).chain([31, 32]) {
            for _ in 0..200 {
                let (x, y) = ($limbs.limbs(count), $limbs.limbs($w));
                let sum = $limbs.limbs(count + $w);
                let mut expected = sum.clone();
                let mut registers = [0; $w];
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
                Pass::<$w>::multiply(&mut product, &x, &y);
                assert_eq!(product, expected, "{count} limbs by {}", $w);

                let mut expected = sum.clone();
                expected[count..].fill(0);
                for i in 0..$w {
                    let rest = &x[i + 1..];
                    let carry = add_product(&mut expected[2 * i + 1..i + count], rest, x[i]);
                    let top = &mut expected[i + count];
                    *top = top.wrapping_add(carry);
                }
                let mut square = sum.clone();
                Pass::<$w>::square(&mut square, &x);
                assert_eq!(square, expected, "{count} limbs, {} of them", $w);
            }
        }
        assert!(both > 100, "{both} rows have both carries");
    };
}

#[test]
fn passes_at_the_ends_of_limbs() {
    if !has_adx() {
        return;
    }
    let mut limbs = Limbs(1);
    compared!(1, limbs);
    compared!(4, limbs);
    compared!(8, limbs);
}
