//! Whether the numbers of a private key belong together.
//!
//! Constant time in the values of the numbers as long as they do: the arithmetic is that of
//! `crypto-bigint`. Its temporary values are not all wiped.

use crypto_bigint::{BoxedUint, ConcatenatingMul as _, NonZero};
use lanecrypt_kernels::montgomery::{self, multiply_add};
use lanecrypt_random::EntropyError;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::components::{Components, CrtComponents};
use crate::numbers::{bits, to_limbs, trimmed};
use crate::public_key::Sizes;
use crate::single::one;
use crate::{Error, KeyError, PrivateKey, PublicKey, Workspace, hazmat};

/// The fewest bits of a prime.
const MIN_PRIME_BITS: usize = montgomery::MIN_BITS;

impl PrivateKey {
    /// A key from its numbers. All of them are checked to belong together, which includes one
    /// signature.
    ///
    /// That p and q are primes is only checked as far as this signature is right.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the key is invalid.
    pub fn from_components(components: &Components<'_>) -> Result<Self, KeyError> {
        Self::with_sizes(Sizes::Standard, components)
    }

    pub(crate) fn with_sizes(sizes: Sizes, components: &Components<'_>) -> Result<Self, KeyError> {
        Self::of_public(PublicKey::with_sizes(sizes, components.n, components.e)?, components)
    }

    /// A key whose n and e have been checked.
    pub(crate) fn of_public(
        public: PublicKey,
        components: &Components<'_>,
    ) -> Result<Self, KeyError> {
        self::components(&public, components)?;
        let key = Self::unchecked(public, components)?;
        match trial(&key) {
            Ok(()) => Ok(key),
            Err(Error::Entropy) => Err(KeyError::Entropy),
            Err(_) => Err(KeyError::Inconsistent),
        }
    }
}

/// Checks all numbers besides n and e, which have been checked already.
fn components(public: &PublicKey, components: &Components<'_>) -> Result<(), KeyError> {
    // d itself: whether it is the inverse of e can only be tried, or computed with the primes.
    let d = trimmed(components.d);
    let is_odd = d.last().is_some_and(|last| last & 1 == 1);
    if !is_odd || !is_less(d, trimmed(components.n)) {
        return Err(KeyError::Inconsistent);
    }
    components.crt.as_ref().map_or(Ok(()), |crt| crt_components(public, components.d, crt))
}

fn crt_components(public: &PublicKey, d: &[u8], crt: &CrtComponents<'_>) -> Result<(), KeyError> {
    let (p, q) = (trimmed(crt.p), trimmed(crt.q));
    if !is_suitable(p) || !is_suitable(q) || bool::from(p.ct_eq(q)) {
        return Err(KeyError::Primes);
    }
    // Factors that are too long are left out before anything is multiplied.
    if bits(p) + bits(q) > public.bits() + 1 || !is_product(p, q, public.modulus().limbs()) {
        return Err(KeyError::Inconsistent);
    }
    let e = uint(&public.e().to_be_bytes());
    for (prime, own) in [(p, trimmed(crt.dp)), (q, trimmed(crt.dq))] {
        let order = number_before(prime)?;
        let right = is_less(own, prime)
            && [d, own].into_iter().all(|exponent| is_inverse(&e, &uint(exponent), &order));
        if !right {
            return Err(KeyError::Inconsistent);
        }
    }
    let qinv = trimmed(crt.qinv);
    let modulus = nonzero(uint(p))?;
    if !is_less(qinv, p) || !is_inverse(&uint(qinv), &uint(q), &modulus) {
        return Err(KeyError::Inconsistent);
    }
    Ok(())
}

/// Tries the private operation on a random number.
fn trial(key: &PrivateKey) -> Result<(), Error> {
    let length = key.signature_length();
    let (mut input, mut output) = (vec![0; length], vec![0; length]);
    lanecrypt_random::try_fill(&mut input).map_err(|_: EntropyError| Error::Entropy)?;
    // Less than the modulus, whose first byte is not zero.
    input[0] = 0;
    one(hazmat::raw_private(key, &input, &mut output), &mut Workspace::new())
}

/// Whether a prime is long enough, and odd.
fn is_suitable(prime: &[u8]) -> bool {
    bits(prime) >= MIN_PRIME_BITS && prime.last().is_some_and(|last| last & 1 == 1)
}

/// A number, to be wiped by its user.
pub(crate) fn uint(bytes: &[u8]) -> Zeroizing<BoxedUint> {
    Zeroizing::new(BoxedUint::from_be_slice_vartime(bytes))
}

/// A prime less one.
pub(crate) fn number_before(prime: &[u8]) -> Result<Zeroizing<NonZero<BoxedUint>>, KeyError> {
    nonzero(Zeroizing::new(uint(prime).wrapping_sub(BoxedUint::one())))
}

fn nonzero(number: Zeroizing<BoxedUint>) -> Result<Zeroizing<NonZero<BoxedUint>>, KeyError> {
    number.to_nz().into_option().map(Zeroizing::new).ok_or(KeyError::Primes)
}

/// Whether the product of two numbers is 1 modulo another one.
fn is_inverse(one: &BoxedUint, other: &BoxedUint, modulus: &NonZero<BoxedUint>) -> bool {
    let product = Zeroizing::new(one.concatenating_mul(other));
    let remainder = Zeroizing::new(product.rem(modulus));
    remainder.is_one().into()
}

/// Whether a number is less than another one, both without zeros before them.
fn is_less(one: &[u8], other: &[u8]) -> bool {
    let bytes = |number: &[u8], i| number.iter().rev().nth(i).map_or(0, |&byte| u16::from(byte));
    let borrow = (0..one.len().max(other.len())).fold(0, |borrow, i| {
        bytes(one, i).wrapping_sub(bytes(other, i)).wrapping_sub(borrow) >> 15
    });
    borrow == 1
}

fn is_product(p: &[u8], q: &[u8], n: &[u64]) -> bool {
    let (p, q) = (Zeroizing::new(to_limbs(p)), Zeroizing::new(to_limbs(q)));
    let mut product = vec![0; p.len() + q.len()];
    multiply_add(&p, &q, &[], &mut product);
    let (low, high) = product.split_at(n.len().min(product.len()));
    low == n && high.iter().all(|&limb| limb == 0)
}
