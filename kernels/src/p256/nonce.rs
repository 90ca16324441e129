//! Nonces of RFC 6979 with SHA-256, hedged by entropy if there is some (its section 3.6).

use super::operations::Eight;
use super::{SignJob, from_bytes, is_scalar, once_reduced, to_bytes};
use crate::sha2::{HmacKey, hmac_keys, hmac_sha256_with};
use crate::{Isa, wipe};

/// The generators of at most eight jobs.
pub(super) struct Nonces {
    keys: [HmacKey; 8],
    values: [[u8; 32]; 8],
    count: usize,
    /// Bits of the jobs that have had a nonce: their next one is another step away.
    advanced: u8,
}

/// The most parts of a message.
type Parts<'a> = [&'a [u8]; 5];

impl Nonces {
    pub(super) fn new(isa: Isa, jobs: &[SignJob<'_>]) -> Self {
        let zero = HmacKey::new(isa, &[0; 32]);
        let mut nonces = Self {
            keys: core::array::from_fn(|_| zero.clone()),
            values: [[1; 32]; 8],
            count: jobs.len(),
            advanced: 0,
        };
        let mut seeds = [[[0; 32]; 2]; 8];
        for (seed, job) in seeds.iter_mut().zip(jobs) {
            *seed = [job.key.to_bytes(), to_bytes(&once_reduced(&from_bytes(job.digest)))];
        }
        let all = nonces.all();
        for separator in 0..2_u8 {
            let mut parts: [Parts<'_>; 8] = [[&[]; 5]; 8];
            for ((parts, job), [secret, digest]) in parts.iter_mut().zip(jobs).zip(&seeds) {
                let entropy = job.entropy.map_or(&[][..], |entropy| entropy);
                *parts = [&[], core::slice::from_ref(&separator), secret, digest, entropy];
            }
            nonces.change_keys(isa, all, &parts);
        }
        wipe::words(seeds.as_flattened_mut().as_flattened_mut());
        nonces
    }

    /// The next nonces of the jobs with a bit in `which`.
    ///
    /// A value is passed over if it is not in 1..n, once in 2^32 times. Then the time reveals that
    /// the value, which is not used, was so large.
    pub(super) fn next(&mut self, isa: Isa, which: u8, out: &mut Eight) {
        let mut left = which & self.all();
        while left > 0 {
            if left & self.advanced > 0 {
                self.change_keys(isa, left & self.advanced, &[[&[], &[0], &[], &[], &[]]; 8]);
            }
            self.advance(isa, left);
            self.advanced |= left;
            for (lane, out) in out.iter_mut().enumerate() {
                let number = from_bytes(&self.values[lane]);
                if left >> lane & 1 == 1 && is_scalar(&number) {
                    *out = number;
                    left &= !(1 << lane);
                }
            }
        }
    }

    /// The bits of all jobs.
    fn all(&self) -> u8 {
        u8::MAX >> (8 - self.count)
    }

    /// K = HMAC(K, V and the parts after the first one), then V = HMAC(K, V).
    fn change_keys(&mut self, isa: Isa, which: u8, parts: &[Parts<'_>; 8]) {
        let mut keys = [[0; 32]; 8];
        let mut parts = *parts;
        for (parts, value) in parts.iter_mut().zip(&self.values) {
            parts[0] = value;
        }
        let count = self.authenticate(isa, which, &parts, &mut keys);
        let mut references: [&[u8]; 8] = [&[]; 8];
        for (reference, key) in references.iter_mut().zip(&keys) {
            *reference = key;
        }
        let mut made = <[HmacKey; 8]>::default();
        hmac_keys(isa, &references[..count], &mut made[..count]);
        for (lane, key) in lanes(which).zip(&made) {
            self.keys[lane] = key.clone();
        }
        wipe::words(keys.as_flattened_mut());
        self.advance(isa, which);
    }

    /// V = HMAC(K, V).
    fn advance(&mut self, isa: Isa, which: u8) {
        let mut values = [[0; 32]; 8];
        let mut parts: [Parts<'_>; 8] = [[&[]; 5]; 8];
        for (parts, value) in parts.iter_mut().zip(&self.values) {
            parts[0] = value;
        }
        self.authenticate(isa, which, &parts, &mut values);
        for (lane, value) in lanes(which).zip(&values) {
            self.values[lane] = *value;
        }
        wipe::words(values.as_flattened_mut());
    }

    /// The tags of the parts of these jobs, one after the other, and how many there are.
    fn authenticate(
        &self,
        isa: Isa,
        which: u8,
        parts: &[Parts<'_>; 8],
        out: &mut [[u8; 32]; 8],
    ) -> usize {
        let mut keys = [&self.keys[0]; 8];
        let mut messages: [&[&[u8]]; 8] = [&[]; 8];
        let mut count = 0;
        for lane in lanes(which) {
            (keys[count], messages[count]) = (&self.keys[lane], &parts[lane]);
            count += 1;
        }
        hmac_sha256_with(isa, &keys[..count], &messages[..count], &mut out[..count]);
        count
    }
}

/// The places of bits.
fn lanes(which: u8) -> impl Iterator<Item = usize> {
    (0..8).filter(move |lane| which >> lane & 1 == 1)
}

impl Drop for Nonces {
    fn drop(&mut self) {
        wipe::words(self.values.as_flattened_mut());
    }
}
