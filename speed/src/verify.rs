//! Whether a timed generator also does its work.
//!
//! The output of a generator cannot be predicted, because the kernel seeds it. So two other things
//! are checked. Before ours is timed, its kernel, at its instruction set level and for the size of
//! the row, is compared with the portable kernel under random keys. ARC4 and HC-128 have few other
//! kernels, so they are compared with other implementations. Every timed generator, ours or a
//! peer's, must also draw 64 KiB in requests of the row's size that look random: not constant, no
//! 16 bytes occurring twice, as many ones as zeros, every request filled to its end. A row that
//! fails is never ranked.

use core::fmt;
use core::hash::{BuildHasherDefault, Hasher};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

use lanecrypt_kernels::Isa;
use lanecrypt_peers::{Failed, Generator, hc128_keystream};
use lanecrypt_random::{Arc4, Hc128, SeedCore};

use crate::unsynchronised::Unsynchronised;

/// Bytes that are drawn from each generator before it is timed.
const SAMPLE: usize = 64 * 1024;
/// The longest run of keystream that generators ask a kernel for.
const LONGEST: usize = 1 << 20;
/// Keystream bytes that one refill of our generators asks a kernel for, at most.
const REFILL: usize = 8128;

/// A defect of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The kernel's keystream is not the portable kernel's.
    Kernel,
    /// The answer to a known question is not the portable kernel's.
    Answer,
    /// A forged packet was opened.
    Forgery,
    /// A genuine packet was refused.
    RejectReason,
    /// The end of a request was left as it was.
    Unfilled,
    /// The same 16 bytes came twice, or from two threads.
    Repeats,
    /// Ones and zeros are not balanced.
    Biased,
    /// Nothing changes from one batch to the next.
    Stuck,
    /// The generator failed while it was measured.
    Failed,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel => "its keystream differs from the portable kernel's",
            Self::Answer => "its answer differs from the portable kernel's",
            Self::Forgery => "it opens forged packets",
            Self::RejectReason => "it refuses genuine packets",
            Self::Unfilled => "it leaves the end of a request unfilled",
            Self::Repeats => "it gives the same bytes twice",
            Self::Biased => "its ones and zeros are not balanced",
            Self::Stuck => "its output does not change",
            Self::Failed => "it failed while it was measured",
        })
    }
}

impl From<Failed> for Defect {
    fn from(_: Failed) -> Self {
        Self::Failed
    }
}

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

/// Draws from `generator` in requests of `size` bytes, or 32-bit words, and checks the bytes.
///
/// `buffer` is as long as one request. Returns at least 64 KiB of the drawn bytes.
pub(crate) fn draw_sample(
    generator: &mut dyn Generator,
    words: bool,
    buffer: &mut [u8],
) -> Result<Vec<u8>, Defect> {
    let mut sample = Vec::with_capacity(SAMPLE + buffer.len().min(SAMPLE));
    while sample.len() < SAMPLE {
        if words {
            sample.extend(generator.words(1).to_ne_bytes());
            continue;
        }
        let end = buffer.len().saturating_sub(16);
        buffer[end..].fill(0);
        generator.fills(buffer, 1);
        // Sixteen random bytes are all zero in one of 2^128 draws.
        if buffer.len() >= 16 && buffer[end..].iter().all(|&b| b == 0) {
            return Err(Defect::Unfilled);
        }
        sample.extend(&buffer[..buffer.len().min(SAMPLE)]);
    }
    look_random(&sample)?;
    Ok(sample)
}

/// Whether `sample` could be random; wrong about random bytes once in 10^8 times.
pub(crate) fn look_random(sample: &[u8]) -> Result<(), Defect> {
    if repeats(&[sample]) {
        return Err(Defect::Repeats);
    }
    let ones: u64 = sample.iter().map(|b| u64::from(b.count_ones())).sum();
    let bits = 8 * sample.len() as u64;
    // Six standard deviations, each half the root of the number of bits: |2 ones - bits| ≤ 6 √bits.
    if (2 * ones).abs_diff(bits).pow(2) > 36 * bits {
        return Err(Defect::Biased);
    }
    Ok(())
}

/// Whether any 16 bytes occur twice, at any offset, in one of `samples` or in two of them.
pub(crate) fn repeats(samples: &[&[u8]]) -> bool {
    let mut seen = HashSet::<u128, BuildHasherDefault<LowBits>>::default();
    seen.reserve(samples.iter().map(|sample| sample.len()).sum());
    let mut windows = samples.iter().flat_map(|sample| sample.windows(16));
    windows.any(|window| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(window);
        !seen.insert(u128::from_le_bytes(bytes))
    })
}

/// The windows are random already, so their low bits serve as a hash.
#[derive(Default)]
struct LowBits(u64);

impl Hasher for LowBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u128(&mut self, window: u128) {
        let folded = window ^ (window >> 64);
        self.0 = u64::try_from(folded & u128::from(u64::MAX)).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use lanecrypt_kernels::Level;
    use lanecrypt_kernels::aes::AesCtr;
    use lanecrypt_kernels::chacha::ChaCha;

    use super::*;

    fn random(length: usize) -> Vec<u8> {
        let mut out = vec![0; length];
        lanecrypt_random::fill(&mut out);
        out
    }

    #[test]
    fn random_bytes_pass_and_damaged_ones_do_not() {
        let good = random(SAMPLE);
        assert_eq!(look_random(&good), Ok(()));
        let mut repeated = good.clone();
        repeated.copy_within(100..116, 50_001);
        assert_eq!(look_random(&repeated), Err(Defect::Repeats));
        let biased: Vec<u8> = good.iter().map(|b| b | 0x10 & (b >> 1)).collect();
        assert_eq!(look_random(&biased), Err(Defect::Biased));
        assert_eq!(look_random(&[0; SAMPLE]), Err(Defect::Repeats));
    }

    #[test]
    fn a_window_common_to_two_samples_is_found() {
        let (first, mut second) = (random(1000), random(1000));
        assert!(!repeats(&[&first, &second]));
        second[333..349].copy_from_slice(&first[77..93]);
        assert!(repeats(&[&first, &second]));
    }

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
