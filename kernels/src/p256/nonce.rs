//! Nonces of RFC 6979 with SHA-256, hedged by entropy if there is some (its section 3.6).

mod hmac;

use super::operations::Eight;
use super::{SignJob, from_bytes, is_scalar, once_reduced, to_bytes};
use crate::{Isa, wipe};

/// The generators of at most eight jobs.
pub(super) struct Nonces {
    keys: [[u8; 32]; 8],
    values: [[u8; 32]; 8],
    count: usize,
    /// The nonces of these jobs were taken; the next one is another step away.
    taken: u8,
}

impl Nonces {
    pub(super) fn new(isa: Isa, jobs: &[SignJob<'_>]) -> Self {
        let mut nonces =
            Self { keys: [[0; 32]; 8], values: [[1; 32]; 8], count: jobs.len(), taken: 0 };
        let mut seeds = [[[0; 32]; 2]; 8];
        for (seed, job) in seeds.iter_mut().zip(jobs) {
            let digest = once_reduced(&from_bytes(job.digest));
            *seed = [job.key.to_bytes(), to_bytes(&digest)];
        }
        for separator in 0..2_u8 {
            let separator = [separator];
            let values = nonces.values;
            let mut parts: [[&[u8]; 5]; 8] = [[&[]; 5]; 8];
            for (lane, job) in jobs.iter().enumerate() {
                let entropy = job.entropy.map_or(&[][..], |entropy| &entropy[..]);
                let [secret, digest] = &seeds[lane];
                parts[lane] = [&values[lane], &separator, secret, digest, entropy];
            }
            nonces.set_keys(isa, u8::MAX, &parts);
            nonces.step(isa, u8::MAX);
        }
        wipe::words(seeds.as_flattened_mut().as_flattened_mut());
        nonces
    }

    /// The next nonces of the jobs with a bit in `which`.
    ///
    /// A value is passed over if it is not in 1..n, once in 2^32 times. Then the time reveals that
    /// the value, which is not used, was so large.
    pub(super) fn next(&mut self, isa: Isa, which: u8, out: &mut Eight) {
        let mut left = which & u8::MAX >> (8 - self.count);
        while left > 0 {
            let again = left & self.taken;
            if again > 0 {
                let values = self.values;
                let mut parts: [[&[u8]; 5]; 8] = [[&[]; 5]; 8];
                for (parts, value) in parts.iter_mut().zip(&values) {
                    *parts = [value, &[0], &[], &[], &[]];
                }
                self.set_keys(isa, again, &parts);
                self.step(isa, again);
            }
            self.step(isa, left);
            self.taken |= left;
            for lane in 0..self.count {
                let number = from_bytes(&self.values[lane]);
                if left >> lane & 1 == 1 && is_scalar(&number) {
                    out[lane] = number;
                    left &= !(1 << lane);
                }
            }
        }
    }

    /// K = HMAC(K, parts) of these jobs.
    fn set_keys(&mut self, isa: Isa, which: u8, parts: &[[&[u8]; 5]; 8]) {
        let old = self.keys;
        each(which, self.count, |lanes| {
            hmac::hmac(isa, lanes, &old, |lane| &parts[lane], &mut self.keys);
        });
    }

    /// V = HMAC(K, V) of these jobs.
    fn step(&mut self, isa: Isa, which: u8) {
        let old = self.values;
        let parts: [[&[u8]; 1]; 8] = core::array::from_fn(|lane| [&old[lane][..]]);
        each(which, self.count, |lanes| {
            hmac::hmac(isa, lanes, &self.keys, |lane| &parts[lane], &mut self.values);
        });
    }
}

/// Calls with the numbers of the jobs that have a bit.
fn each(which: u8, count: usize, call: impl FnOnce(&[usize])) {
    let (mut lanes, mut found) = ([0; 8], 0);
    for lane in (0..count).filter(|lane| which >> lane & 1 == 1) {
        lanes[found] = lane;
        found += 1;
    }
    call(&lanes[..found]);
}

impl Drop for Nonces {
    fn drop(&mut self) {
        wipe::words(self.keys.as_flattened_mut());
        wipe::words(self.values.as_flattened_mut());
    }
}
