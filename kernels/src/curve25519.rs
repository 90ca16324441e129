//! Curve25519 for several keys side by side: X25519 (RFC 7748) and Ed25519 (RFC 8032).
//!
//! Each operation takes slices of jobs, of any length, and runs as many jobs side by side as
//! [`lanes`] gives. A last group that is not full is filled up with zeros.

#[macro_use]
mod field;
mod digits;
pub mod ed25519;
mod edwards;
mod ladder;
mod portable;
mod scalar;
mod single;
mod table;
pub mod x25519;
mod x86_64;

use crate::words::Words;
use crate::{Isa, Level};

/// The levels with a kernel, lowest first; others run the next one below.
pub const KERNELS: &[Level] = by_isa!(crate::curve25519, levels: Avx512, Avx2, _ => portable);

/// How many jobs run side by side.
#[must_use]
pub const fn lanes(isa: Isa) -> usize {
    if isa.has(Level::Avx512) && Level::Avx512.is_built() {
        8
    } else if isa.has(Level::Avx2) && Level::Avx2.is_built() {
        4
    } else {
        1
    }
}

/// Numbers of 256 bits in up to eight lanes: four words, lowest first, each for all lanes.
type Numbers = [[u64; 8]; 4];

/// Odd digits of scalars in up to eight lanes, see [`digits::odd_digits`].
type Digits = [[u64; 8]; 5];

/// Puts numbers of 32 bytes, lowest first, side by side.
fn side_by_side(numbers: &[&[u8; 32]]) -> Numbers {
    let mut words = [[0; 8]; 4];
    for (lane, number) in numbers.iter().enumerate() {
        for (word, bytes) in words.iter_mut().zip(number.as_chunks().0) {
            word[lane] = u64::from_le_bytes(*bytes);
        }
    }
    words
}

/// The digits of scalars below 2^255, for multiples of the base point.
fn digits_side_by_side(scalars: &Numbers) -> Digits {
    let mut words = [[0; 8]; 5];
    for lane in 0..8 {
        let digits = digits::odd_digits(scalars.map(|word| word[lane]), 52);
        for (word, digits) in words.iter_mut().zip(digits) {
            word[lane] = digits;
        }
    }
    words
}

/// Takes the numbers of the first lanes apart.
fn one_by_one(words: &Numbers, numbers: &mut [[u8; 32]]) {
    for (lane, number) in numbers.iter_mut().enumerate() {
        for (word, bytes) in words.iter().zip(number.as_chunks_mut().0) {
            *bytes = word[lane].to_le_bytes();
        }
    }
}

#[inline(always)]
fn load<W: Words>(numbers: &Numbers) -> [W; 4] {
    [W::load(&numbers[0]), W::load(&numbers[1]), W::load(&numbers[2]), W::load(&numbers[3])]
}

#[inline(always)]
fn load_digits<W: Words>(digits: &Digits) -> [W; 5] {
    let [a, b, c, d, e] = digits;
    [W::load(a), W::load(b), W::load(c), W::load(d), W::load(e)]
}

#[inline(always)]
fn store<W: Words>([a, b, c, d]: [W; 4]) -> Numbers {
    [a.store(), b.store(), c.store(), d.store()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::reached::assert_best;

    #[test]
    fn the_best_kernel_runs() {
        let (bytes, signature) = (&[1; 32], &[1; 64]);
        assert_best(KERNELS, |isa| x25519::public_keys(isa, &[bytes], &mut [[0; 32]]));
        assert_best(KERNELS, |isa| {
            x25519::shared_secrets(isa, &[bytes], &[bytes], &mut [[0; 32]]);
        });
        assert_best(KERNELS, |isa| drop(ed25519::SigningKey::new(isa, bytes)));
        assert_best(KERNELS, |isa| {
            let job = ed25519::Verify { public: bytes, message: &[], signature };
            ed25519::verify(isa, &[job], &mut [true]);
        });
    }
}
