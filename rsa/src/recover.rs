//! The primes of a key that only has n, e and d.

use crypto_bigint::{BoxedUint, ConcatenatingMul as _, Gcd as _};
use lanecrypt_kernels::montgomery;
use zeroize::{Zeroize as _, Zeroizing};

use crate::check::{number_before, uint};
use crate::components::{Components, CrtComponents};
use crate::numbers::{to_limbs, trimmed, write_bytes};
use crate::private::random_below;
use crate::{Error, KeyError, PrivateKey, PublicKey};

/// Attempts, each of which finds the primes of a good key with a probability of at least one half.
const ATTEMPTS: usize = 100;

impl PrivateKey {
    /// The same key with its primes, which are computed from n, e and d (SP 800-56B, appendix C).
    ///
    /// The time depends on n, e, d and on the random numbers that are tried.
    ///
    /// # Errors
    ///
    /// [`KeyError::Inconsistent`] if there are no two such primes, [`KeyError::Primes`],
    /// [`KeyError::Entropy`].
    pub fn recover_primes(self) -> Result<Self, KeyError> {
        if self.has_primes() {
            return Ok(self);
        }
        primes(&self)
    }
}

/// The key with its primes, which d e - 1 reveals: it is a multiple of the order of every number
/// modulo n, so its halves give square roots of 1 (SP 800-56B revision 2, appendix C.1).
///
/// Not constant time: the number of attempts and of squarings, which depend on n, e, d and random
/// numbers. Exponentiations, greatest common divisors and divisions are constant time.
fn primes(key: &PrivateKey) -> Result<PrivateKey, KeyError> {
    let n = uint(&key.public_key().n());
    key.with_components(|all| {
        let [p, q] = factors(key, &n, all)?;
        of_factors(key.public_key().clone(), all.d, &p, &q)
    })
}

/// The key of two primes, of which the greater one becomes p, as is usual.
pub(crate) fn of_factors(
    public: PublicKey,
    d: &[u8],
    p: &BoxedUint,
    q: &BoxedUint,
) -> Result<PrivateKey, KeyError> {
    let [p, q] = if *p < *q { [q, p] } else { [p, q] };
    let [p, q] = [p, q].map(|prime| Zeroizing::new(prime.to_be_bytes().into_vec()));
    let modulus =
        uint(trimmed(&p)).to_odd().into_option().map(Zeroizing::new).ok_or(KeyError::Primes)?;
    let reduced = Zeroizing::new(uint(trimmed(&q)).rem(modulus.as_nz_ref()));
    let qinv = reduced.invert_odd_mod(&modulus).into_option().ok_or(KeyError::Inconsistent)?;
    let qinv = bytes(qinv);
    let exponent = |prime: &[u8]| Ok(bytes(uint(d).rem(&*number_before(trimmed(prime))?)));
    let (dp, dq) = (exponent(&p)?, exponent(&q)?);
    let crt = CrtComponents { p: &p, q: &q, dp: &dp, dq: &dq, qinv: &qinv };
    let (n, e) = (public.n(), public.e().to_be_bytes());
    PrivateKey::of_public(public, &Components { n: &n, e: &e, d, crt: Some(crt) })
}

pub(crate) fn bytes(mut number: BoxedUint) -> Zeroizing<Vec<u8>> {
    let bytes = Zeroizing::new(number.to_be_bytes().into_vec());
    number.zeroize();
    bytes
}

fn factors(
    key: &PrivateKey,
    n: &BoxedUint,
    all: &Components<'_>,
) -> Result<[Zeroizing<BoxedUint>; 2], KeyError> {
    let product = Zeroizing::new(uint(all.d).concatenating_mul(&*uint(all.e)));
    let mut odd = Zeroizing::new(product.wrapping_sub(BoxedUint::one()));
    let twos = odd.trailing_zeros();
    odd.unbounded_shr_assign(twos);
    let odd = Zeroizing::new(to_limbs(&Zeroizing::new(odd.to_be_bytes())));

    let modulus = key.public_key().modulus();
    let length = modulus.limbs().len();
    let mut workspace = montgomery::Workspace::new();
    let mut bytes = Vec::new();
    let mut base = Zeroizing::new(vec![0; length]);
    let mut number = Zeroizing::new(vec![0; length]);
    let mut square = Zeroizing::new(vec![0; length]);
    for _ in 0..ATTEMPTS {
        random_below(modulus, &mut bytes, &mut base).map_err(|error| match error {
            Error::Entropy => KeyError::Entropy,
            _ => KeyError::Inconsistent,
        })?;
        modulus.power(&base, &odd, &mut number, &mut workspace);
        for _ in 0..twos {
            modulus.multiply(&number, &number, &mut square, &mut workspace);
            if is_one(&square) {
                break;
            }
            number.copy_from_slice(&square);
        }
        // A square root of 1; other than 1 and -1 it is 1 modulo one of the primes only.
        if let Some(factors) = is_one(&square).then(|| divided(n, &number)).flatten() {
            return Ok(factors);
        }
    }
    Err(KeyError::Inconsistent)
}

fn is_one(number: &[u64]) -> bool {
    number[0] == 1 && number[1..].iter().all(|&limb| limb == 0)
}

/// n divided by its common divisor with a number less one, and that divisor; none if it is n or 1.
fn divided(n: &BoxedUint, number: &[u64]) -> Option<[Zeroizing<BoxedUint>; 2]> {
    let mut bytes = Zeroizing::new(vec![0; 8 * number.len()]);
    write_bytes(number, &mut bytes);
    let before = Zeroizing::new(uint(&bytes).wrapping_sub(BoxedUint::one()));
    let divisor = Zeroizing::new(n.gcd(&*before));
    if bool::from(divisor.is_one()) || *divisor == *n {
        return None;
    }
    let divisor_nz = Zeroizing::new(divisor.to_nz().into_option()?);
    let (quotient, mut rest) = n.div_rem(&*divisor_nz);
    rest.zeroize();
    Some([Zeroizing::new(quotient), divisor])
}
