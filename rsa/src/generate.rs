//! New keys.

use crypto_bigint::{BoxedUint, ConcatenatingMul as _, Gcd as _, Resize as _};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use lanecrypt_random::EntropyError;
use zeroize::Zeroizing;

use crate::check::number_before;
use crate::public_key::Sizes;
use crate::recover::{bytes, of_factors};
use crate::{KeyError, PrivateKey, PublicKey};

/// The public exponent, which is a prime.
const EXPONENT: u64 = 65_537;

impl PrivateKey {
    /// A new key of so many bits, with the public exponent 65537.
    ///
    /// Its primes are random odd numbers with both highest bits set that pass the tests of the
    /// crate `crypto-primes` (Miller-Rabin to the base 2, and Lucas). As FIPS 186-5, appendix A.1
    /// asks, they differ in the first 100 bits, d is longer than half the modulus and is less than
    /// the least common multiple of p - 1 and q - 1.
    ///
    /// It takes 50 milliseconds to seconds. **Not constant time**: the time depends on the numbers
    /// that are tried and discarded. Temporary values of the libraries are not all wiped.
    ///
    /// # Errors
    ///
    /// [`KeyError::Size`] if the number of bits is not even and from 2048 to 8192.
    /// [`KeyError::Entropy`].
    pub fn generate(bits: usize) -> Result<Self, KeyError> {
        let half = u32::try_from(bits / 2).map_err(|_| KeyError::Size)?;
        if !Sizes::Standard.contains(bits) || !bits.is_multiple_of(2) {
            return Err(KeyError::Size);
        }
        // Seeds the generator, which could not report an error later.
        lanecrypt_random::try_fill(&mut [0; 32]).map_err(|_: EntropyError| KeyError::Entropy)?;
        loop {
            let (p, q) = (prime(half)?, prime(half)?);
            if are_apart(&p, &q, half)
                && let Some(d) = exponent(&p, &q, half)?
            {
                let n = p.concatenating_mul(&*q).to_be_bytes();
                let public = PublicKey::new(&n, &EXPONENT.to_be_bytes())?;
                return of_factors(public, &d, &p, &q);
            }
        }
    }
}

/// A random prime p of so many bits, with both highest bits set.
fn prime(bits: u32) -> Result<Zeroizing<BoxedUint>, KeyError> {
    let sieve = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Any, bits, SetBits::TwoMsb);
    let mut random = lanecrypt_random::rng();
    let found = sieve.and_then(|sieve| {
        sieve_and_find(&mut random, sieve, |_, number| is_prime(Flavor::Any, number))
    });
    // Neither happens with these numbers of bits.
    found.ok().flatten().map(Zeroizing::new).ok_or(KeyError::Size)
}

/// Whether the primes differ by more than 2^(`bits` - 100).
fn are_apart(p: &BoxedUint, q: &BoxedUint, bits: u32) -> bool {
    let [p, q] = if *p < *q { [q, p] } else { [p, q] };
    let difference = Zeroizing::new(p.wrapping_sub(q));
    difference.bits() > bits - 100
}

/// The inverse of the public exponent modulo the least common multiple of p - 1 and q - 1; none if
/// there is none, or if it is too short.
fn exponent(
    p: &BoxedUint,
    q: &BoxedUint,
    bits: u32,
) -> Result<Option<Zeroizing<Vec<u8>>>, KeyError> {
    let [p, q] = [number_before(&p.to_be_bytes())?, number_before(&q.to_be_bytes())?];
    let (p, q): (&BoxedUint, &BoxedUint) = (p.as_ref(), q.as_ref());
    let product = Zeroizing::new(p.concatenating_mul(q));
    let divisor = Zeroizing::new(p.gcd(q));
    let divisor = divisor.to_nz().into_option().map(Zeroizing::new).ok_or(KeyError::Primes)?;
    let multiple = Zeroizing::new(product.wrapping_div(&*divisor));
    let multiple = multiple.to_nz().into_option().map(Zeroizing::new).ok_or(KeyError::Primes)?;
    let e = BoxedUint::from(EXPONENT).resize(multiple.bits_precision());
    let d = e.invert_mod(&multiple).into_option();
    Ok(d.filter(|d| d.bits() > bits).map(bytes))
}
