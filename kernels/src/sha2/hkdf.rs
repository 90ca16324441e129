//! HKDF-SHA-256 (RFC 5869).

use super::MOST;
use super::hmac::{HmacKey, hmac_sha256, hmac_sha256_with};
use crate::{Isa, wipe};

/// The most bytes that [`hkdf_expand`] makes.
pub const HKDF_MOST: usize = 255 * 32;

/// Pseudorandom keys, each from a salt and input keying material.
///
/// # Panics
///
/// If there are not as many salts as materials and as places for keys.
pub fn hkdf_extract(isa: Isa, salts: &[&[u8]], materials: &[&[u8]], out: &mut [[u8; 32]]) {
    let fits = salts.len() == materials.len() && materials.len() == out.len();
    assert!(fits, "a salt and a place for each key");
    let chunks = salts.chunks(MOST).zip(materials.chunks(MOST)).zip(out.chunks_mut(MOST));
    for ((salts, materials), out) in chunks {
        let parts: [[&[u8]; 1]; MOST] =
            core::array::from_fn(|i| [materials.get(i).copied().unwrap_or_default()]);
        let messages = parts.each_ref().map(|parts| &parts[..]);
        hmac_sha256(isa, salts, &messages[..salts.len()], out);
    }
}

/// A pseudorandom key to expand.
#[derive(Debug)]
pub struct Expand<'a> {
    /// The pseudorandom key. Several jobs may have the same one.
    pub key: &'a HmacKey,
    /// The context.
    pub info: &'a [u8],
    /// Where the output goes: at most [`HKDF_MOST`] bytes.
    pub out: &'a mut [u8],
}

/// Expands pseudorandom keys.
///
/// # Panics
///
/// If an output is longer than [`HKDF_MOST`].
pub fn hkdf_expand(isa: Isa, jobs: &mut [Expand<'_>]) {
    if let [_] = jobs {
        return expand::<1>(isa, jobs);
    }
    for jobs in jobs.chunks_mut(MOST) {
        expand::<MOST>(isa, jobs);
    }
}

/// At most `N` jobs.
fn expand<const N: usize>(isa: Isa, jobs: &mut [Expand<'_>]) {
    let longest = jobs.iter().map(|job| job.out.len()).max().unwrap_or(0);
    assert!(longest <= HKDF_MOST, "the longest output of HKDF");
    let mut blocks = [[0; 32]; N];
    let (mut counter, mut start) = (1, 0);
    while start < longest {
        let mut places = [0; N];
        let mut keys = [jobs[0].key; N];
        let mut parts: [[&[u8]; 3]; N] = [[&[]; 3]; N];
        let mut count = 0;
        for (place, job) in jobs.iter().enumerate().filter(|(_, job)| job.out.len() > start) {
            let before = if counter == 1 { &[][..] } else { &blocks[place] };
            parts[count] = [before, job.info, core::slice::from_ref(&counter)];
            (places[count], keys[count]) = (place, job.key);
            count += 1;
        }
        let messages = parts.each_ref().map(|parts| &parts[..]);
        let mut made = [[0; 32]; N];
        hmac_sha256_with(isa, &keys[..count], &messages[..count], &mut made[..count]);
        for (&place, made) in places[..count].iter().zip(&made) {
            blocks[place] = *made;
            let out = &mut jobs[place].out[start..];
            let length = out.len().min(32);
            out[..length].copy_from_slice(&made[..length]);
        }
        wipe::memory(made.as_flattened_mut());
        (counter, start) = (counter.wrapping_add(1), start + 32);
    }
    wipe::memory(blocks.as_flattened_mut());
}
