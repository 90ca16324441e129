//! Whether the kernel of one of our generators is right.
//!
//! Before ours is timed, its kernel, at its instruction set level and for the size of the row, is
//! compared with the portable kernel under random keys. ARC4 and HC-128 have few other kernels, so
//! they are compared with other implementations.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use lanecrypt_kernels::Isa;
use lanecrypt_peers::hc128_keystream;
use lanecrypt_random::{Arc4, Hc128, SeedCore};

use crate::unsynchronised::Unsynchronised;

/// The longest run of keystream that generators ask a kernel for.
const LONGEST: usize = 1 << 20;
/// Keystream bytes that one refill of our generators asks a kernel for, at most.
const REFILL: usize = 8128;

/// Compares the kernel of `C` at `isa` with the portable one, for requests of `size` bytes.
pub(crate) fn kernel_is_right<C: SeedCore>(isa: Isa, size: usize) -> bool {
    agree(
        core::any::type_name::<C>(),
        isa,
        size,
        |seed, out| {
            out.copy_from_slice(&keystream::<C>(isa, seed, out.len()));
        },
        |seed, out| out.copy_from_slice(&keystream::<C>(Isa::PORTABLE, seed, out.len())),
    )
}

/// Compares ARC4's kernel with an independent implementation.
pub(crate) fn arc4_is_right(isa: Isa, size: usize) -> bool {
    agree(
        "arc4",
        isa,
        size,
        |seed, out| {
            out.copy_from_slice(&keystream::<Arc4>(isa, seed, out.len()));
        },
        |seed, out| Unsynchronised::new(seed).fill(out),
    )
}

/// Compares HC-128's kernel with that of the crate `rand_hc`.
pub(crate) fn hc128_is_right(isa: Isa, size: usize) -> bool {
    agree(
        "hc128",
        isa,
        size,
        |seed, out| {
            out.copy_from_slice(&keystream::<Hc128>(isa, seed, out.len()));
        },
        others_hc128,
    )
}

/// Compares HC-128, taken word by word, with that of the crate `rand_hc`.
pub(crate) fn hc128_steps_are_right(isa: Isa, size: usize) -> bool {
    agree(
        "hc128 by steps",
        isa,
        size,
        |seed, out| {
            let mut core = Hc128::from_seed(isa, seed);
            for bytes in out.chunks_mut(4) {
                bytes.copy_from_slice(&core.next_word().to_le_bytes()[..bytes.len()]);
            }
        },
        others_hc128,
    )
}

fn others_hc128(seed: &[u8; 32], out: &mut [u8]) {
    let (halves, _) = seed.as_chunks();
    hc128_keystream(&halves[0], &halves[1], out);
}

/// Whether two implementations give the same keystream under a random seed, over the lengths that
/// requests of `size` bytes ask a kernel for.
///
/// Each combination is compared once in a process.
fn agree(
    name: &'static str,
    isa: Isa,
    size: usize,
    ours: impl Fn(&[u8; 32], &mut [u8]),
    others: impl Fn(&[u8; 32], &mut [u8]),
) -> bool {
    static KNOWN: Mutex<BTreeMap<(&str, &str, usize), bool>> = Mutex::new(BTreeMap::new());
    // Small requests are served from a refill, large ones in long runs.
    let length = if size <= REFILL { REFILL } else { size.min(LONGEST) };
    let key = (name, isa.level().name(), length);
    if let Some(&known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return known;
    }
    let lengths = [length, size.min(LONGEST)];
    let right = lengths.into_iter().all(|length| {
        let seed = lanecrypt_random::bytes::<32>();
        let (mut mine, mut theirs) = (vec![0; length], vec![0; length]);
        ours(&seed, &mut mine);
        others(&seed, &mut theirs);
        mine == theirs
    });
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(key, right);
    right
}

fn keystream<C: SeedCore>(isa: Isa, seed: &[u8; 32], length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    C::from_seed(isa, seed).keystream(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::Level;
    use lanecrypt_kernels::aes::AesCtr;
    use lanecrypt_kernels::chacha::ChaCha;

    use super::*;

    #[test]
    fn kernels_are_compared_at_every_level() {
        for &level in Level::built() {
            let isa = Isa::detect().at_most(level);
            for size in [4, 256, 70_000] {
                assert!(kernel_is_right::<ChaCha<20>>(isa, size), "{level} {size}");
                assert!(kernel_is_right::<AesCtr<256>>(isa, size), "{level} {size}");
            }
        }
    }

    #[test]
    fn legacy_kernels_are_compared_with_other_implementations() {
        for size in [4, 256, 70_001] {
            assert!(arc4_is_right(Isa::detect(), size), "{size}");
            assert!(hc128_is_right(Isa::detect(), size), "{size}");
            assert!(hc128_steps_are_right(Isa::detect(), size), "{size}");
        }
    }

    #[test]
    fn a_wrong_kernel_is_found() {
        // Right except for its last byte.
        let wrong = |seed: &[u8; 32], out: &mut [u8]| {
            others_hc128(seed, out);
            if let Some(last) = out.last_mut() {
                *last ^= 1;
            }
        };
        for (name, size) in [("short", 4), ("page", 4096), ("long", 70_000)] {
            assert!(!agree(name, Isa::PORTABLE, size, wrong, others_hc128), "{size}");
        }
    }
}
