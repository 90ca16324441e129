use num_bigint::BigUint;

use super::*;

fn number(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |number, &limb| (number << 64) + limb)
}

fn words(number: &BigUint) -> [u64; 4] {
    let mut digits = number.to_u64_digits();
    digits.resize(4, 0);
    digits.try_into().expect("256 bits")
}

/// Limbs of zeros, of ones, near those of L, and random ones.
fn limb(random: &mut u64, i: usize) -> u64 {
    for shift in [13, -7_i32, 17] {
        *random ^= if shift < 0 { *random >> -shift } else { *random << shift };
    }
    match *random >> 32 & 7 {
        0 => 0,
        1 => u64::MAX,
        2 => ORDER[i % 4],
        3 => ORDER[i % 4].wrapping_sub(1),
        _ => random.wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}

#[test]
fn remainders_are_those_of_long_division() {
    let mut random = 1;
    let order = number(&ORDER);
    let near = |factor: u64, difference: i32| {
        let number = &order * factor;
        if difference < 0 { number - 1_u32 } else { number + difference.unsigned_abs() }
    };
    let special = (1..40).flat_map(|factor| [-1, 0, 1].map(|by| near(factor, by)));
    let special = special.chain([&order * &order, (BigUint::from(1_u32) << 512) - 1_u32]);
    let special = special.map(|number| {
        let mut hash = [0; 64];
        let bytes = number.to_bytes_le();
        hash[..bytes.len()].copy_from_slice(&bytes);
        hash
    });
    let random = (0..20_000).map(|_| {
        let mut hash = [0; 64];
        for (i, bytes) in hash.as_chunks_mut().0.iter_mut().enumerate() {
            *bytes = limb(&mut random, i).to_le_bytes();
        }
        hash
    });
    for hash in special.chain(random) {
        let expected = BigUint::from_bytes_le(&hash) % &order;
        assert_eq!(reduce(&hash), words(&expected), "{hash:x?}");
    }
}

#[test]
fn products_are_those_of_long_multiplication() {
    let mut random = 2;
    let order = number(&ORDER);
    let ones = [u64::MAX; 4];
    let check = |a: [u64; 4], b: [u64; 4], c: [u64; 4]| {
        let expected = (number(&a) * number(&b) + number(&c)) % &order;
        assert_eq!(multiply_add(&a, &b, &c), words(&expected), "{a:x?} {b:x?} {c:x?}");
    };
    check(ones, ones, ones);
    check(ORDER, ORDER, ORDER);
    for _ in 0..20_000 {
        let mut four = || [0, 1, 2, 3].map(|i| limb(&mut random, i));
        check(four(), four(), four());
    }
}

#[test]
fn scalars_are_less_than_the_order() {
    let below = words(&(number(&ORDER) - 1_u32));
    let above = words(&(number(&ORDER) + 1_u32));
    let bit = [0, 0, 0, 1 << 60];
    for (limbs, expected) in [([0; 4], true), (below, true), (bit, true), (ORDER, false)] {
        assert_eq!(is_scalar(&limbs), expected, "{limbs:x?}");
    }
    for limbs in [above, [u64::MAX; 4], [0, 0, 1, 1 << 60], [0, 0, 0, 1 << 61]] {
        assert!(!is_scalar(&limbs), "{limbs:x?}");
    }
    assert_eq!(limbs(&bytes(&below)), below);
}
