//! X25519 (RFC 7748).

use super::{Numbers, digits_side_by_side, lanes, one_by_one, portable, side_by_side};
use crate::{Isa, wipe};

/// Computes the public keys of secret keys.
///
/// # Panics
///
/// If the slices have different lengths.
pub fn public_keys(isa: Isa, secrets: &[&[u8; 32]], out: &mut [[u8; 32]]) {
    assert!(secrets.len() == out.len(), "unequal lengths");
    let lanes = lanes(isa);
    for (secrets, out) in secrets.chunks(lanes).zip(out.chunks_mut(lanes)) {
        let mut scalars = clamped(secrets);
        let mut digits = digits_side_by_side(&scalars);
        let digits_ref = &digits;
        let public = by_isa!(crate::curve25519, isa,
            public_keys(digits_ref): Avx512, Avx2, _ => portable);
        one_by_one(&public, out);
        wipe::words(scalars.as_flattened_mut());
        wipe::words(digits.as_flattened_mut());
    }
}

/// Computes the shared secrets of secret keys with public keys, each with the one at its place.
///
/// A result of only zeros says that the public key has small order; callers refuse it. The highest
/// bit of a public key is ignored, and numbers that are not less than the modulus are reduced, as
/// RFC 7748 says.
///
/// # Panics
///
/// If the slices have different lengths.
pub fn shared_secrets(
    isa: Isa,
    secrets: &[&[u8; 32]],
    publics: &[&[u8; 32]],
    out: &mut [[u8; 32]],
) {
    assert!(secrets.len() == publics.len() && secrets.len() == out.len(), "unequal lengths");
    let lanes = lanes(isa);
    let jobs = secrets.chunks(lanes).zip(publics.chunks(lanes)).zip(out.chunks_mut(lanes));
    for ((secrets, publics), out) in jobs {
        let mut scalars = clamped(secrets);
        let points = side_by_side(publics);
        let (scalars_ref, points_ref) = (&scalars, &points);
        let mut shared = by_isa!(crate::curve25519, isa,
            shared_secrets(scalars_ref, points_ref): Avx512, Avx2, _ => portable);
        one_by_one(&shared, out);
        wipe::words(scalars.as_flattened_mut());
        wipe::words(shared.as_flattened_mut());
    }
}

/// Secret keys as RFC 7748 decodes them.
fn clamped(secrets: &[&[u8; 32]]) -> Numbers {
    let mut scalars = side_by_side(secrets);
    let [first, .., last] = &mut scalars;
    first.iter_mut().for_each(|word| *word &= !7);
    last.iter_mut().for_each(|word| *word = *word & (u64::MAX >> 2) | 1 << 62);
    scalars
}
