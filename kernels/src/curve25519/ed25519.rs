//! Ed25519 (RFC 8032).

use core::fmt;

use super::digits::Schedule;
use super::scalar::{self, is_scalar, multiply_add, reduce};
use super::{Numbers, digits_side_by_side, lanes, one_by_one, portable, side_by_side};
use crate::{Isa, sha2, wipe};

/// The most jobs that run side by side.
const MOST: usize = 8;

/// A signing key, expanded from its seed; it owns its public key.
///
/// It wipes itself when it is dropped.
pub struct SigningKey {
    scalar: [u64; 4],
    prefix: [u8; 32],
    public: [u8; 32],
}

impl SigningKey {
    /// Expands one seed.
    #[must_use]
    pub fn new(isa: Isa, seed: &[u8; 32]) -> Self {
        let mut key = Self::empty();
        fill(isa, &[seed], core::iter::once(&mut key));
        key
    }

    /// The public key.
    #[must_use]
    pub const fn public(&self) -> &[u8; 32] {
        &self.public
    }

    const fn empty() -> Self {
        Self { scalar: [0; 4], prefix: [0; 32], public: [0; 32] }
    }
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        wipe::words(&mut self.scalar);
        wipe::memory(&mut self.prefix);
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

/// Expands seeds to signing keys.
///
/// # Panics
///
/// If the slices have different lengths.
pub fn expand(isa: Isa, seeds: &[&[u8; 32]], keys: &mut [Option<SigningKey>]) {
    assert!(seeds.len() == keys.len(), "unequal lengths");
    for (seeds, keys) in seeds.chunks(lanes(isa)).zip(keys.chunks_mut(lanes(isa))) {
        fill(isa, seeds, keys.iter_mut().map(|key| key.insert(SigningKey::empty())));
    }
}

/// Fills in the keys of at most as many seeds as there are lanes.
fn fill<'a>(isa: Isa, seeds: &[&[u8; 32]], keys: impl Iterator<Item = &'a mut SigningKey>) {
    let mut hashes = [[0; 64]; MOST];
    let mut scalars = [[0; 8]; 4];
    let mut publics = [[0; 32]; MOST];
    let count = seeds.len();
    hash(isa, seeds.iter().map(|seed| [&seed[..], &[], &[]]), &mut hashes[..count]);
    for (lane, hash) in hashes.iter_mut().enumerate() {
        // The clamping of RFC 8032 is that of X25519.
        hash[0] &= !7;
        hash[31] = hash[31] & 0x3f | 0x40;
        put(&mut scalars, lane, &scalar::limbs(first_half(hash)));
    }
    base_points(isa, &scalars, &mut publics);
    for ((key, hash), (lane, public)) in keys.zip(&hashes).zip(publics.iter().enumerate()) {
        key.scalar = scalars.map(|word| word[lane]);
        key.prefix.copy_from_slice(&hash[32..]);
        key.public = *public;
    }
    wipe::memory(hashes.as_flattened_mut());
    wipe::words(scalars.as_flattened_mut());
}

/// What is signed.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "whoever has messages makes it, field by field")]
pub struct Sign<'a> {
    /// The key.
    pub key: &'a SigningKey,
    /// The message.
    pub message: &'a [u8],
}

/// What is verified.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "whoever has signatures makes it, field by field")]
pub struct Verify<'a> {
    /// The public key.
    pub public: &'a [u8; 32],
    /// The message.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a [u8; 64],
}

/// Signs messages; a signature is the same as one made alone.
///
/// # Panics
///
/// If the slices have different lengths.
pub fn sign(isa: Isa, jobs: &[Sign<'_>], out: &mut [[u8; 64]]) {
    assert!(jobs.len() == out.len(), "unequal lengths");
    for (jobs, out) in jobs.chunks(lanes(isa)).zip(out.chunks_mut(lanes(isa))) {
        let mut hashes = [[0; 64]; MOST];
        let hashes = &mut hashes[..jobs.len()];
        let mut nonces = [[0; 8]; 4];
        let mut points = [[0; 32]; MOST];
        hash(isa, jobs.iter().map(|job| [&job.key.prefix[..], job.message, &[]]), hashes);
        for (lane, hash) in hashes.iter_mut().enumerate() {
            put(&mut nonces, lane, &reduce(hash));
            wipe::memory(hash);
        }
        base_points(isa, &nonces, &mut points);
        let jobs_and_points = jobs.iter().zip(&points);
        let parts = jobs_and_points.map(|(job, point)| [&point[..], &job.key.public, job.message]);
        hash(isa, parts, hashes);
        for (lane, ((job, hash), out)) in jobs.iter().zip(hashes).zip(out).enumerate() {
            let mut nonce = nonces.map(|word| word[lane]);
            let response = multiply_add(&reduce(hash), &job.key.scalar, &nonce);
            out[..32].copy_from_slice(&points[lane]);
            out[32..].copy_from_slice(&scalar::bytes(&response));
            wipe::words(&mut nonce);
        }
        wipe::words(nonces.as_flattened_mut());
    }
}

/// Verifies signatures, each with a verdict that depends on nothing but its own job.
///
/// The verification is strict: the second half of a signature is less than the order, points are
/// encoded as RFC 8032 says and have no small order, and the equation holds without the cofactor.
///
/// # Panics
///
/// If the slices have different lengths.
pub fn verify(isa: Isa, jobs: &[Verify<'_>], verdicts: &mut [bool]) {
    assert!(jobs.len() == verdicts.len(), "unequal lengths");
    for (jobs, verdicts) in jobs.chunks(lanes(isa)).zip(verdicts.chunks_mut(lanes(isa))) {
        let mut hashes = [[0; 64]; MOST];
        let hashes = &mut hashes[..jobs.len()];
        let parts = jobs.iter().map(|job| [&job.signature[..32], &job.public[..], job.message]);
        hash(isa, parts, hashes);
        let mut schedule = Schedule::new();
        let mut keys = [&[0; 32]; MOST];
        let mut points = keys;
        let mut are_valid = [false; MOST];
        for (lane, (job, hash)) in jobs.iter().zip(hashes).enumerate() {
            let point = first_half(job.signature);
            let response = scalar::limbs(second_half(job.signature));
            are_valid[lane] =
                is_scalar(&response) && !has_small_order(job.public) && !has_small_order(point);
            // What is not valid is verified with other numbers, to no effect.
            let response = if are_valid[lane] { response } else { [0; 4] };
            schedule.set(lane, reduce(hash), response);
            keys[lane] = job.public;
            points[lane] = point;
        }
        let (keys, points) = (side_by_side(&keys), side_by_side(&points));
        let (keys_ref, points_ref, schedule_ref) = (&keys, &points, &schedule);
        let masks = by_isa!(crate::curve25519, isa,
            verify(keys_ref, points_ref, schedule_ref): Avx512, Avx2, _ => portable);
        for ((verdict, is_valid), mask) in verdicts.iter_mut().zip(are_valid).zip(masks) {
            *verdict = is_valid && mask != 0;
        }
    }
}

/// The hashes of at most as many messages as there are lanes, each in parts.
fn hash<'a>(isa: Isa, jobs: impl Iterator<Item = [&'a [u8]; 3]>, hashes: &mut [[u8; 64]]) {
    let mut parts: [[&[u8]; 3]; MOST] = [[&[]; 3]; MOST];
    for (place, job) in parts.iter_mut().zip(jobs) {
        *place = job;
    }
    let mut messages: [&[&[u8]]; MOST] = [&[]; MOST];
    for (message, parts) in messages.iter_mut().zip(&parts) {
        *message = parts;
    }
    sha2::sha512(isa, &messages[..hashes.len()], hashes);
}

/// The encoded multiples of the base point.
fn base_points(isa: Isa, scalars: &Numbers, points: &mut [[u8; 32]]) {
    let mut digits = digits_side_by_side(scalars);
    let digits_ref = &digits;
    let encodings = by_isa!(crate::curve25519, isa,
        base_points(digits_ref): Avx512, Avx2, _ => portable);
    one_by_one(&encodings, points);
    wipe::words(digits.as_flattened_mut());
}

/// Puts the limbs of a number in a lane.
fn put(numbers: &mut Numbers, lane: usize, limbs: &[u64; 4]) {
    for (word, &limb) in numbers.iter_mut().zip(limbs) {
        word[lane] = limb;
    }
}

fn first_half(bytes: &[u8; 64]) -> &[u8; 32] {
    &bytes.as_chunks().0[0]
}

fn second_half(bytes: &[u8; 64]) -> &[u8; 32] {
    &bytes.as_chunks().0[1]
}

/// Whether an encoding, if it is valid, is that of a point of order 8, 4, 2 or 1.
fn has_small_order(encoding: &[u8; 32]) -> bool {
    let [low @ .., high] = encoding;
    SMALL_ORDERS.iter().any(|[y @ .., y_high]| low == y && high & 0x7f == *y_high)
}

/// The coordinates y of these points: 1, -1, 0, and two of order 8.
const SMALL_ORDERS: [[u8; 32]; 5] = [
    [
        0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00,
    ],
    [
        0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0x7f,
    ],
    [
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67,
        0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac,
        0x03, 0x7a,
    ],
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98,
        0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53,
        0xfc, 0x05,
    ],
];
