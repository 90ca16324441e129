//! NIST P-256, many at a time: ECDH, and ECDSA with digests of 32 bytes.
//!
//! Functions take slices of any length and run as many jobs side by side as the level has lanes
//! ([`lanes`]); the last lanes are filled with public constants.
//!
//! | level | form |
//! |---|---|
//! | `Portable` | limbs of 52 bits, one number at a time |
//! | `Avx2` | limbs of 29 bits, four numbers side by side |
//! | `Avx512` | limbs of 52 bits (IFMA), eight numbers side by side |
//!
//! Constant time in secret keys, nonces and all that is computed from them: arithmetic and masks,
//! and tables that are read as a whole. Verification deals with public data only. A verdict is
//! that of the job alone, whatever its neighbours are.
//!
//! Nonces are those of RFC 6979 with SHA-256; with entropy they are hedged as its section 3.6 says:
//! a fault or a bad source of entropy alone does not reveal the key.
//!
//! Temporary values stay on the stack and in registers, as with all kernels.

mod constants;
mod group;
mod inverse;
mod nonce;
mod number;
mod operations;
mod portable;
#[cfg_attr(not(feature = "isa-avx2"), allow(dead_code, reason = "only AVX2 has such products"))]
mod short;
mod table;
#[cfg(test)]
mod tests;
mod wide;
pub(crate) mod x86_64;

use core::fmt;

use self::constants::{N, P, subtract};
use self::nonce::Nonces;
use self::operations::{Eight, Points, Quotients, Sums};
use crate::words::Words;
use crate::{Isa, Level, wipe};

/// Calls the kernel of the highest level that there is.
macro_rules! best {
    ($($call:tt)+) => { by_isa!(crate::p256, $($call)+: Avx512, Avx2, _ => portable) };
}

/// The levels that have a kernel of their own, lowest first; others run the next one below.
pub const KERNELS: &[Level] = best!(levels);

/// How many jobs run side by side.
#[must_use]
pub const fn lanes(isa: Isa) -> usize {
    if Level::Avx512.is_built() && isa.has(Level::Avx512) {
        8
    } else if Level::Avx2.is_built() && isa.has(Level::Avx2) {
        4
    } else {
        1
    }
}

/// A secret key: a number from 1 to n - 1. It is wiped when it is dropped.
pub struct SecretKey([u64; 4]);

impl SecretKey {
    /// A key from its big-endian bytes, or nothing if the number is not from 1 to n - 1. Only that
    /// is revealed.
    #[must_use]
    pub fn new(bytes: &[u8; 32]) -> Option<Self> {
        let key = Self(from_bytes(bytes));
        is_scalar(&key.0).then_some(key)
    }

    /// The big-endian bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        to_bytes(&self.0)
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        wipe::words(&mut self.0);
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey").finish_non_exhaustive()
    }
}

/// A public key: a point of the curve, and not the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([[u64; 4]; 2]);

impl PublicKey {
    /// The base point, which is the public key of 1.
    pub const BASE: Self = Self(constants::G);

    /// A key from its uncompressed form: the byte 4 and both coordinates. Nothing if a coordinate
    /// is not less than the prime, or if the point is not on the curve.
    #[must_use]
    pub fn new(bytes: &[u8; 65]) -> Option<Self> {
        let [4, bytes @ ..] = bytes else { return None };
        let (coordinates, _) = bytes.as_chunks();
        let point = [from_bytes(&coordinates[0]), from_bytes(&coordinates[1])];
        let are_less = point.iter().all(|coordinate| subtract(coordinate, &P).1);
        (are_less && operations::is_on_curve::<wide::Wide<u64>>(&point)).then_some(Self(point))
    }

    /// A key from its compressed form: the byte 2 or 3, which says whether y is odd, and x. Nothing
    /// if x is not less than the prime, or if no point of the curve has it. Not in constant time.
    #[must_use]
    pub fn from_compressed(bytes: &[u8; 33]) -> Option<Self> {
        let [form @ 2..=3, bytes @ ..] = bytes else { return None };
        let x = from_bytes(bytes);
        if !subtract(&x, &P).1 {
            return None;
        }
        let mut y = operations::square_root_for::<wide::Wide<u64>>(&x);
        if y[0] & 1 != u64::from(form & 1) {
            y = subtract(&P, &y).0;
        }
        let point = [x, y];
        operations::is_on_curve::<wide::Wide<u64>>(&point).then_some(Self(point))
    }

    /// The uncompressed form.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 65] {
        let mut bytes = [4; 65];
        bytes[1..33].copy_from_slice(&to_bytes(&self.0[0]));
        bytes[33..].copy_from_slice(&to_bytes(&self.0[1]));
        bytes
    }
}

/// The public keys of secret keys.
///
/// # Panics
///
/// If there are not as many of the ones as of the others.
pub fn public_keys(isa: Isa, secrets: &[&SecretKey], out: &mut [PublicKey]) {
    assert_eq!(secrets.len(), out.len(), "a place for each key");
    let lanes = lanes(isa);
    for (secrets, out) in secrets.chunks(lanes).zip(out.chunks_mut(lanes)) {
        let points = coordinates(isa, &multiply_base(isa, &gather(secrets, |key| key.0)));
        for (lane, out) in out.iter_mut().enumerate() {
            *out = PublicKey([points[0][lane], points[1][lane]]);
        }
    }
}

/// The shared secrets of ECDH: the first coordinates of the products, as big-endian bytes.
///
/// # Panics
///
/// If there are not as many of the ones as of the others.
pub fn shared_secrets(
    isa: Isa,
    secrets: &[&SecretKey],
    publics: &[&PublicKey],
    out: &mut [[u8; 32]],
) {
    assert_eq!([secrets.len(), publics.len()], [out.len(); 2], "a place for each secret");
    let lanes = lanes(isa);
    let groups = secrets.chunks(lanes).zip(publics.chunks(lanes));
    for ((secrets, publics), out) in groups.zip(out.chunks_mut(lanes)) {
        let scalars = gather(secrets, |key| key.0);
        let shared = multiply(isa, &scalars, &points_of(publics, |key| key));
        for (out, shared) in out.iter_mut().zip(&coordinates(isa, &shared)[0]) {
            *out = to_bytes(shared);
        }
    }
}

/// A digest to sign.
#[derive(Clone, Copy)]
pub struct SignJob<'a> {
    /// The key.
    pub key: &'a SecretKey,
    /// The digest, or its 32 leftmost bytes.
    pub digest: &'a [u8; 32],
    /// Bytes of a random generator, to hedge the nonce with. Without them it is that of RFC 6979.
    pub entropy: Option<&'a [u8; 32]>,
}

impl fmt::Debug for SignJob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignJob").finish_non_exhaustive()
    }
}

/// Signatures: r and s, big-endian.
///
/// # Panics
///
/// If there are not as many of the ones as of the others.
pub fn sign(isa: Isa, jobs: &[SignJob<'_>], out: &mut [[u8; 64]]) {
    assert_eq!(jobs.len(), out.len(), "a place for each signature");
    let lanes = lanes(isa);
    for (jobs, out) in jobs.chunks(lanes).zip(out.chunks_mut(lanes)) {
        let mut nonces = Nonces::new(isa, jobs);
        sign_with(isa, jobs, out, |again, numbers| nonces.next(isa, again, numbers));
    }
}

/// Signatures of as many jobs as there are lanes. `next` sets nonces in 1..n for the jobs that it
/// gets by their bits.
///
/// A job is done again, alone among constants, if r or s is zero. That happens once in 2^255
/// signatures, and what it reveals is the nonce that is not used.
fn sign_with(
    isa: Isa,
    jobs: &[SignJob<'_>],
    out: &mut [[u8; 64]],
    mut next: impl FnMut(u8, &mut Eight),
) {
    let secrets = gather(jobs, |job| job.key.0);
    let digests = gather(jobs, |job| from_bytes(job.digest));
    let mut nonces = [[1, 0, 0, 0]; 8];
    let mut left = u8::MAX >> (8 - jobs.len());
    while left > 0 {
        next(left, &mut nonces);
        let [mut r, _] = coordinates(isa, &multiply_base(isa, &nonces));
        for number in &mut r {
            *number = once_reduced(number);
        }
        let numbers = Quotients { term: digests, factors: [r, secrets], divisor: nonces };
        let [s, _] = divide(isa, &numbers);
        for (lane, out) in out.iter_mut().enumerate() {
            let numbers = [r[lane], s[lane]];
            if left >> lane & 1 == 1 && !numbers.contains(&[0; 4]) {
                out[..32].copy_from_slice(&to_bytes(&numbers[0]));
                out[32..].copy_from_slice(&to_bytes(&numbers[1]));
                left &= !(1 << lane);
            }
        }
    }
}

/// A signature to verify.
#[derive(Clone, Copy, Debug)]
pub struct VerifyJob<'a> {
    /// The key.
    pub key: &'a PublicKey,
    /// The digest, or its 32 leftmost bytes.
    pub digest: &'a [u8; 32],
    /// r and s, big-endian.
    pub signature: &'a [u8; 64],
}

/// Whether signatures are valid.
///
/// # Panics
///
/// If there are not as many of the ones as of the others.
pub fn verify(isa: Isa, jobs: &[VerifyJob<'_>], verdicts: &mut [bool]) {
    assert_eq!(jobs.len(), verdicts.len(), "a place for each verdict");
    let lanes = lanes(isa);
    for (jobs, verdicts) in jobs.chunks(lanes).zip(verdicts.chunks_mut(lanes)) {
        let part = |job: &VerifyJob<'_>, i: usize| from_bytes(&job.signature.as_chunks().0[i]);
        let (mut r, mut s) = (gather(jobs, |job| part(job, 0)), gather(jobs, |job| part(job, 1)));
        let mut valid = [false; 8];
        let mut are_scalars = [false; 8];
        for (lane, are_scalars) in are_scalars.iter_mut().enumerate() {
            *are_scalars = is_scalar(&r[lane]) & is_scalar(&s[lane]);
            if !*are_scalars {
                (r[lane], s[lane]) = ([1, 0, 0, 0], [1, 0, 0, 0]);
            }
        }
        let digests = gather(jobs, |job| from_bytes(job.digest));
        let numbers = Quotients { term: digests, factors: [r, [[0; 4]; 8]], divisor: s };
        let [mut of_base, of_keys] = divide(isa, &numbers);
        // A digest of zero takes no multiple of the base point.
        let mut without_base = [0; 8];
        for (without, scalar) in without_base.iter_mut().zip(&mut of_base) {
            if *scalar == [0; 4] {
                (*without, *scalar) = (u64::MAX, [1, 0, 0, 0]);
            }
        }
        let sums = &Sums {
            own: multiply(isa, &of_keys, &points_of(jobs, |job| job.key)),
            base: multiply_base(isa, &of_base),
            without_base,
            coordinates: [r, r.map(|number| constants::other_coordinate(&number))],
        };
        let result = &mut valid;
        best!(isa, compare(sums, result));
        for ((verdict, valid), are_scalars) in verdicts.iter_mut().zip(valid).zip(are_scalars) {
            *verdict = valid & are_scalars;
        }
    }
}

fn multiply_base(isa: Isa, scalars: &Eight) -> Points {
    let mut points = Points::new();
    let out = &mut points;
    best!(isa, multiply_base(scalars, out));
    points
}

fn multiply(isa: Isa, scalars: &Eight, points: &[Eight; 2]) -> Points {
    let mut products = Points::new();
    let out = &mut products;
    best!(isa, multiply(scalars, points, out));
    products
}

fn coordinates(isa: Isa, points: &Points) -> [Eight; 2] {
    let mut coordinates = [[[0; 4]; 8]; 2];
    let out = &mut coordinates;
    best!(isa, coordinates(points, out));
    coordinates
}

fn divide(isa: Isa, numbers: &Quotients) -> [Eight; 2] {
    let mut quotients = [[[0; 4]; 8]; 2];
    let out = &mut quotients;
    best!(isa, divide(numbers, out));
    quotients
}

/// A number below 2^256 modulo the order, in constant time.
fn once_reduced(number: &[u64; 4]) -> [u64; 4] {
    let (rest, negative) = subtract(number, &N);
    let mask = crate::opaque::word(u64::from(negative)).wrapping_neg();
    let mut reduced = rest;
    for (word, number) in reduced.iter_mut().zip(number) {
        *word = u64::select(mask, *number, *word);
    }
    reduced
}

/// A number of each job; 1 for lanes without a job.
fn gather<T>(jobs: &[T], number: impl Fn(&T) -> [u64; 4]) -> Eight {
    let mut numbers = [[1, 0, 0, 0]; 8];
    for (place, job) in numbers.iter_mut().zip(jobs) {
        *place = number(job);
    }
    numbers
}

/// The point of each job; the base point for lanes without a job.
fn points_of<T>(jobs: &[T], point: impl Fn(&T) -> &PublicKey) -> [Eight; 2] {
    let mut points = constants::G.map(|coordinate| [coordinate; 8]);
    for (lane, job) in jobs.iter().enumerate() {
        let PublicKey([x, y]) = point(job);
        (points[0][lane], points[1][lane]) = (*x, *y);
    }
    points
}

/// Whether a number is in 1..n. Only that is revealed.
fn is_scalar(number: &[u64; 4]) -> bool {
    let bits = number.iter().fold(0, |bits, word| bits | word);
    // One verdict, not one branch for each of the two.
    crate::opaque::word(
        u64::from(subtract(number, &N).1) & u64::from(crate::opaque::word(bits) != 0),
    ) == 1
}

fn from_bytes(bytes: &[u8; 32]) -> [u64; 4] {
    let mut number = [0; 4];
    for (word, bytes) in number.iter_mut().rev().zip(bytes.as_chunks().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    number
}

fn to_bytes(number: &[u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(number.iter().rev()) {
        *bytes = word.to_be_bytes();
    }
    bytes
}
