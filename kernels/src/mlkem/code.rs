//! Noise, compression and encoding of polynomials (FIPS 203, sections 4.2.1 and 4.2.2).
//!
//! Compression multiplies by the inverse of q. There is no division.

#[cfg(test)]
mod tests;

use super::row::{Poly, Q, Row, Vector};

/// Remainders from 0 to q − 1, of numbers between −q and q, which are not included.
#[inline(always)]
pub(super) fn canonical<V: Vector>(row: V) -> V {
    Vector::add(row, row.negative().and(V::splat(Q)))
}

/// Rounded quotients of `1024 row` and q, modulo 1024, of canonical numbers.
#[inline(always)]
fn compress10<V: Vector>(row: V) -> V {
    // 20159 is 2^26 / q, rounded up. The quotient of `2^13 row` and q is rounded down; the low half
    // of the product shows where it is one too large.
    let eightfold = row.mul_low(V::splat(8));
    let quotient = eightfold.mul_high(V::splat(20159));
    let low = eightfold.mul_low(V::splat(20159));
    let below = Vector::sub(low, Vector::add(row, V::splat(15)));
    let too_large = low.xor(V::splat(-1)).and(below).negative();
    Vector::add(quotient, too_large).mul_round(V::splat(1 << 12)).and(V::splat(1023))
}

/// Rounded quotients of `16 row` and q, modulo 16, of canonical numbers.
#[inline(always)]
fn compress4<V: Vector>(row: V) -> V {
    row.mul_high(V::splat(20159)).mul_round(V::splat(1 << 9)).and(V::splat(15))
}

/// Bits that are set where a number of at most q / 2 is nearer to q / 2 than to zero.
#[inline(always)]
fn compress1<V: Vector>(row: V) -> u32 {
    let sign = row.negative();
    let absolute = Vector::sub(row.xor(sign), sign);
    Vector::sub(V::splat(832), absolute).signs()
}

#[inline(always)]
fn decompress10<V: Vector>(row: V) -> V {
    row.mul_low(V::splat(1 << 5)).mul_round(V::splat(Q))
}

#[inline(always)]
fn decompress4<V: Vector>(row: V) -> V {
    row.mul_low(V::splat(1 << 11)).mul_round(V::splat(Q))
}

/// The coefficients of noise of 128 bytes.
#[inline(always)]
pub(super) fn noise<V: Vector>(bytes: &[u8; 128], poly: &mut Poly) {
    for (row, bytes) in poly.0.iter_mut().zip(bytes.as_chunks().0) {
        V::noise(bytes).store(row);
    }
}

/// Compresses the sum of a polynomial of numbers below q − 2 and noise to ten bits a coefficient.
#[inline(always)]
pub(super) fn put10<V: Vector>(poly: &Poly, noise: &Poly, bytes: &mut [u8; 320]) {
    let rows = poly.0.iter().zip(&noise.0);
    for ((row, noise), bytes) in rows.zip(bytes.as_chunks_mut().0) {
        let sum = Vector::add(V::load(row), V::load(noise));
        compress10(canonical(sum)).pack10(bytes);
    }
}

/// Compresses the sum of a polynomial of numbers below q, noise and a message to four bits a
/// coefficient.
#[inline(always)]
pub(super) fn put4<V: Vector>(
    poly: &Poly,
    noise: &Poly,
    message: &[u8; 32],
    bytes: &mut [u8; 128],
) {
    let rows = poly.0.iter().zip(&noise.0).zip(message.as_chunks().0);
    for (((row, noise), bits), bytes) in rows.zip(bytes.as_chunks_mut().0) {
        let half = V::of_bits(u32::from_le_bytes(*bits)).and(V::splat(Q / 2 + 1));
        let sum = Vector::add(Vector::add(V::load(row), V::load(noise)), half);
        compress4(canonical(sum.reduce())).pack4(bytes);
    }
}

#[inline(always)]
pub(super) fn get10<V: Vector>(bytes: &[u8; 320], poly: &mut Poly) {
    for (row, bytes) in poly.0.iter_mut().zip(bytes.as_chunks().0) {
        decompress10(V::unpack10(bytes)).store(row);
    }
}

/// The message of a compressed polynomial, after another one of numbers below q is subtracted.
#[inline(always)]
pub(super) fn message<V: Vector>(bytes: &[u8; 128], poly: &Poly, message: &mut [u8; 32]) {
    let rows = bytes.as_chunks().0.iter().zip(&poly.0);
    for ((bytes, row), bits) in rows.zip(message.as_chunks_mut().0) {
        let row = Vector::sub(decompress4(V::unpack4(bytes)), V::load(row));
        *bits = compress1(row.reduce()).to_le_bytes();
    }
}

/// Encodes numbers below q.
#[inline(always)]
pub(super) fn put12<V: Vector>(poly: &Poly, bytes: &mut [u8; 384]) {
    for (row, bytes) in poly.0.iter().zip(bytes.as_chunks_mut().0) {
        canonical(V::load(row)).pack12(bytes);
    }
}

/// Decodes numbers of twelve bits.
#[inline(always)]
pub(super) fn get12<V: Vector>(bytes: &[u8; 384], poly: &mut Poly) {
    for (row, bytes) in poly.0.iter_mut().zip(bytes.as_chunks().0) {
        V::unpack12(bytes).store(row);
    }
}
