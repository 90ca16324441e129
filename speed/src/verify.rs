//! Whether a timed generator also does its work.
//!
//! The output of a generator cannot be predicted, because the kernel seeds it. So two other things
//! are checked: its kernel, in [`kernel_check`](crate::kernel_check), and the output. Every timed
//! generator, ours or a peer's, must draw 64 KiB in requests of the row's size that look random:
//! not constant, no 16 bytes occurring twice, as many ones as zeros, every request filled to its
//! end. A row that fails is never ranked.

use core::fmt;
use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashSet;

use lanecrypt_peers::{Failed, Generator};

/// Bytes that are drawn from each generator before it is timed.
const SAMPLE: usize = 64 * 1024;

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
}
