//! Every value of every function, at every level, against integer arithmetic.

use crate::mlkem::kernel::Kernel;
use crate::mlkem::portable::Words;
use crate::mlkem::row::{Poly, Q, Row, Vector};
use crate::mlkem::tests::{Draw, each_kernel};

/// Polynomials that have all numbers of a range.
fn all(from: i16, to: i16) -> Vec<Poly> {
    let numbers: Vec<i16> = (from..=to).collect();
    let polys = numbers.chunks(256).map(|chunk| {
        let mut poly = Poly::ZERO;
        poly.0.as_flattened_mut()[..chunk.len()].copy_from_slice(chunk);
        poly
    });
    polys.collect()
}

/// The numbers of so many bits that bytes have.
fn numbers(bytes: &[u8], bits: usize) -> Vec<i64> {
    let bit = |i: usize| i64::from(bytes[i / 8] >> (i % 8) & 1);
    (0..256).map(|i| (0..bits).map(|j| bit(bits * i + j) << j).sum()).collect()
}

fn compressed(x: i64, bits: u32) -> i64 {
    let x = x.rem_euclid(Q.into());
    ((x << (bits + 1)) + i64::from(Q)) / (2 * i64::from(Q)) % (1 << bits)
}

fn decompressed(y: i64, bits: u32) -> i64 {
    (y * i64::from(Q) + (1 << (bits - 1))) >> bits
}

fn wide(poly: &Poly) -> Vec<i64> {
    poly.0.as_flattened().iter().copied().map(i64::from).collect()
}

#[test]
fn compression_of_all_numbers() {
    macro_rules! check {
        ($kernel:ty) => {
            for poly in all(3 - Q, Q - 3) {
                for added in -2..=2 {
                    let noise = Poly([[added; 32]; 8]);
                    let sums: Vec<_> = wide(&poly).iter().map(|x| x + i64::from(added)).collect();
                    let (mut ten, mut four) = ([0; 320], [0; 128]);
                    <$kernel>::put10(&poly, &noise, &mut ten);
                    let expected: Vec<_> = sums.iter().map(|&x| compressed(x, 10)).collect();
                    assert_eq!(numbers(&ten, 10), expected);

                    let message: [u8; 32] = core::array::from_fn(|i| 0x5a ^ i.to_le_bytes()[0]);
                    <$kernel>::put4(&poly, &noise, &message, &mut four);
                    let bits = numbers(&message, 1).into_iter().map(|bit| bit * 1665);
                    let sums = sums.iter().zip(bits);
                    let expected: Vec<_> = sums.map(|(x, y)| compressed(x + y, 4)).collect();
                    assert_eq!(numbers(&four, 4), expected);
                }
            }
        };
    }
    each_kernel!(check);
}

#[test]
fn decompression_of_all_numbers() {
    macro_rules! check {
        ($kernel:ty) => {
            let mut draw = Draw(2);
            for i in 0..64 {
                // All numbers come in the first ones.
                let mut bytes = [0; 320];
                for (j, byte) in (0_u64..).zip(&mut bytes) {
                    let four = (0..4_u64).map(|k| (i * 4 + j / 5 * 4 + k) % 1024 << (10 * k));
                    let packed: u64 = four.sum();
                    *byte = packed.to_le_bytes()[usize::try_from(j % 5).expect("small")];
                }
                if i % 2 == 1 {
                    bytes = draw.bytes();
                }
                let mut poly = Poly::ZERO;
                <$kernel>::get10(&bytes, &mut poly);
                let expected: Vec<_> =
                    numbers(&bytes, 10).into_iter().map(|y| decompressed(y, 10)).collect();
                assert_eq!(wide(&poly), expected);
            }
        };
    }
    each_kernel!(check);
}

#[test]
fn messages_of_all_differences() {
    macro_rules! check {
        ($kernel:ty) => {
            for poly in all(1 - Q, Q - 1) {
                for y in 0..16_u8 {
                    let bytes = [y | (15 - y) << 4; 128];
                    let mut message = [0; 32];
                    <$kernel>::message(&bytes, &poly, &mut message);
                    let compressed_values = numbers(&bytes, 4).into_iter();
                    let expected: Vec<_> = compressed_values
                        .zip(wide(&poly))
                        .map(|(y, x)| compressed(decompressed(y, 4) - x, 1))
                        .collect();
                    assert_eq!(numbers(&message, 1), expected);
                }
            }
        };
    }
    each_kernel!(check);
}

#[test]
fn encoding_and_back() {
    macro_rules! check {
        ($kernel:ty) => {
            for poly in all(1 - Q, 4095) {
                let mut bytes = [0; 384];
                <$kernel>::put12(&poly, &mut bytes);
                let positive = |&x: &i64| if x < 0 { x + i64::from(Q) } else { x };
                let expected: Vec<_> = wide(&poly).iter().map(positive).collect();
                assert_eq!(numbers(&bytes, 12), expected);
                let mut decoded = Poly::ZERO;
                <$kernel>::get12(&bytes, &mut decoded);
                assert_eq!(wide(&decoded), expected);
            }
        };
    }
    each_kernel!(check);
}

/// `2^16 x + e`, whose encoding shows the remainders of all words as well.
#[test]
fn public_vectors() {
    macro_rules! check {
        ($kernel:ty) => {
            for poly in all(-2400, 2400) {
                for added in [-1665, -2, 0, 1, 1665] {
                    let mut bytes = [0; 384];
                    <$kernel>::put_public(&poly, &Poly([[added; 32]; 8]), &mut bytes);
                    let sum = |x: &i64| ((x << 16) + i64::from(added)).rem_euclid(Q.into());
                    let expected: Vec<_> = wide(&poly).iter().map(sum).collect();
                    assert_eq!(numbers(&bytes, 12), expected);
                }
            }
        };
    }
    each_kernel!(check);
}

/// The remainders of all words are as small as the transform needs.
#[test]
fn remainders_of_all_words() {
    for word in i16::MIN..=i16::MAX {
        let row = Words::splat(word).reduce();
        let mut words = [0; 32];
        row.store(&mut words);
        let remainder = words[0];
        assert!(remainder.abs() <= 1665, "{word}: {remainder}");
        assert_eq!((i32::from(word) - i32::from(remainder)) % i32::from(Q), 0);
    }
}

#[test]
fn noise_of_all_bytes() {
    macro_rules! check {
        ($kernel:ty) => {
            for start in [0, 128_u8] {
                let bytes: [u8; 128] = core::array::from_fn(|i| start + i.to_le_bytes()[0]);
                let mut poly = Poly::ZERO;
                <$kernel>::noise(&bytes, &mut poly);
                let expected: Vec<_> = numbers(&bytes, 4)
                    .into_iter()
                    .map(|x| (x & 1) + (x >> 1 & 1) - (x >> 2 & 1) - (x >> 3))
                    .collect();
                assert_eq!(wide(&poly), expected);
            }
        };
    }
    each_kernel!(check);
}

/// Blocks with few, many and all numbers below q, at each number of coefficients before.
#[test]
fn sampling() {
    macro_rules! check {
        ($kernel:ty) => {
            let mut draw = Draw(3);
            for filled in 0..=256 {
                for kind in 0..4 {
                    let mut block: [u8; 168] = draw.bytes();
                    match kind {
                        0 => block.iter_mut().for_each(|byte| *byte |= 0xdd),
                        1 => block.iter_mut().for_each(|byte| *byte &= 0x77),
                        2 => block.iter_mut().skip(1).step_by(3).for_each(|byte| *byte = 0xd0),
                        _ => {}
                    }
                    let mut poly = Poly([[-1; 32]; 8]);
                    let count = <$kernel>::sample(&block, &mut poly, filled);
                    let mut expected = vec![-1; filled];
                    let mut padded = [0xff; 384];
                    padded[..168].copy_from_slice(&block);
                    let accepted = numbers(&padded, 12).into_iter().filter(|&x| x < Q.into());
                    expected.extend(accepted.take(256 - filled));
                    assert_eq!(count, expected.len());
                    assert_eq!(wide(&poly)[..count], expected);
                }
            }
        };
    }
    each_kernel!(check);
}
